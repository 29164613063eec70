import type { BackupControl } from '#operations/backup';

const REDRAW_MS = 100;

/** Prints the progress in one line of a terminal. A log file gets only the result. */
export class TerminalProgress {
  private drawnAt = 0;
  private readonly isTerminal = process.stderr.isTTY;

  readonly report: NonNullable<BackupControl['report']> = (phase, done, total) => {
    const now = performance.now();
    if (!this.isTerminal || now - this.drawnAt < REDRAW_MS) return;
    this.drawnAt = now;
    process.stderr.write(`\r${phase}: ${total === null ? done : `${done} of ${total}`}\u001b[K`);
  };

  clear(): void {
    if (this.isTerminal) process.stderr.write('\r\u001b[K');
  }
}

const MS_PER_SECOND = 1_000;
const BYTES_PER_MB = 1_000_000;

export const formatSince = (started: number): string =>
  `${((performance.now() - started) / MS_PER_SECOND).toFixed(1)} s`;

export const formatMegabytes = (bytes: number): string => `${(bytes / BYTES_PER_MB).toFixed(1)} MB`;
