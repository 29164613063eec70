/** The part of this module that pure rules of other modules may use: types and tables, without Nest and SQL. */
export * from './authentication/actor.js';
export * from './authentication/address-ranges.js';
export * from './authentication/token-restriction.js';
export * from './permissions/event-groups.js';
export * from './permissions/grants.js';
export * from './permissions/live-resources.js';
export * from './permissions/organization-access.js';
export * from './permissions/permissions.js';
