import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import { snapshotOf, type Database, type Snapshot } from '#event-store';
import {
  demand,
  fresh,
  grantsOnProject,
  grantsOnWorkspace,
  grantedWorkspaces,
  organizationsWhere,
  type Actor,
  type Grant,
  type Identity,
  type Permission,
  type Place,
} from '#access';
import { usablePoolVersion } from '#agents/to-agents';
import { limitOf, listedIn, type Listed, type Order, type Page } from '#json-api';
import { AGENT_POOL, EXECUTION_MODE } from './execution.queries.js';
import type { Lock } from './lock.js';
import type { WorkspaceSettings } from './settings.js';
import type { Tag } from './tags.js';

/** A workspace by its id, or by the names of its organization and itself. */
export type WorkspaceTarget = { readonly id: string } | { readonly organization: string; readonly name: string };

export type WorkspaceRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly project: string;
  readonly name: string;
  readonly settings: WorkspaceSettings;
  /** What counts: its own, or what it follows. */
  readonly executionMode: WorkspaceSettings['executionMode'];
  readonly agentPool: string | null;
  readonly allowForceDelete: boolean;
  readonly lock: (Lock & { readonly at: Timestamp }) | null;
  readonly tags: readonly Tag[];
  readonly currentConfigurationVersion: string | null;
  readonly currentStateVersion: string | null;
  readonly resourceCount: number;
  readonly outputs: readonly string[];
  /** The run that it is at, or was at last. */
  readonly currentRun: string | null;
  /** Ids of its variables. */
  readonly variables: readonly string[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly latestChangeAt: Timestamp;
  /** What the caller's teams have been given there. */
  readonly grants: readonly Grant[];
};

const COLUMNS = sql`w.id, w.organization, o.name as "organizationName", w.project, w.name, w.settings, w.lock,
  ${EXECUTION_MODE} as "executionMode", ${AGENT_POOL} as "agentPool",
  (o.settings ->> 'allowForceDeleteWorkspaces')::boolean as "allowForceDelete",
  coalesce((select jsonb_agg(jsonb_build_object('key', t.key, 'value', t.value) order by t.added_in, t.ordinal)
              from workspace_tags t where t.workspace = w.id), '[]') as tags,
  array(select s.id from state_version_outputs s where s.state_version = w.current_state_version order by s.name) as outputs,
  array(select v.id from variables v where v.owner = w.id order by v.key, v.category) as variables,
  (select c.id from configuration_versions c where c.workspace = w.id and c.current_since is not null
    order by c.current_since desc, c.id desc limit 1) as "currentConfigurationVersion",
  (select c.current_run from workspace_runs c where c.workspace = w.id) as "currentRun",
  w.current_state_version as "currentStateVersion", w.resource_count as "resourceCount", w.created_at as "createdAt",
  w.updated_at as "updatedAt", w.latest_change_at as "latestChangeAt"`;

const FROM = sql.raw(
  `from workspaces w join organizations o on o.id = w.organization join projects p on p.id = w.project`,
);

const isTarget = (target: WorkspaceTarget): Sql =>
  'id' in target ? sql`w.id = ${target.id}` : sql`o.name = ${target.organization} and w.name = ${target.name}`;

/** What teams have been given on the workspace counts for the caller; nobody's where a signed link stands for them. */
const grants = (actor: Identity | null): Sql => (actor ? grantsOnWorkspace(actor, 'w') : sql.raw(`'[]'::jsonb`));

const columns = (actor: Identity | null): Sql => sql`${COLUMNS}, ${grants(actor)} as grants`;

export const workspaceById = (id: string, actor: Identity | null): Sql =>
  sql`select ${columns(actor)} ${FROM} where w.id = ${id}`;

/** The workspace, where the caller may do that with it; else the refusal of the permission table. One statement. */
export const workspaceFor = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  target: WorkspaceTarget,
): Promise<WorkspaceRow> => {
  const row = await database.row<WorkspaceRow>(
    sql`select ${columns(actor)} ${FROM} where ${isTarget(target)} and ${fresh(actor)}`,
  );
  if (!row) throw notFound();
  demand(actor, permission, row);
  return row;
};

/** What a command names besides the workspace: null where it names none. */
export type Named = { readonly project: string | null; readonly pool: string | null };

/** What a decision needs to know besides the stream's own state. */
export type WorkspaceForCommand = Place & {
  readonly organization: string;
  readonly project: string;
  readonly id: string;
  readonly allowForceDelete: boolean;
  readonly organizationVersion: number;
  /** Version of the project that the command names; null where it is none of the same organization, or none is named. */
  readonly projectVersion: number | null;
  /** What the caller's teams have been given on that project. */
  readonly projectGrants: readonly Grant[] | null;
  /** Version of the agent pool that the command names; null where it is none that the workspace may use. */
  readonly poolVersion: number | null;
  readonly snapshot: Snapshot;
};

export const workspaceForCommand = async (
  database: Database,
  actor: Actor | null,
  target: WorkspaceTarget,
  { project, pool }: Named,
): Promise<WorkspaceForCommand> => {
  const workspace = { workspace: sql.raw('w.id'), project: project ? sql`${project}` : sql.raw('w.project') };
  const choice = { pool, organization: sql.raw('w.organization'), ...workspace };
  const row = await database.row<WorkspaceForCommand>(sql`
    select w.id, w.organization, w.project, (o.settings ->> 'allowForceDeleteWorkspaces')::boolean as "allowForceDelete",
           so.version as "organizationVersion", ${grants(actor)} as grants,
           (select sp.version from projects p join event_store.streams sp on sp.stream = p.id
             where p.id = ${project} and p.organization = w.organization) as "projectVersion",
           ${actor && project ? grantsOnProject(actor, sql`${project}`) : sql.raw('null')} as "projectGrants",
           ${usablePoolVersion(choice)} as "poolVersion",
           ${snapshotOf('s')} as snapshot
      from workspaces w join organizations o on o.id = w.organization join event_store.streams s on s.stream = w.id
      join event_store.streams so on so.stream = w.organization
     where ${isTarget(target)} and ${actor ? fresh(actor) : sql`true`}`);
  if (!row) throw notFound();
  return row;
};

/** Where a new workspace would go; `project` null where it is none of the organization's. */
export type PlaceForNew = Place & {
  readonly organization: string;
  readonly organizationVersion: number;
  readonly project: string | null;
  readonly projectVersion: number | null;
  readonly poolVersion: number | null;
};

export const placeForNew = async (
  database: Database,
  actor: Actor,
  organization: string,
  { project, pool }: Named,
): Promise<PlaceForNew> => {
  // No list of workspaces can name it yet.
  const choice = { pool, organization: sql.raw('o.id'), project: sql.raw('p.id') };
  const row = await database.row<PlaceForNew>(sql`
    select o.id as organization, so.version as "organizationVersion", p.id as project, sp.version as "projectVersion",
           ${grantsOnProject(actor, sql.raw('p.id'))} as grants,
           ${usablePoolVersion(choice)} as "poolVersion"
      from organizations o
      join event_store.streams so on so.stream = o.id
      left join projects p on p.organization = o.id and p.id = coalesce(${project}, o.default_project)
      left join event_store.streams sp on sp.stream = p.id
     where o.name = ${organization} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'create-workspace', row);
  return row;
};

export type WorkspaceFilter = Order<Sort> & {
  readonly name: string | undefined;
  readonly wildcard: string | undefined;
  readonly tags: readonly string[];
  readonly excludeTags: readonly string[];
  readonly project: string | undefined;
  /** Bindings that must all be there; an empty or missing value means any. */
  readonly tagged: readonly { readonly key: string; readonly value: string | undefined }[];
  readonly currentRunStatuses: readonly string[];
};

export const SORTS = ['name', 'latest-change-at', 'current-run.created-at'] as const;
type Sort = (typeof SORTS)[number];

const currentRunAt = (workspace: string): string =>
  `(select r.created_at from workspace_runs c join runs r on r.id = c.current_run where c.workspace = ${workspace})`;

/** What each order sorts by, in the table and in the page; names, which are unique, end it and make it stable. */
const ORDER = {
  name: ['w.name', 'page.name'],
  'latest-change-at': ['w.latest_change_at', 'page."latestChangeAt"'],
  'current-run.created-at': [currentRunAt('w.id'), currentRunAt('page.id')],
} as const satisfies Record<Sort, readonly [string, string]>;

const orderOf = ({ sort, descending }: WorkspaceFilter): { readonly inner: Sql; readonly outer: Sql } => {
  const direction = descending ? 'desc' : 'asc';
  // Those without a run come last either way; elsewhere the words would keep the index from being read backwards.
  const way = sort === 'current-run.created-at' ? `${direction} nulls last` : direction;
  const [inner, outer] = ORDER[sort];
  return {
    inner: sql.raw(`order by ${inner} ${way}, w.name ${direction}`),
    outer: sql.raw(`order by ${outer} ${way}, page.name ${direction}`),
  };
};

const likePattern = (wildcard: string): string =>
  wildcard.replaceAll(/[\\%_]/g, (special) => `\\${special}`).replaceAll('*', '%');

/** Lists are parameters, not pieces of text: every text is a prepared statement of its own on every connection. */
const hasAllOf = (keys: readonly string[]): Sql => sql`not exists (
  select 1 from unnest(${keys}::text[]) as wanted (key)
   where not exists (select 1 from workspace_tags t where t.workspace = w.id and t.key = wanted.key))`;

const hasNoneOf = (keys: readonly string[]): Sql =>
  sql`not exists (select 1 from workspace_tags t where t.workspace = w.id and t.key = any (${keys}::text[]))`;

const isTagged = (tagged: WorkspaceFilter['tagged']): Sql => sql`not exists (
  select 1 from unnest(${tagged.map(({ key }) => key)}::text[], ${tagged.map(({ value }) => value || null)}::text[])
                as wanted (key, value)
   where not exists (select 1 from workspace_tags t where t.workspace = w.id and t.key = wanted.key
                        and (wanted.value is null or t.value = wanted.value)))`;

const isAtRun = (statuses: readonly string[]): Sql => sql`exists (
  select 1 from workspace_runs c join runs r on r.id = c.current_run
   where c.workspace = w.id and r.status = any (${statuses}::text[]))`;

/** The conditions of a list, besides the organization; none where all of it is asked for. */
const conditionsOf = (filter: WorkspaceFilter): readonly Sql[] => [
  ...(filter.name ? [sql`position(lower(${filter.name}) in lower(w.name)) > 0`] : []),
  ...(filter.wildcard ? [sql`w.name like ${likePattern(filter.wildcard)}`] : []),
  ...(filter.project ? [sql`w.project = ${filter.project}`] : []),
  ...(filter.tags.length > 0 ? [hasAllOf(filter.tags)] : []),
  ...(filter.excludeTags.length > 0 ? [hasNoneOf(filter.excludeTags)] : []),
  ...(filter.tagged.length > 0 ? [isTagged(filter.tagged)] : []),
  ...(filter.currentRunStatuses.length > 0 ? [isAtRun(filter.currentRunStatuses)] : []),
];

/** What a list is taken from: the whole organization by standing, or else what teams have been given; one is empty. */
const extents = (actor: Actor): readonly [whole: Sql, granted: Sql] => [
  sql`owner.whole and w.organization = owner.id`,
  sql`not owner.whole and w.organization = owner.id and w.id in (${grantedWorkspaces(actor)})`,
];

const countOf = (extent: Sql, conditions: readonly Sql[]): Sql =>
  sql`(select count(*) from workspaces w where ${extent} and ${sql.and(conditions)})`;

/** Counting a hundred thousand rows for every page would cost more than the page: the whole has its own count. */
const totalOf = (actor: Actor, conditions: readonly Sql[]): Sql => {
  const [whole, granted] = extents(actor);
  const all = sql`(select coalesce(sum(c.workspaces), 0)::bigint from workspace_counts c where c.organization = owner.id)`;
  return sql`case when owner.whole then ${conditions.length === 0 ? all : countOf(whole, conditions)}
                  else ${countOf(granted, conditions)} end`;
};

/** One page and the count of all, in one statement. */
export const listWorkspaces = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
  filter: WorkspaceFilter,
): Promise<Listed<WorkspaceRow>> => {
  const conditions = conditionsOf(filter);
  const order = orderOf(filter);
  // Each with an order and a limit of its own, so that an index can serve it; together they are one page still.
  const [whole, granted] = extents(actor);
  const pageOf = (extent: Sql): Sql =>
    sql`(select w.* from workspaces w where ${extent} and ${sql.and(conditions)} ${order.inner} ${limitOf(page)})`;
  const found = await database.rows<WorkspaceRow & { total: number; owner: string }>(sql`
    select owner.id as owner, owner.total, page.*
      from (select owner.*, ${totalOf(actor, conditions)} as total
              from (select id, ${organizationsWhere(actor, 'read-workspace')} as whole from organizations where name = ${organizationName} and ${fresh(actor)}) owner
             -- Once, and not for each row of the page.
            offset 0) owner
      left join lateral (
        select ${columns(actor)}
          from (${pageOf(whole)} union all ${pageOf(granted)}) w
          join organizations o on o.id = w.organization join projects p on p.id = w.project) page on true
     ${order.outer}`);
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-organization', { organization: first.owner });
  return listedIn(found);
};
