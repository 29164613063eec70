import {
  sql,
  type DataOf,
  type Projection,
  type Recorded,
  type Sql,
  type OrganizationDeleted,
  type WorkspaceDeleted,
} from '#kernel';
import { forgetSecrets } from '#vault';
import { operationOf } from './run-options.js';
import { FINAL_STATUSES, type RunStatus } from './run-status.js';
import { STATUS_AFTER, waitsItsTurn } from './run-state.js';
import type { RunEvent } from './run-event.js';
import { METRIC_TABLES, metricsAfter } from './runs.metrics.js';

type Deleted = OrganizationDeleted | WorkspaceDeleted;

const TABLES = ['runs', 'workspace_runs', 'run_events', 'run_comments', ...METRIC_TABLES] as const;

const historyId = ({ id }: Recorded): string => `re-${id.replaceAll('-', '')}`;

/** What happened, as the history of the run tells it. */
const history = (event: Recorded, action: string, description: string | null = null): Sql => sql`
  insert into run_events (id, run, workspace, organization, version, action, description, actor, created_at)
  select ${historyId(event)}, id, workspace, organization, ${event.version}::bigint, ${action}, ${description}::text,
         ${sql.json(event.context.accessor)}::jsonb, ${event.time}::timestamptz
    from runs where id = ${event.stream}`;

type More = { readonly set?: Sql; readonly message?: string | null };

const reaching = (status: RunStatus, event: Recorded, { set, message }: More = {}): readonly Sql[] => [
  sql`
  update runs
     set status = ${status}, reached = reached || ${sql.json({ [status]: event.time })}::jsonb ${set ?? sql.empty}
   where id = ${event.stream}`,
  sql`update workspace_runs set status = ${status} where current_run = ${event.stream}`,
  history(event, status === 'plan_queued' ? 'queued' : status, message),
  ...metricsAfter(event.stream, status),
];

const reaches =
  (type: keyof typeof STATUS_AFTER) =>
  (data: { readonly message?: string | null }, event: Recorded): readonly Sql[] =>
    reaching(STATUS_AFTER[type], event, { message: data.message ?? null });

const born = (data: DataOf<RunEvent, 'RunCreated'>, { stream, organization, time }: Recorded): Sql => {
  const { workspace, configurationVersion, message, source, createdBy, options } = data;
  return sql`
    insert into runs
      (id, workspace, organization, status, reached, operation, queues, options, configuration_version, message, source,
       created_by, has_changes, created_at)
    values (${stream}, ${workspace}, ${organization}, 'pending', ${sql.json({ pending: time })}, ${operationOf(options)},
            ${waitsItsTurn(options)}, ${sql.json(options)}, ${configurationVersion}, ${message}, ${source},
            ${sql.json(createdBy)}, false, ${time})`;
};

const TO_EXCLUDED = sql`
  set current_run = excluded.current_run, status = excluded.status, created_at = excluded.created_at`;

/** A run that waits is current where the workspace is at none, or done with the last. */
const currentUnlessBusy = (workspace: string, { stream, organization, time }: Recorded): Sql => sql`
  insert into workspace_runs as c (workspace, organization, current_run, status, created_at)
  values (${workspace}, ${organization}, ${stream}, 'pending', ${time})
  on conflict (workspace) do update ${TO_EXCLUDED}
    where c.status = any (${FINAL_STATUSES}::text[])`;

/** From when the workspace is its own: its turn, or the confirmation of a saved plan. */
const current = (run: string): Sql => sql`
  insert into workspace_runs (workspace, organization, current_run, status, created_at)
  select workspace, organization, id, status, created_at from runs where id = ${run} and (queues or status = 'confirmed')
  on conflict (workspace) do update ${TO_EXCLUDED}`;

/**
 * Values of variables go with their runs. No tables, for the vault is no view; listed before the projection below, whose
 * rows it finds them by. An organization's are the vault's own affair.
 */
export const runSecrets: Projection<WorkspaceDeleted> = {
  name: 'run_secrets',
  tables: [],
  on: {
    WorkspaceDeleted: (_, { stream }) => forgetSecrets(sql`select id from runs where workspace = ${stream}`),
  },
};

/**
 * Everything that is seen of runs, in one projection: a run's history and comments, and its part in the metrics of its
 * workspace, are told by events that name the run alone; the rest is in its row.
 */
export const runs: Projection<RunEvent | Deleted> = {
  name: 'runs',
  tables: TABLES,
  names: [
    { table: 'runs', column: 'created_by' },
    { table: 'runs', column: 'confirmed_by' },
    { table: 'run_events', column: 'actor' },
    { table: 'run_comments', column: 'author' },
  ],
  on: {
    RunCreated: (data, event) => [
      born(data, event),
      ...(waitsItsTurn(data.options) ? [currentUnlessBusy(data.workspace, event)] : []),
      history(event, 'created', data.message),
    ],
    RunQueued: (_, event) => [...reaching('plan_queued', event), current(event.stream)],
    RunStageReached: ({ stage, message }, event) => reaching(stage, event, { message }),
    RunPlanStarted: reaches('RunPlanStarted'),
    RunPlanned: ({ hasChanges, resources, message }, event) =>
      reaching('planned', event, {
        set: sql`, has_changes = ${hasChanges}, planned = ${sql.json(resources)}`,
        message,
      }),
    RunPlannedAndFinished: reaches('RunPlannedAndFinished'),
    RunPlanSaved: reaches('RunPlanSaved'),
    RunConfirmed: ({ confirmedBy }, event) => [
      ...reaching('confirmed', event, { set: sql`, confirmed_by = ${sql.json(confirmedBy)}` }),
      current(event.stream),
    ],
    RunApplyQueued: reaches('RunApplyQueued'),
    RunApplyStarted: reaches('RunApplyStarted'),
    RunApplied: ({ resources, message }, event) =>
      reaching('applied', event, { set: sql`, applied = ${sql.json(resources)}`, message }),
    RunErrored: reaches('RunErrored'),
    RunDiscarded: reaches('RunDiscarded'),
    RunCancelRequested: ({ forceCancelAvailableAt }, event) => [
      sql`update runs set cancel_requested_at = ${event.time}, force_cancel_available_at = ${forceCancelAvailableAt}
           where id = ${event.stream}`,
      history(event, 'cancel_requested'),
    ],
    RunCanceled: reaches('RunCanceled'),
    RunForceCanceled: reaches('RunForceCanceled'),
    RunForceExecuted: (_, event) => history(event, 'force_executed'),
    RunCommented: ({ id, body, author }, event) => [
      history(event, 'commented'),
      sql`
        insert into run_comments (id, run, workspace, organization, run_event, version, body, author, created_at)
        select ${id}, r.id, r.workspace, r.organization, ${historyId(event)}, ${event.version}::bigint, ${body},
               ${sql.json(author)}::jsonb, ${event.time}::timestamptz
          from runs r where r.id = ${event.stream}`,
    ],
    WorkspaceDeleted: (_, { stream }) =>
      TABLES.map((table) => sql`delete from ${sql.raw(table)} where workspace = ${stream}`),
    OrganizationDeleted: (_, { stream }) =>
      TABLES.map((table) => sql`delete from ${sql.raw(table)} where organization = ${stream}`),
  },
};
