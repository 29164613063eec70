const MAX_AGE_MS = 600_000;

/** Returns whether an entry in memory may be used. Its age has a limit, because operators can change views without an event. */
export const isYoungEnough = (keptAt: number, now: number): boolean => Math.abs(now - keptAt) <= MAX_AGE_MS;
