/** Time is injected: rules and tests never read the machine's clock. */
export abstract class Clock {
  abstract now(): Date;
}

/** Where a process tells what goes on in it; a pino logger is one. "Log" alone is the log of events. */
export type Logger = Readonly<Record<'debug' | 'info' | 'warn', (context: object, text: string) => void>>;

/** Randomness is injected. */
export abstract class Ids {
  /** A resource id: the API's type prefix, a hyphen, 16 letters and digits; `next('ws')` → `ws-4nZ8…`. */
  abstract next(prefix: string): string;
  /** UUIDv7 (RFC 9562): sorts by time, so that indexes on event ids grow at one end. */
  abstract uuid(): string;
  /** An API token's secret: 14 characters, `.atlasv1.`, 60 characters, as clients expect it to look. */
  abstract secret(): string;
}
