import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { isUsernameTaken } from '#identity/people';
import type { Database } from '#platform/postgres';
import { requireCurrentAccess, requirePermission, SITE_SCOPE, type Actor } from '#api/access';
import { compileFilter, type FilterAttributes } from '../protocol/scim-filter.queries.js';
import type { ScimPage } from '../protocol/scim-list.js';
import { selectSource } from '../protocol/scim-source.queries.js';

export type ScimUserRow = {
  readonly id: string;
  readonly userName: string;
  readonly externalId: string | null;
  readonly username: string;
  readonly email: string | null;
  readonly active: boolean;
  /** The id of an identity provider, or `site`. */
  readonly source: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
};

const COLUMNS = sql.raw(`s.id, s.user_name as "userName", s.external_id as "externalId", u.username, u.email,
  not u.suspended as active, s.source, s.created_at as "createdAt", s.updated_at as "updatedAt"`);
const FROM = sql.raw('from scim_users s join users u on u.id = s.id where not s.deprovisioned');

const FILTER_ATTRIBUTES: FilterAttributes = {
  id: { type: 'text', column: sql.raw('s.id'), caseExact: true },
  username: { type: 'text', column: sql.raw('s.user_name') },
  externalid: { type: 'text', column: sql.raw('s.external_id'), caseExact: true },
  displayname: { type: 'text', column: sql.raw('u.username') },
  emails: { type: 'text', column: sql.raw('u.email') },
  'emails.value': { type: 'text', column: sql.raw('u.email') },
  'emails.type': { type: 'text', column: sql.raw(`case when u.email is not null then 'work' end`) },
  'emails.primary': { type: 'boolean', column: sql.raw('(u.email is not null)') },
  active: { type: 'boolean', column: sql.raw('(not u.suspended)') },
  'meta.created': { type: 'time', column: sql.raw('s.created_at') },
  'meta.lastmodified': { type: 'time', column: sql.raw('s.updated_at') },
};

export const selectScimUser = (id: string): Sql => sql`select ${COLUMNS} ${FROM} and s.id = ${id}`;

/** Returns the user. Throws `not-found` for users that the caller's token does not manage. */
export const findScimUser = async (database: Database, actor: Actor, id: string): Promise<ScimUserRow> => {
  const row = await database.row<ScimUserRow>(
    sql`${selectScimUser(id)} and s.source = ${selectSource(actor)} and ${requireCurrentAccess(actor)}`,
  );
  requirePermission(actor, 'provision-users', SITE_SCOPE);
  if (!row) throw notFound(`There is no user ${id}`);
  return row;
};

/** Returns one page of the users by id, and the count of all. */
export const listScimUsers = async (
  database: Database,
  actor: Actor,
  filter: string | undefined,
  { startIndex, count }: ScimPage,
): Promise<{ readonly rows: readonly ScimUserRow[]; readonly total: number }> => {
  requirePermission(actor, 'provision-users', SITE_SCOPE);
  const isMatch = filter === undefined ? sql.raw('true') : compileFilter(filter, FILTER_ATTRIBUTES);
  const where = sql`s.source = ${selectSource(actor)} and (${isMatch})`;
  const [row] = await database.slowRows<{ rows: ScimUserRow[]; total: number }>(
    actor,
    sql`select (select count(*) ${FROM} and ${where}) as total,
               coalesce((select jsonb_agg(to_jsonb(page) order by page.id) from (
                 select ${COLUMNS} ${FROM} and ${where} order by s.id limit ${count} offset ${startIndex - 1}) page),
                 '[]') as rows
         where ${requireCurrentAccess(actor)}`,
  );
  return row ?? { rows: [], total: 0 };
};

/** Users that could conflict with a user name. */
export type NameUse = {
  /** Id of the user that has, or had before its deletion, the user name at the identity provider. */
  readonly knownUser: string | null;
  readonly isDeprovisioned: boolean;
  /** Whether the caller's token manages that user; null without one. */
  readonly isOfSource: boolean | null;
  /** The source of what the caller's token creates. */
  readonly source: string;
  /** Whether another user of the site has the username, in any case. */
  readonly isUsernameTaken: boolean;
};

/** `userName`: the name at the identity provider. `user`: id of the user that gets the names; absent for a new user. */
type NameToUse = { readonly userName: string; readonly username: string; readonly user?: string };

export const loadNameUse = async (
  database: Database,
  actor: Actor,
  { userName, username, user }: NameToUse,
): Promise<NameUse> => {
  const row = await database.row<NameUse>(sql`
    select known.source = own.source as "isOfSource", own.source, known.id as "knownUser", coalesce(known.deprovisioned, false) as "isDeprovisioned",
           ${isUsernameTaken(username, user)} as "isUsernameTaken"
      from (select ${selectSource(actor)} as source) own left join scim_users known on lower(known.user_name) = lower(${userName}::text)
     where ${requireCurrentAccess(actor)}`);
  requirePermission(actor, 'provision-users', SITE_SCOPE);
  if (!row) throw notFound();
  return row;
};

/**
 * Returns the id of the user of these sources with this `externalId`; null if there is none, or more than one. The user can
 * be suspended.
 */
export const findUserByExternalId = async (
  database: Database,
  externalId: string,
  sources: readonly string[],
): Promise<string | null> => {
  const rows = await database.rows<{ id: string }>(sql`
    select id from scim_users
     where external_id = ${externalId} and source = any (${sources}::text[]) and not deprovisioned limit 2`);
  return rows.length === 1 ? (rows[0]?.id ?? null) : null;
};
