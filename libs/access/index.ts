export { placeInOrganization } from './access.queries.js';
export { AccessFilter } from './access.filter.js';
export * from './access.module.js';
export * from './authenticate.guard.js';
export { Authenticator, hashOf } from './authenticator.js';
export { confirm, fresh, isOutdated } from './fresh.js';
export { identityNow } from './identity.queries.js';
export * from './grants.queries.js';
export * from './rules.js';
