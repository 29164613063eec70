type LeadEvents = { readonly onLead: () => void; readonly onLost: () => void };

/**
 * Decides which tab has the stream of an organization. A tab takes the lead from the tab that has it, or waits until that
 * tab closes. Browsers have no locks on pages that came without TLS, unless from localhost: each tab then leads.
 */
export class TabLead {
  private waiting: AbortController | null = null;
  private release: (() => void) | null = null;
  /** Counts the requests, because a request to take the lead cannot be withdrawn. */
  private latest = 0;

  constructor(
    private readonly name: string,
    private readonly events: LeadEvents,
  ) {}

  take(): void {
    this.leave();
    if (!('locks' in navigator)) return this.events.onLead();
    this.request({ steal: true });
  }

  /** Gives the lead to a tab that waits for it, or stops to wait. */
  leave(): void {
    this.latest += 1;
    this.waiting?.abort();
    this.waiting = null;
    this.release?.();
    this.release = null;
  }

  private wait(): void {
    this.waiting = new AbortController();
    this.request({ signal: this.waiting.signal });
  }

  private request(options: LockOptions): void {
    const { latest } = this;
    const hold = () =>
      new Promise<void>((resolve) => {
        if (latest !== this.latest) return resolve();
        this.release = resolve;
        this.events.onLead();
      });
    // It rejects if another tab has taken the lead, or if this one does not wait any more.
    navigator.locks.request(`cadastre-live ${this.name}`, options, hold).catch(() => {
      if (latest !== this.latest) return;
      this.release = null;
      this.events.onLost();
      this.wait();
    });
  }
}
