import { foldInSql, hasName, sql, type Sql, type UniqueNames } from '#kernel';

// Modules of all layers find these resources by name.
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

/** Names that differ only in case, the oldest first, and the name of their organization; null for organizations. */
export type SimilarNames = { readonly names: readonly string[]; readonly organization: string | null };

/** Selects the names that differ only in case. */
export const selectSimilarNames = ({ table, scope, column = 'name' }: UniqueNames): Sql => {
  const name = sql.raw(column);
  const group = sql.join([...scope.map((scopeColumn) => sql.raw(scopeColumn)), foldInSql(name)], ', ');
  const organization =
    scope.length === 0
      ? sql.raw('null::text')
      : sql.raw('(select owner.name from organizations owner where owner.id = min(organization))');
  return sql`select array_agg(${name} order by created_at, id) as names, ${organization} as organization
               from ${sql.raw(table)} group by ${group} having count(*) > 1 order by ${group}`;
};
