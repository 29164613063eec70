const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const percentFormat = new Intl.NumberFormat(undefined, { style: 'percent' });
const secondFormat = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Returns a date of the API, such as `2026-01-31`, as a short text. */
export const formatDay = (date: string): string => dayFormat.format(new Date(`${date}T00:00:00Z`));

/** Returns milliseconds as a short text. */
export const formatDuration = (ms: number | null): string => {
  if (ms === null) return '–';
  if (ms < MINUTE) return `${secondFormat.format(ms / SECOND)} s`;
  if (ms < HOUR) return `${secondFormat.format(ms / MINUTE)} min`;
  return `${secondFormat.format(ms / HOUR)} h`;
};

/** Returns a share as a text. Only a complete share is 100 %. */
export const formatPercent = (part: number, all: number): string =>
  percentFormat.format(all === 0 ? 1 : Math.floor((part / all) * 100) / 100);
