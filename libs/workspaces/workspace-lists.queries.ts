import { notFound, sql, type Sql } from '#kernel';
import type { Database } from '#event-store';
import { demand, fresh, grantedWorkspaces, organizationsWhere, type Actor } from '#access';
import { limitOf, listedIn, type Listed, type Order, type Page } from '#json-api';
import { columns, type WorkspaceRow } from './workspaces.queries.js';

export type WorkspaceFilter = Order<Sort> & {
  readonly name: string | undefined;
  readonly wildcard: string | undefined;
  readonly tags: readonly string[];
  readonly excludeTags: readonly string[];
  readonly project: string | undefined;
  /** Bindings that must all be there; an empty or missing value means any. */
  readonly tagged: readonly { readonly key: string; readonly value: string | undefined }[];
  readonly currentRunStatuses: readonly string[];
};

export const SORTS = ['name', 'latest-change-at', 'current-run.created-at'] as const;
type Sort = (typeof SORTS)[number];

const currentRunAt = (workspace: string): string =>
  `(select r.created_at from workspace_runs c join runs r on r.id = c.current_run where c.workspace = ${workspace})`;

/** What each order sorts by, in the table and in the page; names, which are unique, end it and make it stable. */
const ORDER = {
  name: ['w.name', 'page.name'],
  'latest-change-at': ['w.latest_change_at', 'page."latestChangeAt"'],
  'current-run.created-at': [currentRunAt('w.id'), currentRunAt('page.id')],
} as const satisfies Record<Sort, readonly [string, string]>;

const orderOf = ({ sort, descending }: WorkspaceFilter): { readonly inner: Sql; readonly outer: Sql } => {
  const direction = descending ? 'desc' : 'asc';
  // Those without a run come last either way; elsewhere the words would keep the index from being read backwards.
  const way = sort === 'current-run.created-at' ? `${direction} nulls last` : direction;
  const [inner, outer] = ORDER[sort];
  return {
    inner: sql.raw(`order by ${inner} ${way}, w.name ${direction}`),
    outer: sql.raw(`order by ${outer} ${way}, page.name ${direction}`),
  };
};

const likePattern = (wildcard: string): string =>
  wildcard.replaceAll(/[\\%_]/g, (special) => `\\${special}`).replaceAll('*', '%');

/** Lists are parameters, not pieces of text: every text is a prepared statement of its own on every connection. */
const hasAllOf = (keys: readonly string[]): Sql => sql`not exists (
  select 1 from unnest(${keys}::text[]) as wanted (key)
   where not exists (select 1 from workspace_tags t where t.workspace = w.id and t.key = wanted.key))`;

const hasNoneOf = (keys: readonly string[]): Sql =>
  sql`not exists (select 1 from workspace_tags t where t.workspace = w.id and t.key = any (${keys}::text[]))`;

const isTagged = (tagged: WorkspaceFilter['tagged']): Sql => sql`not exists (
  select 1 from unnest(${tagged.map(({ key }) => key)}::text[], ${tagged.map(({ value }) => value || null)}::text[])
                as wanted (key, value)
   where not exists (select 1 from workspace_tags t where t.workspace = w.id and t.key = wanted.key
                        and (wanted.value is null or t.value = wanted.value)))`;

const isAtRun = (statuses: readonly string[]): Sql => sql`exists (
  select 1 from workspace_runs c join runs r on r.id = c.current_run
   where c.workspace = w.id and r.status = any (${statuses}::text[]))`;

/** The conditions of a list, besides the organization; none where all of it is asked for. */
const conditionsOf = (filter: WorkspaceFilter): readonly Sql[] => [
  ...(filter.name ? [sql`position(lower(${filter.name}) in lower(w.name)) > 0`] : []),
  ...(filter.wildcard ? [sql`w.name like ${likePattern(filter.wildcard)}`] : []),
  ...(filter.project ? [sql`w.project = ${filter.project}`] : []),
  ...(filter.tags.length > 0 ? [hasAllOf(filter.tags)] : []),
  ...(filter.excludeTags.length > 0 ? [hasNoneOf(filter.excludeTags)] : []),
  ...(filter.tagged.length > 0 ? [isTagged(filter.tagged)] : []),
  ...(filter.currentRunStatuses.length > 0 ? [isAtRun(filter.currentRunStatuses)] : []),
];

/** What a list is taken from: the whole organization by standing, or else what teams have been given; one is empty. */
const extents = (actor: Actor): readonly [whole: Sql, granted: Sql] => [
  sql`owner.whole and w.organization = owner.id`,
  sql`not owner.whole and w.organization = owner.id and w.id in (${grantedWorkspaces(actor)})`,
];

const countOf = (extent: Sql, conditions: readonly Sql[]): Sql =>
  sql`(select count(*) from workspaces w where ${extent} and ${sql.and(conditions)})`;

/** Counting a hundred thousand rows for every page would cost more than the page: the whole has its own count. */
const totalOf = (actor: Actor, conditions: readonly Sql[]): Sql => {
  const [whole, granted] = extents(actor);
  const all = sql`(select coalesce(sum(c.workspaces), 0)::bigint from workspace_counts c where c.organization = owner.id)`;
  return sql`case when owner.whole then ${conditions.length === 0 ? all : countOf(whole, conditions)}
                  else ${countOf(granted, conditions)} end`;
};

/** One page and the count of all, in one statement. */
export const listWorkspaces = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
  filter: WorkspaceFilter,
): Promise<Listed<WorkspaceRow>> => {
  const conditions = conditionsOf(filter);
  const order = orderOf(filter);
  // Each with an order and a limit of its own, so that an index can serve it; together they are one page still.
  const [whole, granted] = extents(actor);
  const pageOf = (extent: Sql): Sql =>
    sql`(select w.* from workspaces w where ${extent} and ${sql.and(conditions)} ${order.inner} ${limitOf(page)})`;
  const found = await database.rows<WorkspaceRow & { total: number; owner: string }>(sql`
    select owner.id as owner, owner.total, page.*
      from (select owner.*, ${totalOf(actor, conditions)} as total
              from (select id, ${organizationsWhere(actor, 'read-workspace')} as whole from organizations where name = ${organizationName} and ${fresh(actor)}) owner
             -- Once, and not for each row of the page.
            offset 0) owner
      left join lateral (
        select ${columns(actor)}
          from (${pageOf(whole)} union all ${pageOf(granted)}) w
          join organizations o on o.id = w.organization join projects p on p.id = w.project) page on true
     ${order.outer}`);
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-organization', { organization: first.owner });
  return listedIn(found);
};
