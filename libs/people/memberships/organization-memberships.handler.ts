import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { checkQuota, Ids, Quotas, unprocessable } from '#kernel';
import {
  EventStore,
  getFirstRow,
  raiseConflictWhen,
  newStream,
  expectVersion,
  decideWrite,
  type StreamWrite,
} from '#event-store';
import { createEventContext, can, type Actor, type Permission } from '#access';
import { createInvitation, membership, type MembershipStatus } from './membership.js';
import {
  isInTeams,
  selectMembershipById,
  loadMembershipForCommand,
  loadOrganizationForInvitation,
  type MembershipForCommand,
  type MembershipRow,
  type OrganizationForInvitation,
} from './organization-memberships.queries.js';
import { team, type TeamMember } from '../teams/team.js';
import { requireTeamChange, requireTeamRead, canReadTeam } from '../team-access/team-permission.js';
import { isOwnerless } from '../teams/teams.queries.js';
import { checkEmail, user, deriveOtherUsername, deriveUsername } from '../users/user.js';
import { countUsers } from '../users/users.queries.js';

export class InviteMember extends Command<MembershipRow> {
  constructor(
    readonly organization: string,
    readonly email: string,
    /** Ids of the teams that the person joins. */
    readonly teams: readonly string[],
    readonly actor: Actor,
  ) {
    super();
  }
}

export class AcceptMembership extends Command<MembershipRow> {
  constructor(
    readonly id: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class RemoveMembership extends Command<void> {
  constructor(
    readonly id: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Unique keys that a concurrent request can take first. The retry then finds the rows of that request. */
const RACES = ['organization_memberships_organization_user_key', 'users_email_key', 'users_username_key'];

/** Invites a person. Creates an account if no account has the address, because the members of teams are users. */
@CommandHandler(InviteMember)
export class InviteMemberHandler implements ICommandHandler<InviteMember> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly quotas: Quotas,
  ) {}

  execute(invitation: InviteMember): Promise<MembershipRow> {
    return this.store.untilFirst(() => this.invite(invitation), { races: RACES });
  }

  private async invite({ organization, email, teams, actor }: InviteMember): Promise<MembershipRow> {
    // First, because it limits the length of the address. `deriveUsername` takes time that grows with the square of the
    // length.
    checkEmail(email);
    const username = deriveUsername(email);
    const organizationRow = await loadOrganizationForInvitation(this.store.database, actor, organization, {
      email,
      username,
      teams,
    });
    refuseMember(organizationRow);
    if (!organizationRow.person) await this.checkUsers();
    const account = this.accountFor(organizationRow, email, username);
    const { person } = account;
    const id = this.ids.next('ou');
    const status = decideStatus(organizationRow);
    const data = { id, user: person.id, username: person.username, email, status };
    const invited = { ...person, invitation: createInvitation({ id, email }, status) };
    const { rows } = await this.store.append(
      [
        expectVersion(organizationRow.organization, organizationRow.organizationVersion),
        ...account.writes,
        decideWrite(membership, newStream(id, membership), organizationRow.organization, {
          type: 'CreateMembership',
          data,
        }),
        ...(await this.joining(organizationRow, teams, invited, actor)),
      ],
      createEventContext(actor),
      [selectMembershipById(id, actor)],
    );
    return getFirstRow<MembershipRow>(rows);
  }

  private async checkUsers(): Promise<void> {
    const { users } = this.quotas;
    if (users !== null) checkQuota('users', users, await countUsers(this.store.database, users));
  }

  private accountFor({ person, isUsernameTaken }: OrganizationForInvitation, email: string, username: string) {
    if (person) return { person, writes: [] };
    const id = this.ids.next('user');
    const free = isUsernameTaken ? deriveOtherUsername(username, id.slice(-6)) : username;
    const creation = { type: 'CreateUser', data: { username: free, email, siteAdmin: false } } as const;
    return { person: { id, username: free }, writes: [decideWrite(user, newStream(id, user), null, creation)] };
  }

  private joining(
    organizationRow: OrganizationForInvitation,
    teamIds: readonly string[],
    { id: user, username, invitation }: Omit<TeamMember, 'user'> & { readonly id: string },
    actor: Actor,
  ): Promise<StreamWrite[]> {
    const members = [{ user, username, invitation }];
    for (const [index, id] of teamIds.entries()) {
      const teamRow = organizationRow.teams.find((one) => one.id === id);
      if (!teamRow || !canReadTeam(actor, teamRow)) {
        throw unprocessable(`Team ${id} does not exist`, `/data/relationships/teams/data/${index}/id`);
      }
      requireTeamChange(actor, 'manage-team-membership', teamRow);
    }
    return Promise.all(
      organizationRow.teams.map(async ({ id, snapshot }) =>
        decideWrite(team, await this.store.restore(id, team, snapshot), organizationRow.organization, {
          type: 'AddTeamMembers',
          data: { members },
        }),
      ),
    );
  }
}

const refuseMember = ({ person }: OrganizationForInvitation): void => {
  if (!person?.status) return;
  const how = person.status === 'invited' ? 'has already been invited to' : 'is already a member of';
  throw unprocessable(`User ${how} the organization`, 'email');
};

/** Users that are in a team without a membership, as in old logs, become active members at once. */
const decideStatus = ({ person }: OrganizationForInvitation): MembershipStatus =>
  person?.isMember ? 'active' : 'invited';

@CommandHandler(AcceptMembership)
export class AcceptMembershipHandler implements ICommandHandler<AcceptMembership> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, actor }: AcceptMembership): Promise<MembershipRow> {
    const { rows } = await this.store.handle({
      decider: membership,
      load: async () => {
        const row = await loadMembershipForCommand(this.store.database, actor, () => 'accept-membership', id);
        return { ...(await this.store.restore(id, membership, row.snapshot)), row };
      },
      command: ({ row }) => ({ type: 'AcceptMembership', data: { username: row.username } }) as const,
      organization: ({ row }) => row.organization,
      context: createEventContext(actor),
      read: () => [selectMembershipById(id, actor)],
    });
    return getFirstRow<MembershipRow>(rows);
  }
}

/** Removes a member from the organization and from its teams in one append. */
@CommandHandler(RemoveMembership)
export class RemoveMembershipHandler implements ICommandHandler<RemoveMembership> {
  constructor(private readonly store: EventStore) {}

  execute({ id, actor }: RemoveMembership): Promise<void> {
    return this.store.untilFirst(async () => {
      const row = await loadMembershipForCommand(
        this.store.database,
        actor,
        (row) => permissionToRemove(row, actor),
        id,
      );
      const { organization, username, invitation, teams } = row;
      if (!can(actor, 'leave-organization', row)) for (const one of teams) requireTeamRead(actor, one);
      const loaded = await this.store.restore(id, membership, row.snapshot);
      const removal = { type: 'RemoveMembership', data: { id, username, email: invitation?.email ?? null } } as const;
      await this.store.append(
        // The membership comes first: after this write no concurrent request can add the person to a team, so
        // `isInTeams` is reliable.
        [decideWrite(membership, loaded, organization, removal), ...(await this.leaving(row))],
        createEventContext(actor),
        [
          raiseConflictWhen(isInTeams(organization, row.user)),
          ...teams.filter(({ owners }) => owners).map((owned) => raiseConflictWhen(isOwnerless(owned.id))),
        ],
      );
    });
  }

  private leaving({ organization, user, username, invitation, teams }: MembershipForCommand): Promise<StreamWrite[]> {
    const members = [{ user, username, invitation }];
    return Promise.all(
      teams.map(async ({ id: stream, owners, snapshot }) =>
        decideWrite(team, await this.store.restore(stream, team, snapshot), organization, {
          type: 'RemoveTeamMembers',
          data: { members, owners },
        }),
      ),
    );
  }
}

/** Returns the permission that the removal requires. Members may leave. Only owners may remove an owner. */
const permissionToRemove = (row: MembershipForCommand, actor: Actor): Permission => {
  if (can(actor, 'leave-organization', row)) return 'leave-organization';
  return row.teams.some(({ isOwners }) => isOwners) ? 'manage-owners' : 'manage-memberships';
};
