import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, sql, unprocessable, type DataOf, type Sql } from '#kernel';
import {
  EventStore,
  firstRow,
  firstRowOrNull,
  refuseTakenName,
  staleWhen,
  unborn,
  unchanged,
  type Loaded,
  type Write,
} from '#event-store';
import { contextOf, demand, NO_ORGANIZATION_ACCESS, placeInOrganization, type Actor, type Permission } from '#access';
import { destroyTokens, tokensOf, type OwnedToken } from './authentication-tokens.writes.js';
import { team, turnedIn, type TeamChanges, type TeamCommand } from './team.js';
import { demandChangeTeam } from './team-permission.js';
import {
  isOwnerless,
  namedMembers,
  teamById,
  teamForCommand,
  type NamedMember,
  type NamedMembers,
  type TeamDetailsRow,
  type TeamForCommand,
} from './teams.queries.js';

export class CreateTeam extends Command<TeamDetailsRow> {
  constructor(
    readonly organization: string,
    readonly data: DataOf<TeamCommand, 'CreateTeam'>,
    readonly actor: Actor,
  ) {
    super();
  }
}

type LaterCommand =
  { readonly type: 'UpdateTeam'; readonly data: { readonly changes: TeamChanges } } | { readonly type: 'DeleteTeam' };

/** A command for one team; resolves to how it stands then, null when it is gone. */
export class ToTeam extends Command<TeamDetailsRow | null> {
  constructor(
    readonly id: string,
    readonly command: LaterCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class ChangeTeamMembers extends Command<void> {
  constructor(
    readonly id: string,
    readonly change: 'AddTeamMembers' | 'RemoveTeamMembers',
    readonly named: NamedMembers,
    readonly actor: Actor,
  ) {
    super();
  }
}

const refuseTaken = refuseTakenName('teams_organization_name_key');

const turnsFlags = (before: TeamForCommand['organizationAccess'], changes: TeamChanges): boolean =>
  Object.keys(turnedIn(before, changes)).length > 0;

@CommandHandler(CreateTeam)
export class CreateTeamHandler implements ICommandHandler<CreateTeam> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ organization, data, actor }: CreateTeam): Promise<TeamDetailsRow> {
    const id = this.ids.next('team');
    const { rows } = await this.store
      .handle({
        decider: team,
        load: async () => {
          const place = await placeInOrganization(this.store.database, actor, 'manage-teams', organization);
          if (turnsFlags(NO_ORGANIZATION_ACCESS, data)) demand(actor, 'manage-organization-access', place);
          return { ...unborn(id, team), place };
        },
        command: () => ({ type: 'CreateTeam', data }) as const,
        organization: ({ place }) => place.organization,
        holding: ({ place }) => [unchanged(place.organization, place.version)],
        context: contextOf(actor),
        read: () => [teamById(id, actor)],
      })
      .catch(refuseTaken);
    return firstRow<TeamDetailsRow>(rows);
  }
}

/** Loads a team, where the caller may do that with it. */
const loaded = async <More extends object>(
  store: EventStore,
  { id, permission, actor }: { readonly id: string; readonly permission: Permission; readonly actor: Actor },
  more: Sql = sql.empty,
) => {
  const found = await teamForCommand<More>(store.database, actor, id, more);
  demandChangeTeam(actor, permission, found);
  return { ...(await store.restore(id, team, found.snapshot)), found };
};

const TOKENS = sql`, ${tokensOf(sql.raw('t.id'))} as tokens`;

@CommandHandler(ToTeam)
export class TeamsHandler implements ICommandHandler<ToTeam> {
  constructor(private readonly store: EventStore) {}

  execute({ id, command, actor }: ToTeam): Promise<TeamDetailsRow | null> {
    return command.type === 'DeleteTeam' ? this.remove(id, actor) : this.update(id, command.data.changes, actor);
  }

  private async update(id: string, changes: TeamChanges, actor: Actor): Promise<TeamDetailsRow | null> {
    const { rows } = await this.store
      .handle({
        decider: team,
        load: async () => {
          const its = await loaded(this.store, { id, permission: 'manage-teams', actor });
          const { organizationAccess } = its.found;
          if (turnsFlags(organizationAccess, changes)) demand(actor, 'manage-organization-access', its.found);
          return its;
        },
        command: ({ found }) => ({ type: 'UpdateTeam', data: { changes, ofOwners: found.isOwners } }) as const,
        organization: ({ found }) => found.organization,
        context: contextOf(actor),
        read: () => [teamById(id, actor)],
      })
      .catch(refuseTaken);
    return firstRowOrNull<TeamDetailsRow>(rows);
  }

  /** Its tokens go with it, in the same append: from then on they open nothing. */
  private async remove(id: string, actor: Actor): Promise<null> {
    await this.store.handle({
      decider: team,
      load: async () => {
        const asked = { id, permission: 'manage-teams', actor } as const;
        const its = await loaded<{ tokens: OwnedToken[] }>(this.store, asked, TOKENS);
        return { ...its, tokens: await destroyTokens(this.store, id, its.found.tokens) };
      },
      command: ({ found }) => ({ type: 'DeleteTeam', data: { ofOwners: found.isOwners } }) as const,
      organization: ({ found }) => found.organization,
      holding: ({ tokens }) => tokens.writes,
      context: contextOf(actor),
      read: ({ tokens }) => tokens.statements,
    });
    return null;
  }
}

type LoadedTeam = Loaded<typeof team.initial> & {
  readonly found: TeamForCommand & { readonly named: readonly NamedMember[] };
};

@CommandHandler(ChangeTeamMembers)
export class ChangeTeamMembersHandler implements ICommandHandler<ChangeTeamMembers> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, change, named, actor }: ChangeTeamMembers): Promise<void> {
    const adds = change === 'AddTeamMembers';
    await this.store.handle({
      decider: team,
      load: async (): Promise<LoadedTeam> => {
        const asked = { id, permission: 'manage-team-membership', actor } as const;
        const its = await loaded<{ named: NamedMember[] }>(this.store, asked, namedMembers(named));
        if (adds) refuseStrangers(named, its.found.named);
        return its;
      },
      command: ({ found: { named: members, owners } }) =>
        adds
          ? ({ type: 'AddTeamMembers', data: { members } } as const)
          : ({ type: 'RemoveTeamMembers', data: { members, owners } } as const),
      organization: ({ found }) => found.organization,
      holding: ({ found }) => (adds ? heldToAdd(found) : []),
      context: contextOf(actor),
      // The owners' stream decides who owns; this is for what their memberships could change beside it.
      read: ({ found }) => (!adds && found.owners ? [staleWhen(isOwnerless(id))] : []),
    });
  }
}

/** Nobody is added while their membership, or the organization, is going. */
const heldToAdd = ({ organization, organizationVersion, named }: LoadedTeam['found']): Write[] => [
  unchanged(organization, organizationVersion),
  ...named.flatMap(({ membership, version }) =>
    membership !== null && version !== null ? [unchanged(membership, version)] : [],
  ),
];

const refuseStrangers = ({ by, names }: NamedMembers, known: readonly NamedMember[]): void => {
  const index = names.findIndex((name) => !known.some((member) => member.name === name));
  if (index === -1) return;
  const what = by === 'users' ? 'User' : 'Organization membership';
  throw unprocessable(`${what} ${names[index]} is not a member of the organization`, `/data/${index}/id`);
};
