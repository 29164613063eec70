import { badRequest } from '#platform/kernel';
import { listLastDays, type CalendarDays } from './calendar-days.js';
import { getParameter, type QueryParameters } from './paging.js';

/** The filters of statistics by day. */
export const DAY_FILTERS = ['filter[days]', 'filter[time-zone]'];

export const DEFAULT_DAYS = 30;
export const MAX_DAYS = 90;
export const DEFAULT_ZONE = 'UTC';

/** A name such as `Europe/Berlin`. Offsets are refused, because they have no days of their own. */
const ZONE = /^[A-Za-z][\w+/-]*$/;

const parseDayCount = (query: QueryParameters): number => {
  const text = getParameter(query, 'filter[days]');
  if (!text) return DEFAULT_DAYS;
  const count = Number(text);
  if (!/^\d{1,3}$/.test(text) || count < 1 || count > MAX_DAYS) {
    throw badRequest(`filter[days]: must be a whole number from 1 to ${MAX_DAYS}, got "${text}"`, 'filter[days]');
  }
  return count;
};

const parseZone = (query: QueryParameters): string => {
  const text = getParameter(query, 'filter[time-zone]') || DEFAULT_ZONE;
  try {
    if (ZONE.test(text)) return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw badRequest(
    `filter[time-zone]: must be the name of a time zone, such as Europe/Berlin, got "${text}"`,
    'filter[time-zone]',
  );
};

/** Returns the days that a request asks for with `filter[days]` and `filter[time-zone]`. */
export const parseCalendarDays = (query: QueryParameters, now: Date): CalendarDays =>
  listLastDays(now, parseDayCount(query), parseZone(query));
