import { requirePermission, type Actor, type Permission } from '#access';
import type { ExistingWorkspaceCommand } from './workspaces.commands.js';
import type { WorkspaceCommand } from './workspace.js';
import type { WorkspaceForCommand } from './workspaces.queries.js';

const PERMISSION = {
  AssignSshKey: 'assign-ssh-key',
  LockWorkspace: 'lock-workspace',
  UnlockWorkspace: 'lock-workspace',
  ForceUnlockWorkspace: 'force-unlock-workspace',
  AddTags: 'tag-workspace',
  RemoveTags: 'tag-workspace',
  BindTags: 'tag-workspace',
  CreateStateVersion: 'create-state',
  FinalizeStateVersion: 'create-state',
} as const satisfies Partial<Record<WorkspaceCommand['type'], Permission>>;

/** Owners may always force a deletion; workspace admins where the organization lets them (contract §4.3). */
const deletePermission = (forced: boolean, { allowForceDelete }: WorkspaceForCommand): Permission => {
  if (!forced) return 'delete-workspace';
  return allowForceDelete ? 'force-delete-own-workspace' : 'force-delete-workspace';
};

/** Throws the refusal for who may not do that with the workspace. */
export const authorize = (actor: Actor, command: ExistingWorkspaceCommand, found: WorkspaceForCommand): void => {
  // Who may not even read it learns nothing, not that it is forbidden.
  requirePermission(actor, 'read-workspace', found);
  for (const permission of listRequiredPermissions(command, found)) requirePermission(actor, permission, found);
  // Moving is asked of both projects (contract §5): of the one that it leaves, and of the one that it comes to.
  if (isMove(command, found)) {
    requirePermission(actor, 'move-workspace', { organization: found.organization, grants: found.projectGrants ?? [] });
  }
};

const isMove = (command: ExistingWorkspaceCommand, { project }: WorkspaceForCommand): boolean =>
  command.type === 'UpdateWorkspace' && Boolean(command.data.project) && command.data.project !== project;

const updatePermission = (
  command: Extract<ExistingWorkspaceCommand, { type: 'UpdateWorkspace' }>,
  found: WorkspaceForCommand,
): readonly Permission[] => {
  const { changes, bindings } = command.data;
  if (!isMove(command, found)) return ['update-workspace'];
  // Who may only move it changes nothing else on the way.
  const onlyMoves = bindings === undefined && Object.keys(changes).length === 0;
  return onlyMoves ? ['move-workspace'] : ['move-workspace', 'update-workspace'];
};

const listRequiredPermissions = (
  command: ExistingWorkspaceCommand,
  found: WorkspaceForCommand,
): readonly Permission[] => {
  if (command.type === 'DeleteWorkspace') return [deletePermission(command.data.forced, found)];
  return command.type === 'UpdateWorkspace' ? updatePermission(command, found) : [PERMISSION[command.type]];
};
