import { CommandHandler } from '@nestjs/cqrs';
import { type DataOf, Ids } from '#platform/kernel';
import type { Actor } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  getFirstRow,
  getFirstRowOrNull,
  AggregateHandler,
  EventStore,
  type OperationTable,
} from '#storage/event-store';
import type { TeamProjectRow } from './team-access.view.js';
import { type TeamProjectCommand, teamProject } from './team-project.js';
import { addTeamAccess, changeTeamAccess } from './team-access.operations.js';

type TeamProjectOperations = {
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

@CommandHandler(ChangeTeamProject)
export class TeamProjectsHandler extends AggregateHandler<TeamProjectOperations> {
  protected readonly operations: OperationTable<TeamProjectOperations> = {
    AddTeamProject: (input) => this.add(input),
    UpdateTeamProject: ({ id, data, actor }) =>
      this.change(id, actor, (teamName) => ({ type: 'UpdateTeamProject', data: { teamName, ...data } })),
    RemoveTeamProject: async ({ id, actor }) => {
      await this.change(id, actor, (teamName) => ({ type: 'RemoveTeamProject', data: { teamName } }));
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async add(input: TeamProjectOperations['AddTeamProject']['input']): Promise<TeamProjectRow> {
    const { team, project, terms, actor } = input;
    const rows = await addTeamAccess(this.store, {
      kind: 'project',
      decider: teamProject,
      id: this.ids.next('tprj'),
      target: project,
      team,
      command: (referenced) => ({ type: 'AddTeamProject', data: { team: referenced, project, ...terms } }) as const,
      actor,
    });
    return getFirstRow<TeamProjectRow>(rows);
  }

  private async change(
    id: string,
    actor: Actor,
    command: (teamName: string) => TeamProjectCommand,
  ): Promise<TeamProjectRow | null> {
    const rows = await changeTeamAccess(this.store, { kind: 'project', decider: teamProject, id, command, actor });
    return getFirstRowOrNull<TeamProjectRow>(rows);
  }
}
