import {
  notFound,
  sql,
  whenWorkspaceEnds,
  type OrganizationDeleted,
  type Projection,
  type Sql,
  type WorkspaceEnd,
} from '#platform/kernel';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requireCurrentAccess,
  requirePermittedRow,
  selectPermittedScopes,
  selectWorkspaceGrants,
  toPermittedPage,
  type Actor,
  type Grant,
  type Permission,
} from '#api/access';
import { buildLimit, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { RunTaskEvent } from './run-task.js';
import type { EnforcementLevel, TaskStageName } from './task-stages.js';
import type { WorkspaceTaskEvent } from './workspace-task.js';

type WorkspaceTaskOwnerEnd = WorkspaceEnd | OrganizationDeleted | Extract<RunTaskEvent, { type: 'RunTaskDeleted' }>;

export const workspaceTasks: Projection<WorkspaceTaskEvent | WorkspaceTaskOwnerEnd> = {
  name: 'workspace_tasks',
  version: 1,
  tables: ['workspace_tasks'],
  on: {
    WorkspaceTaskCreated: ({ workspace, task, enforcementLevel, stages }, { stream, organization, time }) => sql`
      insert into workspace_tasks (id, organization, workspace, task, enforcement_level, stages, created_at)
      values (${stream}, ${organization}, ${workspace}, ${task}, ${enforcementLevel}, ${stages}::text[], ${time})`,
    WorkspaceTaskUpdated: ({ enforcementLevel, stages }, { stream }) => sql`
      update workspace_tasks set enforcement_level = ${enforcementLevel}, stages = ${stages}::text[] where id = ${stream}`,
    WorkspaceTaskDeleted: (_, { stream }) => sql`delete from workspace_tasks where id = ${stream}`,
    RunTaskDeleted: (_, { stream }) => sql`delete from workspace_tasks where task = ${stream}`,
    ...whenWorkspaceEnds((workspace) => sql`delete from workspace_tasks where workspace = ${workspace}`),
    OrganizationDeleted: (_, { stream }) => sql`delete from workspace_tasks where organization = ${stream}`,
  },
};

export type WorkspaceTaskRow = {
  readonly id: string;
  readonly organization: string;
  readonly workspace: string;
  readonly workspaceName: string;
  readonly task: string;
  readonly taskName: string;
  readonly enforcementLevel: EnforcementLevel;
  readonly stages: readonly TaskStageName[];
};

const COLUMNS = sql.raw(`
  wt.id, wt.organization, wt.workspace, w.name as "workspaceName", wt.task, t.name as "taskName",
  wt.enforcement_level as "enforcementLevel", wt.stages`);

const FROM = sql.raw(
  'from workspace_tasks wt join workspaces w on w.id = wt.workspace join run_tasks t on t.id = wt.task',
);

export const selectWorkspaceTaskById = (id: string): Sql => sql`select ${COLUMNS} ${FROM} where wt.id = ${id}`;

type WorkspaceTaskForCommand = WorkspaceTaskRow & {
  readonly grants: readonly Grant[];
  readonly snapshot: StreamSnapshot;
  /** Versions of the workspace, of the task and of the organization: their deletions append nothing to this stream. */
  readonly preconditions: readonly StreamVersion[];
};

export const findWorkspaceTaskForCommand = async (
  database: Database,
  actor: Actor,
  workspace: string,
  id: string,
): Promise<WorkspaceTaskForCommand> => {
  const row = await database.row<WorkspaceTaskForCommand>(sql`
    select ${COLUMNS}, ${selectWorkspaceGrants(actor, 'w')} as grants, ${buildSnapshotJson('s')} as snapshot,
           ${selectStreamVersions(sql.raw('array[wt.workspace, wt.task, wt.organization]'))} as preconditions
      ${FROM} join event_store.streams s on s.stream = wt.id
     where wt.id = ${id} and wt.workspace = ${workspace} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-run-tasks', row);
};

/** Returns the task of the workspace. Throws the refusal of the permission table if the caller lacks the permission. */
export const findWorkspaceTask = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  { workspace, id }: { readonly workspace: string; readonly id: string },
): Promise<WorkspaceTaskRow> => {
  const row = await database.row<WorkspaceTaskRow & { readonly grants: readonly Grant[] }>(sql`
    select ${COLUMNS}, ${selectWorkspaceGrants(actor, 'w')} as grants ${FROM}
     where wt.id = ${id} and wt.workspace = ${workspace} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, permission, row);
};

type WorkspaceForTask = {
  readonly organization: string;
  readonly workspaceName: string;
  readonly grants: readonly Grant[];
  /** The name of the run task; null if the organization has no such task. */
  readonly taskName: string | null;
  /** The number of tasks of the workspace. */
  readonly existing: number;
  readonly isAttached: boolean;
  readonly preconditions: readonly StreamVersion[];
};

export const loadWorkspaceForTask = async (
  database: Database,
  actor: Actor,
  workspace: string,
  task: string,
): Promise<WorkspaceForTask> => {
  const row = await database.row<WorkspaceForTask>(sql`
    select w.organization, w.name as "workspaceName", ${selectWorkspaceGrants(actor, 'w')} as grants,
           t.name as "taskName", (select count(*) from workspace_tasks wt where wt.workspace = w.id) as existing,
           ${isAttached(sql.raw('w.id'), task)} as "isAttached",
           ${selectStreamVersions(sql.raw('array_remove(array[w.id, w.organization, t.id], null)'))} as preconditions
      from workspaces w left join run_tasks t on t.id = ${task} and t.organization = w.organization
     where w.id = ${workspace} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-run-tasks', row);
};

const isAttached = (workspace: Sql, task: string): Sql =>
  sql`exists (select from workspace_tasks wt where wt.workspace = ${workspace} and wt.task = ${task})`;

/** Returns the condition that the workspace has the task already, or this number of tasks or more. */
export const hasTaskOrTasks = (workspace: string, task: string, most: number): Sql => sql`(
  ${isAttached(sql`${workspace}`, task)}
  or (select count(*) >= ${most} from workspace_tasks wt where wt.workspace = ${workspace}))`;

type WorkspaceTaskListOwner = {
  readonly owner: string;
  readonly ownerGrants: readonly Grant[];
  readonly total: number;
};

/** Returns one page of the tasks of a workspace and the count of all, from one statement. */
export const listWorkspaceTasks = async (
  database: Database,
  actor: Actor,
  workspace: string,
  page: PageRequest,
): Promise<ListPage<WorkspaceTaskRow>> => {
  const workspaces = sql`
    select w.id, w.organization, ${selectWorkspaceGrants(actor, 'w')} as grants from workspaces w
     where w.id = ${workspace} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<ListRow<WorkspaceTaskRow, WorkspaceTaskListOwner>>(
    actor,
    sql`
    select permitted.organization as owner, permitted.grants as "ownerGrants",
           (select count(*) ${FROM} where wt.workspace = permitted.id) as total, page.*
      from ${selectPermittedScopes(actor, 'read-runs', workspaces)} permitted
      left join lateral (select ${COLUMNS} ${FROM} where wt.workspace = permitted.id
                          order by "taskName", wt.id ${buildLimit(page)}) page on true
     order by page."taskName", page.id`,
  );
  if (rows.length === 0) throw notFound();
  return toPermittedPage(actor, 'read-runs', rows);
};

/** Returns a query for these workspace tasks, with the grants of the caller. */
export const selectWorkspaceTasksByIds = (ids: readonly string[], actor: Actor): Sql => sql`
  select ${COLUMNS}, ${selectWorkspaceGrants(actor, 'w')} as grants ${FROM}
   where wt.id = any (${ids}::text[]) order by wt.created_at, wt.id`;

/** Returns a query for the workspaces of these workspace tasks. */
export const selectWorkspacesOfTasks = (ids: readonly string[]): Sql =>
  sql`array(select wt.workspace from workspace_tasks wt where wt.id = any (${ids}::text[]))`;
