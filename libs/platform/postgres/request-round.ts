import { pause } from './pause.js';
import type { JobRun } from './scheduled-job-runner.js';

type DueRequest = { readonly organization: string; readonly host: string | null };

type RequestRoundOptions<R extends DueRequest> = {
  /** Requests at the same time. */
  readonly total: number;
  /** While requests run, new ones are taken after this time. */
  readonly pollMs: number;
  /**
   * Takes due requests, `most` of them. They are leased for longer than a request takes, so that another process repeats those whose
   * process was killed.
   */
  readonly claim: (most: number, running: readonly Pick<R, 'organization' | 'host'>[]) => Promise<readonly R[]>;
  /** Sends a request and stores what follows. */
  readonly send: (request: R) => Promise<void>;
  /** Called while requests run, at most once in `pollMs`. */
  readonly onPoll: () => Promise<void>;
  /** Called at the end, unless the round has failed and this process tries it again. */
  readonly onEnd: () => void;
};

/**
 * A run of a scheduled job that sends requests to other servers. It takes new requests while others run, so that a slow server
 * does not delay them, and ends when no request runs and nothing is due.
 */
export class RequestRound<R extends DueRequest> {
  private readonly requests = new Map<Promise<void>, Pick<R, 'organization' | 'host'>>();
  /** The first error of the round: for example, the database was not available for a result. */
  private failure: { readonly error: unknown } | null = null;

  private polledAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly round: Pick<JobRun, 'signal'>,
    private readonly options: RequestRoundOptions<R>,
  ) {}

  /** Throws the first error after all requests have ended. */
  async run(): Promise<void> {
    const { signal } = this.round;
    let isDone = false;
    while (!isDone && !signal.aborted && !this.failure) {
      try {
        isDone = await this.step();
      } catch (error) {
        this.failure = { error };
      }
    }
    await Promise.all(this.requests.keys());
    if (signal.aborted || !this.failure) this.options.onEnd();
    if (this.failure) throw this.failure.error;
  }

  /** Returns whether no request runs and nothing is due. */
  private async step(): Promise<boolean> {
    for (const due of await this.claim()) this.start(due);
    if (this.requests.size === 0) return true;
    await this.waitForChange();
    const now = performance.now();
    if (now - this.polledAt < this.options.pollMs) return false;
    this.polledAt = now;
    await this.options.onPoll();
    return false;
  }

  private async claim(): Promise<readonly R[]> {
    const most = this.options.total - this.requests.size;
    return most <= 0 ? [] : this.options.claim(most, [...this.requests.values()]);
  }

  private start(due: R): void {
    const request = this.options
      .send(due)
      .catch((error: unknown) => {
        // After an abort the request stays due, and another process sends it when its lease ends.
        if (!this.round.signal.aborted) this.failure ??= { error };
      })
      .finally(() => this.requests.delete(request));
    const { organization, host } = due;
    this.requests.set(request, { organization, host });
  }

  /** Resolves when a request has ended, or after a pause. */
  private async waitForChange(): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.round.signal]);
    await Promise.race([...this.requests.keys(), pause(this.options.pollMs, signal)]);
    ended.abort();
  }
}
