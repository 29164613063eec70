import { notFound, sql, type Sql } from '#kernel';
import type { Database } from '#postgres';
import {
  requirePermission,
  selectGrantedWorkspaces,
  can,
  isPermittedByRole,
  type Actor,
  selectPermittedOrganization,
} from '#access';
import {
  isNearStart,
  buildLimit,
  toListPage,
  buildViewsAt,
  type ListPage,
  type SortOrder,
  type PageRequest,
  type PointInTime,
} from '#json-api';
import {
  joinConditions,
  buildOrganizationCount,
  buildConditionAlternatives,
  type WorkspaceCondition,
  type WorkspaceListFilter,
} from './workspace-conditions.queries.js';
import { selectWorkspaceColumns, type WorkspaceRow } from '../workspaces/workspaces.queries.js';

/** What a list is taken from and in which order. */
export type WorkspaceFilter = SortOrder<Sort> & WorkspaceListFilter;

export const SORTS = ['name', 'latest-change-at', 'current-run.created-at'] as const;
type Sort = (typeof SORTS)[number];

type VisibilityExtent = { readonly coversOrganization: boolean; readonly where: Sql };

/**
 * What a list is taken from: the whole organization by standing, or else what teams have been given. Which of them it is
 * in this organization the statement finds out; what it is in none of the caller's is left out of it.
 */
const buildExtents = (actor: Actor): readonly VisibilityExtent[] => {
  const whole: VisibilityExtent = { coversOrganization: true, where: sql`owner.whole and w.organization = owner.id` };
  const granted: VisibilityExtent = {
    coversOrganization: false,
    where: sql`not owner.whole and w.organization = owner.id and w.id in (${selectGrantedWorkspaces(actor)})`,
  };
  if (actor.siteAdmin) return [whole];
  const there = [...actor.standings.keys()].map((organization) => can(actor, 'read-workspace', { organization }));
  if (!there.includes(true)) return [granted];
  return there.includes(false) ? [whole, granted] : [whole];
};

const countOf = (extent: VisibilityExtent, conditions: readonly WorkspaceCondition[]): Sql =>
  (extent.coversOrganization ? buildOrganizationCount(conditions) : null) ??
  sql`(select count(*) from workspaces w where ${extent.where} and ${joinConditions(conditions)})`;

const selectTotal = (actor: Actor, filter: WorkspaceFilter): Sql => {
  const totals = buildExtents(actor).map((extent) => {
    const counts = buildConditionAlternatives(filter).map((way) => countOf(extent, way));
    return sql`when ${extent.coversOrganization ? sql.raw('owner.whole') : sql.raw('not owner.whole')} then ${sql.join(counts, ' + ')}`;
  });
  return sql`case ${sql.join(totals, ' ')} end`;
};

/** A stretch of a list that one index has in order. The key is what the whole list is sorted by, as far as that says. */
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

/** One after the other they are the list: those without a run come last, in either direction. */
const listIndexRanges = ({ sort, currentRunStatuses }: WorkspaceFilter): readonly IndexRange[] => {
  if (sort === 'name') return [BY_NAME];
  if (sort === 'latest-change-at') return [BY_CHANGE];
  return currentRunStatuses.length > 0 ? [BY_RUN] : [BY_RUN, WITHOUT_RUN];
};

/**
 * How much of a stretch a page can need, as a power of ten in the text: of a limit that is a parameter the planner only
 * guesses that it is a tenth of everything, and then finds it worth its while to plan each list anew.
 */
const buildRangeLimit = ({ number, size }: PageRequest): Sql =>
  sql.raw(`limit ${Math.max(100, 10 ** Math.ceil(Math.log10(number * size)))}`);

const buildOrder = (columns: readonly (Sql | undefined)[], direction: Sql): Sql =>
  sql.join(
    columns.flatMap((column) => (column ? sql`${column} ${direction}` : [])),
    ', ',
  );

/** So many are read and sorted as fast as the first of them are found by going through a hundred thousand in order. */
const FEW_WORKSPACES = 250;
const MATCHES_FEW: WorkspaceCondition = { where: sql`owner.total <= ${FEW_WORKSPACES}` };
const MATCHES_MANY: WorkspaceCondition = { where: sql`owner.total > ${FEW_WORKSPACES}` };

/**
 * As much of a stretch as the page can need. Where workspaces come in several ways each has its own indexes to start from,
 * and of what they find the first are taken.
 *
 * A list is gone through in its order until the page is full. Where it cannot be foreseen how many fit, that can be a long
 * way: 27 ms through 100,000 names for one that fits. They have been counted by then, and a few are all read instead, by
 * whatever finds them: the planner, who does not know of any limit there, takes the index of parts of names.
 */
const selectRangeRows = (
  extent: VisibilityExtent,
  stretch: IndexRange,
  filter: WorkspaceFilter,
  page: PageRequest,
): Sql => {
  const { from, key, by } = stretch;
  const direction = sql.raw(filter.descending ? 'desc' : 'asc');
  const columns = by.map((_, index) => sql.raw(`by_${index}`));
  const named = sql.join(
    by.map((column, index) => sql`, ${column} as ${columns[index]}`),
    '',
  );
  const fit = (way: readonly WorkspaceCondition[]): Sql =>
    sql`select w.id, ${key} as key${named} from ${from} and ${extent.where} and ${joinConditions(way)}`;
  const firstOf = (way: readonly WorkspaceCondition[]): Sql =>
    sql`(${fit(way)} order by ${buildOrder(by, direction)} ${buildRangeLimit(page)})`;
  const found = (way: readonly WorkspaceCondition[]): readonly Sql[] =>
    way.some(({ unforeseen }) => unforeseen)
      ? [firstOf([...way, MATCHES_MANY]), sql`(${fit([...way, MATCHES_FEW])} offset 0)`]
      : [firstOf(way)];
  const parts = buildConditionAlternatives(filter).flatMap(found);
  const all = sql.join(parts, ' union all ');
  return parts.length === 1
    ? sql`(select id, key from ${all} ways)`
    : sql`(select id, key from (${all}) ways order by ${buildOrder(columns, direction)} ${buildRangeLimit(page)})`;
};

/**
 * Which workspaces a page shows. Ids and what is sorted by are in the indexes: rows are read of those alone that are shown.
 * Postgres takes the stretches in turn, and none that the page does not come to.
 */
const selectPageIds = (actor: Actor, filter: WorkspaceFilter, page: PageRequest): Sql => {
  const parts = buildExtents(actor).flatMap((extent) =>
    listIndexRanges(filter).map((stretch) => selectRangeRows(extent, stretch, filter, page)),
  );
  return sql`select id, key from (${sql.join(parts, ' union all ')}) listed ${buildLimit(page)}`;
};

/**
 * Whether the cost does not depend on how many workspaces there are: without conditions and grants, which match a few of
 * them or nearly all, a page near the start is read from an index and the count is stored.
 */
const isFast = (actor: Actor, filter: WorkspaceFilter, page: PageRequest): boolean =>
  isNearStart(page) &&
  buildConditionAlternatives(filter).flat().length === 0 &&
  buildExtents(actor).every(({ coversOrganization }) => coversOrganization);

/** One page and the count of all, in one statement; with `past` as they were at that time. */
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
  type Found = WorkspaceRow & { total: number; owner: string };
  const found =
    past === null && isFast(actor, filter, page)
      ? await database.rows<Found>(statement)
      : await database.slowRows<Found>(actor, sql.unkept(statement));
  const [first] = found;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', { organization: first.owner });
  return toListPage(found);
};
