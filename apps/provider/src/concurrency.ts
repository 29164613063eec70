import { CommandError, createRefusedError } from './command-error.js';

/**
 * Works on a few at a time. What the server refuses does not keep the others from going on, and is told together at the
 * end; after anything else nothing new is begun.
 */
export const forEachConcurrently = async <T>(
  items: readonly T[],
  atOnce: number,
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
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failures.length > 0) throw failures[0];
  if (refusals.length > 0) throw createRefusedError(...refusals);
};
