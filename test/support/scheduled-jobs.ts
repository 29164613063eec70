import type { ScheduledJob } from '#postgres';

/** One round, through all that is due; resolves to how much that was. */
export const runJobOnce = async (chore: ScheduledJob): Promise<number> => {
  let count = 0;
  const done = (things = 1): void => void (count += things);
  await chore.run({ signal: new AbortController().signal, done });
  return count;
};
