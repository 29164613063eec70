import type { ExplainablePermission } from '../../api/access.js';

type PermissionGroup = {
  readonly on: 'workspace' | 'project' | 'organization';
  readonly group: string;
  readonly items: readonly ExplainablePermission[];
};

/** The permissions that the server explains, by the resource that it checks them on. */
export const PERMISSIONS: readonly PermissionGroup[] = [
  {
    on: 'workspace',
    group: 'On a workspace',
    items: [
      'read-workspace',
      'update-workspace',
      'delete-workspace',
      'move-workspace',
      'lock-workspace',
      'force-unlock-workspace',
      'tag-workspace',
      'read-runs',
      'queue-run',
      'apply-run',
      'comment-run',
      'force-cancel-run',
      'read-plan-output',
      'read-variables',
      'update-variables',
      'read-state-outputs',
      'read-state',
      'create-state',
      'delete-state-data',
      'read-configuration-version',
      'create-configuration-version',
      'delete-configuration-data',
      'read-workspace-history',
      'read-workspace-access',
      'manage-workspace-access',
      'manage-run-tasks',
      'manage-data-retention',
      'assign-ssh-key',
      'force-delete-own-workspace',
    ],
  },
  {
    on: 'project',
    group: 'On a project',
    items: [
      'read-project',
      'update-project',
      'delete-project',
      'create-workspace',
      'change-project-execution',
      'read-project-access',
      'manage-project-access',
      'read-variable-sets',
      'manage-variable-sets',
    ],
  },
  {
    on: 'organization',
    group: 'In the organization',
    items: [
      'read-organization',
      'update-organization',
      'delete-organization',
      'create-project',
      'read-teams',
      'manage-teams',
      'manage-team-membership',
      'manage-organization-access',
      'manage-memberships',
      'manage-owners',
      'manage-organization-tokens',
      'read-audit-trail',
      'manage-audit-trail',
      'report-facts',
      'read-reserved-tag-keys',
      'manage-reserved-tag-keys',
      'delete-tags',
      'read-providers',
      'manage-providers',
      'read-modules',
      'manage-modules',
      'read-ssh-keys',
      'manage-ssh-keys',
      'read-agent-pools',
      'manage-agent-pools',
      'manage-agent-tokens',
      'manage-remote-agent-pools',
      'replace-remote-state-consumers',
      'force-delete-workspace',
    ],
  },
];

/** Returns the kind of resource that the server checks the permission on. */
export const getResourceKind = (permission: ExplainablePermission): PermissionGroup['on'] =>
  PERMISSIONS.find(({ items }) => items.includes(permission))?.on ?? 'organization';
