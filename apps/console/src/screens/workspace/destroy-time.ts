const LATEST_MS = 60 * 60 * 60 * 1_000;

/**
 * Returns whether the server ignores the time. It reminds until a day after it, waits for 12 hours, and can start the destroy run
 * for another day.
 */
export const isDestroyTimeOver = (at: string, now: number): boolean => Date.parse(at) <= now - LATEST_MS;
