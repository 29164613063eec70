import { notFound, sql } from '#kernel';
import type { Database } from '#event-store';
import type { Actor } from './actor.js';
import { fresh } from './fresh.js';
import { demand, type Permission } from './permissions.js';

/** An organization that something is born into; its stream is held at this version meanwhile. */
export type PlaceInOrganization = { readonly organization: string; readonly version: number };

/** The organization of that name, where the caller may do that in it. */
export const placeInOrganization = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  name: string,
): Promise<PlaceInOrganization> => {
  const row = await database.row<PlaceInOrganization>(sql`
    select o.id as organization, s.version from organizations o join event_store.streams s on s.stream = o.id
     where o.name = ${name} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, permission, row);
  return row;
};
