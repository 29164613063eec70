import type { Timestamp } from '../events/recorded-event.js';

// An unescaped + in a query string arrives as a space.
const ZONE = String.raw`[Zz]|(?<sign>[+ -])(?<zoneHour>\d{2}):?(?<zoneMinute>\d{2})?`;

/** Builds the extended form `2026-01-31T12:30:15Z` or the basic form `20260131T123015Z`, which has no separators. */
const buildForm = (dash: string, colon: string): RegExp => {
  const date = String.raw`(?<year>\d{4})${dash}(?<month>\d{2})${dash}(?<day>\d{2})`;
  const seconds = String.raw`${colon}(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?`;
  const time = String.raw`(?<hour>\d{2})(?:${colon}(?<minute>\d{2})(?:${seconds})?)?`;
  return new RegExp(`^${date}(?:[Tt ]${time}(?<zone>${ZONE})?)?$`);
};

const FORMS = [buildForm('-', ':'), buildForm('', '')];

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
 * The text can be a date, or have hours, minutes, seconds or smaller fractions, with or without a zone. Without a zone it
 * is UTC. What the text leaves out is zero.
 */
export const parseTime = (text: string): number | undefined => {
  const parts = matchForm(text);
  return parts && toMilliseconds(parts);
};

/** Parses a time as `parseTime` does. Returns undefined for a text without a zone, which names no point in time. */
export const parseInstant = (text: string): number | undefined => {
  const parts = matchForm(text);
  return parts?.['zone'] === undefined ? undefined : toMilliseconds(parts);
};

/**
 * Parses a bound of a range of times as `parseTime` does, except that a time with seconds and without a fraction means
 * the end of that second: such a time is mostly a timestamp whose fraction was cut off.
 */
export const parseTimestamp = (text: string): number | undefined => {
  const parts = matchForm(text);
  const isCutOff = parts?.['second'] !== undefined && parts['fraction'] === undefined;
  return parts && toMilliseconds(isCutOff ? { ...parts, fraction: '999' } : parts);
};

const matchForm = (text: string): TimestampParts | undefined =>
  FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);

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
const parseFraction = ({ fraction = '' }: TimestampParts): number => Number(fraction.slice(0, 3).padEnd(3, '0'));
