export type UnansweredLimits = {
  /** Requests of one kind that the server works on at the same time. */
  readonly max: number;
  /** The limit falls below `max` while the delay of each step of a request is longer than this, in milliseconds. */
  readonly targetMs: number;
  /** How long a request beyond the limit waits before it is refused, in milliseconds. */
  readonly waitMs: number;
};

/** A request that wants to be worked on. Exactly one of the functions is called, unless the request leaves. */
export type WaitingRequest = {
  readonly caller: string;
  start(): void;
  refuse(): void;
};

/** Requests that even the slowest server works on at once. Fewer would leave the processor and Postgres idle. */
export const LEAST_LIMIT = 16;

/**
 * For each request that could still start, a caller may have this many that have started. One caller then gets at most
 * four fifths of the limit, and two callers four ninths each. There is nearly always a place for a further caller.
 */
const SHARE_FACTOR = 4;

const WINDOW_MS = 100;
/** Bounds of the change after one window. */
const SHRINK = 0.75;
const GROW = 1.25;

type Entry = { readonly request: WaitingRequest; readonly arrivedAt: number };

/**
 * Decides which requests a server works on, and when. The number of them has a limit, which shrinks while the server is
 * slow and grows while it is fast. Further requests wait, and are refused if the wait is too long.
 *
 * Callers that wait take turns. The latest request of a caller starts first: under overload some requests of the caller
 * are then fast, while in order of arrival all of them would wait for as long as they may.
 *
 * Times are milliseconds of a monotonic clock.
 */
export class RequestAdmission {
  private current: number;
  private total = 0;
  private peak = 0;
  private waitingTotal = 0;
  private windowStart = Number.NEGATIVE_INFINITY;
  private readonly started = new Map<string, number>();
  /** Each list is in order of arrival. The caller whose turn is next comes first. */
  private readonly waitingByCaller = new Map<string, Entry[]>();

  constructor(
    private readonly limits: UnansweredLimits,
    /** Returns the present delay of one step of a request, such as a statement, in milliseconds. */
    private readonly getDelay: () => number,
    private readonly onLimitChange: (limit: number) => void = () => undefined,
  ) {
    this.current = limits.max;
    onLimitChange(limits.max);
  }

  get limit(): number {
    return this.current;
  }

  get waiting(): number {
    return this.waitingTotal;
  }

  /**
   * Starts the request, or lets it wait. Each connection has one request at a time, so the limit of connections limits
   * the requests that wait.
   */
  arrive(request: WaitingRequest, now: number): void {
    this.adapt(now);
    if (this.canStart(request.caller)) return this.start(request);
    const entries = this.waitingByCaller.get(request.caller);
    const entry = { request, arrivedAt: now };
    if (entries) entries.push(entry);
    else this.waitingByCaller.set(request.caller, [entry]);
    this.waitingTotal += 1;
  }

  /** Forgets a waiting request, because its client has disconnected. */
  leave(request: WaitingRequest): void {
    const entries = this.waitingByCaller.get(request.caller);
    const index = entries?.findIndex((entry) => entry.request === request) ?? -1;
    if (entries && index >= 0) this.take(request.caller, entries, index);
  }

  /** Counts a request that has started before and continues, whether or not the limit is reached. */
  resume(caller: string): void {
    this.started.set(caller, (this.started.get(caller) ?? 0) + 1);
    this.total += 1;
    this.peak = Math.max(this.peak, this.total);
  }

  /** Stops counting a request, because it has ended or waits for its client. Starts waiting requests instead. */
  end(caller: string): void {
    const own = (this.started.get(caller) ?? 0) - 1;
    if (own <= 0) this.started.delete(caller);
    else this.started.set(caller, own);
    this.total -= 1;
    this.startNext();
  }

  /** Refuses the requests that have waited too long. */
  expire(now: number): void {
    this.adapt(now);
    for (const [caller, entries] of this.waitingByCaller) {
      for (let oldest = entries[0]; oldest && now - oldest.arrivedAt >= this.limits.waitMs; oldest = entries[0]) {
        this.take(caller, entries, 0);
        oldest.request.refuse();
      }
    }
    this.startNext();
  }

  private canStart(caller: string): boolean {
    const free = this.current - this.total;
    return free > 0 && (this.started.get(caller) ?? 0) < SHARE_FACTOR * free;
  }

  private start(request: WaitingRequest): void {
    this.resume(request.caller);
    request.start();
  }

  private startNext(): void {
    for (const [caller, entries] of this.waitingByCaller) {
      if (this.total >= this.current) return;
      const latest = entries.at(-1);
      if (!latest || !this.canStart(caller)) continue;
      this.take(caller, entries, entries.length - 1);
      if (entries.length > 0) {
        // The caller's next turn comes after those of all others. The loop reaches it again.
        this.waitingByCaller.delete(caller);
        this.waitingByCaller.set(caller, entries);
      }
      this.start(latest.request);
    }
  }

  private take(caller: string, entries: Entry[], index: number): void {
    entries.splice(index, 1);
    this.waitingTotal -= 1;
    if (entries.length === 0) this.waitingByCaller.delete(caller);
  }

  private adapt(now: number): void {
    if (now - this.windowStart < WINDOW_MS) return;
    this.windowStart = now;
    const { max, targetMs } = this.limits;
    const ratio = Math.min(GROW, Math.max(SHRINK, targetMs / this.getDelay()));
    // A limit that was not reached has not slowed the server. The number that was reached has.
    const next = ratio < 1 ? Math.floor(Math.min(this.current, this.peak) * ratio) : Math.ceil(this.current * ratio);
    this.peak = this.total;
    const limit = Math.min(max, Math.max(LEAST_LIMIT, next));
    if (limit === this.current) return;
    this.current = limit;
    this.onLimitChange(limit);
  }
}
