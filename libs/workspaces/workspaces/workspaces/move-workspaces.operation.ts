import { expectVersion, type EventStore } from '#storage/event-store';
import { raiseConflictWhenFixedKeysChanged } from '#organizations/tag-bindings';
import { appendToWorkspaces, requirePermissionOnEach } from './bulk-append.writes.js';
import type { WorkspaceOperations } from './workspaces.commands.js';
import { loadWorkspaceMove, type WorkspaceToMove } from '../lists/moves.queries.js';

/** Moves workspaces into a project, all of them or none. */
export const moveWorkspaces = (
  store: EventStore,
  { project, workspaces, actor }: WorkspaceOperations['MoveWorkspaces']['input'],
): Promise<void> =>
  store.retryOnConflict(async () => {
    const move = await loadWorkspaceMove(store.database, actor, project, workspaces);
    // A move requires the permission on both projects. The query has checked it on the new project.
    requirePermissionOnEach(actor, 'move-workspace', move.workspaces, workspaces);
    // The new project decides when the resources of these workspaces are destroyed.
    const inheriting = move.workspaces.filter(({ inheritsDestroy }) => inheritsDestroy);
    requirePermissionOnEach(
      actor,
      'update-workspace',
      inheriting,
      inheriting.map(({ id }) => id),
    );
    const toTask = ({ id, snapshot }: WorkspaceToMove) => {
      const data = { changes: {}, project, movedAt: `/data/${workspaces.indexOf(id)}`, fixed: move.fixed };
      return { id, snapshot, command: { type: 'UpdateWorkspace', data } } as const;
    };
    const options = {
      ...move,
      preconditions: [expectVersion(project, move.projectVersion)],
      checks: [raiseConflictWhenFixedKeysChanged(project, move.fixed)],
    };
    await appendToWorkspaces(store, options, move.workspaces.map(toTask), actor);
  });
