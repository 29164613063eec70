import type { BackupControl } from '#operations/backup';

/**
 * Repeats the work, which is interrupted at its first report, then at one that is `step` reports later, and so on, until
 * it succeeds.
 */
export const repeatInterrupted = async <T>(work: (control: BackupControl) => Promise<T>, step: number): Promise<T> => {
  for (let last = 1; ; last += step) {
    const stopping = new AbortController();
    let reports = 0;
    const report = (): void => {
      if ((reports += 1) === last) stopping.abort();
    };
    try {
      return await work({ signal: stopping.signal, report });
    } catch (error) {
      if (error !== stopping.signal.reason) throw error;
    }
  }
};
