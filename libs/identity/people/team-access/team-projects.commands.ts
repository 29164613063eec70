import type { DataOf } from '#platform/kernel';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { TeamProjectRow } from './team-access.queries.js';
import type { TeamProjectCommand } from './team-project.js';

export type TeamProjectOperations = {
  AddTeamProject: Operation<
    {
      team: string;
      project: string;
      terms: Pick<DataOf<TeamProjectCommand, 'AddTeamProject'>, 'access' | 'fields'>;
      actor: Actor;
    },
    TeamProjectRow
  >;
  /** Resolves to null if the access has been removed meanwhile. */
  UpdateTeamProject: Operation<
    { id: string; data: Omit<DataOf<TeamProjectCommand, 'UpdateTeamProject'>, 'teamName'>; actor: Actor },
    TeamProjectRow | null
  >;
  RemoveTeamProject: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeTeamProject<T extends keyof TeamProjectOperations> extends AggregateCommand<
  TeamProjectOperations,
  T
> {}
