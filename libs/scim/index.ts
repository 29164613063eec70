export { scimErrors } from './protocol/scim-errors.renderer.js';
export { scimDefinition } from './scim.definition.js';
export { ScimModule } from './scim.module.js';
export { listGroupKeys } from './groups/scim-groups.queries.js';
export { UserSignInMethods } from './users/user-sign-in-methods.port.js';
export { findUserByExternalId } from './users/scim-users.queries.js';
