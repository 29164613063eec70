import { ApiError, describeChangeError } from '../../../api/api-error.js';
import { sendChange, type SingleChange } from '../../../api/bulk-changes.js';

/* Sends changes of several workspaces, a few at a time. */

export type ChangeTask = { readonly id: string; readonly name: string; readonly change: SingleChange };
export type FailedTask = { readonly task: ChangeTask; readonly message: string };

export type ChangeProgress = {
  readonly total: number;
  readonly done: readonly ChangeTask[];
  readonly failed: readonly FailedTask[];
  /** The server limits requests. The next ones follow later. */
  readonly isWaiting: boolean;
};

const CONCURRENCY = 4;
/** A server that is busy for longer refuses the change. */
const MAX_ATTEMPTS = 8;
const DEFAULT_PAUSE_MS = 1_000;

/** Waits until the time has passed, or the person stops. */
const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
    return undefined;
  });

class ChangeSender {
  private next = 0;
  private pausedUntil = 0;
  private readonly done: ChangeTask[] = [];
  private readonly failed: FailedTask[];

  constructor(
    private readonly tasks: readonly ChangeTask[],
    private readonly refused: readonly FailedTask[],
    private readonly signal: AbortSignal,
    private readonly onProgress: (progress: ChangeProgress) => void,
  ) {
    this.failed = [...refused];
  }

  async work(): Promise<void> {
    for (let task = this.getNextTask(); task !== undefined; task = this.getNextTask()) {
      const outcome = await this.send(task);
      if (outcome === 'not sent') return;
      if (outcome === 'done') this.done.push(task);
      else this.failed.push({ task, message: outcome.message });
      this.report(false);
    }
  }

  private getNextTask(): ChangeTask | undefined {
    if (this.signal.aborted) return undefined;
    this.next += 1;
    return this.tasks[this.next - 1];
  }

  /** A pause that the server requests holds for all requests, because its limit counts them together. */
  private async send(task: ChangeTask): Promise<'done' | 'not sent' | { readonly message: string }> {
    for (let attempt = 1; ; attempt += 1) {
      const pause = this.pausedUntil - performance.now();
      if (pause > 0) await wait(pause, this.signal);
      if (this.signal.aborted) return 'not sent';
      try {
        await sendChange(task.id, task.change);
        return 'done';
      } catch (error) {
        if (!(error instanceof ApiError && error.isTemporary) || attempt === MAX_ATTEMPTS) {
          return { message: describeChangeError(error) };
        }
        this.pausedUntil = performance.now() + (error.retryAfterMs ?? DEFAULT_PAUSE_MS);
        this.report(true);
      }
    }
  }

  report(isWaiting: boolean): void {
    this.onProgress({
      total: this.tasks.length + this.refused.length,
      done: [...this.done],
      failed: [...this.failed],
      isWaiting,
    });
  }
}

/**
 * Sends the changes, and reports after each answer. Waits as long as a 429 or 503 asks for. After `signal`, it sends no
 * further change, and resolves when those on their way are answered. `refused` are not sent, and count as failed.
 */
export const runChanges = async (
  tasks: readonly ChangeTask[],
  signal: AbortSignal,
  onProgress: (progress: ChangeProgress) => void,
  refused: readonly FailedTask[] = [],
): Promise<void> => {
  const run = new ChangeSender(tasks, refused, signal, onProgress);
  run.report(false);
  await Promise.all(Array.from({ length: CONCURRENCY }, () => run.work()));
};
