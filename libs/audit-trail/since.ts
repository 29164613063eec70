import { momentOf, Refused } from '#kernel';

/**
 * The moment that `since` names, in milliseconds: what is shown is later than that. go-tfe cuts the fraction off the time
 * that it has seen, and wants what is later than that (clients.md §6): see momentOf.
 */
export const parseSince = (text: string): number => {
  const moment = momentOf(text);
  if (moment === undefined) {
    const detail = 'Since is not a valid ISO 8601 timestamp, such as 2026-01-31T12:30:15.123Z';
    throw new Refused('unprocessable', [{ detail, parameter: 'since' }]);
  }
  return moment;
};
