import { CommandHandler } from '@nestjs/cqrs';
import { Ids, sql, unprocessable, type Sql } from '#platform/kernel';
import {
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  raiseConflictWhen,
  newStream,
  expectVersion,
  type LoadedStream,
  type OperationTable,
  type StreamWrite,
} from '#storage/event-store';
import { refuseTakenName } from '#platform/postgres';
import {
  createEventContext,
  requirePermission,
  NO_ORGANIZATION_ACCESS,
  loadParentOrganization,
  type Actor,
  type Permission,
} from '#api/access';
import {
  prepareTokenDestruction,
  selectOwnedTokens,
  type OwnedToken,
} from '../authentication-tokens/authentication-tokens.writes.js';
import { team, pickChangedAccess, type TeamChanges } from './team.js';
import { ChangeTeam, type TeamOperations } from './teams.commands.js';
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

/** The most teams of an organization with an `sso-team-id`. */
export const MAX_SSO_TEAMS = 100;

const refuseTaken = refuseTakenName('teams_organization_name_key');

const changesOrganizationAccess = (before: TeamForCommand['organizationAccess'], changes: TeamChanges): boolean =>
  Object.keys(pickChangedAccess(before, changes)).length > 0;

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

/**
 * Refuses one more team with an `sso-team-id` than an organization can have. Each sign-in of a person in the group of all
 * these teams changes all of them. Two requests at the same time can exceed the limit.
 */
const refuseManySsoTeams = async ({ database }: EventStore, organization: string, team: string): Promise<void> => {
  const others = await database.rows(sql`
    select 1 from teams where organization = ${organization} and sso_team_id is not null and id <> ${team}
     limit ${MAX_SSO_TEAMS}`);
  if (others.length < MAX_SSO_TEAMS) return;
  throw unprocessable(
    `The organization has ${MAX_SSO_TEAMS} teams with an SSO team id, the most that it can have. Remove one first`,
    'sso-team-id',
  );
};

/** A team with an `sso-team-id` is one of those that count already. */
const hasSsoTeamId = (state: typeof team.initial): boolean => 'ssoTeamId' in state && state.ssoTeamId !== null;

const TOKENS = sql`, ${selectOwnedTokens(sql.raw('t.id'))} as tokens`;

type LoadedTeam = LoadedStream<typeof team.initial> & {
  readonly row: TeamForCommand & { readonly referencedMembers: readonly ReferencedMember[] };
};

/** Requires that the organization and the memberships do not change while members are added. */
const buildAddPreconditions = ({
  organization,
  organizationVersion,
  referencedMembers,
}: LoadedTeam['row']): StreamWrite[] => [
  expectVersion(organization, organizationVersion),
  ...referencedMembers.flatMap(({ membership, version }) =>
    membership !== null && version !== null ? [expectVersion(membership, version)] : [],
  ),
];

const refuseNonMembers = ({ by, names }: MemberReferences, members: readonly ReferencedMember[]): void => {
  const index = names.findIndex((name) => !members.some(({ references }) => references.includes(name)));
  if (index === -1) return;
  const what = by === 'users' ? 'User' : 'Organization membership';
  throw unprocessable(`${what} ${names[index]} is not a member of the organization`, `/data/${index}/id`);
};

@CommandHandler(ChangeTeam)
export class TeamsHandler extends AggregateHandler<TeamOperations> {
  protected readonly operations: OperationTable<TeamOperations> = {
    CreateTeam: (input) => this.create(input),
    UpdateTeam: (input) => this.update(input),
    DeleteTeam: (input) => this.delete(input),
    AddTeamMembers: (input) => this.addMembers(input),
    RemoveTeamMembers: (input) => this.removeMembers(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async create(input: TeamOperations['CreateTeam']['input']): Promise<TeamDetailsRow> {
    const { organization, data, actor } = input;
    const id = this.ids.next('team');
    const { rows } = await this.store
      .handle({
        decider: team,
        load: async () => {
          const parent = await loadParentOrganization(this.store.database, actor, 'manage-teams', organization);
          if (changesOrganizationAccess(NO_ORGANIZATION_ACCESS, data))
            requirePermission(actor, 'manage-organization-access', parent);
          if (typeof data.ssoTeamId === 'string') await refuseManySsoTeams(this.store, parent.organization, id);
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

  private async update(input: TeamOperations['UpdateTeam']['input']): Promise<TeamDetailsRow | null> {
    const { id, changes, actor } = input;
    const { rows } = await this.store
      .handle({
        decider: team,
        load: async () => {
          const loaded = await loadTeam(this.store, { id, permission: 'manage-teams', actor });
          if (changesOrganizationAccess(loaded.row.organizationAccess, changes))
            requirePermission(actor, 'manage-organization-access', loaded.row);
          if (typeof changes.ssoTeamId === 'string' && !hasSsoTeamId(loaded.state)) {
            await refuseManySsoTeams(this.store, loaded.row.organization, id);
          }
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
  private async delete({ id, actor }: TeamOperations['DeleteTeam']['input']): Promise<void> {
    await this.store.handle({
      decider: team,
      load: async () => {
        const target = { id, permission: 'manage-teams', actor } as const;
        const loaded = await loadTeam<{ tokens: OwnedToken[] }>(this.store, target, TOKENS);
        return { ...loaded, tokens: await prepareTokenDestruction(this.store, id, loaded.row.tokens) };
      },
      command: ({ row }) => ({ type: 'DeleteTeam', data: { ofOwners: row.isOwners } }) as const,
      organization: ({ row }) => row.organization,
      preconditions: ({ tokens }) => tokens.writes,
      context: createEventContext(actor),
      read: ({ tokens }) => tokens.statements,
    });
  }

  private async addMembers({ id, members, actor }: TeamOperations['AddTeamMembers']['input']): Promise<void> {
    await this.store.handle({
      decider: team,
      load: async () => {
        const loaded = await this.loadForMembers(id, members, actor);
        refuseNonMembers(members, loaded.row.referencedMembers);
        return loaded;
      },
      command: ({ row }) => ({ type: 'AddTeamMembers', data: { members: row.referencedMembers } }) as const,
      organization: ({ row }) => row.organization,
      preconditions: ({ row }) => buildAddPreconditions(row),
      context: createEventContext(actor),
    });
  }

  private async removeMembers({ id, members, actor }: TeamOperations['RemoveTeamMembers']['input']): Promise<void> {
    await this.store.handle({
      decider: team,
      load: () => this.loadForMembers(id, members, actor),
      command: ({ row: { referencedMembers, owners } }) =>
        ({ type: 'RemoveTeamMembers', data: { members: referencedMembers, owners } }) as const,
      organization: ({ row }) => row.organization,
      context: createEventContext(actor),
      // The stream of the owners team covers concurrent removals from the team. This check covers concurrent changes of
      // memberships.
      read: ({ row }) => (row.owners ? [raiseConflictWhen(isOwnerless(id))] : []),
    });
  }

  private loadForMembers(id: string, members: MemberReferences, actor: Actor): Promise<LoadedTeam> {
    const target = { id, permission: 'manage-team-membership', actor } as const;
    return loadTeam<{ referencedMembers: ReferencedMember[] }>(this.store, target, selectReferencedMembers(members));
  }
}
