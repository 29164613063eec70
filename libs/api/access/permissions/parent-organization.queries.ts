import { sql, type Sql } from '#platform/kernel';
import { hasOrganizationName } from './resource-names.js';
import type { Database } from '#platform/postgres';
import { selectStreamVersions, type StreamVersion } from '#storage/event-store';
import type { Actor } from '../callers/actor.js';
import { requireCurrentAccess } from './access-epochs.queries.js';
import { requirePermittedRow, type Permission } from './permissions.js';

/** The organization of a new resource, with the version of its stream. */
export type ParentOrganization = { readonly organization: string; readonly preconditions: readonly StreamVersion[] };

/** Returns the organization with this name. Throws if the caller lacks the permission in it. */
export const loadParentOrganization = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  name: string,
): Promise<ParentOrganization> => {
  const row = await database.row<ParentOrganization>(sql`
    select o.id as organization, ${selectStreamVersions(sql.raw('array[o.id]'))} as preconditions from organizations o
     where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, permission, row);
};

/**
 * Like `loadParentOrganization`, with the number of its resources. `count` is the query for it, in which `o` is the
 * organization.
 */
export const loadParentWithCount = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  name: string,
  count: Sql,
): Promise<ParentOrganization & { readonly existing: number }> => {
  const row = await database.row<ParentOrganization & { readonly existing: number }>(sql`
    select o.id as organization, ${selectStreamVersions(sql.raw('array[o.id]'))} as preconditions, (${count}) as existing
      from organizations o
     where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, permission, row);
};
