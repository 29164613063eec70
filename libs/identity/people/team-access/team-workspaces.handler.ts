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
import type { TeamWorkspaceRow } from './team-access.view.js';
import { type TeamWorkspaceCommand, teamWorkspace } from './team-workspace.js';
import { addTeamAccess, changeTeamAccess } from './team-access.operations.js';

type TeamWorkspaceOperations = {
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

@CommandHandler(ChangeTeamWorkspace)
export class TeamWorkspacesHandler extends AggregateHandler<TeamWorkspaceOperations> {
  protected readonly operations: OperationTable<TeamWorkspaceOperations> = {
    AddTeamWorkspace: (input) => this.add(input),
    UpdateTeamWorkspace: ({ id, data, actor }) =>
      this.change(id, actor, (teamName) => ({ type: 'UpdateTeamWorkspace', data: { teamName, ...data } })),
    RemoveTeamWorkspace: async ({ id, actor }) => {
      await this.change(id, actor, (teamName) => ({ type: 'RemoveTeamWorkspace', data: { teamName } }));
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async add(input: TeamWorkspaceOperations['AddTeamWorkspace']['input']): Promise<TeamWorkspaceRow> {
    const { team, workspace, terms, actor } = input;
    const rows = await addTeamAccess(this.store, {
      kind: 'workspace',
      decider: teamWorkspace,
      id: this.ids.next('tws'),
      target: workspace,
      team,
      command: (referenced) => ({ type: 'AddTeamWorkspace', data: { team: referenced, workspace, ...terms } }) as const,
      actor,
    });
    return getFirstRow<TeamWorkspaceRow>(rows);
  }

  private async change(
    id: string,
    actor: Actor,
    command: (teamName: string) => TeamWorkspaceCommand,
  ): Promise<TeamWorkspaceRow | null> {
    const rows = await changeTeamAccess(this.store, { kind: 'workspace', decider: teamWorkspace, id, command, actor });
    return getFirstRowOrNull<TeamWorkspaceRow>(rows);
  }
}
