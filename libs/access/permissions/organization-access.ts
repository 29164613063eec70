/** What a team may do in its whole organization (clients.md §3, `organization-access`). */
export const ORGANIZATION_ACCESS = [
  'manageWorkspaces',
  'manageProjects',
  'manageProviders',
  'manageModules',
  'managePolicies',
  'managePolicyOverrides',
  // Cadastre has no policies to override, so the right is only stored and shown.
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
