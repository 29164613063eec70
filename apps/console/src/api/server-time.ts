/* The clock of the server, as the page knows it. It can differ from the one of the browser. */

/** For changes that were on their way when an answer was made, and for clocks of several servers. */
const MARGIN_MS = 5_000;
/** Later it costs less to read what the screen shows again than to list what has changed since the page was opened. */
const LONGEST_AGE_MS = 60_000;

const clock = { offsetMs: null as number | null };

/** Reads the clock of the server from an answer. */
export const noteServerTime = ({ headers }: Response): void => {
  const time = Date.parse(headers.get('date') ?? '');
  if (Number.isFinite(time)) clock.offsetMs ??= time - Date.now();
};

/** Returns a time before everything that the page has read; null if it is unknown, or long ago. */
export const findPageStart = (): string | null => {
  if (clock.offsetMs === null || performance.now() > LONGEST_AGE_MS) return null;
  return new Date(performance.timeOrigin + clock.offsetMs - MARGIN_MS).toISOString();
};
