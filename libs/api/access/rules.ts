/** The part of this module that pure rules of other modules may use: types and tables, without Nest and SQL. */
export * from './callers/actor.js';
export * from './authentication/address-ranges.js';
export * from './callers/token-restriction.js';
export * from './permissions/event-groups.js';
export * from './permissions/grants.js';
export * from './permissions/live-resources.js';
export * from './callers/organization-access.js';
export * from './permissions/permissions.js';
