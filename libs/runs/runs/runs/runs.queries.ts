import { notFound, sql, type ExecutionMode, type Principal, type Sql, type Timestamp } from '#platform/kernel';
import { selectSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermittedRow,
  requireCurrentAccess,
  selectWorkspaceGrants,
  type Actor,
  type Grant,
  type PermissionScope,
} from '#api/access';
import { isPoolUsableBy, USES_SITE_POOLS } from '#organizations/agents';
import { selectStoredAttributes } from '#api/json-api';
import { selectEncryptedSecret } from '#storage/vault';
import { HAS_ENFORCED_POLICIES } from '#runs/policies';
import type { EnforcedPolicySet } from '#runs/policies/rules';
import { SELECT_CONSULTED_TASKS } from '#runs/run-tasks';
import type { ConsultedTask } from '#runs/run-tasks/rules';
import type { RunVariableCandidates } from '#workspaces/variables';
import {
  AGENT_POOL,
  EXECUTION_MODE,
  SELECT_SITE_RELEASES,
  buildLockSnapshotJson,
  type LockSnapshot,
  type SiteRelease,
} from '#workspaces/workspaces';
import { selectJobValueCandidates, selectStoredValuesMib } from '../job-values/job-values.service.js';
import { STAGE_ORDER } from '../task-stages/task-stages.queries.js';
import type { StatusTimestamps } from './phases.js';
import type { RunAuthors } from '../policy-evaluations/override-obstacle.js';
import { RUN_AUTHORS } from '../policy-evaluations/run-authors.queries.js';
import { POLICY_COLUMNS } from './policy-columns.queries.js';
import { RUN_OPTIONS, type RunOptions } from './run-options.js';
import type { RunStatus } from './run-status.js';
import type { PlannedCounts, RunExecution, RunSource } from './run-event.js';

export type RunRow = {
  readonly id: string;
  readonly workspace: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly status: RunStatus;
  readonly reached: StatusTimestamps;
  readonly options: RunOptions;
  readonly configurationVersion: string;
  readonly message: string;
  readonly source: RunSource;
  readonly createdBy: Principal;
  readonly confirmedBy: Principal | null;
  readonly hasChanges: boolean;
  readonly hasGeneratedConfiguration: boolean;
  /** When the executor has stored a state that the workspace did not accept; null if it has not. */
  readonly erroredStateAt: Timestamp | null;
  /** When a retention policy has deleted its logs and documents; null if they are kept. */
  readonly dataDeletedAt: Timestamp | null;
  readonly planExecution: RunExecution | null;
  readonly applyExecution: RunExecution | null;
  readonly planned: PlannedCounts | null;
  readonly applied: PlannedCounts | null;
  readonly cancelRequestedAt: Timestamp | null;
  readonly forceCancelAvailableAt: Timestamp | null;
  readonly createdAt: Timestamp;
  readonly executionMode: ExecutionMode;
  readonly agentPool: string | null;
  /** Whether executors should write the log as JSON lines, which the CLI renders. */
  readonly structuredRunOutput: boolean;
  /** Whether the run waits for an executor and no agent pool of the organization may execute it. */
  readonly hasNoPool: boolean;
  /** Number of runs that must end first; 0 when it is the run's turn. */
  readonly position: number;
  readonly comments: readonly string[];
  readonly runEvents: readonly string[];
  readonly taskStages: readonly string[];
  /** Encrypted values of the run's own variables; null if it has none. */
  readonly encryptedVariables: string | null;
  /** The workspace whose run has started this one; null if there is none, or none any more. */
  readonly triggeringSource: (PermissionScope & { readonly name: string }) | null;
  /** Access of the caller's teams to the workspace. */
  readonly grants: readonly Grant[];
};

/** Must match the condition of the index `runs_open`: FINAL_STATUSES. */
export const isOpen = (alias: string): Sql =>
  sql.raw(`${alias}.status not in ('policy_soft_failed', 'planned_and_finished', 'applied', 'discarded', 'errored',
  'canceled', 'force_canceled')`);

/** Whether the run is a health assessment. A literal, so that partial indexes serve it: ASSESSMENT. */
export const isAssessment = (alias: string): Sql => sql.raw(`${alias}.source = 'assessment'`);
export const isNoAssessment = (alias: string): Sql => sql.raw(`${alias}.source <> 'assessment'`);

/** Whether the pool in the row `ap` serves the workspace's execution mode: owners choose the pools for `remote`. */
const SERVES_MODE = sql`(${EXECUTION_MODE} = 'remote' and ap.remote_runs_enabled
      or ${EXECUTION_MODE} = 'agent' and ${AGENT_POOL} = ap.id)`;

/**
 * Whether the pool in the row `ap` executes the runs of the workspace. Needs `RUN_JOINS`. The scope of an organization's pool
 * must include the workspace in every mode: a default may have chosen the pool, or the scope may have changed. Pools of the
 * site serve the organizations that have no pool for remote runs.
 */
export const SERVES_WORKSPACE = sql`(ap.organization = w.organization and ${SERVES_MODE}
      and ${isPoolUsableBy({ workspace: sql.raw('w.id'), project: sql.raw('w.project') })}
    or ap.organization is null and ${EXECUTION_MODE} = 'remote' and ${USES_SITE_POOLS})`;

/**
 * Selects runs as `r`: those of the organization of a pool, or all of them for a pool of the site. Postgres uses an index in both
 * cases, as it would not with one condition for both.
 */
export const selectRunsInReach = (organization: Sql): Sql => sql`(
  select * from runs where organization = ${organization}
  union all
  select * from runs where ${organization} is null) r`;

const WAITS_FOR_EXECUTOR = sql.raw(`r.status in ('plan_queued', 'apply_queued')`);

/**
 * Whether the run `r` waits in `remote` mode for an executor and no agent pool may execute it. Needs the joins of
 * `AROUND`.
 */
export const REMOTE_WITHOUT_POOL = sql`${WAITS_FOR_EXECUTOR} and ${EXECUTION_MODE} = 'remote'
  and not exists (select 1 from agent_pools ap where ${SERVES_WORKSPACE})`;

const RUN_COLUMNS = sql`r.id, r.workspace, r.organization, o.name as "organizationName", r.status, r.reached,
  ${selectStoredAttributes(RUN_OPTIONS, 'r.options')} as options,
  r.configuration_version as "configurationVersion", r.message, r.source, r.created_by as "createdBy",
  r.confirmed_by as "confirmedBy", r.plan_execution as "planExecution",
  r.apply_execution as "applyExecution", r.has_changes as "hasChanges",
  r.generated_configuration as "hasGeneratedConfiguration", r.errored_state_at as "erroredStateAt",
  r.data_deleted_at as "dataDeletedAt", r.planned, r.applied,
  r.cancel_requested_at as "cancelRequestedAt", r.force_cancel_available_at as "forceCancelAvailableAt",
  r.created_at as "createdAt", ${EXECUTION_MODE} as "executionMode", ${AGENT_POOL} as "agentPool",
  (w.settings ->> 'structuredRunOutputEnabled')::boolean as "structuredRunOutput",
  case when ${WAITS_FOR_EXECUTOR} then not exists (select 1 from agent_pools ap where ${SERVES_WORKSPACE})
       else false end as "hasNoPool",
  case when r.status = 'pending' then
         (select count(*) from runs ahead where ahead.workspace = r.workspace and ahead.queues and ${isOpen('ahead')}
                                            and (ahead.created_at, ahead.id) < (r.created_at, r.id))
       else 0 end as position,
  array(select c.id from run_comments c where c.run = r.id order by c.version) as comments,
  array(select e.id from run_events e where e.run = r.id order by e.version) as "runEvents",
  array(select s.id from task_stages s where s.run = r.id order by ${STAGE_ORDER}) as "taskStages",
  case when r.options -> 'variables' <> '[]' then ${selectEncryptedSecret(sql.raw('r.id'))} end as "encryptedVariables"`;

export const RUN_JOINS = sql.raw(`join workspaces w on w.id = r.workspace join projects p on p.id = w.project
  join organizations o on o.id = r.organization`);

export const selectRunGrants = (actor: Actor): Sql => selectWorkspaceGrants(actor, 'w');

/** Selects the workspace whose run has started the run `r`; null if there is none, or none any more. */
const selectTriggeringSource = (actor: Actor): Sql => sql`
  case when r.options -> 'triggeredBy' <> 'null' then (
    select jsonb_build_object('name', source.name, 'organization', source.organization,
                              'grants', ${selectWorkspaceGrants(actor, 'source')})
      from workspaces source where source.id = r.options #>> '{triggeredBy,workspace}') end`;

/** The columns of a run without the grants of the caller. */
export const selectRunFacts = (actor: Actor): Sql =>
  sql`${RUN_COLUMNS}, ${selectTriggeringSource(actor)} as "triggeringSource"`;
export const selectRunColumns = (actor: Actor): Sql =>
  sql`${selectRunFacts(actor)}, ${selectRunGrants(actor)} as grants`;

export const selectRunById = (id: string, actor: Actor): Sql =>
  sql`select ${selectRunColumns(actor)} from runs r ${RUN_JOINS} where r.id = ${id}`;

export const selectRunsByIds = (ids: Sql, actor: Actor): Sql =>
  sql`select ${selectRunColumns(actor)} from runs r ${RUN_JOINS} where r.id = any (${ids}) order by r.id`;

/** Returns the run; throws not-found or forbidden if the caller lacks the permission on its workspace. */
export const findRun = async (database: Database, actor: Actor, id: string): Promise<RunRow> => {
  const row = await database.row<RunRow>(
    sql`select ${selectRunColumns(actor)} from runs r ${RUN_JOINS} where r.id = ${id} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, 'read-runs', row);
};

const selectVersion = (stream: string): Sql =>
  sql.raw(`(select s.version from event_store.streams s where s.stream = ${stream})`);

/** Returns a condition: whether the agents of the pool may execute the workspace's runs. */
export const canExecute = (pool: string): Sql => sql`exists (
  select 1 from agent_pools ap where ap.id = ${pool} and ${SERVES_WORKSPACE})`;

/** Size of the stored comments of a run. */
export type StoredComments = { readonly count: number; readonly bytes: number };

const COMMENTS = sql.raw(`(
  select jsonb_build_object('count', count(*), 'bytes', coalesce(sum(octet_length(c.body)), 0))
    from run_comments c where c.run = r.id)`);

export type RunForCommand = PermissionScope & {
  readonly comments: StoredComments;
  readonly id: string;
  readonly workspace: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly snapshot: StreamSnapshot;
  readonly workspaceSnapshot: LockSnapshot;
  /** For an agent token: whether the agent's pool executes the run. */
  readonly executable: boolean;
  readonly authors: RunAuthors;
  readonly workspaceName: string;
  readonly runMessage: string;
  /** The policies of the workspace while the run is planned; none at other times. */
  readonly enforcedPolicies: readonly EnforcedPolicySet[];
  readonly siteOpaReleases: readonly SiteRelease[];
};

/** With `actor` null no permission is checked: the queue acts by itself. */
export const loadRunForCommand = async (
  database: Database,
  actor: Actor | null,
  id: string,
): Promise<RunForCommand> => {
  const row = await database.row<RunForCommand>(sql`
    select r.id, r.workspace, r.organization, ${selectVersion('r.organization')} as "organizationVersion",
           ${selectSnapshotJson('r.id')} as snapshot, ${buildLockSnapshotJson(actor)} as "workspaceSnapshot", ${COMMENTS} as comments,
           ${actor ? selectRunGrants(actor) : sql`'[]'::jsonb`} as grants, ${actor ? canExecute(actor.id) : sql`false`} as executable,
           ${RUN_AUTHORS} as authors, w.name as "workspaceName", r.message as "runMessage", ${POLICY_COLUMNS}
      from runs r ${RUN_JOINS} where r.id = ${id} and ${actor ? requireCurrentAccess(actor) : sql`true`}`);
  if (!row) throw notFound();
  return row;
};

/** Returns the run that has the workspace and the runs that wait before this one, with snapshots. */
export const listRunsAhead = (
  database: Database,
  id: string,
  holder: string,
): Promise<{ id: string; snapshot: StreamSnapshot }[]> =>
  database.rows<{ id: string; snapshot: StreamSnapshot }>(sql`
    select ahead.id, ${selectSnapshotJson('ahead.id')} as snapshot
      from runs r join runs ahead on ahead.workspace = r.workspace and ${isOpen('ahead')}
     where r.id = ${id}
       and (ahead.id = ${holder} or ahead.queues and (ahead.created_at, ahead.id) < (r.created_at, r.id))
     order by ahead.id`);

/**
 * Selects the runs whose turn it is: the first waiting run of each free workspace. `streams` are ids of workspaces or
 * of their runs; the `cause` is the workspace, else the run itself, else the first of the other streams.
 */
export const selectNextRuns = (streams: readonly string[]): Sql => sql`
  select distinct on (next.id) next.id, changed.stream as cause
    from unnest(${streams}::text[]) with ordinality as changed (stream, n)
    join workspaces w on w.lock is null
                     and w.id = coalesce((select r.workspace from runs r where r.id = changed.stream), changed.stream)
   cross join lateral (select r.id from runs r
                        where r.workspace = w.id and r.queues and r.status = 'pending' and ${isOpen('r')}
                        order by r.created_at, r.id limit 1) next
   order by next.id, changed.stream = w.id desc, changed.stream = next.id desc, changed.n`;

export type ConfigurationForRun = PermissionScope & {
  readonly id: string;
  readonly version: number;
  readonly uploaded: boolean;
  readonly speculative: boolean;
};

/** The workspace of a new run. */
export type WorkspaceForNewRun = PermissionScope & {
  readonly workspace: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly workspaceSnapshot: LockSnapshot;
  readonly executionMode: ExecutionMode;
  readonly autoApply: boolean;
  readonly allowDestroyPlan: boolean;
  readonly terraformVersion: string;
  readonly siteReleases: readonly SiteRelease[];
  readonly consultedTasks: readonly ConsultedTask[];
  /** Whether its plans must pass policies. */
  readonly hasPolicies: boolean;
  /** Whether other runs wait already. */
  readonly isQueued: boolean;
  readonly variables: RunVariableCandidates;
  /** What the values of all runs of the organization have. */
  readonly storedValuesMib: number;
  /** The requested configuration, else the workspace's current one, else the last upload; null if there is none. */
  readonly configuration: ConfigurationForRun | null;
};

/** A run may use a version of another workspace by its id, so that a tested configuration can be promoted. */
const selectConfiguration = (actor: Actor, id: string | null): Sql => {
  const condition = id === null ? sql`cv.workspace = w.id and cv.status = 'uploaded'` : sql`cv.id = ${id}`;
  return sql`(
    select jsonb_build_object('id', cv.id, 'organization', cv.organization, 'version', ${selectVersion('cv.id')},
             'uploaded', cv.status = 'uploaded', 'speculative', cv.speculative,
             'grants', ${selectWorkspaceGrants(actor, 'cw')})
      from configuration_versions cv join workspaces cw on cw.id = cv.workspace
     where cv.organization = w.organization and ${condition}
     order by cv.current_since desc nulls last, cv.created_at desc, cv.id desc limit 1)`;
};

export const loadWorkspaceForNewRun = async (
  database: Database,
  actor: Actor,
  workspace: string,
  configurationVersion: string | null,
): Promise<WorkspaceForNewRun> => {
  const row = await database.row<WorkspaceForNewRun>(sql`
    select w.id as workspace, w.organization, ${selectVersion('w.organization')} as "organizationVersion",
           ${buildLockSnapshotJson(actor)} as "workspaceSnapshot", ${EXECUTION_MODE} as "executionMode",
           (w.settings ->> 'autoApply')::boolean as "autoApply",
           (w.settings ->> 'allowDestroyPlan')::boolean as "allowDestroyPlan",
           w.settings ->> 'terraformVersion' as "terraformVersion", ${SELECT_SITE_RELEASES} as "siteReleases",
           ${SELECT_CONSULTED_TASKS} as "consultedTasks", ${HAS_ENFORCED_POLICIES} as "hasPolicies",
           exists (select 1 from runs r where r.workspace = w.id and r.queues and r.status = 'pending'
                                          and ${isOpen('r')}) as "isQueued",
           ${selectJobValueCandidates(sql.raw('w.id'))} as variables,
           ${selectStoredValuesMib(sql.raw('w.organization'))} as "storedValuesMib",
           ${selectConfiguration(actor, configurationVersion)} as configuration, ${selectRunGrants(actor)} as grants
      from workspaces w join projects p on p.id = w.project join organizations o on o.id = w.organization
     where w.id = ${workspace} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row;
};
