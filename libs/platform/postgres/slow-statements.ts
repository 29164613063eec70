import { Refusal, unavailable } from '#platform/kernel';

export type SlowLimits = {
  /** Connections for slow statements. Each runs one statement at a time. */
  readonly connections: number;
  /** Statements of one caller that run at the same time. */
  readonly perCaller: number;
  /** Statements of one caller that wait while other statements of the caller run. */
  readonly waitingPerCaller: number;
};

/** More than a client has open at a time. Each waiting statement keeps a request open. */
const MAX_WAITING = 200;

export const SLOW_LIMITS: SlowLimits = { connections: 4, perCaller: 2, waitingPerCaller: MAX_WAITING };

/** A client gives up after 30 s, and the statement needs a part of them. */
const MAX_WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;

type WaitingStatement<Connection> = (connection: Connection) => void;

type SlowStatementCaller<Connection> = { running: number; readonly waiting: WaitingStatement<Connection>[] };

/**
 * Assigns connections to slow statements. Each caller uses a limited number of them at a time, and waiting callers take
 * turns, so that a caller with many slow statements delays only its own requests.
 */
export class SlowStatements<Connection> {
  private readonly idle: Connection[];
  /** The callers that have statements, in the order of their turns. */
  private readonly callers = new Map<string, SlowStatementCaller<Connection>>();

  constructor(
    connections: readonly Connection[],
    private readonly limits: SlowLimits,
  ) {
    this.idle = [...connections];
  }

  /**
   * Runs the work on a connection that is not shared meanwhile. Throws a refusal if too many statements of the caller
   * wait.
   */
  async run<T>(caller: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.acquire(caller);
    try {
      return await work(connection);
    } finally {
      this.release(caller, connection);
    }
  }

  /** The number of statements of all callers that wait for a connection. */
  get waiting(): number {
    return [...this.callers.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  private acquire(id: string): Promise<Connection> {
    const caller = this.callers.get(id) ?? { running: 0, waiting: [] };
    this.callers.set(id, caller);
    if (caller.waiting.length >= this.limits.waitingPerCaller) return Promise.reject(this.tooMany());
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(() => {
        caller.waiting.splice(caller.waiting.indexOf(start), 1);
        this.forgetIfDone(id, caller);
        reject(unavailable('The database is busy with slow requests. Please try again.', RETRY_AFTER_SECONDS));
      }, MAX_WAIT_MS).unref();
      const start: WaitingStatement<Connection> = (connection) => {
        clearTimeout(giveUp);
        resolve(connection);
      };
      caller.waiting.push(start);
      this.startNext();
    });
  }

  private release(id: string, connection: Connection): void {
    const caller = this.callers.get(id);
    if (caller) {
      caller.running -= 1;
      this.forgetIfDone(id, caller);
    }
    this.idle.push(connection);
    this.startNext();
  }

  private startNext(): void {
    while (this.idle.length > 0) {
      const next = [...this.callers].find(
        ([, { running, waiting }]) => waiting.length > 0 && running < this.limits.perCaller,
      );
      if (!next) return;
      const [id, caller] = next;
      const start = caller.waiting.shift() as WaitingStatement<Connection>;
      caller.running += 1;
      // The caller moves behind all other callers.
      this.callers.delete(id);
      this.callers.set(id, caller);
      start(this.idle.shift() as Connection);
    }
  }

  private forgetIfDone(id: string, { running, waiting }: SlowStatementCaller<Connection>): void {
    if (running === 0 && waiting.length === 0) this.callers.delete(id);
  }

  private tooMany(): Refusal {
    const { perCaller, waitingPerCaller } = this.limits;
    const detail =
      `Too many slow requests at once: ${perCaller} run and ${waitingPerCaller} wait. ` +
      'Wait for their answers before you send more.';
    return new Refusal('too-many', [{ detail }], RETRY_AFTER_SECONDS);
  }
}
