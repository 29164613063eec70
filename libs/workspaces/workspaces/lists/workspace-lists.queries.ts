import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  selectGrantedWorkspaces,
  can,
  isPermittedByRole,
  selectPermittedOrganization,
  toPermittedPage,
  type Actor,
  type DocumentKind,
} from '#api/access';
import {
  isNearStart,
  buildLimit,
  buildViewsAt,
  type ListPage,
  type ListRow,
  type SortOrder,
  type PageRequest,
  type PointInTime,
} from '#api/json-api';
import {
  joinConditions,
  buildOrganizationCount,
  buildConditionAlternatives,
  type WorkspaceCondition,
  type WorkspaceListFilter,
} from './workspace-conditions.queries.js';
import { selectWorkspaceColumns, WORKSPACE_DOCUMENT, type WorkspaceRow } from '../workspaces/workspaces.queries.js';

/** The conditions and the order of a list. */
export type WorkspaceFilter = SortOrder<Sort> & WorkspaceListFilter;

export const SORTS = ['name', 'latest-change-at', 'current-run.created-at'] as const;
type Sort = (typeof SORTS)[number];

type VisibilityExtent = { readonly coversOrganization: boolean; readonly where: Sql };

/**
 * The extents of a list: the whole organization for its roles, or else the scopes of team grants. The statement finds
 * out which of them apply; extents that can apply in none of the caller's organizations are left out.
 */
const buildExtents = (actor: Actor): readonly VisibilityExtent[] => {
  const wholeOrganization: VisibilityExtent = {
    coversOrganization: true,
    where: sql`owner.whole and w.organization = owner.id`,
  };
  const granted: VisibilityExtent = {
    coversOrganization: false,
    where: sql`not owner.whole and w.organization = owner.id and w.id in (${selectGrantedWorkspaces(actor)})`,
  };
  if (actor.siteAdmin) return [wholeOrganization];
  const there = [...actor.rolesByOrganization.keys()].map((organization) =>
    can(actor, 'read-workspace', { organization }),
  );
  if (!there.includes(true)) return [granted];
  return there.includes(false) ? [wholeOrganization, granted] : [wholeOrganization];
};

const countOf = (extent: VisibilityExtent, conditions: readonly WorkspaceCondition[]): Sql =>
  (extent.coversOrganization ? buildOrganizationCount(conditions) : null) ??
  sql`(select count(*) from workspaces w where ${extent.where} and ${joinConditions(conditions)})`;

const selectTotal = (actor: Actor, filter: WorkspaceFilter): Sql => {
  const totals = buildExtents(actor).map((extent) => {
    const counts = buildConditionAlternatives(filter).map((alternative) => countOf(extent, alternative));
    return sql`when ${extent.coversOrganization ? sql.raw('owner.whole') : sql.raw('not owner.whole')} then ${sql.join(counts, ' + ')}`;
  });
  return sql`case ${sql.join(totals, ' ')} end`;
};

/** A range of the list that one index has in order. The key is the sort key of the whole list. */
type IndexRange = { readonly from: Sql; readonly key: Sql; readonly by: readonly [Sql, Sql?] };

const ALL = sql.raw('workspaces w where true');
const NAME = sql.raw('w.name');
const CHANGE = sql.raw('w.latest_change_at');
const RUN = sql.raw('c.created_at');

const BY_NAME: IndexRange = { from: ALL, key: NAME, by: [NAME] };
const BY_CHANGE: IndexRange = { from: ALL, key: CHANGE, by: [CHANGE, NAME] };
const BY_RUN: IndexRange = {
  from: sql.raw('workspace_runs c join workspaces w on w.id = c.workspace where c.organization = owner.id'),
  key: RUN,
  by: [RUN, sql.raw('c.workspace')],
};
const WITHOUT_RUN: IndexRange = {
  from: sql.raw('workspaces w where not exists (select 1 from workspace_runs c where c.workspace = w.id)'),
  key: sql.raw('null::timestamptz'),
  by: [NAME],
};

/** The ranges in sequence are the list: workspaces without a run come last in either direction. */
const listIndexRanges = ({ sort, currentRunStatuses }: WorkspaceFilter): readonly IndexRange[] => {
  if (sort === 'name') return [BY_NAME];
  if (sort === 'latest-change-at') return [BY_CHANGE];
  return currentRunStatuses.length > 0 ? [BY_RUN] : [BY_RUN, WITHOUT_RUN];
};

/**
 * Limits a range to what a page can need, as a power of ten in the text: for a parameter the planner assumes a tenth of
 * all rows, and plans each list again.
 */
const buildRangeLimit = ({ number, size }: PageRequest): Sql =>
  sql.raw(`limit ${Math.max(100, 10 ** Math.ceil(Math.log10(number * size)))}`);

const buildOrder = (columns: readonly (Sql | undefined)[], direction: Sql): Sql =>
  sql.join(
    columns.flatMap((column) => (column ? sql`${column} ${direction}` : [])),
    ', ',
  );

/** So many rows are read and sorted as fast as the first of them are found by an ordered scan of a hundred thousand. */
const FEW_WORKSPACES = 250;
const MATCHES_FEW: WorkspaceCondition = { where: sql`owner.total <= ${FEW_WORKSPACES}` };
const MATCHES_MANY: WorkspaceCondition = { where: sql`owner.total > ${FEW_WORKSPACES}` };

/**
 * Selects as many rows of a range as the page can need. If workspaces can match in several alternatives, each starts
 * from its own index, and the first of their results are taken.
 *
 * A list is scanned in its order until the page is full. If the number of matches is unpredictable, that can take long:
 * 27 ms for 100,000 names and one match. So the matches are counted first, and if they are few, all of them are read:
 * without a limit, the planner uses the index of name fragments.
 */
const selectRangeRows = (
  extent: VisibilityExtent,
  range: IndexRange,
  filter: WorkspaceFilter,
  page: PageRequest,
): Sql => {
  const { from, key, by } = range;
  const direction = sql.raw(filter.descending ? 'desc' : 'asc');
  const columns = by.map((_, index) => sql.raw(`by_${index}`));
  const sortColumns = sql.join(
    by.map((column, index) => sql`, ${column} as ${columns[index]}`),
    '',
  );
  const fit = (alternative: readonly WorkspaceCondition[]): Sql =>
    sql`select w.id, ${key} as key${sortColumns} from ${from} and ${extent.where} and ${joinConditions(alternative)}`;
  const firstOf = (alternative: readonly WorkspaceCondition[]): Sql =>
    sql`(${fit(alternative)} order by ${buildOrder(by, direction)} ${buildRangeLimit(page)})`;
  const selectAlternative = (alternative: readonly WorkspaceCondition[]): readonly Sql[] =>
    alternative.some(({ unforeseen }) => unforeseen)
      ? [firstOf([...alternative, MATCHES_MANY]), sql`(${fit([...alternative, MATCHES_FEW])} offset 0)`]
      : [firstOf(alternative)];
  const parts = buildConditionAlternatives(filter).flatMap(selectAlternative);
  const all = sql.join(parts, ' union all ');
  return parts.length === 1
    ? sql`(select id, key from ${all} alternatives)`
    : sql`(select id, key from (${all}) alternatives order by ${buildOrder(columns, direction)} ${buildRangeLimit(page)})`;
};

/**
 * Selects the ids of the workspaces on a page. Ids and sort keys are in the indexes, so only the rows on the page are
 * read. Postgres reads the ranges in sequence, and stops when the page is full.
 */
const selectPageIds = (actor: Actor, filter: WorkspaceFilter, page: PageRequest): Sql => {
  const parts = buildExtents(actor).flatMap((extent) =>
    listIndexRanges(filter).map((range) => selectRangeRows(extent, range, filter, page)),
  );
  return sql`select id, key from (${sql.join(parts, ' union all ')}) listed ${buildLimit(page)}`;
};

/**
 * Returns whether the cost is independent of the number of workspaces: without conditions and grants, which match few
 * or nearly all of them, a page near the start is read from an index and the count is stored.
 */
const isFast = (actor: Actor, filter: WorkspaceFilter, page: PageRequest): boolean =>
  isNearStart(page) &&
  buildConditionAlternatives(filter).flat().length === 0 &&
  buildExtents(actor).every(({ coversOrganization }) => coversOrganization);

/** The tables that the statement of a list reads, with any filter. */
export const WORKSPACE_LIST_DOCUMENT: DocumentKind = {
  name: 'workspace-list',
  tables: [...WORKSPACE_DOCUMENT.tables, 'workspace_counts', 'workspace_locks', 'reserved_tag_keys'],
};

/** Returns one page and the total count in one statement; with `past`, as they were at that time. */
export const listWorkspaces = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: PageRequest,
  filter: WorkspaceFilter,
  past: PointInTime | null = null,
): Promise<ListPage<WorkspaceRow>> => {
  const direction = sql.raw(filter.descending ? 'desc' : 'asc');
  const statement = sql`
    ${buildViewsAt(past, { organization: organizationName })}
    select owner.id as owner, owner.total, page.*
      from (select owner.*, ${selectTotal(actor, filter)} as total
              from (select id, ${isPermittedByRole(actor, 'read-workspace')} as whole
                      from ${selectPermittedOrganization(actor, 'read-organization', organizationName)} offset 0) owner
             -- Once, and not for each row of the page.
            offset 0) owner
      left join lateral (
        select ${selectWorkspaceColumns(actor, past)}, listed.key
          from (${selectPageIds(actor, filter, page)}) listed join workspaces w on w.id = listed.id
          join organizations o on o.id = w.organization join projects p on p.id = w.project) page on true
     order by page.key ${direction} nulls last, page.name ${direction}`;
  type ListedWorkspace = ListRow<WorkspaceRow & { key: unknown }, { total: number; owner: string }>;
  const rows =
    past === null && isFast(actor, filter, page)
      ? await database.rows<ListedWorkspace>(statement)
      : await database.slowRows<ListedWorkspace>(actor, sql.unkept(statement));
  return toPermittedPage(actor, 'read-organization', rows);
};
