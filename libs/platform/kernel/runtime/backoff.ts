import type { Logger } from './ports.js';

export type BackoffOptions = {
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Name of the work in log lines: `follower` gives "follower failed, will retry". */
  readonly subject: string;
  /** Fields of every log line, such as the follower's name. */
  readonly fields?: object;
  /** The first pause in milliseconds. Each further failure doubles the pause, up to `maxMs`. */
  readonly firstMs: number;
  readonly maxMs: number;
  /**
   * Milliseconds without a failure after which the next pause is `firstMs` again. Default: 0, one success is enough.
   */
  readonly stableMs?: number;
  /** Returns milliseconds of a monotonic clock. */
  readonly now?: () => number;
};

/** Time between two log lines while the work keeps failing. */
const REPEAT_MS = 60_000;
/** Minimum time between the log lines of two outages if failure and success alternate. */
const NEXT_OUTAGE_MS = 10_000;

/**
 * Computes the pauses of a retry loop and writes its log lines: the first failure, then one line a minute with the
 * number of failures, then the recovery. The caller waits for the milliseconds that `failed` returns.
 */
export class Backoff {
  private readonly now: () => number;
  private pause: number;
  /** Failures since the log reported the last recovery. */
  private failures = 0;
  private failingSince: number | null = null;
  private succeededAt = 0;
  private announced = false;
  private lastLineAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: BackoffOptions) {
    this.now = options.now ?? (() => performance.now());
    this.pause = options.firstMs;
  }

  /** Records a failure. Returns the milliseconds to wait before the next attempt. */
  failed(error: unknown): number {
    const now = this.now();
    const { firstMs, maxMs, stableMs = 0, logger, subject, fields } = this.options;
    if (this.failingSince === null) {
      this.failingSince = now;
      if (now - this.succeededAt >= stableMs) this.pause = firstMs;
    }
    const retryInMs = this.pause;
    this.pause = Math.min(retryInMs * 2, maxMs);
    this.failures += 1;
    const { failures, announced } = this;
    if (now - this.lastLineAt < (announced ? REPEAT_MS : NEXT_OUTAGE_MS)) return retryInMs;
    this.lastLineAt = now;
    this.announced = true;
    const count = failures > 1 ? { failures, failingForSeconds: seconds(now - this.failingSince) } : {};
    logger.warn(
      { err: error, ...fields, ...count, retryInMs },
      `${subject} ${announced ? 'still fails' : 'failed'}, will retry`,
    );
    return retryInMs;
  }

  /** Records a success. Call it after each success: it costs nothing while nothing fails. */
  succeeded(): void {
    if (this.failingSince === null) return;
    const now = this.now();
    const failingForSeconds = seconds(now - this.failingSince);
    this.failingSince = null;
    this.succeededAt = now;
    if (!this.announced) return;
    const { failures } = this;
    this.announced = false;
    this.failures = 0;
    const { logger, fields, subject } = this.options;
    logger.info({ ...fields, failures, failingForSeconds }, `${subject} recovered`);
  }
}

const seconds = (ms: number): number => Math.round(ms / 1_000);
