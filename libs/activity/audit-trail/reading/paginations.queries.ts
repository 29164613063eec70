import { createHash } from 'node:crypto';
import { sql } from '#platform/kernel';
import type { Database, DatabaseSession } from '#platform/postgres';
import type { Actor } from '#api/access';
import type { TrailPageQuery } from './trail-query.filter.js';
import { PAGINATION_LIFETIME_MS, type PinnedPagination } from './pagination.js';

/**
 * Identifies a reader. An organization has one token of each kind, so kind and organization identify the token. A person
 * can read the trails of several organizations. The user agent distinguishes two readers that share a token.
 */
export const computeReaderKey = (actor: Actor, { organization, since, until, filter, page }: TrailPageQuery): Buffer =>
  createHash('sha256')
    .update(
      JSON.stringify([actor.id, actor.kind, organization, actor.request.userAgent, since, until, filter, page.size]),
    )
    .digest();

const computeExpiryLimit = (now: Date): string => new Date(now.getTime() - PAGINATION_LIFETIME_MS).toISOString();

/** Returns the stored bound of a reader, or null. */
export const findPagination = async (
  database: Database,
  reader: Buffer,
  now: Date,
): Promise<PinnedPagination | null> => {
  const pagination = await database.row<PinnedPagination>(sql`
    select upper, started_at as "startedAt" from audit_trail.walks
     where reader = ${reader} and started_at > ${computeExpiryLimit(now)}`);
  return pagination ?? null;
};

/**
 * Stores the bound of a reader. It must be committed before the response, because another gateway may receive the next
 * request.
 */
export const savePagination = async (
  database: Database,
  reader: Buffer,
  pagination: PinnedPagination,
): Promise<void> => {
  await database.rows(sql`
    insert into audit_trail.walks (reader, upper, started_at) values (${reader}, ${pagination.upper}, ${pagination.startedAt})
    on conflict (reader) do update set upper = excluded.upper, started_at = excluded.started_at`);
};

export const deleteExpiredPaginations = async (session: Pick<DatabaseSession, 'run'>, now: Date): Promise<void> => {
  await session.run(sql`delete from audit_trail.walks where started_at <= ${computeExpiryLimit(now)}`);
};
