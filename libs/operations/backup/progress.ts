/** Called often, with numbers of this phase. `total` is null if it is unknown. */
type ReportBackupProgress = (phase: string, done: number, total: number | null) => void;

export type BackupControl = {
  /** If it aborts, the work stops after the current step and rejects with its reason. Running it again continues. */
  readonly signal?: AbortSignal | undefined;
  readonly report?: ReportBackupProgress;
};

/** Files that are copied at the same time. */
const CONCURRENT_FILES = 4;

/** Runs `work` for all items, some at the same time. Rejects with the first error after the others have ended. */
export const forEachConcurrently = async <T>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<void>,
  { signal }: BackupControl,
): Promise<void> => {
  const queue = items[Symbol.asyncIterator]();
  let hasFailed = false;
  const run = async (): Promise<void> => {
    for (let next = await queue.next(); !next.done && !hasFailed; next = await queue.next()) {
      signal?.throwIfAborted();
      await work(next.value);
    }
  };
  const runs = Array.from({ length: CONCURRENT_FILES }, () =>
    run().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  const failed = (await Promise.allSettled(runs)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
};
