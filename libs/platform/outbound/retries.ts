const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Default pauses before the second, third … attempt: eight attempts in about a day. */
const PAUSES_MS = [
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  14 * HOUR_MS,
] as const;

export const MAX_ATTEMPTS = PAUSES_MS.length + 1;

/** Pauses differ by a fifth in both directions, so that deliveries that failed together are not sent together. */
const JITTER = 0.2;

/**
 * Returns the milliseconds until the next attempt; null after the last one. `random` is a number from 0 to below 1.
 */
export const computeRetryPause = (
  attempts: number,
  random: number,
  pauses: readonly number[] = PAUSES_MS,
): number | null => {
  const pauseMs = pauses[attempts - 1];
  return pauseMs === undefined ? null : Math.round(pauseMs * (1 + JITTER * (2 * random - 1)));
};
