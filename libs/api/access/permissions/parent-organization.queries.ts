import { notFound, sql } from '#platform/kernel';
import { hasOrganizationName } from './resource-names.js';
import type { Database } from '#platform/postgres';
import type { Actor } from '../callers/actor.js';
import { requireCurrentAccess } from './access-epochs.queries.js';
import { requirePermission, type Permission } from './permissions.js';

/** The organization of a new resource, with the version of its stream as a precondition of the append. */
export type ParentOrganization = { readonly organization: string; readonly version: number };

/** Returns the organization with this name. Throws if the caller lacks the permission in it. */
export const loadParentOrganization = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  name: string,
): Promise<ParentOrganization> => {
  const row = await database.row<ParentOrganization>(sql`
    select o.id as organization, s.version from organizations o join event_store.streams s on s.stream = o.id
     where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, permission, row);
  return row;
};
