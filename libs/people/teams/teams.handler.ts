import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, sql, unprocessable, type DataOf, type Sql } from '#kernel';
import {
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  raiseConflictWhen,
  newStream,
  expectVersion,
  type LoadedStream,
  type StreamWrite,
} from '#event-store';
import { refuseTakenName } from '#postgres';
import {
  createEventContext,
  requirePermission,
  NO_ORGANIZATION_ACCESS,
  loadParentOrganization,
  type Actor,
  type Permission,
} from '#access';
import {
  prepareTokenDestruction,
  selectOwnedTokens,
  type OwnedToken,
} from '../authentication-tokens/authentication-tokens.writes.js';
import { team, pickChangedAccess, type TeamChanges, type TeamCommand } from './team.js';
import { requireTeamChange } from '../team-access/team-permission.js';
import {
  isOwnerless,
  selectReferencedMembers,
  selectTeamById,
  loadTeamForCommand,
  type ReferencedMember,
  type MemberReferences,
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

type ExistingTeamCommand =
  { readonly type: 'UpdateTeam'; readonly data: { readonly changes: TeamChanges } } | { readonly type: 'DeleteTeam' };

/** A command for one team; resolves to how it stands then, null when it is gone. */
export class ChangeTeam extends Command<TeamDetailsRow | null> {
  constructor(
    readonly id: string,
    readonly command: ExistingTeamCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class ChangeTeamMembers extends Command<void> {
  constructor(
    readonly id: string,
    readonly change: 'AddTeamMembers' | 'RemoveTeamMembers',
    readonly named: MemberReferences,
    readonly actor: Actor,
  ) {
    super();
  }
}

const refuseTaken = refuseTakenName('teams_organization_name_key');

const changesOrganizationAccess = (before: TeamForCommand['organizationAccess'], changes: TeamChanges): boolean =>
  Object.keys(pickChangedAccess(before, changes)).length > 0;

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
          const place = await loadParentOrganization(this.store.database, actor, 'manage-teams', organization);
          if (changesOrganizationAccess(NO_ORGANIZATION_ACCESS, data))
            requirePermission(actor, 'manage-organization-access', place);
          return { ...newStream(id, team), place };
        },
        command: () => ({ type: 'CreateTeam', data }) as const,
        organization: ({ place }) => place.organization,
        preconditions: ({ place }) => [expectVersion(place.organization, place.version)],
        context: createEventContext(actor),
        read: () => [selectTeamById(id, actor)],
      })
      .catch(refuseTaken);
    return getFirstRow<TeamDetailsRow>(rows);
  }
}

/** Loads a team, where the caller may do that with it. */
const loadTeam = async <More extends object>(
  store: EventStore,
  { id, permission, actor }: { readonly id: string; readonly permission: Permission; readonly actor: Actor },
  more: Sql = sql.empty,
) => {
  const found = await loadTeamForCommand<More>(store.database, actor, id, more);
  requireTeamChange(actor, permission, found);
  return { ...(await store.restore(id, team, found.snapshot)), found };
};

const TOKENS = sql`, ${selectOwnedTokens(sql.raw('t.id'))} as tokens`;

@CommandHandler(ChangeTeam)
export class TeamsHandler implements ICommandHandler<ChangeTeam> {
  constructor(private readonly store: EventStore) {}

  execute({ id, command, actor }: ChangeTeam): Promise<TeamDetailsRow | null> {
    return command.type === 'DeleteTeam' ? this.remove(id, actor) : this.update(id, command.data.changes, actor);
  }

  private async update(id: string, changes: TeamChanges, actor: Actor): Promise<TeamDetailsRow | null> {
    const { rows } = await this.store
      .handle({
        decider: team,
        load: async () => {
          const its = await loadTeam(this.store, { id, permission: 'manage-teams', actor });
          const { organizationAccess } = its.found;
          if (changesOrganizationAccess(organizationAccess, changes))
            requirePermission(actor, 'manage-organization-access', its.found);
          return its;
        },
        command: ({ found }) => ({ type: 'UpdateTeam', data: { changes, ofOwners: found.isOwners } }) as const,
        organization: ({ found }) => found.organization,
        context: createEventContext(actor),
        read: () => [selectTeamById(id, actor)],
      })
      .catch(refuseTaken);
    return getFirstRowOrNull<TeamDetailsRow>(rows);
  }

  /** Its tokens go with it, in the same append: from then on they open nothing. */
  private async remove(id: string, actor: Actor): Promise<null> {
    await this.store.handle({
      decider: team,
      load: async () => {
        const asked = { id, permission: 'manage-teams', actor } as const;
        const its = await loadTeam<{ tokens: OwnedToken[] }>(this.store, asked, TOKENS);
        return { ...its, tokens: await prepareTokenDestruction(this.store, id, its.found.tokens) };
      },
      command: ({ found }) => ({ type: 'DeleteTeam', data: { ofOwners: found.isOwners } }) as const,
      organization: ({ found }) => found.organization,
      preconditions: ({ tokens }) => tokens.writes,
      context: createEventContext(actor),
      read: ({ tokens }) => tokens.statements,
    });
    return null;
  }
}

type LoadedTeam = LoadedStream<typeof team.initial> & {
  readonly found: TeamForCommand & { readonly named: readonly ReferencedMember[] };
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
        const its = await loadTeam<{ named: ReferencedMember[] }>(this.store, asked, selectReferencedMembers(named));
        if (adds) refuseNonMembers(named, its.found.named);
        return its;
      },
      command: ({ found: { named: members, owners } }) =>
        adds
          ? ({ type: 'AddTeamMembers', data: { members } } as const)
          : ({ type: 'RemoveTeamMembers', data: { members, owners } } as const),
      organization: ({ found }) => found.organization,
      preconditions: ({ found }) => (adds ? buildAddPreconditions(found) : []),
      context: createEventContext(actor),
      // The owners' stream decides who owns; this is for what their memberships could change beside it.
      read: ({ found }) => (!adds && found.owners ? [raiseConflictWhen(isOwnerless(id))] : []),
    });
  }
}

/** Nobody is added while their membership, or the organization, is going. */
const buildAddPreconditions = ({ organization, organizationVersion, named }: LoadedTeam['found']): StreamWrite[] => [
  expectVersion(organization, organizationVersion),
  ...named.flatMap(({ membership, version }) =>
    membership !== null && version !== null ? [expectVersion(membership, version)] : [],
  ),
];

const refuseNonMembers = ({ by, names }: MemberReferences, known: readonly ReferencedMember[]): void => {
  const index = names.findIndex((name) => !known.some((member) => member.name === name));
  if (index === -1) return;
  const what = by === 'users' ? 'User' : 'Organization membership';
  throw unprocessable(`${what} ${names[index]} is not a member of the organization`, `/data/${index}/id`);
};
