import { notFound, sql, type Sql } from '#platform/kernel';
import { requireCurrentAccess, requirePermission, SITE_SCOPE, type Actor } from '#api/access';
import { selectTokenOwner } from '#identity/people';
import type { Database } from '#platform/postgres';

/** The source of users and groups that tokens without an identity provider create. */
export const SITE_SOURCE = 'site';

/**
 * Returns an expression for the source of what the caller's token creates: the id of an identity provider, or `site`. A
 * token sees and changes only users and groups of its source.
 */
export const selectSource = (actor: Actor): Sql => selectTokenOwner(actor.token);

/** Returns the source of what the caller's token creates. Throws the refusal of the permission table. */
export const loadSource = async (database: Database, actor: Actor): Promise<string> => {
  const row = await database.row<{ source: string | null }>(
    sql`select ${selectSource(actor)} as source where ${requireCurrentAccess(actor)}`,
  );
  requirePermission(actor, 'provision-users', SITE_SCOPE);
  if (!row?.source) throw notFound();
  return row.source;
};
