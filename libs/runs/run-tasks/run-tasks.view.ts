import {
  claimNames,
  sql,
  type OrganizationDeleted,
  type Projection,
  type Sql,
  type UniqueNames,
} from '#platform/kernel';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  listInOrganization,
  loadParentWithCount,
  requireCurrentAccess,
  requirePermittedRow,
  type Actor,
  type Permission,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import { buildSecretDeletion, selectEncryptedSecret } from '#storage/vault';
import type { RunTaskEvent, RunTaskSettings } from './run-task.js';

export const RUN_TASK_NAMES: UniqueNames = {
  table: 'run_tasks',
  scope: ['organization'],
  constraint: 'run_tasks_organization_name_key',
  noun: 'run tasks',
};

export const runTasks: Projection<RunTaskEvent | OrganizationDeleted> = {
  name: 'run_tasks',
  version: 1,
  tables: ['run_tasks'],
  on: {
    RunTaskCreated: (task, { stream, organization, time }) => sql`
      insert into run_tasks (id, organization, name, url, description, enabled, global_enabled, global_stages,
                             global_enforcement_level, has_hmac_key, created_at)
      values (${stream}, ${organization}, ${task.name}, ${task.url}, ${task.description}, ${task.enabled},
              ${task.globalEnabled}, ${task.globalStages}::text[], ${task.globalEnforcementLevel}, ${task.hasHmacKey},
              ${time})`,
    RunTaskUpdated: (task, { stream }) => sql`
      update run_tasks
         set name = ${task.name}, url = ${task.url}, description = ${task.description}, enabled = ${task.enabled},
             global_enabled = ${task.globalEnabled}, global_stages = ${task.globalStages}::text[],
             global_enforcement_level = ${task.globalEnforcementLevel}, has_hmac_key = ${task.hasHmacKey}
       where id = ${stream}`,
    RunTaskDeleted: (_, { stream }) => sql`delete from run_tasks where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from run_tasks where organization = ${stream}`,
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild need not check them again. */
export const runTaskNames: Projection<Extract<RunTaskEvent, { type: 'RunTaskCreated' | 'RunTaskUpdated' }>> = {
  name: 'run_task_names',
  tables: [],
  on: {
    RunTaskCreated: (_, { stream }) => claimNames(RUN_TASK_NAMES, [stream]),
    RunTaskUpdated: (_, { stream }) => claimNames(RUN_TASK_NAMES, [stream]),
  },
};

/** Deletes the key from the vault. `tables` is empty, because the vault is not a view. */
export const runTaskSecrets: Projection<Extract<RunTaskEvent, { type: 'RunTaskDeleted' }>> = {
  name: 'run_task_secrets',
  tables: [],
  on: { RunTaskDeleted: (_, { stream }) => buildSecretDeletion(sql`${stream}`) },
};

export type RunTaskRow = RunTaskSettings & {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  /** Ids of its workspace tasks whose workspaces exist. */
  readonly workspaceTasks: readonly string[];
};

const COLUMNS = sql.raw(`
  t.id, t.organization, o.name as "organizationName", t.name, t.url, t.description, t.enabled,
  t.global_enabled as "globalEnabled", t.global_stages as "globalStages",
  t.global_enforcement_level as "globalEnforcementLevel", t.has_hmac_key as "hasHmacKey",
  array(select wt.id from workspace_tasks wt join workspaces w on w.id = wt.workspace
         where wt.task = t.id order by wt.created_at, wt.id) as "workspaceTasks"`);

const FROM = sql.raw('from run_tasks t join organizations o on o.id = t.organization');

export const selectRunTaskById = (id: string): Sql => sql`select ${COLUMNS} ${FROM} where t.id = ${id}`;

export type RunTaskForCommand = RunTaskRow & {
  readonly snapshot: StreamSnapshot;
  /** Version of the organization: after its deletion, no event about its contents may follow. */
  readonly preconditions: readonly StreamVersion[];
  /** The key that signs requests; null without one. */
  readonly encryptedKey: string | null;
};

export const findRunTaskForCommand = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<RunTaskForCommand> => {
  const row = await database.row<RunTaskForCommand>(sql`
    select ${COLUMNS}, ${buildSnapshotJson('s')} as snapshot,
           ${selectStreamVersions(sql.raw('array[t.organization]'))} as preconditions,
           ${selectEncryptedSecret(sql.raw('t.id'))} as "encryptedKey"
      ${FROM} join event_store.streams s on s.stream = t.id
     where t.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-run-tasks', row);
};

/** Returns the task. Throws the refusal of the permission table if the caller lacks the permission. */
export const findRunTask = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<RunTaskRow> => {
  const row = await database.row<RunTaskRow>(
    sql`select ${COLUMNS} ${FROM} where t.id = ${id} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, permission, row);
};

/** Returns the organization, and how many run tasks it has. */
export const loadOrganizationForRunTask = (database: Database, actor: Actor, name: string) =>
  loadParentWithCount(
    database,
    actor,
    'manage-run-tasks',
    name,
    sql.raw('select count(*) from run_tasks t where t.organization = o.id'),
  );

/** Returns the condition that the organization has this number of run tasks or more. */
export const hasRunTasks = (organization: string, most: number): Sql =>
  sql`(select count(*) >= ${most} from run_tasks where organization = ${organization})`;

/** Returns one page of the run tasks of an organization and the count of all, from one statement. */
export const listRunTasks = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
): Promise<ListPage<RunTaskRow>> =>
  listInOrganization(
    database,
    actor,
    {
      organization,
      permission: 'read-organization',
      columns: COLUMNS,
      from: FROM,
      where: sql.raw('t.organization = owner.id'),
      order: sql.raw('name, id'),
    },
    page,
  );
