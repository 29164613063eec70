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

/** Changes or deletes a team. Returns the row, or null after a deletion. */
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
          const parent = await loadParentOrganization(this.store.database, actor, 'manage-teams', organization);
          if (changesOrganizationAccess(NO_ORGANIZATION_ACCESS, data))
            requirePermission(actor, 'manage-organization-access', parent);
          return { ...newStream(id, team), parent };
        },
        command: () => ({ type: 'CreateTeam', data }) as const,
        organization: ({ parent }) => parent.organization,
        preconditions: ({ parent }) => [expectVersion(parent.organization, parent.version)],
        context: createEventContext(actor),
        read: () => [selectTeamById(id, actor)],
      })
      .catch(refuseTaken);
    return getFirstRow<TeamDetailsRow>(rows);
  }
}

/** Loads a team. Rejects callers without the permission. */
const loadTeam = async <More extends object>(
  store: EventStore,
  { id, permission, actor }: { readonly id: string; readonly permission: Permission; readonly actor: Actor },
  more: Sql = sql.empty,
) => {
  const row = await loadTeamForCommand<More>(store.database, actor, id, more);
  requireTeamChange(actor, permission, row);
  return { ...(await store.restore(id, team, row.snapshot)), row };
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
          const loaded = await loadTeam(this.store, { id, permission: 'manage-teams', actor });
          const { organizationAccess } = loaded.row;
          if (changesOrganizationAccess(organizationAccess, changes))
            requirePermission(actor, 'manage-organization-access', loaded.row);
          return loaded;
        },
        command: ({ row }) => ({ type: 'UpdateTeam', data: { changes, ofOwners: row.isOwners } }) as const,
        organization: ({ row }) => row.organization,
        context: createEventContext(actor),
        read: () => [selectTeamById(id, actor)],
      })
      .catch(refuseTaken);
    return getFirstRowOrNull<TeamDetailsRow>(rows);
  }

  /** Deletes the team and its tokens in one append. */
  private async remove(id: string, actor: Actor): Promise<null> {
    await this.store.handle({
      decider: team,
      load: async () => {
        const request = { id, permission: 'manage-teams', actor } as const;
        const loaded = await loadTeam<{ tokens: OwnedToken[] }>(this.store, request, TOKENS);
        return { ...loaded, tokens: await prepareTokenDestruction(this.store, id, loaded.row.tokens) };
      },
      command: ({ row }) => ({ type: 'DeleteTeam', data: { ofOwners: row.isOwners } }) as const,
      organization: ({ row }) => row.organization,
      preconditions: ({ tokens }) => tokens.writes,
      context: createEventContext(actor),
      read: ({ tokens }) => tokens.statements,
    });
    return null;
  }
}

type LoadedTeam = LoadedStream<typeof team.initial> & {
  readonly row: TeamForCommand & { readonly named: readonly ReferencedMember[] };
};

@CommandHandler(ChangeTeamMembers)
export class ChangeTeamMembersHandler implements ICommandHandler<ChangeTeamMembers> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, change, named, actor }: ChangeTeamMembers): Promise<void> {
    const adds = change === 'AddTeamMembers';
    await this.store.handle({
      decider: team,
      load: async (): Promise<LoadedTeam> => {
        const request = { id, permission: 'manage-team-membership', actor } as const;
        const loaded = await loadTeam<{ named: ReferencedMember[] }>(
          this.store,
          request,
          selectReferencedMembers(named),
        );
        if (adds) refuseNonMembers(named, loaded.row.named);
        return loaded;
      },
      command: ({ row: { named: members, owners } }) =>
        adds
          ? ({ type: 'AddTeamMembers', data: { members } } as const)
          : ({ type: 'RemoveTeamMembers', data: { members, owners } } as const),
      organization: ({ row }) => row.organization,
      preconditions: ({ row }) => (adds ? buildAddPreconditions(row) : []),
      context: createEventContext(actor),
      // The stream of the owners team covers concurrent removals from the team. This check covers concurrent changes of
      // memberships.
      read: ({ row }) => (!adds && row.owners ? [raiseConflictWhen(isOwnerless(id))] : []),
    });
  }
}

/** Requires that the organization and the memberships do not change while members are added. */
const buildAddPreconditions = ({ organization, organizationVersion, named }: LoadedTeam['row']): StreamWrite[] => [
  expectVersion(organization, organizationVersion),
  ...named.flatMap(({ membership, version }) =>
    membership !== null && version !== null ? [expectVersion(membership, version)] : [],
  ),
];

const refuseNonMembers = ({ by, names }: MemberReferences, members: readonly ReferencedMember[]): void => {
  const index = names.findIndex((name) => !members.some((member) => member.name === name));
  if (index === -1) return;
  const what = by === 'users' ? 'User' : 'Organization membership';
  throw unprocessable(`${what} ${names[index]} is not a member of the organization`, `/data/${index}/id`);
};
