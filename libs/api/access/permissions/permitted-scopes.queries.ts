import { sql, type Sql } from '#platform/kernel';
import type { Identity } from '../callers/actor.js';
import { listFieldsGranting, type CapabilityField } from './custom-fields.js';
import { listLevelsGranting, type Capability } from './grants.js';
import { hasNoGrants, orOrganizationClosed, isPermittedByRole } from './grants.queries.js';
import { getRequiredCapability, isPermissionWithheld, type Permission } from './permissions.js';

const isAny = (fields: readonly CapabilityField[]): Sql =>
  fields.length === 0
    ? sql.raw('false')
    : sql.join(
        fields.map(({ path, values }) => sql`given -> 'custom' #>> ${path}::text[] = any (${values}::text[])`),
        ' or ',
      );

// Built once for each capability, because lists use them in every request.
const conditions = new Map<Capability, Sql>();

const buildCondition = (capability: Capability): Sql => {
  const { workspace, project } = listFieldsGranting(capability);
  return sql`(given ->> 'on') || ' ' || (given ->> 'level') = any (${listLevelsGranting(capability)}::text[])
    or given ->> 'level' = 'custom' and (given ->> 'on' = 'workspace' and (${isAny(workspace)})
                                         or given ->> 'on' = 'project' and (${isAny(project)}))`;
};

/**
 * Returns the condition that `grants`, a jsonb expression for `Grant[]`, include the capability: `hasCapability` of
 * grants.ts in SQL.
 */
export const buildCapabilityCondition = (grants: Sql, capability: Capability): Sql => {
  const condition = conditions.get(capability) ?? buildCondition(capability);
  conditions.set(capability, condition);
  return sql`exists (select from jsonb_array_elements(${grants}) given where ${condition})`;
};

/**
 * Returns the condition that the caller has the permission in `organization`, by a role or by `grants`: both are
 * expressions of SQL. For lists that are filtered by what the caller may do.
 */
export const isPermittedBy = (
  actor: Identity,
  permission: Permission,
  { organization, grants }: Readonly<Record<'organization' | 'grants', Sql>>,
): Sql => {
  const capability = getRequiredCapability(permission);
  const byRole = isPermittedByRole(actor, permission, organization);
  return capability === undefined || hasNoGrants(actor) || isPermissionWithheld(actor, permission)
    ? byRole
    : sql`(${byRole} or ${buildCapabilityCondition(grants, capability)})`;
};

/**
 * Selects the rows of `scopes` for which the caller has the permission, as a table expression. A statement that starts
 * from it reads nothing else for other callers. `scopes` must have the column `organization`, the column `grants` if
 * grants can give the permission, and the condition `requireCurrentAccess`, so that the caller is checked before the
 * permission.
 */
export const selectPermittedScopes = (actor: Identity, permission: Permission, scopes: Sql): Sql => {
  const organization = sql.raw('place.organization');
  const permitted = isPermittedBy(actor, permission, { organization, grants: sql.raw('place.grants') });
  return sql`(select * from (${scopes} offset 0) place
    where ${permitted} ${orOrganizationClosed(actor, organization)} offset 0)`;
};
