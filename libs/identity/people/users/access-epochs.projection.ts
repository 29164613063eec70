import { sql, type OrganizationDeleted, type Projection, type Sql } from '#platform/kernel';
import { selectMembersSubject, raiseEpoch } from '#api/access';
import type { MembershipEvent } from '../memberships/membership.js';
import type { TeamEvent } from '../teams/team.js';
import type { UserEvent } from './user.js';

type AccessChangeEvent = UserEvent | MembershipEvent | TeamEvent | OrganizationDeleted;

const raiseEpochOfMember = (user: string, organization: string | null): Sql =>
  sql`select access.raise_epoch_of_member(${user}, ${organization})`;

/**
 * Raises the access epoch of each subject whose access or name an event changes (ADR 32). A destroyed token needs no
 * new epoch, because its hash is deleted (access-epochs.queries.ts).
 *
 * `tables` is empty, because epochs only grow. This projection runs before the projection that deletes memberships,
 * because it reads them.
 */
export const accessEpochs: Projection<AccessChangeEvent> = {
  name: 'access_epochs',
  tables: [],
  on: {
    UserCreated: null,
    // The audit trail and locks show the username.
    UserUpdated: ({ changes: { username } }, { stream }) =>
      username === undefined ? null : raiseEpoch(sql`${stream}`),
    UserSuspended: (_, { stream }) => raiseEpoch(sql`${stream}`),
    UserUnsuspended: (_, { stream }) => raiseEpoch(sql`${stream}`),
    SiteAdminGranted: (_, { stream }) => raiseEpoch(sql`${stream}`),
    SiteAdminRevoked: (_, { stream }) => raiseEpoch(sql`${stream}`),
    UserConfirmed: null,
    UserForgotten: (_, { stream }) => raiseEpoch(sql`${stream}`),
    MembershipCreated: ({ user, status }) => (status === 'active' ? raiseEpoch(sql`${user}`) : null),
    MembershipAccepted: ({ user }) => raiseEpoch(sql`${user}`),
    MembershipRemoved: ({ user }, { organization }) => raiseEpochOfMember(user, organization),
    TeamCreated: null,
    // Callers with a token of the team show its name.
    TeamUpdated: ({ changes: { organizationAccess, name } }, { stream }) =>
      organizationAccess === undefined && name === undefined ? null : raiseEpoch(sql`${stream}`),
    TeamDeleted: (_, { stream }) => raiseEpoch(sql`${stream}`),
    TeamMemberAdded: ({ user }, { organization }) => raiseEpochOfMember(user, organization),
    TeamMemberRemoved: ({ user }, { organization }) => raiseEpochOfMember(user, organization),
    OrganizationDeleted: (_, { organization }) => raiseEpoch(selectMembersSubject(sql`${organization}::text`)),
  },
};
