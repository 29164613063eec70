import type { ScheduledJob } from '#platform/postgres';

/** Runs the job once. Resolves to the number of items that it has processed. */
export const runJobOnce = async (job: ScheduledJob): Promise<number> => {
  let count = 0;
  const done = (things = 1): void => void (count += things);
  await job.run({ signal: new AbortController().signal, done });
  return count;
};
