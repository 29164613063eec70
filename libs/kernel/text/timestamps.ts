import type { Timestamp } from '../events/recorded-event.js';

const DATE = String.raw`(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})`;
const TIME = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?`;
// An unescaped + in a query string arrives as a space.
const ZONE = String.raw`[Zz]|(?<sign>[+ -])(?<zoneHour>\d{2}):?(?<zoneMinute>\d{2})?`;
const FORM = new RegExp(`^${DATE}(?:[Tt ]${TIME}(?:${ZONE})?)?$`);

const FIRST = 0;
/** Later years have five digits, which Postgres writes in another format. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Formats milliseconds as a timestamp. Times outside the years 1970 to 9999 become the first or the last of that range.
 */
export const formatTimestamp = (milliseconds: number): Timestamp =>
  new Date(Math.min(Math.max(milliseconds, FIRST), LAST)).toISOString();

type TimestampParts = Readonly<Partial<Record<string, string>>>;

/**
 * Parses a time in ISO 8601. Returns milliseconds, or undefined for an invalid text.
 *
 * The text can be a date, or have seconds, milliseconds or smaller fractions, with or without a zone. Without a zone it
 * is UTC. A time without a fraction means the end of that second, because such a time is mostly a timestamp whose
 * fraction was cut off. A date alone means the beginning of the day.
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
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(part('year'), month - 1, day);
  // setUTCFullYear turns February 30th into a day in March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(hour, minute - offset, second, parseFraction(parts));
};

/** Returns milliseconds. Smaller fractions are cut off. */
const parseFraction = ({ hour, fraction }: TimestampParts): number => {
  if (fraction !== undefined) return Number(fraction.slice(0, 3).padEnd(3, '0'));
  return hour === undefined ? 0 : 999;
};
