import { sql, type Clock } from '#kernel';
import type { Database, JobRecorder } from '#postgres';

/** Returns a function that records the end of a run, instead of the run before it. */
export const createJobRecorder =
  (database: Database, clock: Clock): JobRecorder =>
  async (job, succeeded) => {
    const now = clock.now().toISOString();
    await database.rows(sql`
      insert into site.job_runs as r (job, ended_at, succeeded, succeeded_at)
      values (${job}, ${now}, ${succeeded}, case when ${succeeded} then ${now}::timestamptz end)
      on conflict (job) do update
        set ended_at = excluded.ended_at, succeeded = excluded.succeeded,
            succeeded_at = coalesce(excluded.succeeded_at, r.succeeded_at)`);
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
