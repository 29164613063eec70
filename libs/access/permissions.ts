import { forbidden, notFound } from '#kernel';
import { standingIn, type Identity, type Standing } from './actor.js';

/** What a team can be given on a workspace, lowest first (clients.md §3). */
export const WORKSPACE_LEVELS = ['read', 'plan', 'write', 'admin'] as const;
export type WorkspaceLevel = (typeof WORKSPACE_LEVELS)[number];

type Rule = {
  /** Standings in the organization that suffice by themselves. */
  readonly organization: readonly Standing[];
  /** The lowest level on the workspace that suffices as well. */
  readonly workspace?: WorkspaceLevel;
  /** How the no is told; not-found unless the contract names 403 (clients.md §2). */
  readonly refusal?: 'forbidden';
};

/** Manages workspaces of the whole organization (contract §5: create, replace consumers). */
const WORKSPACE_MANAGERS = ['owner', 'manageWorkspaces', 'organization-token'] as const;
const WORKSPACE_READERS = [...WORKSPACE_MANAGERS, 'readWorkspaces', 'manageProjects', 'readProjects'] as const;
const PROJECT_MANAGERS = ['owner', 'manageProjects', 'organization-token'] as const;
const EVERYBODY = ['owner', 'member', 'organization-token'] as const;

/**
 * The whole matrix: contract §5 and clients.md §3 as data. A site admin stands as an owner everywhere. An organization
 * token manages teams and workspaces but uploads no state and handles no SSH keys; an audit token reads the trail only.
 */
export const permissions = {
  'read-organization': { organization: EVERYBODY },
  'update-organization': { organization: ['owner'] },
  'delete-organization': { organization: ['owner'] },
  'read-entitlements': { organization: EVERYBODY },
  'read-audit-trail': { organization: ['organization-token', 'audit-token'] },
  'manage-organization-tokens': { organization: ['owner'] },

  'read-teams': { organization: EVERYBODY },
  'manage-team-tokens': { organization: ['owner', 'organization-token'] },
  // Whoever holds one is an owner: an organization token, which is none, must not come by it.
  'manage-owners-tokens': { organization: ['owner'] },

  'read-projects': { organization: EVERYBODY },
  'create-project': { organization: PROJECT_MANAGERS },
  'update-project': { organization: PROJECT_MANAGERS },
  'delete-project': { organization: PROJECT_MANAGERS },

  'create-workspace': { organization: WORKSPACE_MANAGERS },
  'read-workspace': { organization: WORKSPACE_READERS, workspace: 'read' },
  'update-workspace': { organization: WORKSPACE_MANAGERS, workspace: 'admin' },
  'delete-workspace': { organization: WORKSPACE_MANAGERS, workspace: 'admin' },
  'force-delete-workspace': { organization: ['owner'], refusal: 'forbidden' },
  'force-delete-own-workspace': { organization: WORKSPACE_MANAGERS, workspace: 'admin', refusal: 'forbidden' },
  'lock-workspace': { organization: WORKSPACE_MANAGERS, workspace: 'write' },
  'force-unlock-workspace': { organization: WORKSPACE_MANAGERS, workspace: 'admin' },
  'tag-workspace': { organization: WORKSPACE_MANAGERS, workspace: 'write' },
  'manage-run-tasks': { organization: ['owner', 'manageRunTasks'], workspace: 'admin' },

  'read-runs': { organization: WORKSPACE_READERS, workspace: 'read' },
  'queue-run': { organization: ['owner', 'manageWorkspaces'], workspace: 'plan' },
  'apply-run': { organization: ['owner', 'manageWorkspaces'], workspace: 'write' },
  'read-variables': { organization: WORKSPACE_READERS, workspace: 'read' },
  'update-variables': { organization: WORKSPACE_MANAGERS, workspace: 'write' },

  'read-state-outputs': { organization: WORKSPACE_READERS, workspace: 'read' },
  'read-state': { organization: WORKSPACE_READERS, workspace: 'read' },
  'create-state': { organization: ['owner', 'manageWorkspaces'], workspace: 'write' },
} as const satisfies Record<string, Rule>;

export type Permission = keyof typeof permissions;

/** What a permission is asked about. `level` is the highest that any of the caller's teams has on the workspace. */
export type Place = { readonly organization: string; readonly level?: WorkspaceLevel | null };

/** Whether this caller may do that there. */
export const may = (actor: Identity, permission: Permission, { organization, level }: Place): boolean => {
  const rule: Rule = permissions[permission];
  const standing = standingIn(actor, organization);
  if (rule.organization.some((sufficient) => standing.has(sufficient))) return true;
  if (!rule.workspace || !level) return false;
  return WORKSPACE_LEVELS.indexOf(level) >= WORKSPACE_LEVELS.indexOf(rule.workspace);
};

/** Throws the refusal that the table has for it. */
export const demand = (actor: Identity, permission: Permission, place: Place): void => {
  if (may(actor, permission, place)) return;
  const rule: Rule = permissions[permission];
  throw rule.refusal === 'forbidden' ? forbidden('You are not allowed to do that') : notFound();
};
