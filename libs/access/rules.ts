/** What rules of slices may know of access, being as pure: the words and tables of it, and neither Nest nor SQL. */
export * from './actor.js';
export * from './grants.js';
export * from './organization-access.js';
export * from './permissions.js';
