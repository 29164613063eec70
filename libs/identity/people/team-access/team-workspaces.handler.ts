import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import {
  getFirstRow,
  getFirstRowOrNull,
  AggregateHandler,
  EventStore,
  type OperationTable,
} from '#storage/event-store';
import type { Actor } from '#api/access';
import { addTeamAccess, changeTeamAccess } from './team-access.operations.js';
import type { TeamWorkspaceRow } from './team-access.queries.js';
import { teamWorkspace, type TeamWorkspaceCommand } from './team-workspace.js';
import { ChangeTeamWorkspace, type TeamWorkspaceOperations } from './team-workspaces.commands.js';

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
