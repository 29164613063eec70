/** The injected source of time. Rules and tests never read the system clock. */
export abstract class Clock {
  abstract now(): Date;
}

/**
 * The technical log of a process, for example a pino logger. "The log" without an adjective means the log of events.
 */
export type Logger = Readonly<Record<'debug' | 'info' | 'warn', (context: object, text: string) => void>>;

/** The injected source of random ids. */
export abstract class Ids {
  /** Returns a resource id: the API's type prefix, a hyphen, 16 letters and digits. `next('ws')` → `ws-4nZ8…`. */
  abstract next(prefix: string): string;
  /** Returns a UUIDv7 (RFC 9562). It sorts by time, so that indexes on event ids grow at one end. */
  abstract uuid(): string;
  /**
   * Returns the secret of an API token in the format that clients expect: 14 characters, `.atlasv1.`, 60 characters.
   */
  abstract secret(): string;
}
