export { scimDefinition } from './scim.definition.js';
export { ScimModule } from './scim.module.js';
