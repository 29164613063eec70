import { getOriginalTime, claimNames, sql, type Projection, type OrganizationDeleted } from '#platform/kernel';
import type { AuthenticationTokenEvent } from './authentication-tokens/authentication-token.js';
import type { MembershipEvent } from './memberships/membership.js';
import { TEAM_NAMES } from './teams/team-names.js';
import type { TeamEvent } from './teams/team.js';
import type { SessionEvent } from './sessions/session.js';
import { USER_NAMES } from './users/user-names.js';
import type { UserEvent } from './users/user.js';

type PeopleEvent =
  UserEvent | MembershipEvent | TeamEvent | AuthenticationTokenEvent | SessionEvent | OrganizationDeleted;

/** For events that show that the person uses the account, or that an operator confirms it. */
const recordUse = (user: string) => sql`update users set only_invited = false where id = ${user} and only_invited`;

export const access: Projection<PeopleEvent> = {
  name: 'access',
  // Version 2 added `only_invited` and `invited_by`, version 3 `access` and `only_organization` of tokens.
  version: 3,
  tables: ['users', 'organization_memberships', 'teams', 'team_members', 'authentication_tokens'],
  on: {
    UserCreated: ({ username, email, siteAdmin }, { stream, time }) => sql`
      insert into users (id, username, email, site_admin, created_at)
      values (${stream}, ${username}, ${email}, ${siteAdmin}, ${time})`,
    UserUpdated: ({ changes: { username, email, unconfirmedEmail } }, { stream }) => sql`
      update users
         set username = coalesce(${username ?? null}, username),
             email = coalesce(${email ?? null}, email),
             unconfirmed_email = case when ${unconfirmedEmail !== undefined} then ${unconfirmedEmail ?? null}
                                      else unconfirmed_email end,
             only_invited = false
       where id = ${stream}`,
    UserSuspended: (_, { stream }) => sql`update users set suspended = true, only_invited = false where id = ${stream}`,
    UserUnsuspended: (_, { stream }) => sql`update users set suspended = false where id = ${stream}`,
    SiteAdminGranted: (_, { stream }) => sql`update users set site_admin = true where id = ${stream}`,
    SiteAdminRevoked: (_, { stream }) => sql`update users set site_admin = false where id = ${stream}`,
    UserConfirmed: (_, { stream }) => recordUse(stream),
    // The same append has already ended memberships, teams and tokens. Resources that the user created keep the user's
    // id.
    UserForgotten: (_, { stream }) => sql`delete from users where id = ${stream}`,
    MembershipCreated: ({ user, email, status }, { stream, organization, time, context }) => [
      sql`
      insert into organization_memberships (id, organization, user_id, email, status, created_at, invited_by)
      values (${stream}, ${organization}, ${user}, ${email}, ${status}, ${time},
              ${status === 'invited' ? context.accessor.id : null})`,
      // An invitation to an address without an account creates the account in the same append, so their times are equal. An
      // import creates the accounts of invited people later than their invitations.
      status === 'invited'
        ? sql`update users set only_invited = true
               where id = ${user} and created_at >= ${time} and lower(email) = lower(${email})`
        : recordUse(user),
    ],
    MembershipAccepted: ({ user }, { stream }) => [
      sql`update organization_memberships set status = 'active' where id = ${stream}`,
      recordUse(user),
    ],
    MembershipRemoved: (_, { stream }) => sql`delete from organization_memberships where id = ${stream}`,
    TeamCreated: (team, event) => sql`
      insert into teams (id, organization, name, visibility, sso_team_id, allow_member_token_management,
                         organization_access, created_at)
      values (${event.stream}, ${event.organization}, ${team.name}, ${team.visibility}, ${team.ssoTeamId},
              ${team.allowMemberTokenManagement}, ${sql.json(team.organizationAccess)}, ${getOriginalTime(event)})`,
    TeamUpdated: ({ changes }, { stream }) => sql`
      update teams
         set name = coalesce(${changes.name ?? null}, name),
             visibility = coalesce(${changes.visibility ?? null}, visibility),
             sso_team_id = case when ${changes.ssoTeamId !== undefined} then ${changes.ssoTeamId ?? null}
                                else sso_team_id end,
             allow_member_token_management =
               coalesce(${changes.allowMemberTokenManagement ?? null}, allow_member_token_management),
             organization_access = organization_access || ${sql.json(changes.organizationAccess ?? {})}::jsonb
       where id = ${stream}`,
    TeamDeleted: (_, { stream }) => [
      sql`delete from team_members where team = ${stream}`,
      sql`delete from teams where id = ${stream}`,
    ],
    TeamMemberAdded: ({ user }, { stream }) => sql`
      insert into team_members (team, user_id) values (${stream}, ${user})`,
    TeamMemberRemoved: ({ user }, { stream }) => sql`
      delete from team_members where team = ${stream} and user_id = ${user}`,
    AuthenticationTokenCreated: (token, { stream, organization, time }) => [
      sql`
      insert into authentication_tokens
        (id, kind, owner, organization, description, created_by_type, created_by, created_at, expired_at, assurance,
         access, only_organization)
      values (${stream}, ${token.kind}, ${token.owner}, ${organization}, ${token.description},
              ${token.createdBy?.type ?? null}, ${token.createdBy?.id ?? null}, ${time}, ${token.expiredAt}, ${token.assurance},
              ${token.restriction.access}, ${token.restriction.organization})`,
      ...(token.kind === 'user' ? [recordUse(token.owner)] : []),
    ],
    AuthenticationTokenDestroyed: (_, { stream }) => sql`delete from authentication_tokens where id = ${stream}`,
    SessionStarted: ({ user }) => recordUse(user),
    SessionEnded: null,
    OrganizationDeleted: (_, { organization }) => [
      sql`delete from team_members where team in (select id from teams where organization = ${organization})`,
      sql`delete from teams where organization = ${organization}`,
      sql`delete from organization_memberships where organization = ${organization}`,
      sql`delete from authentication_tokens where organization = ${organization}`,
    ],
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
export const teamNames: Projection<Extract<TeamEvent, { type: 'TeamCreated' | 'TeamUpdated' }>> = {
  name: 'team_names',
  tables: [],
  on: {
    TeamCreated: (_, { stream }) => claimNames(TEAM_NAMES, [stream]),
    TeamUpdated: ({ changes }, { stream }) => (changes.name === undefined ? null : claimNames(TEAM_NAMES, [stream])),
  },
};

/** Keeps names unique regardless of case, as `teamNames` does. */
export const usernames: Projection<Extract<UserEvent, { type: 'UserCreated' | 'UserUpdated' }>> = {
  name: 'usernames',
  tables: [],
  on: {
    UserCreated: (_, { stream }) => claimNames(USER_NAMES, [stream]),
    UserUpdated: ({ changes }, { stream }) =>
      changes.username === undefined ? null : claimNames(USER_NAMES, [stream]),
  },
};
