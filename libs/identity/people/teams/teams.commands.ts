import type { DataOf } from '#platform/kernel';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { TeamChanges, TeamCommand } from './team.js';
import type { MemberReferences, TeamDetailsRow } from './teams.queries.js';

type MembersInput = { id: string; members: MemberReferences; actor: Actor };

export type TeamOperations = {
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
