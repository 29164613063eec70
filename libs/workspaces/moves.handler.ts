import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { notFound } from '#kernel';
import { EventStore, unchanged, writeOf } from '#event-store';
import { contextOf, may, type Actor } from '#access';
import { moveInto, type Move, type MovedWorkspace } from './moves.queries.js';
import { workspace } from './workspace.js';

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

/** Both projects are asked (contract §5): the one that they come to has been, where the move was read. */
const checkAll = ({ workspaces }: Move, wanted: readonly string[], actor: Actor): void => {
  const movable = workspaces.filter((one) => may(actor, 'read-workspace', one) && may(actor, 'move-workspace', one));
  const ids = new Set(movable.map(({ id }) => id));
  const missing = wanted.find((id) => !ids.has(id));
  if (missing !== undefined) throw notFound(`Workspace ${missing} not found`);
};

@CommandHandler(MoveWorkspaces)
export class MoveWorkspacesHandler implements ICommandHandler<MoveWorkspaces> {
  constructor(private readonly store: EventStore) {}

  async execute({ project, workspaces, actor }: MoveWorkspaces): Promise<void> {
    await this.store.untilFirst(async () => {
      const move = await moveInto(this.store.database, actor, project, workspaces);
      checkAll(move, workspaces, actor);
      const writeFor = async ({ id, snapshot }: MovedWorkspace) => {
        const data = { changes: {}, project, movedAt: `/data/${workspaces.indexOf(id)}`, fixed: move.fixed };
        const loaded = await this.store.restore(id, workspace, snapshot);
        return writeOf(workspace, loaded, move.organization, { type: 'UpdateWorkspace', data });
      };
      const writes = (await Promise.all(move.workspaces.map(writeFor))).filter(({ events }) => events.length > 0);
      if (writes.length === 0) return;
      const held = [unchanged(move.organization, move.organizationVersion), unchanged(project, move.projectVersion)];
      await this.store.append([...held, ...writes], contextOf(actor));
    });
  }
}
