import { sql, type Clock } from '#platform/kernel';
import type { Database, JobRecorder } from '#platform/postgres';

/** Some jobs run every second, and an idle server must not write to the disk that often. */
const RECORD_MS = 10_000;

/**
 * Returns a function that records the end of a run, instead of the run before it. Of the successes of a job, it records one in
 * 10 s.
 */
export const createJobRecorder = (database: Database, clock: Clock): JobRecorder => {
  const successes = new Map<string, number>();
  return async (job, succeeded) => {
    const now = clock.now();
    if (succeeded && now.getTime() - (successes.get(job) ?? Number.NEGATIVE_INFINITY) < RECORD_MS) return;
    const time = now.toISOString();
    await database.rows(sql`
      insert into site.job_runs as r (job, ended_at, succeeded, succeeded_at)
      values (${job}, ${time}, ${succeeded}, case when ${succeeded} then ${time}::timestamptz end)
      on conflict (job) do update
        set ended_at = excluded.ended_at, succeeded = excluded.succeeded,
            succeeded_at = coalesce(excluded.succeeded_at, r.succeeded_at)`);
    if (succeeded) successes.set(job, now.getTime());
    else successes.delete(job);
  };
};

/** The last run of a scheduled job. */
export type JobState = {
  readonly job: string;
  readonly endedAt: string;
  readonly succeeded: boolean;
  readonly succeededAt: string | null;
};

/** Returns the last run of each job that has run, by its name. */
export const readJobStates = async (database: Database): Promise<ReadonlyMap<string, JobState>> => {
  const rows = await database.rows<JobState>(sql`
    select job, ended_at as "endedAt", succeeded, succeeded_at as "succeededAt" from site.job_runs`);
  return new Map(rows.map((row) => [row.job, row]));
};
