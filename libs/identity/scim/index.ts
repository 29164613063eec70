export { scimErrors } from './protocol/scim-errors.renderer.js';
export { createScimDefinition, ScimModule } from './scim.module.js';
export { GroupStatements, type GroupReference, type GroupsOfUser } from './groups/group-statements.port.js';
export { listGroupKeys } from './groups/scim-groups.queries.js';
export { UserSignInMethods } from './users/user-sign-in-methods.port.js';
export { SITE_SOURCE } from './protocol/scim-source.queries.js';
export { findUserByExternalId } from './users/scim-users.queries.js';
