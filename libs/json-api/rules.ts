/** What pure files of modules use of json-api: definitions of attributes, without Nest and SQL. */
export * from './attribute-table.js';
export { text } from './body-schemas.js';
export { storedOnly } from './member-treatments.js';
