import { sql, type Sql } from '#kernel';
import type { Database } from '#event-store';
import type { Identity } from './actor.js';

/**
 * A condition for the first statement of every request: fails it where access has changed since the caller was read.
 * AccessFilter then reads the caller anew and runs the request again, so that a permission taken away is gone at
 * the next request on every gateway, without a lookup on each.
 */
export const fresh = (actor: Identity): Sql => {
  const known = epochOf(actor);
  // The function, which raises, is called only where the numbers differ: plpgsql for each statement of each request adds up.
  return sql`case ${known} when coalesce((select epoch from access_epoch where id = 1), 0) then true
                  else access.fresh(${known}) end`;
};

/**
 * The epoch in which the caller was read. The end of a run raises none: runs end all the time, and everybody would be read
 * anew. A run's token is looked for by itself instead, and where its hash is gone (forgetTokens) it has no epoch.
 */
const epochOf = ({ kind, id, epoch }: Identity): Sql =>
  kind === 'run'
    ? sql`(select ${epoch}::bigint where exists (
             select 1 from authentication_tokens t join access.token_hashes h on h.token = t.id where t.owner = ${id}))`
    : sql`${epoch}::bigint`;

/** For requests that send no other statement that could carry the condition. */
export const confirm = async (database: Database, actor: Identity): Promise<void> => {
  await database.rows(sql`select ${fresh(actor)}`);
};

export const isOutdated = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'CA401';
