import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import type { Database } from '#event-store';
import { demand, fresh, grantedWorkspaces, may, organizationsWhere, type Actor } from '#access';
import { asOf } from '#history/to-history';
import { limitOf, listedIn, type Listed, type Order, type Page } from '#json-api';
import { columns, type WorkspaceRow } from './workspaces.queries.js';

/** What a list is taken from and what is left out of it. In SQL: `w`, a workspace, and `owner`, its organization. */
export type WorkspaceFilter = Order<Sort> & {
  readonly name: string | undefined;
  readonly wildcard: string | undefined;
  /** Flat tags and bindings that must all be there; where `value` is null any will do. */
  readonly tagged: readonly { readonly key: string; readonly value: string | null }[];
  readonly excludeTags: readonly string[];
  readonly project: string | undefined;
  readonly currentRunStatuses: readonly string[];
};

export const SORTS = ['name', 'latest-change-at', 'current-run.created-at'] as const;
type Sort = (typeof SORTS)[number];

const literally = (text: string): string => text.replaceAll(/[\\%_]/g, (special) => `\\${special}`);

type Condition = {
  readonly where: Sql;
  /** Where it alone says which workspaces: their ids, each once. */
  readonly ids?: Sql;
};

const isAmong = (ids: Sql): Condition => ({ where: sql`w.id in (${ids})`, ids });

/** The index of parts of names knows them in small letters (sql/004_lists.sql). */
const isLike = (pattern: string): Sql => sql`lower(w.name) like ${pattern.toLowerCase()}`;

const hasInName = (text: string): Condition => ({ where: isLike(`%${literally(text)}%`) });

const matches = (wildcard: string): Condition => {
  const pattern = literally(wildcard).replaceAll('*', '%');
  return { where: sql`${isLike(pattern)} and w.name like ${pattern}` };
};

type Tagged = WorkspaceFilter['tagged'][number];

const isTagged = ({ key, value }: Tagged): Condition =>
  isAmong(sql`
    select t.workspace from workspace_tags t
     where t.organization = owner.id and t.key = ${key} and ${value === null ? sql`true` : sql`t.value = ${value}`}`);

/** The planner starts from the rarest of these. Of many it would think longer than it takes to look at each workspace. */
const ONE_BY_ONE = 3;

const isTaggedWithAll = (tagged: readonly Tagged[]): readonly Condition[] => {
  const others = tagged.slice(ONE_BY_ONE);
  const where = sql`not exists (
    select 1 from unnest(${others.map(({ key }) => key)}::text[], ${others.map(({ value }) => value)}::text[])
                  as wanted (key, value)
     where not exists (select 1 from workspace_tags t where t.workspace = w.id and t.key = wanted.key
                          and (wanted.value is null or t.value = wanted.value)))`;
  return [...tagged.slice(0, ONE_BY_ONE).map(isTagged), ...(others.length > 0 ? [{ where }] : [])];
};

const hasNoneOf = (keys: readonly string[]): Condition => ({
  where: sql`not exists (
    select 1 from workspace_tags t where t.organization = owner.id and t.key = any (${keys}::text[]) and t.workspace = w.id)`,
});

const isAtRun = (statuses: readonly string[]): Condition =>
  isAmong(sql`
    select c.workspace from workspace_runs c where c.organization = owner.id and c.status = any (${statuses}::text[])`);

/** The conditions of a list, besides the organization; none where all of it is asked for. */
const conditionsOf = (filter: WorkspaceFilter): readonly Condition[] => [
  ...(filter.name ? [hasInName(filter.name)] : []),
  ...(filter.wildcard ? [matches(filter.wildcard)] : []),
  ...(filter.project ? [{ where: sql`w.project = ${filter.project}` }] : []),
  ...isTaggedWithAll(filter.tagged),
  ...(filter.excludeTags.length > 0 ? [hasNoneOf(filter.excludeTags)] : []),
  ...(filter.currentRunStatuses.length > 0 ? [isAtRun(filter.currentRunStatuses)] : []),
];

const allOf = (conditions: readonly Condition[]): Sql => sql.and(conditions.map(({ where }) => where));

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
  sql`(select count(*) from workspaces w where ${extent.where} and ${allOf(conditions)})`;

/** Of an organization and of a project there is a count: to count a hundred thousand rows would cost more than the page. */
const totalInWhole = (extent: Extent, filter: WorkspaceFilter): Sql => {
  const conditions = conditionsOf(filter);
  const [only, ...others] = conditions;
  if (others.length > 0) return countOf(extent, conditions);
  if (only?.ids) return sql`(select count(*) from (${only.ids}) matching)`;
  if (only && !filter.project) return countOf(extent, conditions);
  return sql`(select coalesce(sum(c.workspaces), 0)::bigint from workspace_counts c
    where c.organization = owner.id and ${filter.project ? sql`c.project = ${filter.project}` : sql`true`})`;
};

const totalOf = (actor: Actor, filter: WorkspaceFilter): Sql => {
  const totals = extentsFor(actor).map((extent) => {
    const total = extent.whole ? totalInWhole(extent, filter) : countOf(extent, conditionsOf(filter));
    return sql`when ${extent.whole ? sql.raw('owner.whole') : sql.raw('not owner.whole')} then ${total}`;
  });
  return sql`case ${sql.join(totals, ' ')} end`;
};

/** A stretch of a list that one index has in order. */
type Stretch = { readonly from: Sql; readonly key: Sql; readonly order: (direction: Sql) => Sql };

const ALL = sql.raw('workspaces w where true');
const BY_NAME: Stretch = { from: ALL, key: sql.raw('w.name'), order: (direction) => sql`w.name ${direction}` };
const BY_CHANGE: Stretch = {
  from: ALL,
  key: sql.raw('w.latest_change_at'),
  order: (direction) => sql`w.latest_change_at ${direction}, w.name ${direction}`,
};
const BY_RUN: Stretch = {
  from: sql.raw('workspace_runs c join workspaces w on w.id = c.workspace where c.organization = owner.id'),
  key: sql.raw('c.created_at'),
  order: (direction) => sql`c.created_at ${direction}, c.workspace ${direction}`,
};
const WITHOUT_RUN: Stretch = {
  from: sql.raw('workspaces w where not exists (select 1 from workspace_runs c where c.workspace = w.id)'),
  key: sql.raw('null'),
  order: BY_NAME.order,
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

/**
 * Which workspaces a page shows. Ids and what is sorted by are in the indexes: rows are read of those alone that are shown.
 * Postgres takes the stretches in turn, and none that the page does not come to.
 */
const pageOf = (actor: Actor, filter: WorkspaceFilter, page: Page): Sql => {
  const conditions = allOf(conditionsOf(filter));
  const direction = sql.raw(filter.descending ? 'desc' : 'asc');
  const parts = extentsFor(actor).flatMap((extent) =>
    stretchesOf(filter).map(
      ({ from, key, order }) => sql`
        (select w.id, ${key} as key from ${from} and ${extent.where} and ${conditions}
          order by ${order(direction)} ${upTo(page)})`,
    ),
  );
  return sql`select id, key from (${sql.join(parts, ' union all ')}) listed ${limitOf(page)}`;
};

/** Conditions and grants match a few workspaces or nearly all of them. */
const keptIfPlain = (actor: Actor, filter: WorkspaceFilter, statement: Sql): Sql =>
  conditionsOf(filter).length === 0 && extentsFor(actor).every(({ whole }) => whole)
    ? statement
    : sql.unkept(statement);

/** One page and the count of all, in one statement; with `at` as they were at that time. */
export const listWorkspaces = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
  filter: WorkspaceFilter,
  at: Timestamp | null = null,
): Promise<Listed<WorkspaceRow>> => {
  const direction = sql.raw(filter.descending ? 'desc' : 'asc');
  const statement = sql`
    ${asOf(at, { organization: organizationName })}
    select owner.id as owner, owner.total, page.*
      from (select owner.*, ${totalOf(actor, filter)} as total
              from (select id, ${organizationsWhere(actor, 'read-workspace')} as whole
                      from organizations where name = ${organizationName} and ${fresh(actor)} offset 0) owner
             -- Once, and not for each row of the page.
            offset 0) owner
      left join lateral (
        select ${columns(actor, at)}, listed.key
          from (${pageOf(actor, filter, page)}) listed join workspaces w on w.id = listed.id
          join organizations o on o.id = w.organization join projects p on p.id = w.project) page on true
     order by page.key ${direction} nulls last, page.name ${direction}`;
  const found = await database.rows<WorkspaceRow & { total: number; owner: string }>(
    at === null ? keptIfPlain(actor, filter, statement) : sql.slow(statement),
  );
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-organization', { organization: first.owner });
  return listedIn(found);
};
