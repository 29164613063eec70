import type { ScheduledJob } from '#platform/postgres';

/** Runs the job once. Resolves to the number of items that it has processed. */
export const runJobOnce = async (job: ScheduledJob): Promise<number> => {
  let count = 0;
  const done = (things = 1): void => void (count += things);
  await job.run({ signal: new AbortController().signal, done });
  return count;
};

/** Runs the jobs with these names, one after another. */
export const runJobs = async (jobs: readonly ScheduledJob[], ...names: readonly string[]): Promise<void> => {
  for (const name of names) {
    const job = jobs.find((one) => one.name === name);
    if (!job) throw new Error(`no job ${name}`);
    await runJobOnce(job);
  }
};
