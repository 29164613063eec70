import { createHash } from 'node:crypto';
import { sql } from '#kernel';
import type { Database, DatabaseSession } from '#postgres';
import type { Actor } from '#access';
import type { TrailPageQuery } from './trail-query.filter.js';
import { PAGINATION_LIFETIME_MS, type PinnedPagination } from './pagination.js';

/**
 * Tells walks apart. An organization has one token of each kind, so kind and organization name the token. The program's
 * name keeps two readers apart that share it.
 */
export const computeReaderKey = (actor: Actor, { since, until, filter, page }: TrailPageQuery): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([actor.id, actor.kind, actor.request.userAgent, since, until, filter, page.size]))
    .digest();

const computeExpiryLimit = (now: Date): string => new Date(now.getTime() - PAGINATION_LIFETIME_MS).toISOString();

/** The reader's walk, where there is one. */
export const findPagination = async (
  database: Database,
  reader: Buffer,
  now: Date,
): Promise<PinnedPagination | null> => {
  const walk = await database.row<PinnedPagination>(sql`
    select upper, started_at as "startedAt" from audit_trail.walks
     where reader = ${reader} and started_at > ${computeExpiryLimit(now)}`);
  return walk ?? null;
};

/** Committed before the page is answered: the next request may come to another gateway. */
export const savePagination = async (database: Database, reader: Buffer, walk: PinnedPagination): Promise<void> => {
  await database.rows(sql`
    insert into audit_trail.walks (reader, upper, started_at) values (${reader}, ${walk.upper}, ${walk.startedAt})
    on conflict (reader) do update set upper = excluded.upper, started_at = excluded.started_at`);
};

export const deleteExpiredPaginations = async (session: Pick<DatabaseSession, 'run'>, now: Date): Promise<void> => {
  await session.run(sql`delete from audit_trail.walks where started_at <= ${computeExpiryLimit(now)}`);
};
