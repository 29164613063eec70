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

/** Owners may always force a deletion; workspace admins only if the organization allows it (contract §4.3). */
const deletePermission = (forced: boolean, { allowForceDelete }: WorkspaceForCommand): Permission => {
  if (!forced) return 'delete-workspace';
  return allowForceDelete ? 'force-delete-own-workspace' : 'force-delete-workspace';
};

/** Throws not-found or forbidden if the caller may not run the command on the workspace. */
export const authorize = (actor: Actor, command: ExistingWorkspaceCommand, workspace: WorkspaceForCommand): void => {
  // A caller without read access gets not-found instead of forbidden.
  requirePermission(actor, 'read-workspace', workspace);
  for (const permission of listRequiredPermissions(command, workspace)) requirePermission(actor, permission, workspace);
  // A move requires permissions on both projects (contract §5).
  if (isMove(command, workspace)) {
    requirePermission(actor, 'move-workspace', {
      organization: workspace.organization,
      grants: workspace.projectGrants ?? [],
    });
  }
};

const isMove = (command: ExistingWorkspaceCommand, { project }: WorkspaceForCommand): boolean =>
  command.type === 'UpdateWorkspace' && Boolean(command.data.project) && command.data.project !== project;

const updatePermission = (
  command: Extract<ExistingWorkspaceCommand, { type: 'UpdateWorkspace' }>,
  workspace: WorkspaceForCommand,
): readonly Permission[] => {
  const { changes, bindings } = command.data;
  if (!isMove(command, workspace)) return ['update-workspace'];
  // A caller that may only move the workspace cannot change other attributes with it.
  const onlyMoves = bindings === undefined && Object.keys(changes).length === 0;
  return onlyMoves ? ['move-workspace'] : ['move-workspace', 'update-workspace'];
};

const listRequiredPermissions = (
  command: ExistingWorkspaceCommand,
  workspace: WorkspaceForCommand,
): readonly Permission[] => {
  if (command.type === 'DeleteWorkspace') return [deletePermission(command.data.forced, workspace)];
  return command.type === 'UpdateWorkspace' ? updatePermission(command, workspace) : [PERMISSION[command.type]];
};
