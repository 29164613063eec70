import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import type { Database } from '#postgres';
import { requireCurrentAccess, requirePermission, SITE_SCOPE, type Actor } from '#access';
import { compileFilter, type FilterAttributes } from '../protocol/scim-filter.queries.js';
import type { ScimPage } from '../protocol/scim-list.js';

export type ScimGroupRow = {
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string | null;
  readonly members: readonly { readonly value: string; readonly display: string }[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
};

const COLUMNS = sql.raw(`g.id, g.display_name as "displayName", g.external_id as "externalId",
  coalesce((select jsonb_agg(jsonb_build_object('value', s.id, 'display', s.user_name) order by s.id)
              from scim_group_members m join scim_users s on s.id = m.user_id
             where m.group_id = g.id and not s.deprovisioned), '[]') as members,
  g.created_at as "createdAt", g.updated_at as "updatedAt"`);

const FILTER_ATTRIBUTES: FilterAttributes = {
  id: { type: 'text', column: sql.raw('g.id'), caseExact: true },
  displayname: { type: 'text', column: sql.raw('g.display_name') },
  externalid: { type: 'text', column: sql.raw('g.external_id'), caseExact: true },
  'members.value': {
    type: 'texts',
    of: (meets) =>
      sql`exists (select 1 from scim_group_members m where m.group_id = g.id and ${meets(sql.raw('m.user_id'))})`,
  },
};

export const selectScimGroup = (id: string): Sql => sql`select ${COLUMNS} from scim_groups g where g.id = ${id}`;

export const findScimGroup = async (database: Database, actor: Actor, id: string): Promise<ScimGroupRow> => {
  const row = await database.row<ScimGroupRow>(sql`${selectScimGroup(id)} and ${requireCurrentAccess(actor)}`);
  requirePermission(actor, 'provision-users', SITE_SCOPE);
  if (!row) throw notFound(`There is no group ${id}`);
  return row;
};

/** Returns one page of the groups by id, and the count of all. */
export const listScimGroups = async (
  database: Database,
  actor: Actor,
  filter: string | undefined,
  { startIndex, count }: ScimPage,
): Promise<{ readonly rows: readonly ScimGroupRow[]; readonly total: number }> => {
  requirePermission(actor, 'provision-users', SITE_SCOPE);
  const where = filter === undefined ? sql.raw('true') : compileFilter(filter, FILTER_ATTRIBUTES);
  const [row] = await database.slowRows<{ rows: ScimGroupRow[]; total: number }>(
    actor,
    sql`select (select count(*) from scim_groups g where ${where}) as total,
               coalesce((select jsonb_agg(to_jsonb(page) order by page.id) from (
                 select ${COLUMNS} from scim_groups g where ${where}
                  order by g.id limit ${count} offset ${startIndex - 1}) page), '[]') as rows
         where ${requireCurrentAccess(actor)}`,
  );
  return row ?? { rows: [], total: 0 };
};

/** Returns the members among these ids that are no users of SCIM. */
export const listUnknownMembers = async (database: Database, ids: readonly string[]): Promise<readonly string[]> => {
  const rows = await database.rows<{ id: string }>(sql`
    select named.id from unnest(${ids}::text[]) as named (id)
     where not exists (select 1 from scim_users s where s.id = named.id and not s.deprovisioned) limit 10`);
  return rows.map(({ id }) => id);
};

export type ScimUserToMap = { readonly user: string; readonly groups: readonly string[] };

/**
 * Returns users of SCIM whose teams with one of these `sso_team_id` do not match their groups, and which of `keys` are
 * keys of their groups. `except`: a group that counts as deleted.
 */
export const listUsersToMap = (
  database: Database,
  keys: readonly string[],
  except: string | null,
): Promise<readonly ScimUserToMap[]> =>
  database.rows<ScimUserToMap>(sql`
    with wanted as (
      select m.user_id, coalesce(g.external_id, g.display_name) as key
        from scim_groups g join scim_group_members m on m.group_id = g.id join scim_users s on s.id = m.user_id
       where coalesce(g.external_id, g.display_name) = any (${keys}::text[]) and not s.deprovisioned
         and g.id is distinct from ${except}),
    mapped as (select t.id, t.sso_team_id as key from teams t where t.sso_team_id = any (${keys}::text[]))
    select changed.user_id as "user",
           array(select distinct w.key from wanted w where w.user_id = changed.user_id) as groups
      from (select w.user_id from wanted w join mapped on mapped.key = w.key
             where not exists (select 1 from team_members tm where tm.team = mapped.id and tm.user_id = w.user_id)
            union
            select tm.user_id from team_members tm join mapped on mapped.id = tm.team
              join scim_users s on s.id = tm.user_id
             where not exists (select 1 from wanted w where w.user_id = tm.user_id and w.key = mapped.key)) changed`);
