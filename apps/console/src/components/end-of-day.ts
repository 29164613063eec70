/** Returns the end of a day of a date field, in the zone of the person, as an ISO 8601 time. Null for no day. */
export const toEndOfDay = (day: string): string | null =>
  day === '' ? null : new Date(`${day}T23:59:59`).toISOString();
