import { notFound, sql, type Sql } from '#kernel';
import type { Database } from '#event-store';
import { demand, grantedWorkspaces, may, organizationsWhere, type Actor, organizationFor } from '#access';
import {
  isNearStart,
  limitOf,
  listedIn,
  viewsAt,
  type Listed,
  type Order,
  type Page,
  type PointInTime,
} from '#json-api';
import { allOf, countInWhole, waysOf, type Condition, type Conditions } from './workspace-conditions.queries.js';
import { columns, type WorkspaceRow } from './workspaces.queries.js';

/** What a list is taken from and in which order. */
export type WorkspaceFilter = Order<Sort> & Conditions;

export const SORTS = ['name', 'latest-change-at', 'current-run.created-at'] as const;
type Sort = (typeof SORTS)[number];

type Extent = { readonly whole: boolean; readonly where: Sql };

/**
 * What a list is taken from: the whole organization by standing, or else what teams have been given. Which of them it is
 * in this organization the statement finds out; what it is in none of the caller's is left out of it.
 */
const extentsFor = (actor: Actor): readonly Extent[] => {
  const whole: Extent = { whole: true, where: sql`owner.whole and w.organization = owner.id` };
  const granted: Extent = {
    whole: false,
    where: sql`not owner.whole and w.organization = owner.id and w.id in (${grantedWorkspaces(actor)})`,
  };
  if (actor.siteAdmin) return [whole];
  const there = [...actor.standings.keys()].map((organization) => may(actor, 'read-workspace', { organization }));
  if (!there.includes(true)) return [granted];
  return there.includes(false) ? [whole, granted] : [whole];
};

const countOf = (extent: Extent, conditions: readonly Condition[]): Sql =>
  (extent.whole ? countInWhole(conditions) : null) ??
  sql`(select count(*) from workspaces w where ${extent.where} and ${allOf(conditions)})`;

const totalOf = (actor: Actor, filter: WorkspaceFilter): Sql => {
  const totals = extentsFor(actor).map((extent) => {
    const counts = waysOf(filter).map((way) => countOf(extent, way));
    return sql`when ${extent.whole ? sql.raw('owner.whole') : sql.raw('not owner.whole')} then ${sql.join(counts, ' + ')}`;
  });
  return sql`case ${sql.join(totals, ' ')} end`;
};

/** A stretch of a list that one index has in order. The key is what the whole list is sorted by, as far as that says. */
type Stretch = { readonly from: Sql; readonly key: Sql; readonly by: readonly [Sql, Sql?] };

const ALL = sql.raw('workspaces w where true');
const NAME = sql.raw('w.name');
const CHANGE = sql.raw('w.latest_change_at');
const RUN = sql.raw('c.created_at');

const BY_NAME: Stretch = { from: ALL, key: NAME, by: [NAME] };
const BY_CHANGE: Stretch = { from: ALL, key: CHANGE, by: [CHANGE, NAME] };
const BY_RUN: Stretch = {
  from: sql.raw('workspace_runs c join workspaces w on w.id = c.workspace where c.organization = owner.id'),
  key: RUN,
  by: [RUN, sql.raw('c.workspace')],
};
const WITHOUT_RUN: Stretch = {
  from: sql.raw('workspaces w where not exists (select 1 from workspace_runs c where c.workspace = w.id)'),
  key: sql.raw('null::timestamptz'),
  by: [NAME],
};

/** One after the other they are the list: those without a run come last, in either direction. */
const stretchesOf = ({ sort, currentRunStatuses }: WorkspaceFilter): readonly Stretch[] => {
  if (sort === 'name') return [BY_NAME];
  if (sort === 'latest-change-at') return [BY_CHANGE];
  return currentRunStatuses.length > 0 ? [BY_RUN] : [BY_RUN, WITHOUT_RUN];
};

/**
 * How much of a stretch a page can need, as a power of ten in the text: of a limit that is a parameter the planner only
 * guesses that it is a tenth of everything, and then finds it worth its while to plan each list anew.
 */
const upTo = ({ number, size }: Page): Sql =>
  sql.raw(`limit ${Math.max(100, 10 ** Math.ceil(Math.log10(number * size)))}`);

const inOrder = (columns: readonly (Sql | undefined)[], direction: Sql): Sql =>
  sql.join(
    columns.flatMap((column) => (column ? sql`${column} ${direction}` : [])),
    ', ',
  );

/** So many are read and sorted as fast as the first of them are found by going through a hundred thousand in order. */
const FEW = 250;
const FEW_FIT: Condition = { where: sql`owner.total <= ${FEW}` };
const MANY_FIT: Condition = { where: sql`owner.total > ${FEW}` };

/**
 * As much of a stretch as the page can need. Where workspaces come in several ways each has its own indexes to start from,
 * and of what they find the first are taken.
 *
 * A list is gone through in its order until the page is full. Where it cannot be foreseen how many fit, that can be a long
 * way: 27 ms through 100,000 names for one that fits. They have been counted by then, and a few are all read instead, by
 * whatever finds them: the planner, who does not know of any limit there, takes the index of parts of names.
 */
const partOf = (extent: Extent, stretch: Stretch, filter: WorkspaceFilter, page: Page): Sql => {
  const { from, key, by } = stretch;
  const direction = sql.raw(filter.descending ? 'desc' : 'asc');
  const columns = by.map((_, index) => sql.raw(`by_${index}`));
  const named = sql.join(
    by.map((column, index) => sql`, ${column} as ${columns[index]}`),
    '',
  );
  const fit = (way: readonly Condition[]): Sql =>
    sql`select w.id, ${key} as key${named} from ${from} and ${extent.where} and ${allOf(way)}`;
  const firstOf = (way: readonly Condition[]): Sql =>
    sql`(${fit(way)} order by ${inOrder(by, direction)} ${upTo(page)})`;
  const found = (way: readonly Condition[]): readonly Sql[] =>
    way.some(({ unforeseen }) => unforeseen)
      ? [firstOf([...way, MANY_FIT]), sql`(${fit([...way, FEW_FIT])} offset 0)`]
      : [firstOf(way)];
  const parts = waysOf(filter).flatMap(found);
  const all = sql.join(parts, ' union all ');
  return parts.length === 1
    ? sql`(select id, key from ${all} ways)`
    : sql`(select id, key from (${all}) ways order by ${inOrder(columns, direction)} ${upTo(page)})`;
};

/**
 * Which workspaces a page shows. Ids and what is sorted by are in the indexes: rows are read of those alone that are shown.
 * Postgres takes the stretches in turn, and none that the page does not come to.
 */
const pageOf = (actor: Actor, filter: WorkspaceFilter, page: Page): Sql => {
  const parts = extentsFor(actor).flatMap((extent) =>
    stretchesOf(filter).map((stretch) => partOf(extent, stretch, filter, page)),
  );
  return sql`select id, key from (${sql.join(parts, ' union all ')}) listed ${limitOf(page)}`;
};

/**
 * Whether the cost does not depend on how many workspaces there are: without conditions and grants, which match a few of
 * them or nearly all, a page near the start is read from an index and the count is stored.
 */
const isFast = (actor: Actor, filter: WorkspaceFilter, page: Page): boolean =>
  isNearStart(page) && waysOf(filter).flat().length === 0 && extentsFor(actor).every(({ whole }) => whole);

/** One page and the count of all, in one statement; with `past` as they were at that time. */
export const listWorkspaces = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
  filter: WorkspaceFilter,
  past: PointInTime | null = null,
): Promise<Listed<WorkspaceRow>> => {
  const direction = sql.raw(filter.descending ? 'desc' : 'asc');
  const statement = sql`
    ${viewsAt(past, { organization: organizationName })}
    select owner.id as owner, owner.total, page.*
      from (select owner.*, ${totalOf(actor, filter)} as total
              from (select id, ${organizationsWhere(actor, 'read-workspace')} as whole
                      from ${organizationFor(actor, 'read-organization', organizationName)} offset 0) owner
             -- Once, and not for each row of the page.
            offset 0) owner
      left join lateral (
        select ${columns(actor, past)}, listed.key
          from (${pageOf(actor, filter, page)}) listed join workspaces w on w.id = listed.id
          join organizations o on o.id = w.organization join projects p on p.id = w.project) page on true
     order by page.key ${direction} nulls last, page.name ${direction}`;
  type Found = WorkspaceRow & { total: number; owner: string };
  const found =
    past === null && isFast(actor, filter, page)
      ? await database.rows<Found>(statement)
      : await database.slowRows<Found>(actor, sql.unkept(statement));
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-organization', { organization: first.owner });
  return listedIn(found);
};
