import { notFound, sql } from '#kernel';
import type { Database } from '#event-store';
import type { Actor } from './actor.js';
import { fresh } from './fresh.js';
import { demand, type Permission } from './permissions.js';

/** The stable id of an organization known by name, where the caller may do that in it. */
export const organizationIdFor = async (
  database: Database,
  name: string,
  permission: Permission,
  actor: Actor,
): Promise<string> => {
  const row = await database.row<{ id: string }>(
    sql`select id from organizations where name = ${name} and ${fresh(actor)}`,
  );
  if (!row) throw notFound();
  demand(actor, permission, { organization: row.id });
  return row.id;
};

/** As above, with the version of its stream, for who brings something into it. */
export const organizationForBirth = async (
  database: Database,
  name: string,
  permission: Permission,
  actor: Actor,
): Promise<{ readonly organization: string; readonly version: number }> => {
  const row = await database.row<{ organization: string; version: number }>(sql`
    select o.id as organization, s.version from organizations o join event_store.streams s on s.stream = o.id
     where o.name = ${name} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, permission, row);
  return row;
};
