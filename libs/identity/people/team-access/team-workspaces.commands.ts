import type { DataOf } from '#platform/kernel';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { TeamWorkspaceRow } from './team-access.queries.js';
import type { TeamWorkspaceCommand } from './team-workspace.js';

export type TeamWorkspaceOperations = {
  AddTeamWorkspace: Operation<
    {
      team: string;
      workspace: string;
      terms: Pick<DataOf<TeamWorkspaceCommand, 'AddTeamWorkspace'>, 'access' | 'fields'>;
      actor: Actor;
    },
    TeamWorkspaceRow
  >;
  /** Resolves to null if the access has been removed meanwhile. */
  UpdateTeamWorkspace: Operation<
    { id: string; data: Omit<DataOf<TeamWorkspaceCommand, 'UpdateTeamWorkspace'>, 'teamName'>; actor: Actor },
    TeamWorkspaceRow | null
  >;
  RemoveTeamWorkspace: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeTeamWorkspace<T extends keyof TeamWorkspaceOperations> extends AggregateCommand<
  TeamWorkspaceOperations,
  T
> {}
