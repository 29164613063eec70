import { hasName, type Sql, type UniqueNames } from '#platform/kernel';

// Modules of all groups find these resources by name.
export const ORGANIZATION_NAMES: UniqueNames = {
  table: 'organizations',
  scope: [],
  constraint: 'organizations_reserved_name_key',
  noun: 'organizations',
};
export const PROJECT_NAMES: UniqueNames = {
  table: 'projects',
  scope: ['organization'],
  constraint: 'projects_organization_name_key',
  noun: 'projects',
};
export const WORKSPACE_NAMES: UniqueNames = {
  table: 'workspaces',
  scope: ['organization'],
  constraint: 'workspaces_organization_name_key',
  noun: 'workspaces',
};

/** Returns the condition that the row of `organizations` has this name, in any case. */
export const hasOrganizationName = (alias: string, name: string | Sql): Sql => hasName(ORGANIZATION_NAMES, alias, name);

/** Returns the condition that the row of `workspaces` has this name in its organization, in any case. */
export const hasWorkspaceName = (alias: string, name: string | Sql): Sql => hasName(WORKSPACE_NAMES, alias, name);
