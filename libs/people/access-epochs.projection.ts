import { sql, type Projection, type Sql } from '#kernel';
import { membersOf } from '#access';
import type { OrganizationEvent } from '#organizations';
import type { MembershipEvent } from './membership.js';
import type { TeamEvent } from './team.js';
import type { UserEvent } from './user.js';

type Source =
  | UserEvent
  | MembershipEvent
  | TeamEvent
  | Extract<
      OrganizationEvent,
      { type: 'OrganizationUpdated' | 'OrganizationTokenTtlPoliciesChanged' | 'OrganizationDeleted' }
    >;

const raise = (subject: Sql): Sql => sql`select access.raise_epoch(${subject})`;

const raiseOfMember = (user: string, organization: string | null): Sql =>
  sql`select access.raise_epoch_of_member(${user}, ${organization})`;

/**
 * Raises the epoch of the subject whose access, or name, an event changes (ADR 32). Every subject counts by itself, so that a
 * change costs only the callers that it can affect. A token that is destroyed raises none: its hash is gone (fresh.ts).
 *
 * No tables: the counts only grow. Listed before the projection that deletes memberships, which it reads.
 */
export const accessEpochs: Projection<Source> = {
  name: 'access_epochs',
  tables: [],
  on: {
    UserCreated: null,
    // The name stands in the trail and on locks.
    UserUpdated: ({ changes: { username } }, { stream }) => (username === undefined ? null : raise(sql`${stream}`)),
    UserForgotten: (_, { stream }) => raise(sql`${stream}`),
    MembershipCreated: ({ user, status }) => (status === 'active' ? raise(sql`${user}`) : null),
    MembershipAccepted: ({ user }) => raise(sql`${user}`),
    MembershipRemoved: ({ user }, { organization }) => raiseOfMember(user, organization),
    TeamCreated: null,
    // The name is that of callers with a token of the team.
    TeamUpdated: ({ changes: { organizationAccess, name } }, { stream }) =>
      organizationAccess === undefined && name === undefined ? null : raise(sql`${stream}`),
    TeamDeleted: (_, { stream }) => raise(sql`${stream}`),
    TeamMemberAdded: ({ user }, { organization }) => raiseOfMember(user, organization),
    TeamMemberRemoved: ({ user }, { organization }) => raiseOfMember(user, organization),
    // The name is that of callers with a token of the organization; closing it to tokens of users concerns its members.
    OrganizationUpdated: ({ changes: { name, userTokensEnabled, maxTtlEnabled } }, { organization }) => [
      ...(name === undefined ? [] : [raise(sql`${organization}`)]),
      ...(userTokensEnabled === undefined && maxTtlEnabled === undefined
        ? []
        : [raise(membersOf(sql`${organization}::text`))]),
    ],
    OrganizationTokenTtlPoliciesChanged: ({ maxTtls: { user } }, { organization }) =>
      user === undefined ? null : raise(membersOf(sql`${organization}::text`)),
    OrganizationDeleted: (_, { organization }) => raise(membersOf(sql`${organization}::text`)),
  },
};
