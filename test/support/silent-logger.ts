const nothing = (): void => undefined;

/** A logger for parts whose failures the test sees anyway. */
export const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing };
