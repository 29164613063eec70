import { CommandError, createRefusedError } from './command-error.js';

/**
 * Runs the work with limited concurrency. If the server refuses an item, the others continue, and all refusals are
 * thrown together at the end. After any other error no further item starts.
 */
export const forEachConcurrently = async <T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const queue = items.values();
  const refusals: string[] = [];
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      try {
        await work(item);
      } catch (error) {
        if (!(error instanceof CommandError) || error.kind !== 'refused') {
          failures.push(error);
          return;
        }
        refusals.push(...error.problems);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failures.length > 0) throw failures[0];
  if (refusals.length > 0) throw createRefusedError(...refusals);
};
