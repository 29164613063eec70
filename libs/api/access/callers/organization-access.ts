/** The permissions that a team can have in its complete organization (`organization-access`). */
export const ORGANIZATION_ACCESS = [
  'manageWorkspaces',
  'manageProjects',
  'manageProviders',
  'manageModules',
  'managePolicies',
  'managePolicyOverrides',
  // Stored and shown only: permissions on workspaces do not include overrides.
  'delegatePolicyOverrides',
  'manageRunTasks',
  'manageVcsSettings',
  'manageAgentPools',
  'readWorkspaces',
  'readProjects',
  'manageMembership',
  'manageTeams',
  'manageOrganizationAccess',
  'accessSecretTeams',
] as const;

export type OrganizationAccess = { readonly [A in (typeof ORGANIZATION_ACCESS)[number]]: boolean };

export const NO_ORGANIZATION_ACCESS = Object.fromEntries(
  ORGANIZATION_ACCESS.map((access) => [access, false]),
) as OrganizationAccess;
