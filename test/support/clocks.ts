import { Clock } from '#platform/kernel';

type Duration = { readonly days?: number; readonly minutes?: number; readonly seconds?: number; readonly ms?: number };

const HOUR_MS = 3_600_000;

const msOf = ({ days = 0, minutes = 0, seconds = 0, ms = 0 }: Duration): number =>
  ((days * 24 * 60 + minutes) * 60 + seconds) * 1_000 + ms;

/** A clock that stands still until a test moves it. */
export class FixedClock extends Clock {
  time = Date.parse('2026-11-21T12:00:00.000Z');

  override now(): Date {
    return new Date(this.time);
  }

  /** Moves the clock. Returns the new time. */
  pass(duration: Duration): string {
    this.time += msOf(duration);
    return new Date(this.time).toISOString();
  }
}

/** A clock that advances with each reading, so that no two timestamps are equal. */
export class TickingClock extends FixedClock {
  override now(): Date {
    this.time += 1;
    return super.now();
  }
}

/**
 * The clock of the machine plus an offset, for tests that also use clocks which they cannot move, such as the clock of
 * Postgres.
 */
export class AdjustableClock extends Clock {
  offsetMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.offsetMs);
  }

  pass(duration: Duration): void {
    this.offsetMs += msOf(duration);
  }
}

/**
 * Returns a clock that begins at a full hour. Signed links, and documents that contain them, stay the same for an hour.
 */
export const fromTheFullHour = (): AdjustableClock => {
  const clock = new AdjustableClock();
  clock.pass({ ms: HOUR_MS - (Date.now() % HOUR_MS) });
  return clock;
};
