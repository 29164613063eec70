import { requireCurrentAccess, requireSiteAdmin, type Actor } from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest, type SortOrder } from '#api/json-api';
import { notFound, sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';

export const ADMIN_WORKSPACE_SORTS = ['name', 'current-run.created-at'] as const;
type AdminWorkspaceSort = (typeof ADMIN_WORKSPACE_SORTS)[number];

type AdministeredWorkspaceFilter = SortOrder<AdminWorkspaceSort> & {
  /** A part of the id of the workspace, or of its name or the name of its organization. */
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

const buildConditions = ({ search, currentRunStatuses }: AdministeredWorkspaceFilter): readonly Sql[] => [
  ...(search
    ? [
        sql`(position(${search} in w.id) > 0 or position(lower(${search}) in lower(w.name)) > 0
             or w.organization in (select o.id from organizations o where position(lower(${search}) in lower(o.name)) > 0))`,
      ]
    : []),
  ...(currentRunStatuses.length === 0 ? [] : [sql`c.status = any (${currentRunStatuses}::text[])`]),
];

/** Selects the workspaces, with their runs if the list needs them: the count and the page by name then read one table only. */
const selectCandidates = (filter: AdministeredWorkspaceFilter, isByRun: boolean): Sql => {
  const conditions = buildConditions(filter);
  return sql`workspaces w ${isByRun ? sql.raw('left join workspace_runs c on c.workspace = w.id') : sql.empty}
    where ${sql.and(conditions)}`;
};

/** The number of all workspaces comes from the counts, because counting them reads each one. */
const selectTotal = (filter: AdministeredWorkspaceFilter): Sql => {
  const hasStatus = filter.currentRunStatuses.length > 0;
  return filter.search || hasStatus
    ? sql`(select count(*) from ${selectCandidates(filter, hasStatus)})`
    : sql.raw('(select coalesce(sum(counted.workspaces), 0)::integer from workspace_counts counted)');
};

/** Returns workspaces of all organizations: one page and the total count, in one statement. */
export const listAdministeredWorkspaces = async (
  database: Database,
  actor: Actor,
  page: PageRequest,
  filter: AdministeredWorkspaceFilter,
): Promise<ListPage<AdministeredWorkspaceRow>> => {
  await requireSiteAdmin(database, actor);
  const { key, isNullable } = SORTS[filter.sort];
  const candidates = selectCandidates(filter, isNullable || filter.currentRunStatuses.length > 0);
  const direction = sql.raw(filter.descending ? 'desc' : 'asc');
  // The index by name has no order of nulls of its own.
  const nulls = sql.raw(isNullable ? 'nulls last' : '');
  const rows = await database.slowRows<ListRow<AdministeredWorkspaceRow, { total: number; sortKey: string | null }>>(
    actor,
    sql.unkept(sql`
    select ${selectTotal(filter)} as total, page.*
      from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join lateral (
        select ${COLUMNS}, w."sortKey"
          from (select w.*, ${key} as "sortKey" from ${candidates}
                 order by ${key} ${direction} ${nulls}, w.id ${direction} ${buildLimit(page)}) w ${JOINS}) page on true
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
