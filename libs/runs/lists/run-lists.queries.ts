import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import type { Database } from '#postgres';
import {
  requirePermission,
  requireCurrentAccess,
  isGrantedWorkspace,
  selectPermittedOrganization,
  isPermittedByRole,
  selectPermittedScopes,
  type Actor,
  type Grant,
} from '#access';
import {
  buildLimitWithSize,
  buildLimit,
  toListPage,
  buildFittingPageSize,
  type ListPage,
  type PageRequest,
} from '#json-api';
import { isHiddenTeam } from '#people';
import { AGENT_POOL, EXECUTION_MODE } from '#workspaces';
import { EXECUTING_STATUSES, WAITING_STATUSES } from '../runs/run-status.js';
import {
  RUN_JOINS,
  RUN_COLUMNS,
  selectRunColumns,
  selectRunGrants,
  isOpen,
  canExecute,
  type RunRow,
} from '../runs/runs.queries.js';

export type RunFilter = {
  readonly statuses: readonly string[] | null;
  readonly operations: readonly string[] | null;
  readonly sources: readonly string[] | null;
  readonly agentPools: readonly string[] | null;
  readonly workspaces: readonly string[] | null;
  /** From, inclusive, and to. */
  readonly created: { readonly from: Timestamp; readonly to: Timestamp } | null;
  readonly user: string | undefined;
  readonly commit: string | undefined;
  readonly basic: string | undefined;
};

const buildAnyCondition = (column: Sql, values: readonly string[] | null): readonly Sql[] =>
  values === null ? [] : [sql`${column} = any (${values}::text[])`];

const hasCommit = (commit: string): Sql => sql`exists (
  select 1 from configuration_versions cv where cv.id = r.configuration_version and cv.ingress ->> 'commitSha' = ${commit})`;

/** The name of a team that the caller may not see matches nothing: otherwise callers could guess it. */
const isBy = (actor: Actor, user: string): Sql => sql`(lower(r.created_by ->> 'name') = lower(${user})
  and not ${isHiddenTeam(actor, sql.raw('r.created_by'), sql.raw('r.organization'))})`;

/** `search[basic]` looks everywhere, and only where nothing more exact is asked for. */
const buildSearchConditions = (actor: Actor, { user, commit, basic }: RunFilter): readonly Sql[] => {
  const exact = [...(user ? [isBy(actor, user)] : []), ...(commit ? [hasCommit(commit)] : [])];
  if (exact.length > 0 || !basic) return exact;
  return [
    sql`(r.id = ${basic} or ${isBy(actor, basic)} or ${hasCommit(basic)}
         or position(lower(${basic}) in lower(r.message)) > 0)`,
  ];
};

const buildConditions = (actor: Actor, filter: RunFilter): readonly Sql[] => [
  ...buildAnyCondition(sql.raw('r.status'), filter.statuses),
  ...buildAnyCondition(sql.raw('r.operation'), filter.operations),
  ...buildAnyCondition(sql.raw('r.source'), filter.sources),
  ...buildAnyCondition(sql.raw('w.name'), filter.workspaces),
  ...(filter.agentPools
    ? [
        sql`exists (select 1 from agent_pools ap where ap.id = ${AGENT_POOL} and ${EXECUTION_MODE} = 'agent'
                                                  and ap.name = any (${filter.agentPools}::text[]))`,
      ]
    : []),
  ...(filter.created ? [sql`r.created_at >= ${filter.created.from} and r.created_at < ${filter.created.to}`] : []),
  ...buildSearchConditions(actor, filter),
];

/** What is asked for, and in which order. */
type RunSelection = {
  readonly conditions: readonly Sql[];
  readonly order: 'asc' | 'desc';
  /** Filters combine to hundreds of texts (docs/explanation/adr/0020): only what is asked for without them is kept. */
  readonly isRetained: boolean;
};

const toSelection = (actor: Actor, filter: RunFilter): RunSelection => {
  const conditions = buildConditions(actor, filter);
  return { conditions, order: 'desc', isRetained: conditions.length === 0 };
};

const prepareWhen = (kept: boolean, statement: Sql): Sql => (kept ? statement : sql.unkept(statement));

/** Which page of runs, and whether the document also brings their comments. */
export type RunPage = PageRequest & { readonly withComments: boolean };

/** A page of runs. If it brings their comments, it has fewer items than asked for where those are long. */
export type ListedRuns = ListPage<RunRow> & { readonly pageSize: number };

type ListedRun = RunRow & {
  readonly total: number;
  readonly pageSize: number;
  readonly owner: string;
  readonly ownerGrants: readonly Grant[];
};

/** Bytes of a comment in an answer, without its text. */
const BYTES_OF_COMMENT = 300;

type PlaceName = 'target' | 'owner';

/**
 * Returns the table expression `place` under that name. If the page brings comments, it also has the page size of the list
 * `wanted`: the comments of 100 runs can have 100 MiB.
 */
const namePlace = (name: PlaceName, page: RunPage, place: Sql, wanted: Sql): Sql => {
  if (!page.withComments) return sql`${place} ${sql.raw(name)}`;
  const lengths = sql`
    select sum(octet_length(c.body) + ${BYTES_OF_COMMENT}) from run_comments c
     where c.run in (select r.id from ${wanted}) group by c.run`;
  return sql`(select ${sql.raw(name)}.*, ${buildFittingPageSize(page, lengths)} as "pageSize"
                from ${place} ${sql.raw(name)} offset 0) ${sql.raw(name)}`;
};

const sizeOf = (page: RunPage, name: PlaceName): Sql =>
  page.withComments ? sql.raw(`${name}."pageSize"`) : sql`${page.size}::bigint`;

/** Postgres plans better with a number than with a page size that the statement computes. */
const limitTo = (page: RunPage, name: PlaceName): Sql =>
  page.withComments ? buildLimitWithSize(page, sizeOf(page, name)) : buildLimit(page);

const listedRuns = <Row extends Omit<ListedRun, 'ownerGrants'>>(found: readonly Row[], first: Row): ListedRuns => ({
  ...toListPage<RunRow & { readonly total: number }>(found),
  pageSize: first.pageSize,
});

/** Runs of one workspace, newest first; one page and the count of all in one statement. */
export const listWorkspaceRuns = async (
  database: Database,
  actor: Actor,
  workspace: string,
  page: RunPage,
  filter: RunFilter,
): Promise<ListedRuns> => {
  const { conditions, isRetained } = toSelection(actor, filter);
  const workspaces = sql`
    select w.id, w.organization, ${selectRunGrants(actor)} as grants from workspaces w where w.id = ${workspace} and ${requireCurrentAccess(actor)}`;
  const wanted = sql`runs r ${RUN_JOINS} where r.workspace = target.id and ${sql.and(conditions)}`;
  const statement = sql`
    select target.organization as owner, target.grants as "ownerGrants", ${sizeOf(page, 'target')} as "pageSize",
           (select count(*) from ${wanted}) as total, page.*
      from ${namePlace('target', page, selectPermittedScopes(actor, 'read-runs', workspaces), wanted)}
      left join lateral (select ${RUN_COLUMNS}, target.grants from ${wanted}
                          order by r.created_at desc, r.id desc ${limitTo(page, 'target')}) page on true
     order by page."createdAt" desc, page.id desc`;
  const found = await database.slowRows<ListedRun>(actor, prepareWhen(isRetained, statement));
  const [first] = found;
  if (!first) throw notFound();
  requirePermission(actor, 'read-runs', { organization: first.owner, grants: first.ownerGrants });
  return listedRuns(found, first);
};

/** The organization of that name, and whether the caller may read all of its runs. */
const selectOrganization = (organizationName: string, actor: Actor): Sql => sql`
  (select id, ${isPermittedByRole(actor, 'read-runs')} as whole from ${selectPermittedOrganization(actor, 'read-organization', organizationName)} offset 0)`;

/** Those of its runs that the caller may read. */
const selectReadableRuns = (actor: Actor): Sql => sql`runs r ${RUN_JOINS} where r.organization = owner.id
  and (owner.whole or ${isGrantedWorkspace(actor, 'w')})`;

const listInOrganization = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: RunPage,
  { conditions, order, isRetained }: RunSelection,
): Promise<ListedRuns> => {
  const wanted = sql`${selectReadableRuns(actor)} and ${sql.and(conditions)}`;
  const direction = sql.raw(order);
  const statement = sql`
    select owner.id as owner, ${sizeOf(page, 'owner')} as "pageSize", (select count(*) from ${wanted}) as total, page.*
      from ${namePlace('owner', page, selectOrganization(organizationName, actor), wanted)}
      left join lateral (select ${selectRunColumns(actor)} from ${wanted}
                          order by r.created_at ${direction}, r.id ${direction} ${limitTo(page, 'owner')}) page on true
     order by page."createdAt" ${direction}, page.id ${direction}`;
  const found = await database.slowRows<Omit<ListedRun, 'ownerGrants'>>(actor, prepareWhen(isRetained, statement));
  const [first] = found;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', { organization: first.owner });
  return listedRuns(found, first);
};

/** Runs of all workspaces of an organization that the caller may read, newest first; in one statement. */
export const listOrganizationRuns = (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: RunPage,
  filter: RunFilter,
): Promise<ListedRuns> => listInOrganization(database, actor, organizationName, page, toSelection(actor, filter));

const isAny = (statuses: readonly string[]): Sql => sql`${isOpen('r')} and r.status = any (${statuses}::text[])`;

/** Those that wait for their turn or for an executor, and those in hand, oldest first; in one statement. */
export const listRunQueue = (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: RunPage,
): Promise<ListedRuns> => {
  const conditions = [isAny([...WAITING_STATUSES, ...EXECUTING_STATUSES])];
  return listInOrganization(database, actor, organizationName, page, { conditions, order: 'asc', isRetained: true });
};

export type Capacity = { readonly pending: number; readonly running: number };

/** How many runs wait, and how many are in hand, as far as the caller may read them. */
export const loadCapacity = async (database: Database, actor: Actor, organizationName: string): Promise<Capacity> => {
  const [row] = await database.slowRows<Capacity & { readonly owner: string }>(
    actor,
    sql`
    select owner.id as owner, (select count(*) from ${selectReadableRuns(actor)} and ${isAny(WAITING_STATUSES)}) as pending,
           (select count(*) from ${selectReadableRuns(actor)} and ${isAny(EXECUTING_STATUSES)}) as running
      from ${selectOrganization(organizationName, actor)} owner`,
  );
  if (!row) throw notFound();
  requirePermission(actor, 'read-organization', { organization: row.owner });
  return row;
};

/** What waits for agents of the pool: to be planned, to be applied, to be stopped. Oldest first, in one statement. */
export const listPoolRuns = async (
  database: Database,
  actor: Actor,
  pool: string,
  page: PageRequest,
): Promise<ListedRuns> => {
  const wanted = sql`runs r ${RUN_JOINS}
    where r.organization = target.organization
      and (r.status in ('plan_queued', 'apply_queued') or r.cancel_requested_at is not null)
      and ${isOpen('r')} and ${canExecute(pool)}`;
  // An agent's token speaks for its own pool, and knows of no other.
  const pools = sql`
    select ap.organization from agent_pools ap where ap.id = ${pool} and ap.id = ${actor.id} and ${requireCurrentAccess(actor)}`;
  const found = await database.slowRows<ListedRun>(
    actor,
    sql`
    select target.organization as owner, (select count(*) from ${wanted}) as total, page.*
      from ${selectPermittedScopes(actor, 'execute-run', pools)} target
      left join lateral (select ${selectRunColumns(actor)} from ${wanted}
                          order by r.created_at, r.id ${buildLimit(page)}) page on true
     order by page."createdAt", page.id`,
  );
  const [first] = found;
  if (!first) throw notFound();
  requirePermission(actor, 'execute-run', { organization: first.owner });
  // Executors may not read comments, so `include` does not make the page larger.
  return { ...toListPage(found), pageSize: page.size };
};
