import { notFound, sql, type Sql } from '#kernel';
import { snapshotAt, type Database, type Snapshot } from '#event-store';
import { demand, fresh, may, type Actor, type Identity, type Permission, type Place } from '#access';

export type UserRow = {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly siteAdmin: boolean;
};

const COLUMNS = sql.raw(`u.id, u.username, u.email, u.site_admin as "siteAdmin"`);

export const userById = (id: string): Sql => sql`select ${COLUMNS} from users u where u.id = ${id}`;

/** The caller's own account; none where they are no person. */
export const accountOf = (database: Database, actor: Actor): Promise<UserRow | undefined> =>
  database.row<UserRow>(sql`${userById(actor.id)} and ${fresh(actor)}`);

/** Where the person in the row `u` belongs to. */
export const ORGANIZATIONS = sql.raw(`array(
  select organization from organization_memberships where user_id = u.id
  union select t.organization from team_members m join teams t on t.id = m.team where m.user_id = u.id)`);

export type SeenUserRow = UserRow & { readonly organizations: readonly string[] };

/** People are seen by themselves, and by who may look in an organization that they belong to. */
export const isSeenUser = (actor: Identity, { id, organizations }: SeenUserRow): boolean => {
  const places: Place[] = [null, ...organizations].map((organization) => ({ organization, user: id }));
  return places.some((place) => may(actor, 'read-user', place));
};

/** A person, where the caller may see them. */
export const userFor = async (database: Database, actor: Actor, id: string): Promise<UserRow> => {
  const row = await database.row<SeenUserRow>(
    sql`select ${COLUMNS}, ${ORGANIZATIONS} as organizations from users u where u.id = ${id} and ${fresh(actor)}`,
  );
  if (!row || !isSeenUser(actor, row)) throw notFound();
  return row;
};

export const userForCommand = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<{ readonly snapshot: Snapshot; readonly email: string | null }> => {
  const row = await database.row<{ snapshot: Snapshot | null; email: string | null }>(sql`
    select (select email from users where id = ${id}) as email,
           (select ${snapshotAt('users.id')} from users where id = ${id}) as snapshot
     where ${fresh(actor)}`);
  // Asked before it is looked for: callers that are no person have nothing of their own.
  demand(actor, permission, { organization: null, user: id });
  if (!row?.snapshot) throw notFound();
  return { snapshot: row.snapshot, email: row.email };
};
