import type { Backoff } from '#platform/kernel';
import { pause, type DatabaseSession } from '#platform/postgres';
import type { EventStore } from '../event-store.js';
import { listenForLog, parseReadRequest } from './log-signal.js';
import { WakeablePause } from './wakeable-pause.js';

/** How many events a round found: none, few, or so many that the log has more. */
export type RoundResult = 'none' | 'few' | 'many';

const IDLE_FIRST_MS = 5;
const IDLE_MAX_MS = 1_000;
/** Time between two rounds while the log grows slowly, so that a round has several events. */
const GATHER_MS = 100;

type LogWatchOptions = {
  /** Reads the log on this connection. */
  readonly round: (session: DatabaseSession) => Promise<RoundResult>;
  readonly backoff: Backoff;
};

/**
 * Calls `round` as soon as the log has grown, and otherwise at growing intervals of at most a second, because an event may
 * follow a transaction that still runs. For readers without a checkpoint; followers use FollowerRunner.
 *
 * After an error it opens another connection and calls `round` again.
 */
export class LogWatch {
  private readonly stopping = new AbortController();
  private readonly pause = new WakeablePause();
  private idleMs = IDLE_FIRST_MS;
  private loop: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: EventStore,
    private readonly options: LogWatchOptions,
  ) {}

  start(): void {
    this.loop = this.run();
  }

  /** Resolves after the current round. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.pause.wake('urgent');
    await this.loop;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await this.watch();
      } catch (error) {
        await pause(this.options.backoff.failed(error), signal);
      }
    }
  }

  private async watch(): Promise<void> {
    // The next statement on a broken connection fails with the error.
    const session = await this.store.database.session(() => this.pause.wake('urgent'));
    let removeListener = (): void => undefined;
    try {
      session.onNotification((payload) => {
        if (parseReadRequest(payload) === null) this.pause.wake('news');
      });
      const backend = await listenForLog(session);
      removeListener = this.store.signal.addListener({ backend, wake: () => this.pause.wake('news') });
      while (!this.stopping.signal.aborted) {
        // The next read includes all events that woke the loop until now.
        this.pause.clear();
        const result = await this.options.round(session);
        this.options.backoff.succeeded();
        await this.pauseAfter(result);
      }
    } finally {
      removeListener();
      // The connection may already be broken. Its error is logged.
      await session.close().catch(() => undefined);
    }
  }

  private async pauseAfter(result: RoundResult): Promise<void> {
    if (result === 'many' || this.stopping.signal.aborted) return;
    if (result === 'few') {
      this.idleMs = GATHER_MS;
      await this.pause.wait(GATHER_MS, ['urgent']);
      return;
    }
    const isWoken = await this.pause.wait(this.idleMs, ['urgent', 'news']);
    this.idleMs = isWoken ? IDLE_FIRST_MS : Math.min(this.idleMs * 2, IDLE_MAX_MS);
  }
}
