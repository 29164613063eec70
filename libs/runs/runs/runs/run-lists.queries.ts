import { hasOneOfNames, notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requireCurrentAccess,
  isGrantedWorkspace,
  selectPermittedOrganization,
  isPermittedBy,
  isPermittedByRole,
  selectPermittedScopes,
  type Actor,
  type Grant,
} from '#api/access';
import {
  buildLimitWithSize,
  buildLimit,
  toListPage,
  buildFittingPageSize,
  type ListPage,
  type ListRow,
  type PageRequest,
} from '#api/json-api';
import { AGENT_POOL_NAMES } from '#organizations/agents';
import { isHiddenTeam } from '#identity/people';
import { AGENT_POOL, EXECUTION_MODE } from '#workspaces/workspaces';
import { CONFIRMABLE_STATUSES, EXECUTING_STATUSES, OVERRIDABLE_STATUSES, WAITING_STATUSES } from './run-status.js';
import {
  RUN_JOINS,
  selectRunColumns,
  selectRunFacts,
  selectRunGrants,
  isAssessment,
  isNoAssessment,
  isOpen,
  canExecute,
  selectRunsInReach,
  type RunRow,
} from './runs.queries.js';

export type RunFilter = {
  readonly statuses: readonly string[] | null;
  readonly operations: readonly string[] | null;
  readonly sources: readonly string[] | null;
  readonly agentPools: readonly string[] | null;
  readonly workspaces: readonly string[] | null;
  /** Runs that wait for a decision: of the caller, or of others. */
  readonly waitsFor: 'me' | 'others' | null;
  /** From (inclusive) and to (exclusive). */
  readonly timeframe: { readonly from: Timestamp; readonly to: Timestamp } | null;
  readonly createdSince: Timestamp | null;
  readonly createdBefore: Timestamp | null;
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

/** `search[basic]` matches any of the fields, and applies only if no field is searched by itself. */
const buildSearchConditions = (actor: Actor, { user, commit, basic }: RunFilter): readonly Sql[] => {
  const exact = [...(user ? [isBy(actor, user)] : []), ...(commit ? [hasCommit(commit)] : [])];
  if (exact.length > 0 || !basic) return exact;
  return [
    sql`(r.id = ${basic} or ${isBy(actor, basic)} or ${hasCommit(basic)}
         or position(lower(${basic}) in lower(r.message)) > 0)`,
  ];
};

const isForDecider = (actor: Actor, decider: 'me' | 'others'): Sql => {
  const isConfirmable = sql`r.status = any (${CONFIRMABLE_STATUSES}::text[])`;
  const mayConfirm = isPermittedBy(actor, 'apply-run', {
    organization: sql.raw('r.organization'),
    grants: selectRunGrants(actor),
  });
  if (decider === 'me') return sql`${isOpen('r')} and ${isConfirmable} and ${mayConfirm}`;
  return sql`${isOpen('r')} and (${isConfirmable} and not ${mayConfirm}
    or r.status = any (${OVERRIDABLE_STATUSES}::text[]))`;
};

/** Health assessments are only in lists that name their source. */
const IS_NO_ASSESSMENT = isNoAssessment('r');

const buildConditions = (actor: Actor, filter: RunFilter): readonly Sql[] => [
  ...buildAnyCondition(sql.raw('r.status'), filter.statuses),
  ...buildAnyCondition(sql.raw('r.operation'), filter.operations),
  ...buildAnyCondition(sql.raw('r.source'), filter.sources),
  ...buildAnyCondition(sql.raw('w.name'), filter.workspaces),
  ...(filter.agentPools
    ? [
        sql`exists (select 1 from agent_pools ap where ap.id = ${AGENT_POOL} and ${EXECUTION_MODE} = 'agent'
                                                  and ${hasOneOfNames(AGENT_POOL_NAMES, 'ap', filter.agentPools)})`,
      ]
    : []),
  ...(filter.waitsFor ? [isForDecider(actor, filter.waitsFor)] : []),
  ...(filter.timeframe
    ? [sql`r.created_at >= ${filter.timeframe.from} and r.created_at < ${filter.timeframe.to}`]
    : []),
  ...(filter.createdSince ? [sql`r.created_at >= ${filter.createdSince}`] : []),
  ...(filter.createdBefore ? [sql`r.created_at < ${filter.createdBefore}`] : []),
  ...buildSearchConditions(actor, filter),
];

/** The filters and the order of a list. */
type RunSelection = {
  readonly conditions: readonly Sql[];
  readonly order: 'asc' | 'desc';
  /**
   * Filters combine to hundreds of statement texts (docs/explanation/adr/0020), so only unfiltered lists are prepared.
   */
  readonly isRetained: boolean;
};

const toSelection = (actor: Actor, filter: RunFilter): RunSelection => {
  const conditions = buildConditions(actor, filter);
  const assessments = filter.sources === null ? [IS_NO_ASSESSMENT] : [];
  return { conditions: [...assessments, ...conditions], order: 'desc', isRetained: conditions.length === 0 };
};

const prepareWhen = (isPrepared: boolean, statement: Sql): Sql => (isPrepared ? statement : sql.unkept(statement));

/** A page of runs, and whether the document also includes their comments. */
export type RunPage = PageRequest & { readonly withComments: boolean };

/** A page of runs. If it includes long comments, it has fewer items than requested. */
export type ListedRuns = ListPage<RunRow> & { readonly pageSize: number };

type RunListColumns = { readonly total: number; readonly owner: string };
type PoolRunListColumns = { readonly total: number; readonly owner: string | null };
type SizedRunListColumns = RunListColumns & { readonly pageSize: number };
type WorkspaceRunListColumns = SizedRunListColumns & { readonly ownerGrants: readonly Grant[] };

/** Bytes of a comment in the document, without its text. */
const BYTES_OF_COMMENT = 300;

type ScopeName = 'target' | 'owner';

/**
 * Returns the table expression `scope` under that name. If the page includes comments, it also computes the page size
 * of the list `candidates`: the comments of 100 runs can have 100 MiB.
 */
const nameScope = (name: ScopeName, page: RunPage, scope: Sql, candidates: Sql): Sql => {
  if (!page.withComments) return sql`${scope} ${sql.raw(name)}`;
  const lengths = sql`
    select sum(octet_length(c.body) + ${BYTES_OF_COMMENT}) from run_comments c
     where c.run in (select r.id from ${candidates}) group by c.run`;
  return sql`(select ${sql.raw(name)}.*, ${buildFittingPageSize(page, lengths)} as "pageSize"
                from ${scope} ${sql.raw(name)} offset 0) ${sql.raw(name)}`;
};

const sizeOf = (page: RunPage, name: ScopeName): Sql =>
  page.withComments ? sql.raw(`${name}."pageSize"`) : sql`${page.size}::bigint`;

/** Postgres plans better with a number than with a page size that the statement computes. */
const limitTo = (page: RunPage, name: ScopeName): Sql =>
  page.withComments ? buildLimitWithSize(page, sizeOf(page, name)) : buildLimit(page);

const listedRuns = (
  rows: readonly ListRow<RunRow, SizedRunListColumns>[],
  { pageSize }: SizedRunListColumns,
): ListedRuns => ({ ...toListPage(rows), pageSize });

/** Returns runs of one workspace, newest first: one page and the total count in one statement. */
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
  const candidates = sql`runs r ${RUN_JOINS} where r.workspace = target.id and ${sql.and(conditions)}`;
  const statement = sql`
    select target.organization as owner, target.grants as "ownerGrants", ${sizeOf(page, 'target')} as "pageSize",
           (select count(*) from ${candidates}) as total, page.*
      from ${nameScope('target', page, selectPermittedScopes(actor, 'read-runs', workspaces), candidates)}
      left join lateral (select ${selectRunFacts(actor)}, target.grants from ${candidates}
                          order by r.created_at desc, r.id desc ${limitTo(page, 'target')}) page on true
     order by page."createdAt" desc, page.id desc`;
  const rows = await database.slowRows<ListRow<RunRow, WorkspaceRunListColumns>>(
    actor,
    prepareWhen(isRetained, statement),
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-runs', { organization: first.owner, grants: first.ownerGrants });
  return listedRuns(rows, first);
};

/** Selects the organization of that name, and whether the caller may read all of its runs. */
export const selectOrganizationOfRuns = (organizationName: string, actor: Actor): Sql => sql`
  (select id, ${isPermittedByRole(actor, 'read-runs')} as whole from ${selectPermittedOrganization(actor, 'read-organization', organizationName)} offset 0)`;

/** Selects the runs of the organization that the caller may read. */
const selectReadableRuns = (actor: Actor): Sql => sql`runs r ${RUN_JOINS} where r.organization = owner.id
  and (owner.whole or ${isGrantedWorkspace(actor, 'w')})`;

const listInOrganization = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: RunPage,
  { conditions, order, isRetained }: RunSelection,
): Promise<ListedRuns> => {
  const candidates = sql`${selectReadableRuns(actor)} and ${sql.and(conditions)}`;
  const direction = sql.raw(order);
  const statement = sql`
    select owner.id as owner, ${sizeOf(page, 'owner')} as "pageSize", (select count(*) from ${candidates}) as total, page.*
      from ${nameScope('owner', page, selectOrganizationOfRuns(organizationName, actor), candidates)}
      left join lateral (select ${selectRunColumns(actor)} from ${candidates}
                          order by r.created_at ${direction}, r.id ${direction} ${limitTo(page, 'owner')}) page on true
     order by page."createdAt" ${direction}, page.id ${direction}`;
  const rows = await database.slowRows<ListRow<RunRow, SizedRunListColumns>>(actor, prepareWhen(isRetained, statement));
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', { organization: first.owner });
  return listedRuns(rows, first);
};

/** Returns the runs of an organization that the caller may read, newest first, in one statement. */
export const listOrganizationRuns = (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: RunPage,
  filter: RunFilter,
): Promise<ListedRuns> => listInOrganization(database, actor, organizationName, page, toSelection(actor, filter));

const isAny = (statuses: readonly string[]): Sql => sql`${isOpen('r')} and r.status = any (${statuses}::text[])`;

/** Returns runs that wait for their turn or for an executor, and runs in progress, oldest first, in one statement. */
export const listRunQueue = (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: RunPage,
): Promise<ListedRuns> => {
  const conditions = [IS_NO_ASSESSMENT, isAny([...WAITING_STATUSES, ...EXECUTING_STATUSES])];
  return listInOrganization(database, actor, organizationName, page, { conditions, order: 'asc', isRetained: true });
};

type Capacity = { readonly pending: number; readonly running: number };

/** Counts the waiting runs and the runs in progress that the caller may read. */
export const loadCapacity = async (database: Database, actor: Actor, organizationName: string): Promise<Capacity> => {
  const [row] = await database.slowRows<Capacity & { readonly owner: string }>(
    actor,
    sql`
    select owner.id as owner, (select count(*) from ${selectReadableRuns(actor)} and ${IS_NO_ASSESSMENT} and ${isAny(WAITING_STATUSES)}) as pending,
           (select count(*) from ${selectReadableRuns(actor)} and ${IS_NO_ASSESSMENT} and ${isAny(EXECUTING_STATUSES)}) as running
      from ${selectOrganizationOfRuns(organizationName, actor)} owner`,
  );
  if (!row) throw notFound();
  requirePermission(actor, 'read-organization', { organization: row.owner });
  return row;
};

/** Returns the runs that agents of the pool must plan, apply or stop, oldest first, health assessments last, in one statement. */
export const listPoolRuns = async (
  database: Database,
  actor: Actor,
  pool: string,
  page: PageRequest,
): Promise<ListedRuns> => {
  const candidates = sql`${selectRunsInReach(sql.raw('target.organization'))} ${RUN_JOINS}
    where (r.status in ('plan_queued', 'apply_queued') or r.cancel_requested_at is not null)
      and ${isOpen('r')} and ${canExecute(pool)}`;
  // An agent token reaches its own pool only; other pools are not found.
  const pools = sql`
    select ap.organization from agent_pools ap where ap.id = ${pool} and ap.id = ${actor.id} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<ListRow<RunRow, PoolRunListColumns>>(
    actor,
    sql`
    select target.organization as owner, (select count(*) from ${candidates}) as total, page.*
      from ${selectPermittedScopes(actor, 'execute-run', pools)} target
      left join lateral (select ${selectRunColumns(actor)} from ${candidates}
                          order by ${isAssessment('r')}, r.created_at, r.id ${buildLimit(page)}) page on true
     order by ${isAssessment('page')}, page."createdAt", page.id`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'execute-run', { organization: first.owner });
  // Executors may not read comments, so `include` does not make the page larger.
  return { ...toListPage(rows), pageSize: page.size };
};
