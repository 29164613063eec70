import type { Timestamp } from '../events/recorded-event.js';

const DATE = String.raw`(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})`;
const TIME = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?`;
// An unescaped + in a query arrives as a space.
const ZONE = String.raw`[Zz]|(?<sign>[+ -])(?<zoneHour>\d{2}):?(?<zoneMinute>\d{2})?`;
const FORM = new RegExp(`^${DATE}(?:[Tt ]${TIME}(?:${ZONE})?)?$`);

const FIRST = 0;
/** After it there is a year with five digits, which Postgres writes otherwise. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** A moment as a time that everybody can read; one that lies before or after all of those is the first or the last of them. */
export const formatTimestamp = (moment: number): Timestamp =>
  new Date(Math.min(Math.max(moment, FIRST), LAST)).toISOString();

type TimestampParts = Readonly<Partial<Record<string, string>>>;

/**
 * The moment that a text in ISO 8601 names, in milliseconds; undefined where it names none.
 *
 * People and clients write it as a date, to the second, to the millisecond or finer, with or without a zone; without one it
 * is UTC. To the second means the end of that second: whoever writes so has mostly cut the fraction off a time that they
 * have seen. A date alone is not cut from anything: it is the day's beginning.
 */
export const parseTimestamp = (text: string): number | undefined => {
  const parts: TimestampParts | undefined = FORM.exec(text)?.groups;
  return parts && toMilliseconds(parts);
};

const toMilliseconds = (parts: TimestampParts): number | undefined => {
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
  return date.setUTCHours(hour, minute - offset, second, parseFraction(parts));
};

/** What is finer than milliseconds is cut off. */
const parseFraction = ({ hour, fraction }: TimestampParts): number => {
  if (fraction !== undefined) return Number(fraction.slice(0, 3).padEnd(3, '0'));
  return hour === undefined ? 0 : 999;
};
