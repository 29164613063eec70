import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { requireCurrentAccess, requirePermission, SITE_SCOPE, type Actor } from '#api/access';
import { compileFilter, type FilterAttributes } from '../protocol/scim-filter.queries.js';
import type { ScimPage } from '../protocol/scim-list.js';
import { selectSource } from '../protocol/scim-source.queries.js';

export type ScimGroupRow = {
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string | null;
  /** Null if the request does not want them. */
  readonly members: readonly { readonly value: string; readonly display: string }[] | null;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
};

/** Members in one page of a list. A response with so many has about 700 KB. */
const MAX_PAGE_MEMBERS = 10_000;

const MEMBERS =
  sql.raw(`coalesce((select jsonb_agg(jsonb_build_object('value', s.id, 'display', s.user_name) order by s.id)
  from scim_group_members m join scim_users s on s.id = m.user_id where m.group_id = g.id and not s.deprovisioned), '[]')`);

const selectColumns = (withMembers: boolean): Sql => sql`g.id, g.display_name as "displayName",
  g.external_id as "externalId", ${withMembers ? MEMBERS : sql.raw('null::jsonb')} as members,
  g.created_at as "createdAt", g.updated_at as "updatedAt"`;

const MEMBERS_VALUE: FilterAttributes[string] = {
  type: 'texts',
  of: (meets) =>
    sql`exists (select 1 from scim_group_members m where m.group_id = g.id and ${meets(sql.raw('m.user_id'))})`,
};

const FILTER_ATTRIBUTES: FilterAttributes = {
  id: { type: 'text', column: sql.raw('g.id'), caseExact: true },
  displayname: { type: 'text', column: sql.raw('g.display_name') },
  externalid: { type: 'text', column: sql.raw('g.external_id'), caseExact: true },
  // Microsoft Entra sends `members eq "ID"`.
  members: MEMBERS_VALUE,
  'members.value': MEMBERS_VALUE,
  'meta.created': { type: 'time', column: sql.raw('g.created_at') },
  'meta.lastmodified': { type: 'time', column: sql.raw('g.updated_at') },
};

/** Returns the group. Throws `not-found` for groups that the caller's token does not manage. */
export const findScimGroup = async (
  database: Database,
  actor: Actor,
  id: string,
  withMembers = true,
): Promise<ScimGroupRow> => {
  const row = await database.row<ScimGroupRow>(sql`
    select ${selectColumns(withMembers)} from scim_groups g
     where g.id = ${id} and g.source = ${selectSource(actor)} and ${requireCurrentAccess(actor)}`);
  requirePermission(actor, 'provision-users', SITE_SCOPE);
  if (!row) throw notFound(`There is no group ${id}`);
  return row;
};

type ScimGroupList = {
  readonly filter: string | undefined;
  readonly page: ScimPage;
  readonly withMembers: boolean;
};

/** Returns one page of the groups by id, and the count of all. A page with many members has fewer groups. */
export const listScimGroups = async (
  database: Database,
  actor: Actor,
  { filter, page: { startIndex, count }, withMembers }: ScimGroupList,
): Promise<{ readonly rows: readonly ScimGroupRow[]; readonly total: number }> => {
  requirePermission(actor, 'provision-users', SITE_SCOPE);
  const isMatch = filter === undefined ? sql.raw('true') : compileFilter(filter, FILTER_ATTRIBUTES);
  const where = sql`g.source = ${selectSource(actor)} and (${isMatch})`;
  const page = sql`select g.* from scim_groups g where ${where} order by g.id limit ${count} offset ${startIndex - 1}`;
  const [row] = await database.slowRows<{ rows: ScimGroupRow[]; total: number }>(
    actor,
    sql`select (select count(*) from scim_groups g where ${where}) as total,
               coalesce((select jsonb_agg(to_jsonb(shown) order by shown.id) from (
                 select ${selectColumns(withMembers)} from ${withMembers ? limitMembers(page) : sql`(${page})`} g) shown),
                 '[]') as rows
         where ${requireCurrentAccess(actor)}`,
  );
  return row ?? { rows: [], total: 0 };
};

/** Returns the first groups of the page, as many as have at most `MAX_PAGE_MEMBERS` together, and at least one. */
const limitMembers = (page: Sql): Sql => sql`(
  select * from (
    select page.*, row_number() over ordered as number, sum(size.members) over ordered as sum
      from (${page}) page
      cross join lateral (select count(*) as members from scim_group_members m where m.group_id = page.id) size
    window ordered as (order by page.id)) summed
   where number = 1 or sum <= ${MAX_PAGE_MEMBERS})`;

/** Returns the members among these ids that are no users of the caller's source. */
export const listUnknownMembers = async (
  database: Database,
  actor: Actor,
  ids: readonly string[],
): Promise<readonly string[]> => {
  const rows = await database.rows<{ id: string }>(sql`
    select named.id from unnest(${ids}::text[]) as named (id)
     where not exists (select 1 from scim_users s where s.id = named.id and s.source = ${selectSource(actor)}
                         and not s.deprovisioned) limit 10`);
  return rows.map(({ id }) => id);
};

/** Returns the number of groups, at most `most`. */
export const countScimGroups = async (database: Database, most: number): Promise<number> => {
  const row = await database.row<{ count: number }>(
    sql`select count(*) as count from (select from scim_groups limit ${most}) counted`,
  );
  return row?.count ?? 0;
};

/** Returns the keys of the user's groups: the `sso_team_id` of the teams to which they map. */
export const listGroupKeys = async (database: Database, user: string): Promise<readonly string[]> => {
  const rows = await database.rows<{ key: string }>(sql`
    select distinct coalesce(g.external_id, g.display_name) as key
      from scim_group_members m join scim_groups g on g.id = m.group_id where m.user_id = ${user}`);
  return rows.map(({ key }) => key);
};
