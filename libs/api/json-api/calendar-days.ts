/** Days of a calendar in a time zone, the oldest first. */
export type CalendarDays = {
  readonly timeZone: string;
  /** Such as `2026-01-31`. */
  readonly dates: readonly string[];
  /** When each day begins, and last when the newest ends, in milliseconds. Days have 23 to 25 hours in most zones. */
  readonly bounds: readonly number[];
};

type ZoneClock = { readonly date: (time: number) => string; readonly offset: (time: number) => number };

const createZoneClock = (timeZone: string): ZoneClock => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const read = (time: number) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const get = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
    return {
      date: `${get('year')}-${get('month')}-${get('day')}`,
      clock: `${get('hour')}:${get('minute')}:${get('second')}`,
    };
  };
  return {
    date: (time) => read(time).date,
    offset: (time) => {
      const { date, clock } = read(time);
      return Date.parse(`${date}T${clock}Z`) - Math.floor(time / 1_000) * 1_000;
    },
  };
};

/** Returns the first instant of a day. In some zones the clock skips midnight, and the day begins at one. */
const findStart = (date: string, { date: getDate, offset }: ZoneClock): number => {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const first = midnight - offset(midnight);
  const second = midnight - offset(first);
  return getDate(second) === date ? second : first;
};

const addDays = (date: string, days: number): string => {
  const time = new Date(`${date}T00:00:00Z`);
  time.setUTCDate(time.getUTCDate() + days);
  return time.toISOString().slice(0, 10);
};

/** Returns the last `count` days, today included. */
export const listLastDays = (now: Date, count: number, timeZone: string): CalendarDays => {
  const clock = createZoneClock(timeZone);
  const today = clock.date(now.getTime());
  const dates = Array.from({ length: count }, (_, index) => addDays(today, index - count + 1));
  return { timeZone, dates, bounds: [...dates, addDays(today, 1)].map((date) => findStart(date, clock)) };
};
