import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore, expectVersion } from '#event-store';
import type { Actor } from '#access';
import { raiseConflictWhenFixedKeysChanged } from '#tag-bindings';
import { loadWorkspaceMove, type WorkspaceToMove } from './moves.queries.js';
import { appendToWorkspaces, requirePermissionOnEach } from '../workspaces/bulk-append.writes.js';

/** Moves workspaces into a project, all of them or none. */
export class MoveWorkspaces extends Command<void> {
  constructor(
    readonly project: string,
    readonly workspaces: readonly string[],
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(MoveWorkspaces)
export class MoveWorkspacesHandler implements ICommandHandler<MoveWorkspaces> {
  constructor(private readonly store: EventStore) {}

  async execute({ project, workspaces, actor }: MoveWorkspaces): Promise<void> {
    await this.store.untilFirst(async () => {
      const move = await loadWorkspaceMove(this.store.database, actor, project, workspaces);
      // Both projects are asked (contract §5): the one that they come to has been, where the move was read.
      requirePermissionOnEach(actor, 'move-workspace', move.workspaces, workspaces);
      const commandFor = ({ id, snapshot }: WorkspaceToMove) => {
        const data = { changes: {}, project, movedAt: `/data/${workspaces.indexOf(id)}`, fixed: move.fixed };
        return { id, snapshot, command: { type: 'UpdateWorkspace', data } } as const;
      };
      const around = {
        ...move,
        held: [expectVersion(project, move.projectVersion)],
        checks: [raiseConflictWhenFixedKeysChanged(project, move.fixed)],
      };
      await appendToWorkspaces(this.store, around, move.workspaces.map(commandFor), actor);
    });
  }
}
