import { sql, type Sql } from '#platform/kernel';
import { ASSESSMENT } from './run-event.js';
import { COUNTED_STATUSES, FAILED_STATUSES, type RunStatus } from './run-status.js';

export const METRIC_TABLES = ['finished_runs', 'workspace_metrics'] as const;

/** Number of newest runs of a workspace that its metrics cover. */
export const METRICS_WINDOW_RUNS = 30;

/**
 * Selects milliseconds; null if the run did not reach `from`, or if clocks of gateways differ by more than the
 * duration.
 */
const selectDuration = (from: RunStatus, until: Sql): Sql => sql`
  case when reached ? ${from}
       then greatest(extract(epoch from (${until})::timestamptz - (reached ->> ${from})::timestamptz) * 1000, 0)::bigint
  end`;

/** Selects the measures of an ended run from a row with `reached` and `status`. */
export const RUN_MEASURE_COLUMNS = sql`
  status = any (${FAILED_STATUSES}::text[]) as failed,
  reached ? 'policy_checking' and not reached ? 'policy_checked' as by_policy,
  ${selectDuration('planning', sql`coalesce(reached ->> 'planned', reached ->> 'errored')`)} as plan_ms,
  ${selectDuration('applying', sql`reached ->> status`)} as apply_ms`;

/** Selects the metrics of a workspace over its newest runs. */
export const WORKSPACE_METRIC_COLUMNS = sql.raw(`
  count(*) as runs, count(*) filter (where failed) as failures, count(*) filter (where by_policy) as policy_failures,
  round(avg(plan_ms)) as plan_ms, round(avg(apply_ms)) as apply_ms`);

/**
 * Returns the statements that update the metrics of a workspace after a run has ended that is no health assessment. Runs of one
 * workspace can end at the same time, so the row of the workspace is locked first: then each statement sees the other runs.
 */
export const buildMetricUpdates = (run: string, status: RunStatus): readonly Sql[] => {
  if (!COUNTED_STATUSES.includes(status)) return [];
  const counts = sql`id = ${run} and source <> ${ASSESSMENT}`;
  const workspace = sql`(select workspace from runs where id = ${run})`;
  return [
    sql`
    insert into workspace_metrics as m (workspace, organization) select workspace, organization from runs where ${counts}
    on conflict (workspace) do update set organization = m.organization`,
    sql`
    insert into finished_runs (run, workspace, organization, finished_at, failed, by_policy, plan_ms, apply_ms)
    select id, workspace, organization, (reached ->> status)::timestamptz, ${RUN_MEASURE_COLUMNS} from runs where ${counts}`,
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
