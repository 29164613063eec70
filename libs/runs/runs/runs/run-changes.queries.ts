import { sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';

/**
 * Returns a text for each run that differs after each change of its status and each append to its logs. Deleted runs have none.
 */
export const listRunMarks = async (
  database: Database,
  runs: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await database.rows<{ readonly run: string; readonly mark: string }>(sql`
    select r.id as run, concat_ws('/', r.status, plan.start, apply.start) as mark
      from runs r join workspaces w on w.id = r.workspace
      cross join lateral (select coalesce(max(c.start), -1) as start from runs.log_chunks c
                           where c.phase = 'plan-' || substr(r.id, 5)) plan
      cross join lateral (select coalesce(max(c.start), -1) as start from runs.log_chunks c
                           where c.phase = 'apply-' || substr(r.id, 5)) apply
     where r.id = any(${runs}::text[])`);
  return new Map(rows.map(({ run, mark }) => [run, mark]));
};
