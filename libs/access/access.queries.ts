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
