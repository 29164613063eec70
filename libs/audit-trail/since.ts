import { Refused } from '#kernel';

const DATE = String.raw`(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})`;
const TIME = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?`;
// An unescaped + in a query arrives as a space.
const ZONE = String.raw`[Zz]|(?<sign>[+ -])(?<zoneHour>\d{2}):?(?<zoneMinute>\d{2})?`;
const FORM = new RegExp(`^${DATE}(?:[Tt ]${TIME}(?:${ZONE})?)?$`);

type Parts = Readonly<Partial<Record<string, string>>>;

/**
 * The moment that `since` names, in milliseconds: what is shown is later than that.
 *
 * Readers write it as a date, to the second, to the millisecond or finer, with or without a zone; without one it is UTC.
 * To the second means the end of that second: go-tfe cuts the fraction off the time it has seen, and wants what is later
 * than that (clients.md §6). A date alone is not cut from anything: it is the day's beginning.
 */
export const parseSince = (text: string): number => {
  const parts: Parts | undefined = FORM.exec(text)?.groups;
  const moment = parts && momentOf(parts);
  if (moment === undefined) {
    const detail = 'Since is not a valid ISO 8601 timestamp, such as 2026-01-31T12:30:15.123Z';
    throw new Refused('unprocessable', [{ detail, parameter: 'since' }]);
  }
  return moment;
};

const momentOf = (parts: Parts): number | undefined => {
  const part = (name: string): number => Number(parts[name] ?? 0);
  const [month, day] = [part('month'), part('day')];
  const [hour, minute, second] = [part('hour'), part('minute'), part('second')];
  const offset = (part('zoneHour') * 60 + part('zoneMinute')) * (parts['sign'] === '-' ? -1 : 1);
  if (hour > 23 || minute > 59 || second > 59 || part('zoneHour') > 23 || part('zoneMinute') > 59) return undefined;
  const date = new Date(0);
  // Not Date.UTC: it takes the years 0 to 99 for those of the last century.
  date.setUTCFullYear(part('year'), month - 1, day);
  // The 30th of February would have become a day in March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(hour, minute - offset, second, millisecondsOf(parts));
};

/** Entries have whole milliseconds: those later than 12.3456 are those later than 12.345. */
const millisecondsOf = ({ hour, fraction }: Parts): number => {
  if (fraction !== undefined) return Number(fraction.slice(0, 3).padEnd(3, '0'));
  return hour === undefined ? 0 : 999;
};
