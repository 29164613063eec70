import {
  sql,
  type DataOf,
  type Projection,
  type RecordedEvent,
  type Sql,
  type OrganizationDeleted,
  type WorkspaceDeleted,
} from '#platform/kernel';
import { buildSecretDeletion } from '#storage/vault';
import { getOperation, RUN_OPTIONS } from './runs/run-options.js';
import { FINAL_STATUSES, isFinal, type RunStatus } from './runs/run-status.js';
import { STATUS_AFTER, waitsForWorkspace } from './runs/run-state.js';
import type { RunEvent } from './runs/run-event.js';
import { METRIC_TABLES, buildMetricUpdates } from './runs/runs.metrics.js';

type RunOwnerDeleted = OrganizationDeleted | WorkspaceDeleted;

const TABLES = ['runs', 'workspace_runs', 'run_events', 'run_comments', ...METRIC_TABLES] as const;

const toHistoryId = ({ id }: RecordedEvent): string => `re-${id.replaceAll('-', '')}`;

/** Adds an entry to the event history of the run. */
const insertRunEvent = (event: RecordedEvent, action: string, description: string | null = null): Sql => sql`
  insert into run_events (id, run, workspace, organization, version, action, description, actor, created_at)
  select ${toHistoryId(event)}, id, workspace, organization, ${event.version}::bigint, ${action}, ${description}::text,
         ${sql.json(event.context.accessor)}::jsonb, ${event.time}::timestamptz
    from runs where id = ${event.stream}`;

type StatusChangeOptions = { readonly set?: Sql; readonly message?: string | null };

const setStatus = (
  status: RunStatus,
  event: RecordedEvent,
  { set, message }: StatusChangeOptions = {},
): readonly Sql[] => [
  sql`
  update runs
     set status = ${status}, reached = reached || ${sql.json({ [status]: event.time })}::jsonb
         ${isFinal(status) ? sql`, kept_since = ${event.time}` : sql.empty} ${set ?? sql.empty}
   where id = ${event.stream}`,
  sql`update workspace_runs set status = ${status} where current_run = ${event.stream}`,
  insertRunEvent(event, status === 'plan_queued' ? 'queued' : status, message),
  ...buildMetricUpdates(event.stream, status),
];

const onStatus =
  (type: keyof typeof STATUS_AFTER) =>
  (data: { readonly message?: string | null }, event: RecordedEvent): readonly Sql[] =>
    setStatus(STATUS_AFTER[type], event, { message: data.message ?? null });

const startPhase =
  (status: 'planning' | 'applying', column: 'plan_execution' | 'apply_execution') =>
  ({ message, execution }: DataOf<RunEvent, 'RunPlanStarted'>, event: RecordedEvent): readonly Sql[] =>
    setStatus(status, event, {
      set: sql`, ${sql.raw(column)} = ${execution ? sql.json(execution) : null}::jsonb`,
      message,
    });

/** The plan has not started, until another executor starts it. */
const requeuePlan = ({ message }: DataOf<RunEvent, 'RunPlanRequeued'>, event: RecordedEvent): readonly Sql[] => [
  ...setStatus('plan_queued', event, { set: sql`, plan_execution = null`, message }),
  sql`update runs set reached = reached - 'planning' where id = ${event.stream}`,
];

const insertRun = (data: DataOf<RunEvent, 'RunCreated'>, { stream, organization, time }: RecordedEvent): Sql => {
  const { workspace, configurationVersion, message, source, createdBy, options } = data;
  return sql`
    insert into runs
      (id, workspace, organization, status, reached, operation, queues, options, configuration_version, message, source,
       created_by, has_changes, created_at)
    values (${stream}, ${workspace}, ${organization}, 'pending', ${sql.json({ pending: time })}, ${getOperation(options)},
            ${waitsForWorkspace(options)}, ${sql.json(options)}, ${configurationVersion}, ${message}, ${source},
            ${sql.json(createdBy)}, false, ${time})`;
};

const TO_EXCLUDED = sql`
  set current_run = excluded.current_run, status = excluded.status, created_at = excluded.created_at`;

/** Makes a waiting run the current one if the workspace has no unfinished current run. */
const setCurrentRunUnlessBusy = (workspace: string, { stream, organization, time }: RecordedEvent): Sql => sql`
  insert into workspace_runs as c (workspace, organization, current_run, status, created_at)
  values (${workspace}, ${organization}, ${stream}, 'pending', ${time})
  on conflict (workspace) do update ${TO_EXCLUDED}
    where c.status = any (${FINAL_STATUSES}::text[])`;

/** Makes the run the current one: when its turn comes, or when somebody confirms its saved plan. */
const setCurrentRun = (run: string): Sql => sql`
  insert into workspace_runs (workspace, organization, current_run, status, created_at)
  select workspace, organization, id, status, created_at from runs where id = ${run} and (queues or status = 'confirmed')
  on conflict (workspace) do update ${TO_EXCLUDED}`;

/**
 * Deletes the values of variables with their runs, and what policies have said. It has no tables, because the vault is not a view.
 * List it before the projections of runs and of policy evaluations, because it finds both by their rows. The vault deletes the
 * secrets of an organization itself.
 */
export const runSecrets: Projection<WorkspaceDeleted | Extract<RunEvent, { type: 'RunDataDeleted' }>> = {
  name: 'run_secrets',
  tables: [],
  on: {
    RunDataDeleted: (_, { stream }) =>
      buildSecretDeletion(sql`select id from policy_evaluations where run = ${stream}`),
    WorkspaceDeleted: (_, { stream }) =>
      buildSecretDeletion(sql`
        select id from runs where workspace = ${stream}
        union all select id from policy_evaluations where workspace = ${stream}`),
  },
};

/**
 * One projection for all views of runs: events of the run's history, comments and metrics name only the run, and its
 * row has the rest.
 */
export const runs: Projection<RunEvent | RunOwnerDeleted> = {
  name: 'runs',
  // The rows contain all options. A migration added those of version 2. Version 2 of the view has the columns of retention.
  version: RUN_OPTIONS.version,
  tables: TABLES,
  names: [
    { table: 'runs', column: 'created_by' },
    { table: 'runs', column: 'confirmed_by' },
    { table: 'run_events', column: 'actor' },
    { table: 'run_comments', column: 'author' },
  ],
  on: {
    RunCreated: (data, event) => [
      insertRun(data, event),
      ...(waitsForWorkspace(data.options) ? [setCurrentRunUnlessBusy(data.workspace, event)] : []),
      insertRunEvent(event, 'created', data.message),
    ],
    RunPlanQueued: onStatus('RunPlanQueued'),
    // The views of task stages and policy evaluations handle these.
    RunPoliciesChosen: null,
    RunPoliciesPassed: null,
    RunPoliciesFailed: null,
    RunPoliciesErrored: null,
    RunPoliciesOverridden: null,
    RunTaskStagesCreated: null,
    RunTaskStageStarted: null,
    RunTaskResultReported: null,
    RunTaskResultErrored: null,
    RunTaskStageEnded: null,
    RunQueued: (_, event) => [...setStatus('plan_queued', event), setCurrentRun(event.stream)],
    RunStageReached: ({ stage, message }, event) => setStatus(stage, event, { message }),
    RunPlanStarted: startPhase('planning', 'plan_execution'),
    RunExecutorLost: null,
    RunPlanRequeued: requeuePlan,
    RunJobRead: null,
    RunIdentityTokenIssued: null,
    RunPlanned: ({ hasChanges, resources, message }, event) =>
      setStatus('planned', event, {
        set: sql`, has_changes = ${hasChanges}, planned = ${sql.json(resources)}`,
        message,
      }),
    RunPlannedAndFinished: onStatus('RunPlannedAndFinished'),
    RunPlanSaved: onStatus('RunPlanSaved'),
    RunConfirmed: ({ confirmedBy }, event) => [
      ...setStatus('confirmed', event, { set: sql`, confirmed_by = ${sql.json(confirmedBy)}` }),
      setCurrentRun(event.stream),
    ],
    RunApplyQueued: onStatus('RunApplyQueued'),
    RunApplyStarted: startPhase('applying', 'apply_execution'),
    RunApplied: ({ resources, message }, event) =>
      setStatus('applied', event, { set: sql`, applied = ${sql.json(resources)}`, message }),
    RunErrored: onStatus('RunErrored'),
    RunErroredStateStored: (_, { stream, time }) =>
      sql`
        update runs set errored_state_at = ${time}, kept_since = case when kept_since is not null then ${time}::timestamptz end
         where id = ${stream}`,
    RunConfigurationGenerated: (_, { stream }) =>
      sql`update runs set generated_configuration = true where id = ${stream}`,
    RunAssessed: (counts, { stream }) =>
      sql`update runs set assessed = ${sql.json(counts)}::jsonb where id = ${stream}`,
    RunDataDeleted: (_, { stream, time }) => sql`update runs set data_deleted_at = ${time} where id = ${stream}`,
    RunDiscarded: onStatus('RunDiscarded'),
    RunCancelRequested: ({ forceCancelAvailableAt }, event) => [
      sql`update runs set cancel_requested_at = ${event.time}, force_cancel_available_at = ${forceCancelAvailableAt}
           where id = ${event.stream}`,
      insertRunEvent(event, 'cancel_requested'),
    ],
    RunCanceled: onStatus('RunCanceled'),
    RunForceCanceled: onStatus('RunForceCanceled'),
    RunForceExecuted: (_, event) => insertRunEvent(event, 'force_executed'),
    RunCommented: ({ id, body, author }, event) => [
      insertRunEvent(event, 'commented'),
      sql`
        insert into run_comments (id, run, workspace, organization, run_event, version, body, author, created_at)
        select ${id}, r.id, r.workspace, r.organization, ${toHistoryId(event)}, ${event.version}::bigint, ${body},
               ${sql.json(author)}::jsonb, ${event.time}::timestamptz
          from runs r where r.id = ${event.stream}`,
    ],
    WorkspaceDeleted: (_, { stream }) =>
      TABLES.map((table) => sql`delete from ${sql.raw(table)} where workspace = ${stream}`),
    OrganizationDeleted: (_, { stream }) =>
      TABLES.map((table) => sql`delete from ${sql.raw(table)} where organization = ${stream}`),
  },
};
