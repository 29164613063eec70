import { hasName, notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requirePermittedRow,
  requireCurrentAccess,
  isGrantedProject,
  isGrantedWorkspace,
  selectPermittedOrganization,
  isPermittedByRole,
  hasOrganizationName,
  hasWorkspaceName,
  PROJECT_NAMES,
  SITE_SCOPE,
  toPermittedPage,
  verifyCurrentAccess,
  type Actor,
  type Identity,
  type Permission,
} from '#api/access';
import { selectOwnedTokens, type OwnedToken } from '#identity/people';
import { buildLimit, type ListPage, type ListRow, type SortOrder, type PageRequest } from '#api/json-api';
import { ERRORED_AFTER_MS } from '../agents/agent.js';
import type { AgentPoolChanges, PoolUse, PoolScope, PoolScopes } from './agent-pool.js';
import { isPoolUsableBy } from './usable-pools.queries.js';

export type AgentPoolRow = PoolScopes & {
  readonly id: string;
  /** Null for a pool of the site. */
  readonly organization: string | null;
  readonly organizationName: string | null;
  readonly name: string;
  readonly organizationScoped: boolean;
  readonly remoteRunsEnabled: boolean;
  readonly createdAt: Timestamp;
  /** Number of agents with a recent ping that have not exited. */
  readonly agentCount: number;
  /** Ids of the workspaces that use the pool themselves. */
  readonly workspaces: readonly string[];
};

/** The caller and the time of a read, which the number of active agents depends on. */
export type AgentPoolReader<A extends Identity = Actor> = { readonly actor: A; readonly now: Date };

const isVisibleWorkspace = (actor: Identity): Sql => sql`(o.whole or ${isGrantedWorkspace(actor, 'w')})`;

const isVisibleProject = (actor: Identity): Sql => sql`(o.whole or ${isGrantedProject(actor, sql.raw('p.id'))})`;

const selectWorkspaces = (scope: PoolScope, actor: Identity): Sql => sql`array(
  select w.id from agent_pool_scopes s join workspaces w on w.id = s.target
   where s.pool = ap.id and s.scope = ${scope} and ${isVisibleWorkspace(actor)} order by w.id)`;

const selectColumns = ({ actor, now }: AgentPoolReader<Identity>): Sql => sql`
  ap.id, ap.organization, o.name as "organizationName", ap.name, ap.organization_scoped as "organizationScoped",
  ap.remote_runs_enabled as "remoteRunsEnabled", ap.created_at as "createdAt",
  (select count(*) from agents a join agents.pings g on g.agent = a.id
    where a.pool = ap.id and g.status not in ('exited', 'errored')
      and g.at >= ${new Date(now.getTime() - ERRORED_AFTER_MS).toISOString()}) as "agentCount",
  array(select w.id from workspaces w
         where w.agent_pool = ap.id and ${isVisibleWorkspace(actor)} order by w.id) as workspaces,
  ${selectWorkspaces('allowedWorkspaces', actor)} as "allowedWorkspaces",
  array(select p.id from agent_pool_scopes s join projects p on p.id = s.target
         where s.pool = ap.id and s.scope = 'allowedProjects' and ${isVisibleProject(actor)}
         order by p.id) as "allowedProjects",
  ${selectWorkspaces('excludedWorkspaces', actor)} as "excludedWorkspaces"`;

/**
 * Selects organizations with `whole`: whether the caller sees all targets in the lists of pools. Callers that read all
 * workspaces see them, and managers of pools, because they write the lists. Other callers see the targets that their
 * teams have access to.
 */
const selectOwners = (actor: Identity, organizations: Sql = sql.raw('organizations')): Sql => sql`(
  select id, name,
         (${isPermittedByRole(actor, 'read-workspace')} or ${isPermittedByRole(actor, 'manage-agent-pools')}) as whole
    from ${organizations})`;

const selectFrom = (actor: Identity): Sql =>
  sql`from agent_pools ap left join ${selectOwners(actor)} o on o.id = ap.organization`;

export const selectAgentPoolById = (id: string, reader: AgentPoolReader<Identity>): Sql =>
  sql`select ${selectColumns(reader)} ${selectFrom(reader.actor)} where ap.id = ${id}`;

export const selectAgentPoolsByIds = (ids: Sql, reader: AgentPoolReader): Sql =>
  sql`select ${selectColumns(reader)} ${selectFrom(reader.actor)} where ap.id = any (${ids}) order by ap.id`;

/** Returns the pool. Throws the refusal of the permission table if the caller lacks the permission. */
export const findAgentPool = async (
  database: Database,
  reader: AgentPoolReader,
  permission: Permission,
  id: string,
): Promise<AgentPoolRow> => {
  const row = await database.row<AgentPoolRow>(
    sql`select ${selectColumns(reader)} ${selectFrom(reader.actor)} where ap.id = ${id} and ${requireCurrentAccess(reader.actor)}`,
  );
  return requirePermittedRow(reader.actor, permission, row);
};

/** A workspace or project of the organization that a command names. */
export type ScopeTarget = { readonly of: 'workspaces' | 'projects'; readonly id: string; readonly version: number };

/** Selects the targets that the command names, in the organization of the row `o`. */
const selectTargets = (scopes: Partial<PoolScopes>): Sql => {
  const workspaces = [...(scopes.allowedWorkspaces ?? []), ...(scopes.excludedWorkspaces ?? [])];
  return sql`coalesce((
    select jsonb_agg(jsonb_build_object('of', t.of, 'id', t.id, 'version', s.version) order by t.id)
      from (select 'workspaces' as of, id from workspaces
             where organization = o.id and id = any (${workspaces}::text[])
            union all
            select 'projects', id from projects
             where organization = o.id and id = any (${scopes.allowedProjects ?? []}::text[])) t
      join event_store.streams s on s.stream = t.id), '[]') as targets`;
};

export type OrganizationForAgentPool = {
  /** Null for a pool of the site. */
  readonly organization: string | null;
  readonly organizationVersion: number | null;
  readonly targets: readonly ScopeTarget[];
};

export const loadOrganizationForAgentPool = async (
  database: Database,
  actor: Actor,
  organization: string,
  settings: AgentPoolChanges,
): Promise<OrganizationForAgentPool> => {
  const row = await database.row<OrganizationForAgentPool>(sql`
    select o.id as organization, so.version as "organizationVersion", ${selectTargets(settings)}
      from organizations o join event_store.streams so on so.stream = o.id
     where ${hasOrganizationName('o', organization)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'manage-agent-pools', row);
  if (settings.remoteRunsEnabled) requirePermission(actor, 'manage-remote-agent-pools', row);
  return row;
};

/** A new pool of the site depends on no other stream. Throws `not-found` for callers that do not administer the site. */
export const loadSiteForAgentPool = async (database: Database, actor: Actor): Promise<OrganizationForAgentPool> => {
  await verifyCurrentAccess(database, actor);
  requirePermission(actor, 'manage-agent-pools', SITE_SCOPE);
  return { organization: null, organizationVersion: null, targets: [] };
};

export type AgentPoolForCommand = OrganizationForAgentPool & {
  readonly id: string;
  /** The value before the command. */
  readonly remoteRunsEnabled: boolean;
  readonly use: PoolUse;
  readonly tokens: readonly OwnedToken[];
  readonly snapshot: StreamSnapshot;
};

/** Returns the users of the pool, each as a from clause: workspaces, projects and the organization. */
const selectPoolUsers = (pool: string, organization: Sql) => ({
  workspaces: sql`from workspaces where agent_pool = ${pool}`,
  projects: sql`from projects where organization = ${organization} and settings ->> 'defaultAgentPoolId' = ${pool}`,
  organization: sql`from organizations where id = ${organization} and settings ->> 'defaultAgentPool' = ${pool}`,
});

export const isUsed = (pool: string, organization: string | null): Sql => {
  const use = selectPoolUsers(pool, sql`${organization}`);
  return sql`(exists (select 1 ${use.workspaces}) or exists (select 1 ${use.projects})
              or exists (select 1 ${use.organization}))`;
};

export const loadAgentPoolForCommand = async (
  database: Database,
  actor: Actor,
  id: string,
  changes: AgentPoolChanges,
): Promise<AgentPoolForCommand> => {
  const use = selectPoolUsers(id, sql.raw('o.id'));
  const row = await database.row<AgentPoolForCommand>(sql`
    select ap.id, o.id as organization, so.version as "organizationVersion", ${selectTargets(changes)},
           ap.remote_runs_enabled as "remoteRunsEnabled",
           jsonb_build_object('workspaces', (select count(*) ${use.workspaces}),
                              'projects', (select count(*) ${use.projects}),
                              'organization', exists (select 1 ${use.organization})) as use,
           ${selectOwnedTokens(sql.raw('ap.id'))} as tokens,
           ${buildSnapshotJson('s')} as snapshot
      from agent_pools ap join event_store.streams s on s.stream = ap.id
      left join organizations o on o.id = ap.organization left join event_store.streams so on so.stream = o.id
     where ap.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'manage-agent-pools', row);
  if (row.remoteRunsEnabled || changes.remoteRunsEnabled) requirePermission(actor, 'manage-remote-agent-pools', row);
  return row;
};

/** Returns one page of the pools of the site and the count of all, from one statement. */
export const listSitePools = async (
  database: Database,
  reader: AgentPoolReader,
  page: PageRequest,
  search: string | undefined,
): Promise<ListPage<AgentPoolRow>> => {
  const { actor } = reader;
  const where = sql.and([sql.raw('ap.organization is null'), ...(search ? [hasText(search)] : [])]);
  const caller = sql`select ${isPermittedByRole(actor, 'read-agent-pools', sql.raw('null'))} as permitted where ${requireCurrentAccess(actor)} offset 0`;
  const rows = await database.slowRows<ListRow<AgentPoolRow, { owner: string | null; total: number }>>(
    actor,
    sql`
    select null::text as owner, (select count(*) from agent_pools ap where ${where}) as total, page.*
      from (${caller}) caller
      left join lateral (select ${selectColumns(reader)} ${selectFrom(actor)} where caller.permitted and ${where}
                          order by ap.name, ap.id ${buildLimit(page)}) page on true
     order by page.name, page.id`,
  );
  return toPermittedPage(actor, 'read-agent-pools', rows);
};

export const SORTS = ['name', 'created-at'] as const;

export type AgentPoolFilter = SortOrder<(typeof SORTS)[number]> & {
  readonly search: string | undefined;
  /** Name of a workspace; only pools that it may use. */
  readonly workspace: string | undefined;
  readonly project: string | undefined;
};

const ORDER = { name: ['ap.name', 'page.name'], 'created-at': ['ap.created_at', 'page."createdAt"'] } as const;

const hasText = (search: string): Sql => sql`position(lower(${search}) in lower(ap.name)) > 0`;

const buildConditions = ({ search, workspace, project }: AgentPoolFilter, actor: Actor): readonly Sql[] => [
  ...(search ? [hasText(search)] : []),
  ...(workspace
    ? [
        sql`exists (select 1 from workspaces w
                     where w.organization = o.id and ${hasWorkspaceName('w', workspace)} and ${isVisibleWorkspace(actor)}
                       and ${isPoolUsableBy({ workspace: sql.raw('w.id'), project: sql.raw('w.project') })})`,
      ]
    : []),
  ...(project
    ? [
        sql`exists (select 1 from projects p
                     where p.organization = o.id and ${hasName(PROJECT_NAMES, 'p', project)} and ${isVisibleProject(actor)}
                       and ${isPoolUsableBy({ project: sql.raw('p.id') })})`,
      ]
    : []),
];

/** Returns one page of pools and the count of all, from one statement. */
export const listAgentPools = async (
  database: Database,
  { actor, now }: AgentPoolReader,
  organizationName: string,
  page: PageRequest,
  filter: AgentPoolFilter,
): Promise<ListPage<AgentPoolRow>> => {
  const where = sql.and([sql`ap.organization = o.id`, ...buildConditions(filter, actor)]);
  const direction = filter.descending ? 'desc' : 'asc';
  const [inner, outer] = ORDER[filter.sort];
  const rows = await database.slowRows<ListRow<AgentPoolRow, { owner: string; total: number }>>(
    actor,
    sql`
    select o.id as owner, o.total, page.*
      from (select o.*, (select count(*) from agent_pools ap where ${where}) as total
              from ${selectOwners(actor, selectPermittedOrganization(actor, 'read-agent-pools', organizationName))} o
            offset 0) o
      left join lateral (select ${selectColumns({ actor, now })} from agent_pools ap where ${where}
                          ${sql.raw(`order by ${inner} ${direction}, ap.id`)} ${buildLimit(page)}) page on true
     ${sql.raw(`order by ${outer} ${direction}, page.id`)}`,
  );
  return toPermittedPage(actor, 'read-agent-pools', rows);
};
