import type { Clock } from '#platform/kernel';

const SECOND_MS = 1_000;

/** Limits the events that are sent in a second. A page without events earns no time for later pages. */
export class SendPace {
  private begunAt = 0;

  constructor(
    /** Most events in a second. */
    private readonly rate: number,
    private readonly clock: Clock,
  ) {}

  beginPage(): void {
    this.begunAt = this.clock.now().getTime();
  }

  /** Returns the milliseconds to wait after a page with this number of sent events. */
  getPause(sent: number): number {
    return Math.max(0, this.begunAt + (sent / this.rate) * SECOND_MS - this.clock.now().getTime());
  }
}
