/** What rules of slices may know of access, being as pure: the words and tables of it, and neither Nest nor SQL. */
export * from './authentication/actor.js';
export * from './permissions/grants.js';
export * from './permissions/organization-access.js';
export * from './permissions/permissions.js';
