import { requirePermission, type Actor, type Permission, type PermissionScope } from '#api/access';
import type { ExistingWorkspaceData } from './workspaces.commands.js';
import type { WorkspaceForCommand } from './workspaces.queries.js';

type Requirement = { readonly permission: Permission; readonly scope: PermissionScope };

type RequirementTable = {
  readonly [T in keyof ExistingWorkspaceData]: (
    data: ExistingWorkspaceData[T],
    row: WorkspaceForCommand,
  ) => readonly Requirement[];
};

const onWorkspace =
  (permission: Permission) =>
  (_: unknown, row: WorkspaceForCommand): readonly Requirement[] => [{ permission, scope: row }];

/**
 * A move requires the permission on both projects: the current one and the new one. If the new project decides when the
 * resources of the workspace are destroyed, a move changes its settings.
 */
const listUpdateRequirements: RequirementTable['UpdateWorkspace'] = ({ changes, bindings, project }, row) => {
  if (!project || project === row.project) return [{ permission: 'update-workspace', scope: row }];
  // Callers that can move a workspace, but not update it, can change nothing else in the same request.
  const onlyMoves = bindings === undefined && Object.keys(changes).length === 0 && !row.inheritsDestroy;
  const newProject = { organization: row.organization, grants: row.projectGrants ?? [] };
  return [
    { permission: 'move-workspace', scope: row },
    ...(onlyMoves ? [] : [{ permission: 'update-workspace', scope: row } as const]),
    { permission: 'move-workspace', scope: newProject },
  ];
};

/** Owners can always force a deletion. Workspace admins can if the organization allows it. */
export const getDeletionPermission = (forced: boolean, allowForceDelete: boolean): Permission => {
  if (!forced) return 'delete-workspace';
  return allowForceDelete ? 'force-delete-own-workspace' : 'force-delete-workspace';
};

const REQUIREMENTS: RequirementTable = {
  UpdateWorkspace: listUpdateRequirements,
  DeleteWorkspace: ({ forced }, row) => [
    { permission: getDeletionPermission(forced, row.allowForceDelete), scope: row },
  ],
  AssignSshKey: onWorkspace('assign-ssh-key'),
  LockWorkspace: onWorkspace('lock-workspace'),
  RenewLock: onWorkspace('lock-workspace'),
  UnlockWorkspace: onWorkspace('lock-workspace'),
  ForceUnlockWorkspace: onWorkspace('force-unlock-workspace'),
  ExpireLock: onWorkspace('force-unlock-workspace'),
  AddTags: onWorkspace('tag-workspace'),
  RemoveTags: onWorkspace('tag-workspace'),
  BindTags: onWorkspace('tag-workspace'),
  CreateStateVersion: onWorkspace('create-state'),
  FinalizeStateVersion: onWorkspace('create-state'),
  FailStateVersion: onWorkspace('create-state'),
};

/** Throws if the caller lacks a permission. Callers that cannot read the workspace get 404. */
export const authorize = <T extends keyof ExistingWorkspaceData>(
  actor: Actor,
  type: T,
  data: ExistingWorkspaceData[T],
  row: WorkspaceForCommand,
): void => {
  requirePermission(actor, 'read-workspace', row);
  for (const { permission, scope } of REQUIREMENTS[type](data, row)) requirePermission(actor, permission, scope);
};
