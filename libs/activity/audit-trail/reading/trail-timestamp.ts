import { parseTimestamp, Refusal } from '#platform/kernel';

const NAMES = { since: 'Since', until: 'Until' } as const;

/**
 * Parses `since` or `until` in milliseconds. `since` is exclusive and `until` inclusive, so that adjacent ranges
 * contain every entry once. go-tfe cuts the fraction off the last timestamp it has seen and wants later entries;
 * see parseTimestamp.
 */
export const parseTrailTimestamp = (parameter: keyof typeof NAMES, text: string): number => {
  const time = parseTimestamp(text);
  if (time === undefined) {
    const detail = `${NAMES[parameter]} is not a valid ISO 8601 timestamp, such as 2026-01-31T12:30:15.123Z`;
    throw new Refusal('unprocessable', [{ detail, parameter }]);
  }
  return time;
};
