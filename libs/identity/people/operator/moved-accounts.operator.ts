import { claimNames, decide, foldInSql, foldName, sql, type DataOf, type Message, type Sql } from '#platform/kernel';
import { raiseEpoch, type OrganizationAccess } from '#api/access';
import type { DatabaseSession } from '#platform/postgres';
import { authenticationToken } from '../authentication-tokens/authentication-token.js';
import type { AuthenticationTokenEvent } from '../authentication-tokens/authentication-token.js';
import { USER_NAMES } from '../users/user-names.js';
import { user } from '../users/user.js';

/** The part of an account that moves with an organization. */
export type MovedAccount = { readonly id: string; readonly username: string; readonly email: string | null };

/** Returns the accounts among these ids, the oldest first. */
export const listAccounts = (session: DatabaseSession, ids: readonly string[]): Promise<MovedAccount[]> =>
  session.run<MovedAccount>(sql`
    select id, username, email from views.users where id = any (${ids}::text[]) order by created_at, id`);

/**
 * Returns the accounts that have the id, the name or the address of one of these, and those with one of these names, in
 * any case. The oldest come first.
 */
export const listSimilarAccounts = (
  session: DatabaseSession,
  accounts: readonly MovedAccount[],
  names: readonly string[],
): Promise<MovedAccount[]> => {
  const ids = [...accounts.map(({ id }) => id), ...names];
  const usernames = [...accounts.map(({ username }) => username), ...names].map(foldName);
  const emails = accounts.flatMap(({ email }) => email?.toLowerCase() ?? []);
  return session.run<MovedAccount>(sql`
    select id, username, email from views.users
     where id = any (${ids}::text[]) or ${foldInSql(sql.raw('username'))} = any (${usernames}::text[])
           or lower(email) = any (${emails}::text[])
     order by created_at, id`);
};

/** Returns the events of a new account. Throws the refusal of a name that new accounts cannot have. */
export const createAccount = ({ username, email }: MovedAccount): readonly Message[] =>
  decide(user, { type: 'CreateUser', data: { username, email, siteAdmin: false } }, user.initial);

/**
 * Returns the statements that fail if another account has got the name of one of these in the meantime, in any case. The
 * accounts themselves can have names that differ only in case, as at the other site.
 */
export const claimUsernames = (accounts: readonly string[]): readonly Sql[] =>
  claimNames({ ...USER_NAMES, table: 'views.users' }, accounts, { allowed: accounts });

type ActiveToken = { readonly id: string } & Pick<
  DataOf<AuthenticationTokenEvent, 'AuthenticationTokenDestroyed'>,
  'kind' | 'owner'
>;

/** Selects the tokens in the copy of the view that the session's search path finds. */
export const listActiveTokens = (session: DatabaseSession): Promise<ActiveToken[]> =>
  session.run<ActiveToken>(sql`select id, kind, owner from authentication_tokens order by id`);

/** Returns those of these people that the copies of the views have as members of an organization or of a team. */
export const listMembersAmong = async (
  session: DatabaseSession,
  people: readonly string[],
): Promise<readonly string[]> => {
  const rows = await session.run<{ id: string }>(sql`
    select user_id as id from organization_memberships where user_id = any (${people}::text[])
    union select user_id as id from team_members where user_id = any (${people}::text[])`);
  return rows.map(({ id }) => id);
};

/** A team in the copies of the views that an import fills. `members` are ids of users. */
export type ImportedTeam = {
  readonly id: string;
  readonly name: string;
  readonly organizationAccess: OrganizationAccess;
  /** Whether it is the team of the owners. */
  readonly owns: boolean;
  readonly members: readonly string[];
  /** How many workspaces and projects it has access to, by level. */
  readonly workspaces: Readonly<Record<string, number>>;
  readonly projects: Readonly<Record<string, number>>;
};

/** Selects the teams in the copies of the views that the session's search path finds. */
export const listImportedTeams = (session: DatabaseSession): Promise<ImportedTeam[]> =>
  session.run<ImportedTeam>(sql`
    select t.id, t.name, t.organization_access as "organizationAccess", o.id is not null as owns,
           array(select m.user_id from team_members m where m.team = t.id order by m.user_id) as members,
           coalesce((select jsonb_object_agg(access, workspaces) from (
             select tw.access, count(*) as workspaces from team_workspaces tw join workspaces tww on tww.id = tw.workspace
              where tw.team = t.id group by tw.access) w), '{}') as workspaces,
           coalesce((select jsonb_object_agg(access, projects) from (
             select tp.access, count(*) as projects from team_projects tp join projects p on p.id = tp.project
              where tp.team = t.id group by tp.access) p), '{}') as projects
      from teams t left join organizations o on o.owners_team = t.id order by owns desc, t.name`);

/** Returns the ids of the members and of invited people in the copies of the views. */
export const listImportedMembers = async (session: DatabaseSession): Promise<readonly string[]> => {
  const rows = await session.run<{ id: string }>(
    sql`select user_id as id from organization_memberships order by user_id`,
  );
  return rows.map(({ id }) => id);
};

/** Returns the ids that belong to accounts of the site. */
export const listKnownAccounts = async (
  session: DatabaseSession,
  people: readonly string[],
): Promise<readonly string[]> => {
  const rows = await session.run<{ id: string }>(sql`select id from views.users where id = any (${people}::text[])`);
  return rows.map(({ id }) => id);
};

/** Returns the events that destroy a token of the organization. */
export const destroyToken = ({ kind, owner }: ActiveToken): readonly Message[] =>
  decide(
    authenticationToken,
    { type: 'DestroyAuthenticationToken', data: { organizations: [] } },
    { status: 'active', kind, owner },
  );

/** Raises the epoch of everyone who has access by a membership or a team of the organization. */
export const raiseEpochsOfMembers = (organization: string): Sql => sql`
  ${raiseEpoch(sql`member.user_id`)} from (
    select user_id from views.organization_memberships where organization = ${organization}
    union
    select m.user_id from views.team_members m join views.teams t on t.id = m.team where t.organization = ${organization}
    order by user_id) member`;
