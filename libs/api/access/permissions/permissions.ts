import { forbidden, notFound, Refusal } from '#platform/kernel';
import { createRestrictionRefusal } from '../callers/token-restriction.js';
import { getRolesIn, type Actor, type Identity, type Role } from '../callers/actor.js';
import { hasCapability, type Capability, type Grant } from './grants.js';

type PermissionRule = {
  /** Roles in the organization or at the site that suffice. */
  readonly roles: readonly Role[];
  /** Capability on the workspace, project or team that suffices instead (grants.ts). */
  readonly grant?: Capability;
  /** Users may do this with their own resources: `user` of the scope. */
  readonly self?: true;
  /** Message of a 403. Without it, the refusal is a 404 without a reason. */
  readonly refusal?: string;
};

const EVERYBODY = ['owner', 'member', 'organization-token'] as const;
const OWNERS_AND_TOKEN = ['owner', 'organization-token'] as const;
/** Roles that manage workspaces of the complete organization (create, replace consumers). */
const WORKSPACE_MANAGERS = ['owner', 'manageWorkspaces', 'manageProjects', 'organization-token'] as const;
const WORKSPACE_READERS = [...WORKSPACE_MANAGERS, 'readWorkspaces', 'readProjects'] as const;
/** Roles for actions that organization tokens never do: run, upload state, handle keys. */
const WORKSPACE_WORKERS = ['owner', 'manageWorkspaces', 'manageProjects'] as const;
const PROJECT_MANAGERS = ['owner', 'manageProjects', 'organization-token'] as const;

const SAFE_DELETE = 'A workspace that manages no resources can be deleted by safe-delete';

/**
 * The permission table as data. A site admin counts as an owner of every organization.
 * `roles` lists the roles that suffice, `grant` the capability on the workspace or project that suffices.
 */
export const permissions = {
  // The site.
  'create-organization': { roles: ['user-token'] },
  'manage-site': { roles: ['site-admin'] },
  'read-site-audit-trail': { roles: ['site-admin'] },
  'manage-identity-providers': { roles: ['site-admin'] },

  // Organizations. Readers of the audit trail check the entitlement `audit-logging` in the list.
  'list-organization': { roles: [...EVERYBODY, 'audit-token'] },
  'read-organization': { roles: EVERYBODY },
  'update-organization': { roles: ['owner'] },
  'delete-organization': { roles: ['owner'] },
  // The CLI requests these first, also in a run.
  'read-entitlements': { roles: [...EVERYBODY, 'run'] },
  'manage-subscription': { roles: ['site-admin'] },
  'read-audit-trail': { roles: ['owner', 'organization-token', 'audit-token'] },
  // The path without an organization: the trail of the organization that the token belongs to.
  'read-audit-trail-of-token': { roles: ['organization-token', 'audit-token'] },
  // Reports of other services about things that Cadastre does not own. Not for tokens that only read.
  'report-facts': { roles: OWNERS_AND_TOKEN },
  // The retention of the audit trail.
  'manage-audit-trail': { roles: ['owner'] },
  'manage-organization-tokens': { roles: ['owner'] },
  'manage-ip-allowlists': { roles: ['owner'] },

  // People.
  'read-user': { roles: EVERYBODY, self: true },
  'update-account': { roles: [], self: true },
  // Invitations use e-mail addresses, which nobody verifies. Users who could change theirs could use the address of
  // another person.
  'change-email': { roles: ['site-admin'] },
  // Requests to be forgotten go to the operator of the site.
  'forget-user': { roles: ['site-admin'] },
  'suspend-user': { roles: ['site-admin'] },
  'manage-site-admins': { roles: ['site-admin'] },
  'disable-two-factor': { roles: ['site-admin'] },
  // SCIM: the users and groups that an identity provider manages.
  'provision-users': { roles: ['scim'] },
  'manage-scim-tokens': { roles: ['site-admin'] },
  'manage-user-tokens': { roles: ['site-admin'], self: true },
  // A session is listed and ended by its person, and by site admins.
  'manage-sessions': { roles: ['site-admin'], self: true },
  'read-memberships': { roles: EVERYBODY, self: true },
  'manage-memberships': { roles: [...OWNERS_AND_TOKEN, 'manageMembership'] },
  // No mail is sent, so a site admin can confirm a person.
  'accept-membership': { roles: ['site-admin'], self: true },
  'leave-organization': { roles: [], self: true },

  // Teams. Secret teams are visible to their members and to callers that may see all of them.
  'read-teams': { roles: EVERYBODY },
  'read-secret-teams': { roles: [...OWNERS_AND_TOKEN, 'accessSecretTeams'], grant: 'own-team-tokens' },
  'manage-teams': { roles: [...OWNERS_AND_TOKEN, 'manageTeams'] },
  'manage-organization-access': { roles: [...OWNERS_AND_TOKEN, 'manageOrganizationAccess'] },
  'manage-team-membership': { roles: [...OWNERS_AND_TOKEN, 'manageMembership'] },
  'manage-team-tokens': { roles: [...OWNERS_AND_TOKEN, 'manageTeams'], grant: 'own-team-tokens' },
  // Explanations name secret teams and the access of others. Everybody may have their own explained.
  'explain-access': { roles: OWNERS_AND_TOKEN, self: true },
  // Members of the owners team and its token own the organization, so only owners may manage them.
  'manage-owners': { roles: ['owner'] },

  // Access of teams to workspaces and projects.
  'read-workspace-access': { roles: WORKSPACE_READERS, grant: 'runs:read' },
  'manage-workspace-access': { roles: WORKSPACE_MANAGERS, grant: 'admin' },
  'read-project-access': { roles: WORKSPACE_READERS, grant: 'project-teams:read' },
  'manage-project-access': { roles: PROJECT_MANAGERS, grant: 'project-teams:manage' },

  // Projects.
  'read-project': { roles: WORKSPACE_READERS, grant: 'project-settings:read' },
  'create-project': { roles: PROJECT_MANAGERS },
  'update-project': { roles: PROJECT_MANAGERS, grant: 'project-settings:update' },
  // The agents that execute the runs of its workspaces, and so read and write their state, and when runs destroy their resources.
  'change-project-execution': {
    roles: PROJECT_MANAGERS,
    grant: 'admin',
    refusal:
      'Changing the execution mode, agent pool or automatic destroy of a project needs admin access to its workspaces',
  },
  'delete-project': { roles: PROJECT_MANAGERS, grant: 'project-settings:delete' },

  // Workspaces.
  'create-workspace': { roles: WORKSPACE_MANAGERS, grant: 'create' },
  'read-workspace': { roles: WORKSPACE_READERS, grant: 'see' },
  // A run needs the present state of a workspace, but neither its history nor the people in it.
  'read-workspace-history': { roles: WORKSPACE_READERS, grant: 'runs:read' },
  'update-workspace': { roles: WORKSPACE_MANAGERS, grant: 'admin' },
  // Replaces the complete list. Admins of the workspace can only add and remove consumers.
  'replace-remote-state-consumers': { roles: WORKSPACE_MANAGERS },
  // Checked for both projects.
  'move-workspace': { roles: PROJECT_MANAGERS, grant: 'move' },
  'delete-workspace': { roles: WORKSPACE_MANAGERS, grant: 'delete' },
  'force-delete-workspace': { roles: ['owner'], refusal: `Only owners may force a deletion. ${SAFE_DELETE}` },
  'force-delete-own-workspace': {
    roles: WORKSPACE_MANAGERS,
    grant: 'admin',
    refusal: `Only admins of the workspace may force its deletion. ${SAFE_DELETE}`,
  },
  'lock-workspace': { roles: WORKSPACE_MANAGERS, grant: 'locking' },
  'force-unlock-workspace': { roles: WORKSPACE_MANAGERS, grant: 'admin' },
  'tag-workspace': { roles: WORKSPACE_MANAGERS, grant: 'tags' },
  // Deletes tags from every workspace of the organization.
  'delete-tags': { roles: WORKSPACE_MANAGERS },
  'assign-ssh-key': { roles: WORKSPACE_WORKERS, grant: 'admin' },
  // The same callers as `delete-state-data`, because retention deletes this data.
  'manage-data-retention': { roles: WORKSPACE_WORKERS, grant: 'admin' },
  'manage-run-tasks': { roles: ['owner', 'manageRunTasks'], grant: 'run-tasks' },

  // Policies about plans. A set belongs to any workspace, so that no access to a workspace is needed.
  'read-policies': { roles: [...OWNERS_AND_TOKEN, 'managePolicies', 'managePolicyOverrides'] },
  'manage-policies': { roles: [...OWNERS_AND_TOKEN, 'managePolicies'] },
  'override-policies': {
    roles: ['owner', 'managePolicyOverrides'],
    refusal: 'Overriding policies needs the permission to manage policy overrides in the organization',
  },

  // Tagging policies. All members may read the rules, and the effect of a change.
  'read-reserved-tag-keys': { roles: EVERYBODY },
  'manage-reserved-tag-keys': { roles: WORKSPACE_MANAGERS },

  // Runs and configuration versions.
  'read-runs': { roles: WORKSPACE_READERS, grant: 'runs:read' },
  'queue-run': { roles: WORKSPACE_WORKERS, grant: 'runs:plan' },
  'comment-run': { roles: WORKSPACE_WORKERS, grant: 'runs:plan' },
  'apply-run': { roles: WORKSPACE_WORKERS, grant: 'runs:apply' },
  'force-cancel-run': { roles: WORKSPACE_WORKERS, grant: 'admin' },
  // It contains the values that terraform marks as sensitive.
  'read-plan-output': {
    roles: WORKSPACE_WORKERS,
    grant: 'admin',
    refusal: 'The JSON output of a plan and its schemas need admin access to the workspace. The redacted plan does not',
  },
  'execute-run': { roles: ['agent'] },
  'read-configuration-version': { roles: WORKSPACE_READERS, grant: 'configurations:read' },
  'create-configuration-version': { roles: WORKSPACE_WORKERS, grant: 'runs:plan' },
  'delete-configuration-data': { roles: WORKSPACE_WORKERS, grant: 'admin' },

  // Variables.
  'read-variables': { roles: WORKSPACE_READERS, grant: 'variables:read' },
  'update-variables': { roles: WORKSPACE_MANAGERS, grant: 'variables:write' },
  'read-variable-sets': { roles: WORKSPACE_READERS, grant: 'variable-sets:read' },
  'manage-variable-sets': { roles: WORKSPACE_MANAGERS, grant: 'variable-sets:write' },

  // The provider registry. A run installs the providers of its configuration.
  'read-providers': { roles: [...EVERYBODY, 'run'] },
  'manage-providers': { roles: ['owner', 'manageProviders'] },

  // The registry of modules. A run installs the modules of its configuration.
  'read-modules': { roles: [...EVERYBODY, 'run'] },
  'manage-modules': { roles: ['owner', 'manageModules'] },

  // Keys and agents.
  'read-ssh-keys': { roles: [...WORKSPACE_WORKERS, 'manageVcsSettings'] },
  'manage-ssh-keys': { roles: ['owner', 'manageVcsSettings'] },
  // Connections to Git hosts. Those who choose the repository of a workspace need to read them.
  'read-vcs-connections': { roles: [...WORKSPACE_WORKERS, 'manageVcsSettings'] },
  'manage-vcs-connections': { roles: ['owner', 'manageVcsSettings'] },
  'read-agent-pools': { roles: EVERYBODY },
  'manage-agent-pools': { roles: [...OWNERS_AND_TOKEN, 'manageAgentPools'] },
  'manage-agent-tokens': { roles: ['owner', 'manageAgentPools'] },
  // Agents of these pools read and write the state of every workspace in `remote` mode.
  'manage-remote-agent-pools': {
    roles: ['owner'],
    refusal:
      'Only owners of the organization may manage an agent pool that executes runs in remote mode (remote-runs-enabled)',
  },

  // Saved views. Everybody in the organization reads shared ones, and each person the own private ones.
  'save-views': {
    roles: [],
    self: true,
    refusal: 'Only people can save views, and only the person who saved a view can change it',
  },
  'delete-saved-view': {
    roles: ['owner'],
    self: true,
    refusal: 'Only the person who saved the view and owners of the organization can delete it',
  },

  // State.
  'read-state-outputs': { roles: WORKSPACE_READERS, grant: 'state-versions:read-outputs' },
  'read-state': { roles: WORKSPACE_READERS, grant: 'state-versions:read' },
  'create-state': { roles: WORKSPACE_WORKERS, grant: 'state-versions:write' },
  'delete-state-data': { roles: WORKSPACE_WORKERS, grant: 'admin' },
} as const satisfies Record<string, PermissionRule>;

export type Permission = keyof typeof permissions;

/** Returns the roles that suffice for the permission, in the organization or at the site. */
export const listSufficientRoles = (permission: Permission): readonly Role[] => permissions[permission].roles;

/** Returns the capability that gives teams the permission on a workspace or project. */
export const getRequiredCapability = (permission: Permission): Capability | undefined => {
  const rule: PermissionRule = permissions[permission];
  return rule.grant;
};

export type PermissionScope = {
  /** Stable id, `org-…`; null for the site. */
  readonly organization: string | null;
  /** Grants of the caller's teams on the resource (grants.queries.ts). */
  readonly grants?: readonly Grant[];
  /** Id of the user that the resource belongs to, for resources of a user. */
  readonly user?: string;
};

/** The scope of resources that belong to no organization. */
export const SITE_SCOPE: PermissionScope = { organization: null };

/**
 * The permissions of read-only tokens: those that requests need which change nothing. Some have the name of a change.
 * test/matrix/coverage.spec.ts compares this list with the routes.
 */
export const READING_PERMISSIONS: ReadonlySet<Permission> = new Set<Permission>([
  'manage-site',
  'manage-identity-providers',
  'list-organization',
  'read-organization',
  'update-organization',
  'read-entitlements',
  'read-audit-trail',
  'read-site-audit-trail',
  'manage-audit-trail',
  'manage-ip-allowlists',
  'manage-organization-tokens',
  'read-user',
  'manage-scim-tokens',
  'manage-user-tokens',
  'manage-sessions',
  'read-memberships',
  'manage-memberships',
  'read-teams',
  'read-secret-teams',
  'manage-teams',
  'manage-team-tokens',
  'explain-access',
  'manage-owners',
  'read-workspace-access',
  'manage-workspace-access',
  'read-project-access',
  'manage-project-access',
  'read-project',
  'read-workspace',
  'read-workspace-history',
  'update-workspace',
  'read-policies',
  'read-reserved-tag-keys',
  'read-runs',
  'read-plan-output',
  'read-configuration-version',
  'read-variables',
  'read-variable-sets',
  'read-providers',
  'read-modules',
  'read-ssh-keys',
  'manage-vcs-connections',
  'read-vcs-connections',
  'read-agent-pools',
  'manage-agent-pools',
  'manage-agent-tokens',
  'manage-remote-agent-pools',
  'read-state-outputs',
  'read-state',
]);

const AUDIT_PERMISSIONS: ReadonlySet<Permission> = new Set<Permission>(['read-audit-trail', 'read-site-audit-trail']);

/** Returns whether the caller's token is restricted to access without this permission, on every resource. */
export const isPermissionWithheld = ({ restriction: { access } }: Identity, permission: Permission): boolean => {
  if (access === 'full') return false;
  return !(access === 'read-only' ? READING_PERMISSIONS : AUDIT_PERMISSIONS).has(permission);
};

/** Outside its organization, a token for one organization can only read the account of its owner. */
const isOutsideOrganization = (
  { restriction }: Identity,
  permission: Permission,
  { organization }: PermissionScope,
): boolean =>
  restriction.organization !== null &&
  organization !== restriction.organization &&
  !(organization === null && permission === 'read-user');

export const can = (actor: Identity, permission: Permission, scope: PermissionScope): boolean =>
  !isPermissionWithheld(actor, permission) &&
  !isOutsideOrganization(actor, permission, scope) &&
  isPermitted(actor, permission, scope);

const isPermitted = (
  actor: Identity,
  permission: Permission,
  { organization, grants, user }: PermissionScope,
): boolean => {
  const rule: PermissionRule = permissions[permission];
  if (organization !== null && actor.closedTo.get(organization) === 'address') return false;
  const roles = getRolesIn(actor, organization);
  if (rule.roles.some((sufficient) => roles.has(sufficient))) return true;
  if (rule.self && actor.kind === 'user' && actor.id === user) return true;
  return rule.grant !== undefined && grants !== undefined && hasCapability(grants, rule.grant);
};

/** Returns a 401 that names the token as the reason. Only callers that belong to the organization get it. */
const createOrganizationClosedRefusal = (): Refusal =>
  new Refusal('unauthorized', [
    { detail: 'Unauthorized: this organization does not accept tokens of users, or none as old as this token' },
  ]);

/** Returns a 403 that names the address as the reason. Only callers that belong to the organization get it. */
export const createAddressRefusal = (address: string | null | undefined): Refusal =>
  forbidden(
    `Forbidden: the IP allowlist of this organization does not contain your address${address ? `, ${address}` : ''}. ` +
      'Use an address of the list, or ask an owner to add yours',
  );

type ClosableActor = Identity & Partial<Pick<Actor, 'request'>>;

/** Throws the reason why the organization is closed to the caller, if it is. */
export const requireOpenOrganization = (actor: ClosableActor, organization: string): void => {
  const reason = actor.closedTo.get(organization);
  if (reason === 'address') throw createAddressRefusal(actor.request?.address);
  if (reason === 'credential') throw createOrganizationClosedRefusal();
};

/** Throws the refusal of the permission's row if the caller lacks the permission. */
export const requirePermission = (actor: ClosableActor, permission: Permission, scope: PermissionScope): void => {
  if (can(actor, permission, scope)) return;
  if (scope.organization !== null) requireOpenOrganization(actor, scope.organization);
  const isHidden = scope.organization !== null && isOutsideOrganization(actor, permission, scope);
  if (!isHidden && isPermitted(actor, permission, scope)) {
    throw createRestrictionRefusal(actor.restriction, `does not have the permission ${permission} here`);
  }
  const rule: PermissionRule = permissions[permission];
  throw rule.refusal === undefined ? notFound() : forbidden(rule.refusal);
};

/** Returns the row. Throws `not-found` if there is none, and the refusal of the permission if the caller lacks it. */
export const requirePermittedRow = <R extends PermissionScope>(
  actor: ClosableActor,
  permission: Permission,
  row: R | null | undefined,
): R => {
  if (!row) throw notFound();
  requirePermission(actor, permission, row);
  return row;
};
