import { setTimeout as wait } from 'node:timers/promises';

/** Receives what happens in the background. `console` fits. */
export type ConsumerLogger = { warn(message: string): void };

/** Resolves after some milliseconds. Rejects after an abort. */
export type Sleep = (ms: number, options: { readonly signal: AbortSignal; readonly ref?: boolean }) => Promise<void>;

const FIRST_MS = 100;
const MAX_MS = 10_000;

/** Waits longer after each failure in a row, up to 10 s, and logs the failures 1, 2, 4, 8 … */
export class RetryPauses {
  private failures = 0;

  constructor(
    private readonly logger: ConsumerLogger,
    private readonly signal: AbortSignal,
    private readonly sleep: Sleep = (ms, options) => wait(ms, undefined, options),
  ) {}

  succeeded(): void {
    this.failures = 0;
  }

  /** Calls `succeeded` after some time, unless the signal aborts before. */
  succeedAfter(ms: number, signal: AbortSignal): void {
    this.sleep(ms, { signal, ref: false }).then(
      () => this.succeeded(),
      // The signal aborted.
      () => undefined,
    );
  }

  /** Resolves after the pause, or at once after an abort. */
  async failed(message: string): Promise<void> {
    this.failures += 1;
    if (Number.isInteger(Math.log2(this.failures))) this.logger.warn(message);
    const pause = Math.min(MAX_MS, FIRST_MS * 2 ** (this.failures - 1));
    // The caller checks for an abort.
    await this.sleep(pause, { signal: this.signal }).catch(() => undefined);
  }
}

export const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error));
