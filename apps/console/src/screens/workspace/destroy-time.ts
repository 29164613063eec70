const DAY_MS = 24 * 60 * 60 * 1_000;

/** Returns whether the server ignores the time: it starts no destroy run for a time that passed more than a day ago. */
export const isDestroyTimeOver = (at: string, now: number): boolean => Date.parse(at) <= now - DAY_MS;
