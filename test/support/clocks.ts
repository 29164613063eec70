import { Clock } from '#kernel';

type Duration = { readonly days?: number; readonly minutes?: number; readonly seconds?: number; readonly ms?: number };

const HOUR_MS = 3_600_000;

const msOf = ({ days = 0, minutes = 0, seconds = 0, ms = 0 }: Duration): number =>
  ((days * 24 * 60 + minutes) * 60 + seconds) * 1_000 + ms;

/** Stands, but where a test puts it on, or back. */
export class FixedClock extends Clock {
  time = Date.parse('2026-11-21T12:00:00.000Z');

  override now(): Date {
    return new Date(this.time);
  }

  /** The time that it is then. */
  pass(duration: Duration): string {
    this.time += msOf(duration);
    return new Date(this.time).toISOString();
  }
}

/** No two things happen at once: what is ordered by time has one order. */
export class TickingClock extends FixedClock {
  override now(): Date {
    this.time += 1;
    return super.now();
  }
}

/** The machine's, but for what a test puts it ahead: for what it shares with clocks that no test moves, Postgres' own. */
export class AdjustableClock extends Clock {
  offsetMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.offsetMs);
  }

  pass(duration: Duration): void {
    this.offsetMs += msOf(duration);
  }
}

/** One that begins with a full hour: signed links of files are the same for so long, and so are documents that show them. */
export const fromTheFullHour = (): AdjustableClock => {
  const clock = new AdjustableClock();
  clock.pass({ ms: HOUR_MS - (Date.now() % HOUR_MS) });
  return clock;
};
