import { sql, type Projection } from '#kernel';
import type { OrganizationEvent } from '#organizations';
import type { AuthenticationTokenEvent } from './authentication-token.js';
import type { TeamEvent } from './team.js';
import type { UserEvent } from './user.js';

type OrganizationSource = Extract<OrganizationEvent, { type: 'OrganizationUpdated' | 'OrganizationDeleted' }>;

/** See the comment on views.access_epoch: goes with every event that gives or takes access, or a caller's name. */
const RAISE_EPOCH = sql`
  insert into access_epoch (id, epoch) values (1, 1)
  on conflict (id) do update set epoch = access_epoch.epoch + 1`;

export const access: Projection<UserEvent | TeamEvent | AuthenticationTokenEvent | OrganizationSource> = {
  name: 'access',
  tables: ['users', 'teams', 'team_members', 'authentication_tokens', 'access_epoch'],
  on: {
    UserCreated: ({ username, email, siteAdmin }, { stream, time }) => sql`
      insert into users (id, username, email, site_admin, created_at)
      values (${stream}, ${username}, ${email}, ${siteAdmin}, ${time})`,
    TeamCreated: ({ name, visibility, organizationAccess }, { stream, organization, time }) => sql`
      insert into teams (id, organization, name, visibility, organization_access, created_at)
      values (${stream}, ${organization}, ${name}, ${visibility}, ${sql.json(organizationAccess)}, ${time})`,
    TeamMemberAdded: ({ user }, { stream }) => [
      sql`insert into team_members (team, user_id) values (${stream}, ${user})`,
      RAISE_EPOCH,
    ],
    AuthenticationTokenCreated: (token, { stream, organization, time }) => sql`
      insert into authentication_tokens
        (id, kind, owner, organization, description, created_by_type, created_by, created_at, expired_at)
      values (${stream}, ${token.kind}, ${token.owner}, ${organization}, ${token.description},
              ${token.createdBy?.type ?? null}, ${token.createdBy?.id ?? null}, ${time}, ${token.expiredAt})`,
    AuthenticationTokenDestroyed: (_, { stream }) => [
      sql`delete from authentication_tokens where id = ${stream}`,
      RAISE_EPOCH,
    ],
    // Its tokens speak under its name, in the trail and on locks.
    OrganizationUpdated: ({ changes }) => (changes.name === undefined ? null : RAISE_EPOCH),
    OrganizationDeleted: (_, { organization }) => [
      sql`delete from team_members where team in (select id from teams where organization = ${organization})`,
      sql`delete from teams where organization = ${organization}`,
      sql`delete from authentication_tokens where organization = ${organization}`,
      RAISE_EPOCH,
    ],
  },
};
