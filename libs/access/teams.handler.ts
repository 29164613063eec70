import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, sql, unprocessable, type DataOf, type Sql } from '#kernel';
import {
  EventStore,
  refuseTakenName,
  staleWhen,
  unborn,
  unchanged,
  writeOf,
  type Loaded,
  type Write,
} from '#event-store';
import { organizationForBirth } from './access.queries.js';
import { contextOf, type Actor } from './actor.js';
import { destroyTokens, tokensOf, type TokenSnapshot } from './authentication-tokens.writes.js';
import { demand, type Permission } from './permissions.js';
import { NO_ORGANIZATION_ACCESS, team, turnedIn, type TeamChanges, type TeamCommand } from './team.js';
import { demandChangeTeam } from './team-permission.js';
import {
  isOwnerless,
  namedMembers,
  teamForCommand,
  teamRowById,
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

/** Resolves to how it stands then, null when it is gone. */
export class UpdateTeam extends Command<TeamDetailsRow | null> {
  constructor(
    readonly id: string,
    readonly changes: TeamChanges,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class DeleteTeam extends Command<void> {
  constructor(
    readonly id: string,
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
          const place = await organizationForBirth(this.store.database, organization, 'manage-teams', actor);
          if (turnsFlags(NO_ORGANIZATION_ACCESS, data)) demand(actor, 'manage-organization-access', place);
          return { ...unborn(id, team), place };
        },
        command: () => ({ type: 'CreateTeam', data }) as const,
        organization: ({ place }) => place.organization,
        holding: ({ place }) => [unchanged(place.organization, place.version)],
        context: contextOf(actor),
        read: () => [teamRowById(id, actor)],
      })
      .catch(refuseTaken);
    return rows[0]?.[0] as TeamDetailsRow;
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

@CommandHandler(UpdateTeam)
export class UpdateTeamHandler implements ICommandHandler<UpdateTeam> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, changes, actor }: UpdateTeam): Promise<TeamDetailsRow | null> {
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
        read: () => [teamRowById(id, actor)],
      })
      .catch(refuseTaken);
    return (rows[0]?.[0] as TeamDetailsRow | undefined) ?? null;
  }
}

const TOKENS = sql`, ${tokensOf(sql.raw('t.id'))} as tokens`;

/** Its tokens go with it: from then on they open nothing. */
@CommandHandler(DeleteTeam)
export class DeleteTeamHandler implements ICommandHandler<DeleteTeam> {
  constructor(private readonly store: EventStore) {}

  execute({ id, actor }: DeleteTeam): Promise<void> {
    return this.store.untilFirst(async () => {
      const asked = { id, permission: 'manage-teams', actor } as const;
      const its = await loaded<{ tokens: TokenSnapshot[] }>(this.store, asked, TOKENS);
      const { organization, isOwners } = its.found;
      const tokens = await destroyTokens(this.store, id, its.found.tokens);
      const command = { type: 'DeleteTeam', data: { ofOwners: isOwners } } as const;
      const deletion = writeOf(team, its, organization, command);
      await this.store.append([deletion, ...tokens.writes], contextOf(actor), tokens.statements);
    });
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
