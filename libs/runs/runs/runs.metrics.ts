import { sql, type Sql } from '#kernel';
import type { RunStatus } from './run-status.js';

export const METRIC_TABLES = ['finished_runs', 'workspace_metrics'] as const;

/** The newest so many of a workspace's runs are what its metrics are computed over (contract §8). */
export const METRICS_WINDOW_RUNS = 30;

const FAILED_STATUSES: readonly RunStatus[] = ['errored', 'policy_soft_failed'];

/** What ends in neither, with nothing to apply or because somebody wanted no more of it, tells nothing of a workspace. */
export const COUNTED_STATUSES: readonly RunStatus[] = ['applied', ...FAILED_STATUSES];

/** In milliseconds, null where it did not come to `from`; where gateways' clocks differ by more than it took, none. */
const selectDuration = (from: RunStatus, until: Sql): Sql => sql`
  case when reached ? ${from}
       then greatest(extract(epoch from (${until})::timestamptz - (reached ->> ${from})::timestamptz) * 1000, 0)::bigint
  end`;

/** What a run that has ended tells, of a row with `reached` and `status`. */
export const RUN_MEASURE_COLUMNS = sql`
  status = any (${FAILED_STATUSES}::text[]) as failed,
  reached ? 'policy_checking' and not reached ? 'policy_checked' as by_policy,
  ${selectDuration('planning', sql`coalesce(reached ->> 'planned', reached ->> 'errored')`)} as plan_ms,
  ${selectDuration('applying', sql`reached ->> status`)} as apply_ms`;

/** What the last of them come to. */
export const WORKSPACE_METRIC_COLUMNS = sql.raw(`
  count(*) as runs, count(*) filter (where failed) as failures, count(*) filter (where by_policy) as policy_failures,
  round(avg(plan_ms)) as plan_ms, round(avg(apply_ms)) as apply_ms`);

/**
 * What the end of a run means for the metrics of its workspace; its row in `runs` knows of the end already. Runs of one
 * workspace can end at the same time: the workspace's row comes first, as the lock behind which each sees what the
 * others have added.
 */
export const buildMetricUpdates = (run: string, status: RunStatus): readonly Sql[] => {
  if (!COUNTED_STATUSES.includes(status)) return [];
  const workspace = sql`(select workspace from runs where id = ${run})`;
  return [
    sql`
    insert into workspace_metrics as m (workspace, organization) select workspace, organization from runs where id = ${run}
    on conflict (workspace) do update set organization = m.organization`,
    sql`
    insert into finished_runs (run, workspace, organization, finished_at, failed, by_policy, plan_ms, apply_ms)
    select id, workspace, organization, (reached ->> status)::timestamptz, ${RUN_MEASURE_COLUMNS} from runs where id = ${run}`,
    sql`
    delete from finished_runs where run in (
      select run from finished_runs where workspace = ${workspace} order by finished_at desc, run desc offset ${METRICS_WINDOW_RUNS})`,
    sql`
    update workspace_metrics m
       set runs = f.runs, failures = f.failures, policy_failures = f.policy_failures, plan_ms = f.plan_ms,
           apply_ms = f.apply_ms
      from (select ${WORKSPACE_METRIC_COLUMNS} from finished_runs where workspace = ${workspace}) f
     where m.workspace = ${workspace}`,
  ];
};
