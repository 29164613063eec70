import { parseTimestamp, Refusal } from '#kernel';

const NAMES = { since: 'Since', until: 'Until' } as const;

/**
 * The moment that `since` or `until` names, in milliseconds. Of the two, `since` is left out of what is shown and `until`
 * is in it, so that stretches that begin where others end have every entry once. go-tfe cuts the fraction off the time
 * that it has seen, and wants what is later than that (clients.md §6): see parseTimestamp.
 */
export const parseTrailTimestamp = (parameter: keyof typeof NAMES, text: string): number => {
  const moment = parseTimestamp(text);
  if (moment === undefined) {
    const detail = `${NAMES[parameter]} is not a valid ISO 8601 timestamp, such as 2026-01-31T12:30:15.123Z`;
    throw new Refusal('unprocessable', [{ detail, parameter }]);
  }
  return moment;
};
