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
    /** Ids of teams that they will be in. */
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

/** Where somebody else was faster, what they made is found when it is read again. */
const RACES = ['organization_memberships_organization_user_key', 'users_email_key', 'users_username_key'];

/** Who is known by no such address gets an account, so that there is somebody to be in teams. */
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
    // First: it says how long an address is, and to find a name in it takes its length squared.
    checkEmail(email);
    const username = deriveUsername(email);
    const place = await loadOrganizationForInvitation(this.store.database, actor, organization, {
      email,
      username,
      teams,
    });
    refuseMember(place);
    if (!place.person) await this.checkUsers();
    const account = this.accountFor(place, email, username);
    const { person } = account;
    const id = this.ids.next('ou');
    const status = decideStatus(place);
    const data = { id, user: person.id, username: person.username, email, status };
    const invited = { ...person, invitation: createInvitation({ id, email }, status) };
    const { rows } = await this.store.append(
      [
        expectVersion(place.organization, place.organizationVersion),
        ...account.writes,
        decideWrite(membership, newStream(id, membership), place.organization, { type: 'CreateMembership', data }),
        ...(await this.joining(place, teams, invited, actor)),
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
    const birth = { type: 'CreateUser', data: { username: free, email, siteAdmin: false } } as const;
    return { person: { id, username: free }, writes: [decideWrite(user, newStream(id, user), null, birth)] };
  }

  private joining(
    place: OrganizationForInvitation,
    asked: readonly string[],
    { id: user, username, invitation }: Omit<TeamMember, 'user'> & { readonly id: string },
    actor: Actor,
  ): Promise<StreamWrite[]> {
    const members = [{ user, username, invitation }];
    for (const [index, id] of asked.entries()) {
      const found = place.teams.find((one) => one.id === id);
      if (!found || !canReadTeam(actor, found)) {
        throw unprocessable(`Team ${id} does not exist`, `/data/relationships/teams/data/${index}/id`);
      }
      requireTeamChange(actor, 'manage-team-membership', found);
    }
    return Promise.all(
      place.teams.map(async ({ id, snapshot }) =>
        decideWrite(team, await this.store.restore(id, team, snapshot), place.organization, {
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

/** Who is in already, by a team of the time before there were memberships, stays in. */
const decideStatus = ({ person }: OrganizationForInvitation): MembershipStatus =>
  person?.isMember ? 'active' : 'invited';

@CommandHandler(AcceptMembership)
export class AcceptMembershipHandler implements ICommandHandler<AcceptMembership> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, actor }: AcceptMembership): Promise<MembershipRow> {
    const { rows } = await this.store.handle({
      decider: membership,
      load: async () => {
        const found = await loadMembershipForCommand(this.store.database, actor, () => 'accept-membership', id);
        return { ...(await this.store.restore(id, membership, found.snapshot)), found };
      },
      command: ({ found }) => ({ type: 'AcceptMembership', data: { username: found.username } }) as const,
      organization: ({ found }) => found.organization,
      context: createEventContext(actor),
      read: () => [selectMembershipById(id, actor)],
    });
    return getFirstRow<MembershipRow>(rows);
  }
}

/** Whoever goes leaves the organization's teams with the same append. */
@CommandHandler(RemoveMembership)
export class RemoveMembershipHandler implements ICommandHandler<RemoveMembership> {
  constructor(private readonly store: EventStore) {}

  execute({ id, actor }: RemoveMembership): Promise<void> {
    return this.store.untilFirst(async () => {
      const found = await loadMembershipForCommand(
        this.store.database,
        actor,
        (row) => permissionToRemove(row, actor),
        id,
      );
      const { organization, username, invitation, teams } = found;
      if (!can(actor, 'leave-organization', found)) for (const one of teams) requireTeamRead(actor, one);
      const its = await this.store.restore(id, membership, found.snapshot);
      const removal = { type: 'RemoveMembership', data: { id, username, email: invitation?.email ?? null } } as const;
      await this.store.append(
        // First of all, so that nobody is adding them to a team any more when it is asked whether they are in any.
        [decideWrite(membership, its, organization, removal), ...(await this.leaving(found))],
        createEventContext(actor),
        [
          raiseConflictWhen(isInTeams(organization, found.user)),
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

/** Anybody may go; an owner is sent away by owners only, and nobody out of a team that the sender does not see. */
const permissionToRemove = (row: MembershipForCommand, actor: Actor): Permission => {
  if (can(actor, 'leave-organization', row)) return 'leave-organization';
  return row.teams.some(({ isOwners }) => isOwners) ? 'manage-owners' : 'manage-memberships';
};
