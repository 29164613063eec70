import {
  claimNames,
  getOriginalTime,
  moveRows,
  restoreRows,
  shareJson,
  sql,
  type Projection,
  type RecordedEvent,
  type RecoverableRows,
  type Sql,
  type Tag,
  type OrganizationDeleted,
  type WorkspaceEnd,
} from '#platform/kernel';
import { WORKSPACE_NAMES } from '#api/access';
import type { SshKeyEvent } from '#organizations/ssh-keys';
import {
  clearLock,
  deleteWorkspace,
  deleteWorkspacesOf,
  recoverWorkspaceRow,
  setLease,
  setLock,
  setLocks,
} from './lock/lock.view.js';
import { hasOwnAutoDestroy } from './settings/auto-destroy.js';
import { WORKSPACE_SETTINGS, type VcsRepo, type WorkspaceSettings } from './settings/workspace-settings.js';
import type { TagEvent } from './tags/tags.js';
import type { WorkspaceEvent } from './workspaces/workspace.js';

type CreatedMessage = Extract<WorkspaceEvent, { type: 'WorkspaceCreated' }>;
type SshKeyDeleted = Extract<SshKeyEvent, { type: 'SshKeyDeleted' }>;

const updateLatestChange = (stream: string, time: string): Sql =>
  sql`update workspaces set updated_at = ${time} where id = ${stream}`;

const timesOf = (events: readonly RecordedEvent[]): readonly string[] => events.map(({ time }) => time);

const insertWorkspaces = (events: readonly RecordedEvent<CreatedMessage>[]): Sql => {
  const rows = events.map(({ data: { project, name, settings }, stream, organization }) => ({
    id: stream,
    organization,
    project,
    name,
    agent_pool: settings.agentPoolId,
    vcs_token: settings.vcsRepo?.oauthTokenId,
    vcs_repository: settings.vcsRepo?.identifier,
    has_destroy_time: hasOwnAutoDestroy(settings),
  }));
  const settings = shareJson(events.map(({ data }) => data.settings));
  return sql`
    insert into workspaces (id, organization, project, name, settings, agent_pool, vcs_token, vcs_repository,
                            has_destroy_time, created_at, updated_at, latest_change_at)
    select id, organization, project, name, ${settings.shared}::jsonb || settings, agent_pool, vcs_token, vcs_repository,
           has_destroy_time, time, time, time
      from rows from (
             jsonb_to_recordset(${sql.json(rows)}::jsonb)
               as (id text, organization text, project text, name text, agent_pool text, vcs_token text, vcs_repository text,
                   has_destroy_time boolean),
             jsonb_array_elements(${settings.own}::jsonb), unnest(${events.map(getOriginalTime)}::timestamptz[]))
           as rows (id, organization, project, name, agent_pool, vcs_token, vcs_repository, has_destroy_time, settings, time)`;
};

const setRepository = (repository: VcsRepo | null): Sql => sql`
  vcs_token = ${repository?.oauthTokenId ?? null}, vcs_repository = ${repository?.identifier ?? null},`;

/** The other setting keeps its value. */
const setDestroyTime = (changes: Partial<WorkspaceSettings>): Sql =>
  changes.autoDestroyAt === undefined && changes.autoDestroyActivityDuration === undefined
    ? sql.raw('')
    : sql`has_destroy_time = coalesce((settings || ${sql.json(changes)}::jsonb) ->> 'autoDestroyAt',
                                      (settings || ${sql.json(changes)}::jsonb) ->> 'autoDestroyActivityDuration') is not null,`;

export const workspaces: Projection<WorkspaceEvent | SshKeyDeleted | OrganizationDeleted> = {
  name: 'workspaces',
  // The rows contain all settings. Earlier versions do not write the other tables, and no time of the state.
  version: WORKSPACE_SETTINGS.version + 3,
  tables: ['workspaces', 'workspace_locks', 'deleted_workspaces'],
  replayIndexes: ['workspaces_by_change', 'workspaces_by_ssh_key'],
  names: [
    { table: 'workspaces', column: 'lock', at: ['holder'] },
    { table: 'deleted_workspaces', column: 'deleted_by' },
  ],
  on: {
    WorkspaceCreated: ({ project, name, settings }, event) => sql`
      insert into workspaces (id, organization, project, name, settings, agent_pool, vcs_token, vcs_repository,
                              has_destroy_time, created_at, updated_at, latest_change_at)
      values (${event.stream}, ${event.organization}, ${project}, ${name}, ${sql.json(settings)}, ${settings.agentPoolId},
              ${settings.vcsRepo?.oauthTokenId ?? null}, ${settings.vcsRepo?.identifier ?? null},
              ${hasOwnAutoDestroy(settings)}, ${getOriginalTime(event)}, ${getOriginalTime(event)}, ${getOriginalTime(event)})`,
    WorkspaceUpdated: ({ changes: { name, ...settings } }, { stream, time }) => sql`
      update workspaces
         set name = coalesce(${name ?? null}, name), settings = settings || ${sql.json(settings)}::jsonb,
             agent_pool = ${settings.agentPoolId === undefined ? sql`agent_pool` : sql`${settings.agentPoolId}`},
             ${settings.vcsRepo === undefined ? sql.raw('') : setRepository(settings.vcsRepo)}
             ${setDestroyTime(settings)}
             updated_at = ${time}
       where id = ${stream}`,
    WorkspaceMoved: ({ to }, { stream, time }) =>
      sql`update workspaces set project = ${to}, updated_at = ${time} where id = ${stream}`,
    WorkspaceDeleted: deleteWorkspace,
    WorkspaceRecovered: recoverWorkspaceRow,
    WorkspacePurged: (_, { stream }) => sql`delete from deleted_workspaces where id = ${stream}`,
    WorkspaceRepositoryConnected: null,
    WorkspaceSshKeyAssigned: ({ key }, { stream, time }) =>
      sql`update workspaces set ssh_key = ${key}, updated_at = ${time} where id = ${stream}`,
    WorkspaceSshKeyUnassigned: (_, { stream, time }) =>
      sql`update workspaces set ssh_key = null, updated_at = ${time} where id = ${stream}`,
    WorkspaceLocked: setLock,
    WorkspaceLockLeased: setLease,
    WorkspaceUnlocked: (_, event) => clearLock(event),
    WorkspaceLockExpired: (_, event) => clearLock(event),
    WorkspaceTagAdded: (_, { stream, time }) => updateLatestChange(stream, time),
    WorkspaceTagRemoved: (_, { stream, time }) => updateLatestChange(stream, time),
    WorkspaceTagBound: (_, { stream, time }) => updateLatestChange(stream, time),
    WorkspaceTagUnbound: (_, { stream, time }) => updateLatestChange(stream, time),
    WorkspaceTagged: (_, { stream, time }) => updateLatestChange(stream, time),
    WorkspaceUntagged: (_, { stream, time }) => updateLatestChange(stream, time),
    RemoteStateConsumersAdded: (_, { stream, time }) => updateLatestChange(stream, time),
    RemoteStateConsumersRemoved: (_, { stream, time }) => updateLatestChange(stream, time),
    // The latest version is shown before the unlock that makes it current.
    StateVersionCreated: (_, { stream, time }) =>
      sql`update workspaces set latest_change_at = ${time} where id = ${stream}`,
    StateVersionFinalized: null,
    StateVersionDiscarded: null,
    StateVersionErrored: null,
    StateVersionPromoted: ({ id, resources }, { stream, time }) => sql`
      update workspaces
         set current_state_version = ${id}, resource_count = ${resources}, state_changed_at = ${time}, updated_at = ${time}
       where id = ${stream}`,
    SshKeyDeleted: (_, { stream }) => sql`update workspaces set ssh_key = null where ssh_key = ${stream}`,
    OrganizationDeleted: (_, { stream }) => deleteWorkspacesOf(stream),
  },
  bulk: {
    WorkspaceCreated: (events) => [insertWorkspaces(events)],
    WorkspaceLocked: setLocks,
    WorkspaceUnlocked: setLocks,
    WorkspaceLockExpired: setLocks,
  },
  replay: {
    fixed: ['SshKeyDeleted', 'OrganizationDeleted'],
    overwriting: ['WorkspaceLocked', 'WorkspaceUnlocked', 'WorkspaceLockExpired'],
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
type NamedWorkspaceEvent = Extract<
  WorkspaceEvent,
  { type: 'WorkspaceCreated' | 'WorkspaceUpdated' | 'WorkspaceRecovered' }
>;

export const workspaceNames: Projection<NamedWorkspaceEvent> = {
  name: 'workspace_names',
  tables: [],
  on: {
    WorkspaceCreated: (_, { stream }) => claimNames(WORKSPACE_NAMES, [stream]),
    WorkspaceUpdated: ({ changes }, { stream }) =>
      changes.name === undefined ? null : claimNames(WORKSPACE_NAMES, [stream]),
    WorkspaceRecovered: (_, { stream }) => claimNames(WORKSPACE_NAMES, [stream]),
  },
  bulk: {
    WorkspaceCreated: (events) =>
      claimNames(
        WORKSPACE_NAMES,
        events.map(({ stream }) => stream),
      ),
  },
};

type CountSource = Extract<
  WorkspaceEvent,
  { type: 'WorkspaceCreated' | 'WorkspaceMoved' | 'WorkspaceDeleted' | 'WorkspaceRecovered' }
>;

const SHARDS = 16;

const getShard = (stream: string): number => stream.charCodeAt(stream.length - 1) % SHARDS;

/**
 * Adds to the count of a project's workspaces, which is spread over a few rows so that concurrent creations do not wait
 * for one row. The last letter of the id picks the row, so a rebuild gives the same rows.
 */
const addToWorkspaceCount = (stream: string, organization: string | null, project: string, change: 1 | -1): Sql => sql`
  insert into workspace_counts (organization, project, shard, workspaces)
  values (${organization}, ${project}, ${getShard(stream)}, ${change})
  on conflict (organization, project, shard) do update
    set workspaces = workspace_counts.workspaces + excluded.workspaces`;

/** Counts first, because one statement cannot change a row twice. */
const addToWorkspaceCounts = (events: readonly RecordedEvent<CreatedMessage>[]): Sql => {
  const rows = events.map(({ data: { project }, stream, organization }) => ({
    organization,
    project,
    shard: getShard(stream),
  }));
  // Always in the same order, so that two transactions cannot wait for each other.
  return sql`
    insert into workspace_counts (organization, project, shard, workspaces)
    select organization, project, shard, count(*)
      from jsonb_to_recordset(${sql.json(rows)}::jsonb) as rows (organization text, project text, shard integer)
     group by organization, project, shard order by organization, project, shard
    on conflict (organization, project, shard) do update
      set workspaces = workspace_counts.workspaces + excluded.workspaces`;
};

export const workspaceCounts: Projection<CountSource | OrganizationDeleted> = {
  name: 'workspace_counts',
  version: 1,
  tables: ['workspace_counts'],
  on: {
    WorkspaceCreated: ({ project }, { stream, organization }) => addToWorkspaceCount(stream, organization, project, 1),
    WorkspaceMoved: ({ from, to }, { stream, organization }) => [
      addToWorkspaceCount(stream, organization, from, -1),
      addToWorkspaceCount(stream, organization, to, 1),
    ],
    WorkspaceDeleted: ({ project }, { stream, organization }) => addToWorkspaceCount(stream, organization, project, -1),
    WorkspaceRecovered: ({ project }, { stream, organization }) =>
      addToWorkspaceCount(stream, organization, project, 1),
    OrganizationDeleted: (_, { stream }) => sql`delete from workspace_counts where organization = ${stream}`,
  },
  bulk: { WorkspaceCreated: (events) => [addToWorkspaceCounts(events)] },
  replay: { fixed: ['OrganizationDeleted'] },
};

/**
 * Returns one statement that stores all tags. If a key gets a new value, it keeps its position in the order of
 * insertion.
 */
const setTags = (
  tags: readonly Tag[],
  { stream, organization, version, time, context: { accessor } }: RecordedEvent,
): readonly Sql[] => {
  if (tags.length === 0) return [];
  return [
    sql`
      insert into workspace_tags (workspace, organization, key, value, added_in, ordinal, created_at, set_at, set_by)
      select ${stream}, ${organization}, t.key, t.value, ${version}::bigint, t.ordinal - 1, ${time}::timestamptz,
             ${time}::timestamptz, ${sql.json(accessor)}::jsonb
        from rows from (jsonb_to_recordset(${sql.json(tags)}::jsonb) as (key text, value text))
             with ordinality as t (key, value, ordinal)
      on conflict (workspace, key) do update
        set value = excluded.value, set_at = excluded.set_at, set_by = excluded.set_by`,
  ];
};

/** The workspaces are new, so no key gets a new value. */
const insertInitialTags = (events: readonly RecordedEvent<CreatedMessage>[]): readonly Sql[] => {
  const rows = events.flatMap(({ data: { tags }, stream, organization, version }, event) =>
    tags.map(({ key, value }, ordinal) => ({ workspace: stream, organization, key, value, version, ordinal, event })),
  );
  if (rows.length === 0) return [];
  const accessors = shareJson(events.map(({ context: { accessor } }) => accessor));
  return [
    sql`
      insert into workspace_tags (workspace, organization, key, value, added_in, ordinal, created_at, set_at, set_by)
      select t.workspace, t.organization, t.key, t.value, t.version, t.ordinal, e.time, e.time, e.accessor
        from jsonb_to_recordset(${sql.json(rows)}::jsonb)
               as t (workspace text, organization text, key text, value text, version bigint, ordinal integer,
                     event integer)
        join (select number - 1 as event, time, ${accessors.shared}::jsonb || accessor as accessor
                from rows from (unnest(${timesOf(events)}::timestamptz[]), jsonb_array_elements(${accessors.own}::jsonb))
                     with ordinality as rows (time, accessor, number)) e using (event)`,
  ];
};

const removeTags = (keys: readonly string[], { stream }: RecordedEvent): Sql =>
  sql`delete from workspace_tags where workspace = ${stream} and key = any (${keys}::text[])`;

/** Lists of tags read this table without the workspaces, so tags of deleted workspaces must not be there. */
const TAG_ROWS: RecoverableRows = { table: 'workspace_tags', deletedTable: 'deleted_workspace_tags' };

const moveTagsToDeleted = (workspace: string): Sql =>
  moveRows(TAG_ROWS, sql`workspace = ${workspace}`, {
    workspace: sql`workspace`,
    organization: sql`organization`,
    key: sql`key`,
  });

type TagSource = TagEvent | WorkspaceEnd | Extract<WorkspaceEvent, { type: 'WorkspaceCreated' | 'WorkspaceRecovered' }>;

export const workspaceTags: Projection<TagSource | OrganizationDeleted> = {
  name: 'workspace_tags',
  // Earlier versions do not write the second table.
  version: 2,
  tables: ['workspace_tags', 'deleted_workspace_tags'],
  replayIndexes: ['workspace_tags_by_key'],
  names: [
    { table: 'workspace_tags', column: 'set_by' },
    { table: 'deleted_workspace_tags', column: 'contents', at: ['set_by'] },
  ],
  on: {
    WorkspaceCreated: ({ tags }, event) => setTags(tags, event),
    WorkspaceTagAdded: ({ name }, event) => setTags([{ key: name, value: null }], event),
    WorkspaceTagRemoved: ({ name }, event) => removeTags([name], event),
    WorkspaceTagBound: ({ key, to }, event) => setTags([{ key, value: to }], event),
    WorkspaceTagUnbound: ({ key }, event) => removeTags([key], event),
    WorkspaceTagged: ({ tags }, event) => setTags(tags, event),
    WorkspaceUntagged: ({ keys }, event) => removeTags(keys, event),
    WorkspaceDeleted: ({ recoverableUntil }, { stream }) =>
      recoverableUntil === null
        ? sql`delete from workspace_tags where workspace = ${stream}`
        : moveTagsToDeleted(stream),
    WorkspaceRecovered: (_, { stream }) => restoreRows(TAG_ROWS, sql`workspace = ${stream}`, {}),
    WorkspacePurged: (_, { stream }) => sql`delete from deleted_workspace_tags where workspace = ${stream}`,
    OrganizationDeleted: (_, { stream }) => [
      sql`delete from workspace_tags where organization = ${stream}`,
      sql`delete from deleted_workspace_tags where organization = ${stream}`,
    ],
  },
  bulk: { WorkspaceCreated: insertInitialTags },
  replay: { fixed: ['OrganizationDeleted'] },
};
