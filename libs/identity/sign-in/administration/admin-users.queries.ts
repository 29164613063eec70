import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { can, requireCurrentAccess, requirePermission, SITE_SCOPE, verifyCurrentAccess, type Actor } from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { selectOrganizationNames } from '#identity/people';

/** A user as site administrators see it. */
export type AdministeredUserRow = {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly unconfirmedEmail: string | null;
  readonly siteAdmin: boolean;
  readonly suspended: boolean;
  readonly hasSecondFactor: boolean;
  readonly createdAt: Timestamp;
  /** Names of the organizations in which the user is an active member. */
  readonly organizations: readonly string[];
};

/** The columns of an `AdministeredUserRow`, of the table `u`. */
const COLUMNS = sql`u.id, u.username, u.email, u.unconfirmed_email as "unconfirmedEmail", u.site_admin as "siteAdmin", u.suspended, u.created_at as "createdAt",
  exists (select 1 from sign_in.totp_secrets where user_id = u.id)
    or exists (select 1 from sign_in.passkeys where user_id = u.id) as "hasSecondFactor",
  ${selectOrganizationNames(sql.raw('u.id'))} as organizations`;

/** Undefined members select all users. */
type AdministeredUserFilter = {
  /** Text in the username or the address, in any case. */
  readonly search: string | undefined;
  readonly siteAdmin: boolean | undefined;
  readonly suspended: boolean | undefined;
};

const buildConditions = ({ search, siteAdmin, suspended }: AdministeredUserFilter): readonly Sql[] => [
  ...(search
    ? [sql`(position(lower(${search}) in lower(u.username)) > 0 or position(lower(${search}) in lower(u.email)) > 0)`]
    : []),
  ...(siteAdmin === undefined ? [] : [sql`u.site_admin = ${siteAdmin}`]),
  ...(suspended === undefined ? [] : [sql`u.suspended = ${suspended}`]),
];

/** Returns one page of the users of the site that match, ordered by name. Throws `not-found` for other callers. */
export const listAdministeredUsers = async (
  database: Database,
  actor: Actor,
  page: PageRequest,
  filter: AdministeredUserFilter,
): Promise<ListPage<AdministeredUserRow>> => {
  // The statement of the list checks the access of site administrators.
  if (!can(actor, 'manage-site', SITE_SCOPE)) await verifyCurrentAccess(database, actor);
  requirePermission(actor, 'manage-site', SITE_SCOPE);
  const where = sql.and([requireCurrentAccess(actor), ...buildConditions(filter)]);
  const rows = await database.slowRows<ListRow<AdministeredUserRow, { total: number }>>(
    actor,
    sql`
    select matched.total, page.*
      from (select count(*) as total from users u where ${where}) matched
      left join lateral (select ${COLUMNS} from users u where ${where}
                          order by u.username, u.id ${buildLimit(page)}) page on true
     order by page.username, page.id`,
  );
  return toListPage(rows);
};

/** Returns a user after a command, which has checked the access of the caller. */
export const readAdministeredUser = async (database: Database, id: string): Promise<AdministeredUserRow> => {
  const row = await database.row<AdministeredUserRow>(sql`select ${COLUMNS} from users u where u.id = ${id}`);
  if (!row) throw notFound();
  return row;
};
