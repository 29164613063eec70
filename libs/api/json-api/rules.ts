/** The part of json-api that pure files of other modules may use: definitions of attributes, without Nest and SQL. */
export * from './attribute-table.js';
export type { CalendarDays } from './calendar-days.js';
export { limitBytes, optionalMembers, text } from './body-schemas.js';
export { storedOnly } from './member-treatments.js';
export * from './oauth-refusal.js';
