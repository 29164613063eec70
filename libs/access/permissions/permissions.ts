import { forbidden, notFound, Refusal } from '#kernel';
import { getRolesIn, type Identity, type Role } from '../authentication/actor.js';
import { hasCapability, type Capability, type Grant } from './grants.js';

type PermissionRule = {
  /** Standings in the organization, or at the site, that suffice by themselves. */
  readonly roles: readonly Role[];
  /** What suffices as well where a team has been given it at the place (grants.ts). */
  readonly grant?: Capability;
  /** Everybody may do it with what is their own: `place.user`. */
  readonly self?: true;
  /** What the no says where the contract names 403; else it is not-found, and says nothing (clients.md §2). */
  readonly refusal?: string;
};

const EVERYBODY = ['owner', 'member', 'organization-token'] as const;
const OWNERS_AND_TOKEN = ['owner', 'organization-token'] as const;
/** Manages workspaces of the whole organization (contract §5: create, replace consumers). */
const WORKSPACE_MANAGERS = ['owner', 'manageWorkspaces', 'manageProjects', 'organization-token'] as const;
const WORKSPACE_READERS = [...WORKSPACE_MANAGERS, 'readWorkspaces', 'readProjects'] as const;
/** What organization tokens never do: run, upload state, handle keys (clients.md §3). */
const WORKSPACE_WORKERS = ['owner', 'manageWorkspaces', 'manageProjects'] as const;
const PROJECT_MANAGERS = ['owner', 'manageProjects', 'organization-token'] as const;
const PROJECT_READERS = WORKSPACE_READERS;

const SAFE_DELETE = 'A workspace that manages no resources can be deleted by safe-delete';

/**
 * The whole matrix: contract §5 and clients.md §3 as data. A site admin stands as an owner everywhere. `standing` is what
 * the caller is in the organization, `grant` what one of their teams has been given on the workspace or the project.
 */
export const permissions = {
  // The site.
  'create-organization': { roles: ['user-token'] },
  'manage-site': { roles: ['site-admin'] },

  // Organizations.
  // Readers of trails look there for `audit-logging` (clients.md §6).
  'list-organization': { roles: [...EVERYBODY, 'audit-token'] },
  'read-organization': { roles: EVERYBODY },
  'update-organization': { roles: ['owner'] },
  'delete-organization': { roles: ['owner'] },
  // The CLI asks for them before anything else, also in a run (clients.md §7).
  'read-entitlements': { roles: [...EVERYBODY, 'run'] },
  'manage-subscription': { roles: ['site-admin'] },
  'read-audit-trail': { roles: ['organization-token', 'audit-token'] },
  // What other services tell of what Cadastre does not keep: not for a token that only reads.
  'report-facts': { roles: OWNERS_AND_TOKEN },
  // For how long it is kept.
  'manage-audit-trail': { roles: ['owner'] },
  'manage-organization-tokens': { roles: ['owner'] },

  // People.
  'read-user': { roles: EVERYBODY, self: true },
  'update-account': { roles: [], self: true },
  // Invitations go by address, and nobody proves theirs: who could change it could have somebody else's.
  'change-email': { roles: ['site-admin'] },
  // Whoever asks for it asks who runs the site.
  'forget-user': { roles: ['site-admin'] },
  'manage-user-tokens': { roles: ['site-admin'], self: true },
  'read-memberships': { roles: EVERYBODY, self: true },
  'manage-memberships': { roles: [...OWNERS_AND_TOKEN, 'manageMembership'] },
  // No mail is sent: who runs the site can vouch for a person.
  'accept-membership': { roles: ['site-admin'], self: true },
  'leave-organization': { roles: [], self: true },

  // Teams. Secret ones are for their members, and for who may see all of them.
  'read-teams': { roles: EVERYBODY },
  'read-secret-teams': { roles: [...OWNERS_AND_TOKEN, 'accessSecretTeams'], grant: 'own-team-tokens' },
  'manage-teams': { roles: [...OWNERS_AND_TOKEN, 'manageTeams'] },
  'manage-organization-access': { roles: [...OWNERS_AND_TOKEN, 'manageOrganizationAccess'] },
  'manage-team-membership': { roles: [...OWNERS_AND_TOKEN, 'manageMembership'] },
  'manage-team-tokens': { roles: [...OWNERS_AND_TOKEN, 'manageTeams'], grant: 'own-team-tokens' },
  // Whoever is in it, or holds its token, owns the organization: nobody else may open that door.
  'manage-owners': { roles: ['owner'] },

  // What teams may do at places.
  'read-workspace-access': { roles: WORKSPACE_READERS, grant: 'runs:read' },
  'manage-workspace-access': { roles: WORKSPACE_MANAGERS, grant: 'admin' },
  'read-project-access': { roles: PROJECT_READERS, grant: 'project-teams:read' },
  'manage-project-access': { roles: PROJECT_MANAGERS, grant: 'project-teams:manage' },

  // Projects.
  'read-project': { roles: PROJECT_READERS, grant: 'project-settings:read' },
  'create-project': { roles: PROJECT_MANAGERS },
  'update-project': { roles: PROJECT_MANAGERS, grant: 'project-settings:update' },
  // Which agents execute the runs of its workspaces: they read and write their state.
  'change-project-execution': {
    roles: PROJECT_MANAGERS,
    grant: 'admin',
    refusal: 'Changing the execution mode or agent pool of a project needs admin access to its workspaces',
  },
  'delete-project': { roles: PROJECT_MANAGERS, grant: 'project-settings:delete' },

  // Workspaces.
  'create-workspace': { roles: WORKSPACE_MANAGERS, grant: 'create' },
  'read-workspace': { roles: WORKSPACE_READERS, grant: 'see' },
  // A run needs to know how a workspace stands, and not how it came to that, nor who was about it.
  'read-workspace-history': { roles: WORKSPACE_READERS, grant: 'runs:read' },
  'update-workspace': { roles: WORKSPACE_MANAGERS, grant: 'admin' },
  // Admins of the workspace add to them and take from them (contract §4.3).
  'replace-remote-state-consumers': { roles: WORKSPACE_MANAGERS },
  // Asked of both projects (contract §5).
  'move-workspace': { roles: PROJECT_MANAGERS, grant: 'move' },
  'delete-workspace': { roles: WORKSPACE_MANAGERS, grant: 'delete' },
  'force-delete-workspace': { roles: ['owner'], refusal: `Only owners may force a deletion. ${SAFE_DELETE}` },
  'force-delete-own-workspace': {
    roles: WORKSPACE_MANAGERS,
    grant: 'admin',
    refusal: `Only who administers the workspace may force its deletion. ${SAFE_DELETE}`,
  },
  'lock-workspace': { roles: WORKSPACE_MANAGERS, grant: 'locking' },
  'force-unlock-workspace': { roles: WORKSPACE_MANAGERS, grant: 'admin' },
  'tag-workspace': { roles: WORKSPACE_MANAGERS, grant: 'tags' },
  // Takes them from every workspace of the organization.
  'delete-tags': { roles: WORKSPACE_MANAGERS },
  'assign-ssh-key': { roles: WORKSPACE_WORKERS, grant: 'admin' },
  // For who may delete what it deletes: `delete-state-data`.
  'manage-data-retention': { roles: WORKSPACE_WORKERS, grant: 'admin' },
  'manage-run-tasks': { roles: ['owner', 'manageRunTasks'], grant: 'run-tasks' },

  // Tagging policies: everybody may know the rules, and ask what a change of them would do.
  'read-reserved-tag-keys': { roles: EVERYBODY },
  'manage-reserved-tag-keys': { roles: WORKSPACE_MANAGERS },

  // Runs and what they are made of.
  'read-runs': { roles: WORKSPACE_READERS, grant: 'runs:read' },
  'queue-run': { roles: WORKSPACE_WORKERS, grant: 'runs:plan' },
  'comment-run': { roles: WORKSPACE_WORKERS, grant: 'runs:plan' },
  'apply-run': { roles: WORKSPACE_WORKERS, grant: 'runs:apply' },
  'force-cancel-run': { roles: WORKSPACE_WORKERS, grant: 'admin' },
  'execute-run': { roles: ['agent'] },
  'read-configuration-version': { roles: WORKSPACE_READERS, grant: 'configurations:read' },
  'create-configuration-version': { roles: WORKSPACE_WORKERS, grant: 'runs:plan' },
  'delete-configuration-data': { roles: WORKSPACE_WORKERS, grant: 'admin' },

  // Variables.
  'read-variables': { roles: WORKSPACE_READERS, grant: 'variables:read' },
  'update-variables': { roles: WORKSPACE_MANAGERS, grant: 'variables:write' },
  'read-variable-sets': { roles: WORKSPACE_READERS, grant: 'variable-sets:read' },
  'manage-variable-sets': { roles: WORKSPACE_MANAGERS, grant: 'variable-sets:write' },

  // The provider registry (contract §5). A run installs what its configuration wants.
  'read-providers': { roles: [...EVERYBODY, 'run'] },
  'manage-providers': { roles: ['owner', 'manageProviders'] },

  // Keys and agents.
  'read-ssh-keys': { roles: [...WORKSPACE_WORKERS, 'manageVcsSettings'] },
  'manage-ssh-keys': { roles: ['owner', 'manageVcsSettings'] },
  'read-agent-pools': { roles: EVERYBODY },
  'manage-agent-pools': { roles: [...OWNERS_AND_TOKEN, 'manageAgentPools'] },
  'manage-agent-tokens': { roles: ['owner', 'manageAgentPools'] },
  // Agents of these pools read and write the state of every workspace in `remote` mode.
  'manage-remote-agent-pools': {
    roles: ['owner'],
    refusal:
      'Only owners of the organization may manage an agent pool that executes runs in remote mode (remote-runs-enabled)',
  },

  // State.
  'read-state-outputs': { roles: WORKSPACE_READERS, grant: 'state-versions:read-outputs' },
  'read-state': { roles: WORKSPACE_READERS, grant: 'state-versions:read' },
  'create-state': { roles: WORKSPACE_WORKERS, grant: 'state-versions:write' },
  'delete-state-data': { roles: WORKSPACE_WORKERS, grant: 'admin' },
} as const satisfies Record<string, PermissionRule>;

export type Permission = keyof typeof permissions;

/** Returns what a team can be given to have the permission at a place. */
export const getRequiredCapability = (permission: Permission): Capability | undefined => {
  const rule: PermissionRule = permissions[permission];
  return rule.grant;
};

/** What a permission is asked about. */
export type PermissionScope = {
  /** Stable id, `org-…`; null for the site. */
  readonly organization: string | null;
  /** What the caller's teams have been given there (grants.queries.ts). */
  readonly grants?: readonly Grant[];
  /** Whose it is, where it is somebody's own. */
  readonly user?: string;
};

/** What belongs to no organization. */
export const SITE_SCOPE: PermissionScope = { organization: null };

/** Whether this caller may do that there. */
export const can = (
  actor: Identity,
  permission: Permission,
  { organization, grants, user }: PermissionScope,
): boolean => {
  const rule: PermissionRule = permissions[permission];
  const standing = getRolesIn(actor, organization);
  if (rule.roles.some((sufficient) => standing.has(sufficient))) return true;
  if (rule.self && actor.kind === 'user' && actor.id === user) return true;
  return rule.grant !== undefined && grants !== undefined && hasCapability(grants, rule.grant);
};

/** Names the token as the reason. Only callers that belong to the organization get this answer. */
const createOrganizationClosedRefusal = (): Refusal =>
  new Refusal('unauthorized', [
    { detail: 'Unauthorized: this organization does not accept tokens of users, or none as old as this token' },
  ]);

/** Throws the refusal that the table has for it. */
export const requirePermission = (actor: Identity, permission: Permission, place: PermissionScope): void => {
  if (can(actor, permission, place)) return;
  if (place.organization !== null && actor.closedTo.has(place.organization)) throw createOrganizationClosedRefusal();
  const rule: PermissionRule = permissions[permission];
  throw rule.refusal === undefined ? notFound() : forbidden(rule.refusal);
};
