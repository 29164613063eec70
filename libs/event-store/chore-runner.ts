import { setTimeout as wait } from 'node:timers/promises';
import { sql, type Logger } from '#kernel';
import type { Database, Session } from './database.js';
import { lockKey } from './advisory-lock.js';
import { jobMetrics } from './metrics.js';

/** What has to be done as time goes by, and no event says so. */
export type Chore = {
  readonly name: string;
  /** How long it rests between two rounds. */
  readonly everyMs: number;
  /**
   * Does what is due by now. When it throws, all that is still due is tried again; so it must do no harm when it runs
   * twice, or beside itself.
   */
  readonly run: (round: Round) => Promise<void>;
};

export type Round = {
  /** Where it says so, the rest is left for the next round. */
  readonly signal: AbortSignal;
  /** For each thing that has been done, or for several at once. */
  readonly done: (things?: number) => void;
};

const STANDBY_MAX_MS = 30_000;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5 * 60 * 1_000;

/**
 * Has a chore done at the start and then at intervals: standby → leading → standby …
 *
 * - **standby**: another process holds the chore's advisory lock; asked again every half minute at the latest.
 * - **leading**: runs the chore, waits, and makes sure that it still leads before it runs it again.
 * - Any error is counted and logged, and after a growing pause everything starts over.
 */
export class ChoreRunner {
  private readonly stopping = new AbortController();
  private loop: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly chore: Chore,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.loop = this.keepGoing();
  }

  /** Resolves when nothing of it runs any more, and the lock is free for the next. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  private async keepGoing(): Promise<void> {
    let pause = RETRY_FIRST_MS;
    const { name: chore } = this.chore;
    while (!this.stopping.signal.aborted) {
      let session: Session | null = null;
      try {
        session = await this.database.session();
        await this.lead(session, () => (pause = RETRY_FIRST_MS));
        await this.sleep(Math.min(this.chore.everyMs, STANDBY_MAX_MS));
      } catch (error) {
        jobMetrics.failures.inc({ scheduled_job: chore });
        this.logger.warn({ err: error, chore, retryInMs: pause }, 'chore failed, will retry');
        await this.sleep(pause);
        pause = Math.min(pause * 2, RETRY_MAX_MS);
      } finally {
        // It may be broken already, and then has nothing to say that was not said above.
        await session?.close().catch(() => undefined);
      }
    }
  }

  /** Resolves where somebody else leads, or when it is to stop. */
  private async lead(session: Session, succeeded: () => void): Promise<void> {
    const { name: chore, everyMs } = this.chore;
    const { signal } = this.stopping;
    const lock = lockKey(`cadastre chore ${chore}`);
    while (!signal.aborted) {
      // Fails where the connection is gone, and the lock with it. Whose it is already gets it again.
      const [taken] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${lock}) as ok`);
      if (!taken?.ok) return;
      await this.chore.run({ signal, done: (things = 1) => jobMetrics.items.inc({ scheduled_job: chore }, things) });
      succeeded();
      jobMetrics.lastSuccess.setToCurrentTime({ scheduled_job: chore });
      await this.sleep(everyMs);
    }
  }

  /** Ends early when it is to stop. */
  private async sleep(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
