import type { Permission } from '#api/access/rules';

/**
 * The permissions that can be explained, by the kind of resource that requests check them on. Permissions of the site, on
 * own resources and on teams are left out.
 */
const BY_RESOURCE = {
  organization: [
    'read-organization',
    'update-organization',
    'delete-organization',
    'read-audit-trail',
    'report-facts',
    'manage-audit-trail',
    'manage-organization-tokens',
    'manage-memberships',
    'read-teams',
    'manage-teams',
    'manage-organization-access',
    'manage-team-membership',
    'manage-owners',
    'create-project',
    'replace-remote-state-consumers',
    'force-delete-workspace',
    'delete-tags',
    'read-reserved-tag-keys',
    'manage-reserved-tag-keys',
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
  ],
  project: [
    'read-project',
    'create-workspace',
    'update-project',
    'change-project-execution',
    'delete-project',
    'read-project-access',
    'manage-project-access',
    'read-variable-sets',
    'manage-variable-sets',
  ],
  workspace: [
    'read-workspace',
    'read-workspace-history',
    'update-workspace',
    'move-workspace',
    'delete-workspace',
    'force-delete-own-workspace',
    'lock-workspace',
    'force-unlock-workspace',
    'tag-workspace',
    'assign-ssh-key',
    'manage-data-retention',
    'manage-run-tasks',
    'read-runs',
    'queue-run',
    'comment-run',
    'apply-run',
    'force-cancel-run',
    'read-plan-output',
    'read-configuration-version',
    'create-configuration-version',
    'delete-configuration-data',
    'read-variables',
    'update-variables',
    'read-state-outputs',
    'read-state',
    'create-state',
    'delete-state-data',
    'read-workspace-access',
    'manage-workspace-access',
  ],
} as const satisfies Record<string, readonly Permission[]>;

type ExplainedResourceKind = keyof typeof BY_RESOURCE;
export type ExplainedPermission = (typeof BY_RESOURCE)[ExplainedResourceKind][number];

export const EXPLAINED_PERMISSIONS: readonly ExplainedPermission[] = Object.values(BY_RESOURCE).flat();

/** Returns the kind of resource that requests check the permission on. */
export const getExplainedResourceKind = (permission: ExplainedPermission): ExplainedResourceKind => {
  if (BY_RESOURCE.project.some((each) => each === permission)) return 'project';
  return BY_RESOURCE.workspace.some((each) => each === permission) ? 'workspace' : 'organization';
};
