import { notFound, sql, type Sql } from '#platform/kernel';
import { selectSnapshotJson, buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requireCurrentAccess,
  can,
  SITE_SCOPE,
  type Actor,
  type Identity,
  type Permission,
  type PermissionScope,
} from '#api/access';
import { selectOwnedTokens, type OwnedToken } from '../authentication-tokens/authentication-tokens.writes.js';
import type { Invitation } from '../memberships/membership.js';
import { selectInvitation, selectInvitationAddress } from '../memberships/visible-accounts.queries.js';
import { selectActiveOrganizations, selectOwnedSessions, type OwnedSession } from '../sessions/sessions.view.js';
import { selectOwners } from '../teams/teams.queries.js';

export type UserRow = {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly unconfirmedEmail: string | null;
  readonly siteAdmin: boolean;
  readonly suspended: boolean;
};

const COLUMNS = sql.raw(
  `u.id, u.username, u.email, u.unconfirmed_email as "unconfirmedEmail", u.site_admin as "siteAdmin", u.suspended`,
);

export const selectUserById = (id: string): Sql => sql`select ${COLUMNS} from users u where u.id = ${id}`;

/** Counts the users of the site, up to `most`. Leaves out accounts that only an invitation has created. */
export const countUsers = async (database: Database, most: number): Promise<number> => {
  const row = await database.row<{ count: number }>(
    sql`select count(*) as count from (select from users where not only_invited limit ${most}) counted`,
  );
  return row?.count ?? 0;
};

/** Returns the caller's own account; undefined if the caller is not a user. */
export const findOwnAccount = (database: Database, actor: Actor): Promise<UserRow | undefined> =>
  database.row<UserRow>(sql`${selectUserById(actor.id)} and ${requireCurrentAccess(actor)}`);

/** Organizations of the user in the row `u`. Organizations that only invited the user do not see the account. */
export const ORGANIZATIONS = sql.raw(`array(
  select organization from organization_memberships where user_id = u.id and status = 'active'
  union select t.organization from team_members m join teams t on t.id = m.team
         where m.user_id = u.id
           and not exists (select 1 from organization_memberships ou where ou.user_id = u.id
                              and ou.organization = t.organization and ou.status = 'invited'))`);

/** Returns an expression for the names of the organizations in which a user is an active member. */
export const selectOrganizationNames = (user: Sql): Sql => sql`array(
  select o.name from organization_memberships m join organizations o on o.id = m.organization
   where m.user_id = ${user} and m.status = 'active' order by o.name)`;

export type VisibleUserRow = UserRow & { readonly organizations: readonly string[] };

/** Returns whether the caller may read the user, on the site or in one of the user's organizations. */
export const isVisibleUser = (actor: Identity, { id, organizations }: VisibleUserRow): boolean => {
  const scopes: PermissionScope[] = [null, ...organizations].map((organization) => ({ organization, user: id }));
  return scopes.some((scope) => can(actor, 'read-user', scope));
};

/** Returns the user. Throws `not-found` if the caller may not see them. */
export const findUser = async (database: Database, actor: Actor, id: string): Promise<UserRow> => {
  const row = await database.row<VisibleUserRow>(
    sql`select ${COLUMNS}, ${ORGANIZATIONS} as organizations from users u where u.id = ${id} and ${requireCurrentAccess(actor)}`,
  );
  if (!row || !isVisibleUser(actor, row)) throw notFound();
  return row;
};

export const loadUserForCommand = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<StreamSnapshot> => {
  const row = await database.row<{ snapshot: StreamSnapshot | null }>(sql`
    select (select ${selectSnapshotJson('users.id')} from users where id = ${id}) as snapshot
     where ${requireCurrentAccess(actor)}`);
  // Checked before the row, because callers that are not users have no account of their own.
  requirePermission(actor, permission, { organization: null, user: id });
  if (!row?.snapshot) throw notFound();
  return row.snapshot;
};

type OwnedStream = { readonly id: string; readonly organization: string; readonly snapshot: StreamSnapshot };

type JoinedTeam = OwnedStream & {
  readonly organizationName: string;
  /** Ids of the organization's active owners if this is its owners team, otherwise null. */
  readonly owners: readonly string[] | null;
  readonly invitation: Invitation | null;
};

export type UserToForget = {
  readonly username: string;
  readonly snapshot: StreamSnapshot;
  /** `email`: the address of the invitation. */
  readonly memberships: readonly (OwnedStream & { readonly email: string | null })[];
  readonly teams: readonly JoinedTeam[];
  readonly tokens: readonly OwnedToken[];
  readonly sessions: readonly OwnedSession[];
  /** The organizations whose audit trails record the end of the sessions. */
  readonly activeOrganizations: readonly string[];
  readonly siteAdmin: boolean;
  readonly isLastAdmin: boolean;
};

/** Whether the row `u` is the last active administrator of the site. */
const IS_LAST_ADMIN = sql.raw(`u.site_admin and not u.suspended
  and not exists (select 1 from users x where x.site_admin and not x.suspended and x.id <> u.id)`);

/** Loads a user to forget. `where` is an additional condition, such as the caller's access. */
export const loadUserToForget = (database: Database, id: string, where: Sql): Promise<UserToForget | undefined> =>
  database.row<UserToForget>(sql`
    select u.username, ${buildSnapshotJson('s')} as snapshot, ${selectOwnedTokens(sql.raw('u.id'))} as tokens,
           ${selectOwnedSessions(sql`session.user_id = u.id`)} as sessions,
           ${selectActiveOrganizations(sql.raw('u.id'))} as "activeOrganizations",
           coalesce((select jsonb_agg(jsonb_build_object('id', m.id, 'organization', m.organization, 'email', ${selectInvitationAddress('m')},
                                                         'snapshot', ${buildSnapshotJson('sm')}) order by m.id)
                       from organization_memberships m join event_store.streams sm on sm.stream = m.id
                      where m.user_id = u.id), '[]') as memberships,
           coalesce((select jsonb_agg(jsonb_build_object('id', t.id, 'organization', t.organization,
                                                         'organizationName', o.name, 'owners', ${selectOwners(sql.raw('t.id'))},
                                                         'invitation', ${selectInvitation('ou')}, 'snapshot', ${buildSnapshotJson('st')}) order by t.id)
                       from team_members tm join teams t on t.id = tm.team join organizations o on o.id = t.organization
                       join event_store.streams st on st.stream = t.id
                       left join organization_memberships ou on ou.user_id = u.id and ou.organization = t.organization
                      where tm.user_id = u.id), '[]') as teams,
           u.site_admin as "siteAdmin",
           ${IS_LAST_ADMIN} as "isLastAdmin"
      from users u join event_store.streams s on s.stream = u.id
     where u.id = ${id} and ${where}`);

/** Returns a condition: the user is in an organization or team. */
export const hasAnyMembership = (id: string): Sql => sql`
  exists (select 1 from organization_memberships where user_id = ${id})
  or exists (select 1 from team_members where user_id = ${id})`;

export const HAS_NO_ADMIN = sql`not exists (select 1 from users where site_admin and not suspended)`;

export type UserToSuspend = Pick<UserToForget, 'sessions'> & {
  readonly username: string;
  readonly snapshot: StreamSnapshot;
  /** Ids of the organizations in which the user is an active member. */
  readonly organizations: readonly string[];
  /** Owners teams that the user is an active member of. */
  readonly ownersTeams: readonly Pick<JoinedTeam, 'id' | 'organizationName' | 'owners'>[];
  readonly tokens: readonly OwnedToken[];
  readonly siteAdmin: boolean;
  readonly isLastAdmin: boolean;
};

type UserToPromote = {
  readonly snapshot: StreamSnapshot;
  readonly isLastAdmin: boolean;
  readonly onlyInvited: boolean;
};

/** Loads a user whose administration of the site changes. Throws `not-found` if the caller may not change it. */
export const loadUserToPromote = async (database: Database, actor: Actor, id: string): Promise<UserToPromote> => {
  const row = await database.row<UserToPromote>(sql`
    select ${selectSnapshotJson('u.id')} as snapshot, ${IS_LAST_ADMIN} as "isLastAdmin", u.only_invited as "onlyInvited"
      from users u where u.id = ${id} and ${requireCurrentAccess(actor)}`);
  requirePermission(actor, 'manage-site-admins', SITE_SCOPE);
  if (!row) throw notFound();
  return row;
};

/** Loads a user to suspend. `where` is an additional condition, such as the caller's access. */
export const loadUserToSuspend = (database: Database, id: string, where: Sql): Promise<UserToSuspend | undefined> =>
  database.row<UserToSuspend>(sql`
    select u.username, ${buildSnapshotJson('s')} as snapshot, ${selectOwnedTokens(sql.raw('u.id'))} as tokens,
           ${selectOwnedSessions(sql`session.user_id = u.id`)} as sessions,
           array(select organization from organization_memberships
                  where user_id = u.id and status = 'active' order by organization) as organizations,
           coalesce((select jsonb_agg(jsonb_build_object('id', t.id, 'organizationName', o.name,
                                                         'owners', ${selectOwners(sql.raw('t.id'))}) order by t.id)
                       from team_members tm join teams t on t.id = tm.team
                       join organizations o on o.owners_team = t.id
                      where tm.user_id = u.id), '[]') as "ownersTeams",
           u.site_admin as "siteAdmin", ${IS_LAST_ADMIN} as "isLastAdmin"
      from users u join event_store.streams s on s.stream = u.id
     where u.id = ${id} and ${where}`);
