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

const TABLES = sql.raw(
  `workspaces w join organizations o on o.id = w.organization left join workspace_runs c on c.workspace = w.id`,
);

const SORT_COLUMNS: Readonly<Record<AdminWorkspaceSort, string>> = {
  name: 'lower(w.name)',
  'current-run.created-at': 'c.created_at',
};

/** The direction of a list. Workspaces without a run are the last ones in both directions. */
const buildDirection = (descending: boolean): Sql => sql.raw(descending ? 'desc nulls last' : 'asc nulls last');

const buildConditions = ({ search, currentRunStatuses }: AdministeredWorkspaceFilter): readonly Sql[] => [
  ...(search
    ? [
        sql`(position(${search} in w.id) > 0 or position(lower(${search}) in lower(w.name)) > 0
             or position(lower(${search}) in lower(o.name)) > 0)`,
      ]
    : []),
  ...(currentRunStatuses.length === 0 ? [] : [sql`c.status = any (${currentRunStatuses}::text[])`]),
];

/** Returns workspaces of all organizations: one page and the total count, in one statement. */
export const listAdministeredWorkspaces = async (
  database: Database,
  actor: Actor,
  page: PageRequest,
  filter: AdministeredWorkspaceFilter,
): Promise<ListPage<AdministeredWorkspaceRow>> => {
  await requireSiteAdmin(database, actor);
  const candidates = sql`${TABLES} where ${sql.and(buildConditions(filter))}`;
  const sortKey = sql.raw(SORT_COLUMNS[filter.sort]);
  const direction = buildDirection(filter.descending);
  const rows = await database.slowRows<ListRow<AdministeredWorkspaceRow, { total: number; sortKey: string | null }>>(
    actor,
    sql.unkept(sql`
    select (select count(*) from ${candidates}) as total, page.*
      from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join lateral (select ${COLUMNS}, ${sortKey} as "sortKey" from ${candidates}
                          order by ${sortKey} ${direction}, w.id ${buildLimit(page)}) page on true
     order by page."sortKey" ${direction}, page.id`),
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
    sql`select ${COLUMNS} from ${TABLES} where w.id = ${id} and ${requireCurrentAccess(actor)}`,
  );
  if (!row) throw notFound();
  return row;
};
