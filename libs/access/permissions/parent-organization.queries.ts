import { notFound, sql } from '#kernel';
import type { Database } from '#postgres';
import type { Actor } from '../authentication/actor.js';
import { requireCurrentAccess } from '../epochs/access-epochs.queries.js';
import { requirePermission, type Permission } from './permissions.js';

/** An organization that something is born into; its stream is held at this version meanwhile. */
export type ParentOrganization = { readonly organization: string; readonly version: number };

/** The organization of that name, where the caller may do that in it. */
export const loadParentOrganization = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  name: string,
): Promise<ParentOrganization> => {
  const row = await database.row<ParentOrganization>(sql`
    select o.id as organization, s.version from organizations o join event_store.streams s on s.stream = o.id
     where o.name = ${name} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, permission, row);
  return row;
};
