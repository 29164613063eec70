import { CommandHandler } from '@nestjs/cqrs';
import { type DataOf, Ids, sql, unprocessable, type Sql } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import {
  type Actor,
  requirePermission,
  NO_ORGANIZATION_ACCESS,
  loadParentOrganization,
  type Permission,
  createResource,
  changeResource,
} from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  raiseConflictWhen,
  expectVersion,
  type OperationTable,
  type StreamWrite,
} from '#storage/event-store';
import {
  prepareTokenDestruction,
  selectOwnedTokens,
  type OwnedToken,
} from '../authentication-tokens/authentication-tokens.writes.js';
import { requireTeamChange } from '../team-access/team-permission.js';
import { type TeamChanges, type TeamCommand, team, pickChangedAccess } from './team.js';
import {
  type MemberReferences,
  type TeamDetailsRow,
  isOwnerless,
  selectReferencedMembers,
  selectTeamById,
  loadTeamForCommand,
  type ReferencedMember,
  type TeamForCommand,
} from './teams.queries.js';

type MembersInput = { id: string; members: MemberReferences; actor: Actor };

type TeamOperations = {
  CreateTeam: Operation<
    { organization: string; data: DataOf<TeamCommand, 'CreateTeam'>; actor: Actor },
    TeamDetailsRow
  >;
  /** Resolves to null if the team has been deleted meanwhile. */
  UpdateTeam: Operation<{ id: string; changes: TeamChanges; actor: Actor }, TeamDetailsRow | null>;
  DeleteTeam: Operation<{ id: string; actor: Actor }, void>;
  AddTeamMembers: Operation<MembersInput, void>;
  RemoveTeamMembers: Operation<MembersInput, void>;
};

export class ChangeTeam<T extends keyof TeamOperations> extends AggregateCommand<TeamOperations, T> {}

/** The most teams of an organization with an `sso-team-id`. */
export const MAX_SSO_TEAMS = 100;

const refuseTaken = refuseTakenName('teams_organization_name_key');

const changesOrganizationAccess = (before: TeamForCommand['organizationAccess'], changes: TeamChanges): boolean =>
  Object.keys(pickChangedAccess(before, changes)).length > 0;

/** Returns a team. Rejects callers without the permission. */
const loadTeam = async <More extends object>(
  { database }: EventStore,
  { id, permission, actor }: { readonly id: string; readonly permission: Permission; readonly actor: Actor },
  more: Sql,
): Promise<TeamForCommand & More> => {
  const row = await loadTeamForCommand<More>(database, actor, id, more);
  requireTeamChange(actor, permission, row);
  return row;
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
const HAS_SSO_TEAM = sql.raw(', t.sso_team_id is not null as "hasSsoTeam"');

const TOKENS = sql`, ${selectOwnedTokens(sql.raw('t.id'))} as tokens`;

type TeamWithMembers = TeamForCommand & { readonly referencedMembers: readonly ReferencedMember[] };

/** Requires that the organization and the memberships do not change while members are added. */
const buildAddPreconditions = ({
  organization,
  organizationVersion,
  referencedMembers,
}: TeamWithMembers): StreamWrite[] => [
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
    const rows = await createResource(this.store, team, {
      id,
      actor,
      load: async () => {
        const parent = await loadParentOrganization(this.store.database, actor, 'manage-teams', organization);
        if (changesOrganizationAccess(NO_ORGANIZATION_ACCESS, data))
          requirePermission(actor, 'manage-organization-access', parent);
        if (typeof data.ssoTeamId === 'string') await refuseManySsoTeams(this.store, parent.organization, id);
        return parent;
      },
      command: { type: 'CreateTeam', data },
      read: () => [selectTeamById(id, actor)],
    }).catch(refuseTaken);
    return getFirstRow<TeamDetailsRow>(rows);
  }

  private async update(input: TeamOperations['UpdateTeam']['input']): Promise<TeamDetailsRow | null> {
    const { id, changes, actor } = input;
    const rows = await changeResource(this.store, team, {
      actor,
      load: async () => {
        const target = { id, permission: 'manage-teams', actor } as const;
        const row = await loadTeam<{ hasSsoTeam: boolean }>(this.store, target, HAS_SSO_TEAM);
        if (changesOrganizationAccess(row.organizationAccess, changes))
          requirePermission(actor, 'manage-organization-access', row);
        if (typeof changes.ssoTeamId === 'string' && !row.hasSsoTeam) {
          await refuseManySsoTeams(this.store, row.organization, id);
        }
        return row;
      },
      command: ({ isOwners }) => ({ type: 'UpdateTeam', data: { changes, ofOwners: isOwners } }),
      read: () => [selectTeamById(id, actor)],
    }).catch(refuseTaken);
    return getFirstRowOrNull<TeamDetailsRow>(rows);
  }

  /** Deletes the team and its tokens in one append. */
  private async delete({ id, actor }: TeamOperations['DeleteTeam']['input']): Promise<void> {
    await changeResource(this.store, team, {
      actor,
      load: async () => {
        const target = { id, permission: 'manage-teams', actor } as const;
        const row = await loadTeam<{ tokens: OwnedToken[] }>(this.store, target, TOKENS);
        return { ...row, destruction: await prepareTokenDestruction(this.store, id, row.tokens) };
      },
      command: ({ isOwners }) => ({ type: 'DeleteTeam', data: { ofOwners: isOwners } }),
      writes: ({ destruction }) => destruction.writes,
      read: ({ destruction }) => destruction.statements,
    });
  }

  private async addMembers({ id, members, actor }: TeamOperations['AddTeamMembers']['input']): Promise<void> {
    await changeResource(this.store, team, {
      actor,
      load: async () => {
        const row = await this.loadForMembers(id, members, actor);
        refuseNonMembers(members, row.referencedMembers);
        return row;
      },
      command: ({ referencedMembers }) => ({ type: 'AddTeamMembers', data: { members: referencedMembers } }),
      writes: buildAddPreconditions,
    });
  }

  private async removeMembers({ id, members, actor }: TeamOperations['RemoveTeamMembers']['input']): Promise<void> {
    await changeResource(this.store, team, {
      actor,
      load: () => this.loadForMembers(id, members, actor),
      command: ({ referencedMembers, owners }) => ({
        type: 'RemoveTeamMembers',
        data: { members: referencedMembers, owners },
      }),
      // The stream of the owners team covers concurrent removals from the team. This check covers concurrent changes of
      // memberships.
      read: ({ owners }) => (owners ? [raiseConflictWhen(isOwnerless(id))] : []),
    });
  }

  private loadForMembers(id: string, members: MemberReferences, actor: Actor): Promise<TeamWithMembers> {
    const target = { id, permission: 'manage-team-membership', actor } as const;
    return loadTeam<{ referencedMembers: ReferencedMember[] }>(this.store, target, selectReferencedMembers(members));
  }
}
