import { requireCurrentAccess, requireSiteAdmin, type Actor } from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest, type SortOrder } from '#api/json-api';
import { notFound, sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { escapeLikePattern } from '../lists/workspace-conditions.queries.js';

export const ADMIN_WORKSPACE_SORTS = ['name', 'current-run.created-at'] as const;
type AdminWorkspaceSort = (typeof ADMIN_WORKSPACE_SORTS)[number];

type AdministeredWorkspaceFilter = SortOrder<AdminWorkspaceSort> & {
  /** The id of the workspace, or a part of its name or of the name of its organization. */
  readonly search: string | undefined;
  readonly currentRunStatuses: readonly string[];
};

/** A workspace as site administrators see it. */
export type AdministeredWorkspaceRow = {
  readonly id: string;
  readonly name: string;
  readonly locked: boolean;
  /** The name of the repository at its host; null without one. */
  readonly repository: string | null;
  readonly organization: string;
  readonly organizationName: string;
  /** The current run, or the last one. */
  readonly currentRun: string | null;
};

const COLUMNS =
  sql.raw(`w.id, w.name, w.lock is not null as locked, w.settings #>> '{vcsRepo,identifier}' as repository,
  w.organization, o.name as "organizationName", c.current_run as "currentRun"`);

const JOINS = sql.raw(`join organizations o on o.id = w.organization left join workspace_runs c on c.workspace = w.id`);

/** The sort key, and the direction of the list. Workspaces without a run are the last ones in both directions. */
const SORTS: Readonly<Record<AdminWorkspaceSort, { readonly key: Sql; readonly isNullable: boolean }>> = {
  name: { key: sql.raw('lower(w.name)'), isNullable: false },
  'current-run.created-at': { key: sql.raw('c.created_at'), isNullable: true },
};

/** The index of name fragments has none that are shorter. */
const FRAGMENT_LENGTH = 3;

/**
 * Selects the workspaces that a search finds, each once. Each part has an index: one condition with all of them would read every
 * workspace. A shorter text has no index and many matches, so all are read, but only once.
 */
const selectFound = (search: string): Sql => {
  const pattern = `%${escapeLikePattern(search.toLowerCase())}%`;
  if (search.length < FRAGMENT_LENGTH)
    return sql`
      select w.id, w.name from workspaces w join organizations o on o.id = w.organization
       where lower(w.name) like ${pattern} or lower(o.name) like ${pattern}`;
  return sql`
    select w.id, w.name from workspaces w where w.id = ${search}
    union select w.id, w.name from workspaces w where lower(w.name) like ${pattern}
    union select w.id, w.name from organizations o
                cross join lateral (select w.id, w.name from workspaces w where w.organization = o.id offset 0) w
           where lower(o.name) like ${pattern}`;
};

const RUNS = sql.raw('left join workspace_runs c on c.workspace = w.id');
/** Postgres overestimates the number of found workspaces, and would read all runs. */
const RUNS_OF_FOUND = sql.raw(
  'left join lateral (select c.status, c.created_at from workspace_runs c where c.workspace = w.id offset 0) c on true',
);

/** Selects the workspaces, with their runs if the list needs them: the count and the page by name then read one table only. */
const selectCandidates = ({ search, currentRunStatuses }: AdministeredWorkspaceFilter, isByRun: boolean): Sql => {
  const workspaces = sql.raw(search ? 'found w' : 'workspaces w');
  const runs = search ? RUNS_OF_FOUND : RUNS;
  const hasStatus =
    currentRunStatuses.length > 0 ? sql`where c.status = any (${currentRunStatuses}::text[])` : sql.empty;
  return sql`${workspaces} ${isByRun ? runs : sql.empty} ${hasStatus}`;
};

/** The number of all workspaces comes from the counts, because counting them reads each one. */
const selectTotal = (filter: AdministeredWorkspaceFilter): Sql => {
  const hasStatus = filter.currentRunStatuses.length > 0;
  return filter.search || hasStatus
    ? sql`(select count(*) from ${selectCandidates(filter, hasStatus)})`
    : sql.raw('(select coalesce(sum(counted.workspaces), 0)::integer from workspace_counts counted)');
};

/** Selects the ids of a page of all workspaces by their runs. Postgres reads the two ranges in sequence until the page is full. */
const selectPageByRun = (page: PageRequest, direction: Sql): Sql => {
  const limit = sql.raw(`limit ${page.number * page.size}`);
  return sql`
    select id, "sortKey"
      from ((select w.id, c.created_at as "sortKey" from workspace_runs c join workspaces w on w.id = c.workspace
              order by c.created_at ${direction}, c.workspace ${direction} ${limit})
            union all
            (select w.id, null::timestamptz from workspaces w
              where not exists (select 1 from workspace_runs c where c.workspace = w.id)
              order by w.id ${direction} ${limit})) listed ${buildLimit(page)}`;
};

const selectPageIds = (page: PageRequest, filter: AdministeredWorkspaceFilter, direction: Sql, nulls: Sql): Sql => {
  const { search, currentRunStatuses, sort } = filter;
  const { key, isNullable } = SORTS[sort];
  const hasStatus = currentRunStatuses.length > 0;
  if (isNullable && !search && !hasStatus) return selectPageByRun(page, direction);
  return sql`
    select w.id, ${key} as "sortKey" from ${selectCandidates(filter, isNullable || hasStatus)}
     order by ${key} ${direction} ${nulls}, w.id ${direction} ${buildLimit(page)}`;
};

/** Returns workspaces of all organizations: one page and the total count, in one statement. */
export const listAdministeredWorkspaces = async (
  database: Database,
  actor: Actor,
  page: PageRequest,
  filter: AdministeredWorkspaceFilter,
): Promise<ListPage<AdministeredWorkspaceRow>> => {
  await requireSiteAdmin(database, actor);
  const direction = sql.raw(filter.descending ? 'desc' : 'asc');
  // The index by name has no order of nulls of its own.
  const nulls = sql.raw(SORTS[filter.sort].isNullable ? 'nulls last' : '');
  const foundTable = filter.search ? sql`with found as materialized (${selectFound(filter.search)})` : sql.empty;
  const rows = await database.slowRows<ListRow<AdministeredWorkspaceRow, { total: number; sortKey: string | null }>>(
    actor,
    sql.unkept(sql`
    ${foundTable}
    select ${selectTotal(filter)} as total, page.*
      from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join lateral (
        select ${COLUMNS}, listed."sortKey"
          from (${selectPageIds(page, filter, direction, nulls)}) listed
          join workspaces w on w.id = listed.id ${JOINS}) page on true
     order by page."sortKey" ${direction} ${nulls}, page.id ${direction}`),
  );
  return toListPage(rows);
};

/** Returns a workspace of any organization. Throws `not-found` for callers that do not administer the site. */
export const findAdministeredWorkspace = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<AdministeredWorkspaceRow> => {
  await requireSiteAdmin(database, actor);
  const row = await database.row<AdministeredWorkspaceRow>(
    sql`select ${COLUMNS} from workspaces w ${JOINS} where w.id = ${id} and ${requireCurrentAccess(actor)}`,
  );
  if (!row) throw notFound();
  return row;
};
