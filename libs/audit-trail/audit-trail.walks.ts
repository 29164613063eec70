import { createHash } from 'node:crypto';
import { sql } from '#kernel';
import type { Database, Session } from '#event-store';
import type { Actor } from '#access';
import type { PageQuestion } from './audit-trail.question.js';
import { WALK_MS, type Walk } from './walk.js';

/**
 * Tells walks apart. An organization has one token of each kind, so kind and organization name the token. The program's
 * name keeps two readers apart that share it.
 */
export const readerOf = (actor: Actor, { since, until, filter, page }: PageQuestion): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([actor.id, actor.kind, actor.request.userAgent, since, until, filter, page.size]))
    .digest();

const forgotten = (now: Date): string => new Date(now.getTime() - WALK_MS).toISOString();

/** The reader's walk, where there is one. */
export const findWalk = async (database: Database, reader: Buffer, now: Date): Promise<Walk | null> => {
  const walk = await database.row<Walk>(sql`
    select upper, started_at as "startedAt" from audit_trail.walks
     where reader = ${reader} and started_at > ${forgotten(now)}`);
  return walk ?? null;
};

/** Committed before the page is answered: the next request may come to another gateway. */
export const keepWalk = async (database: Database, reader: Buffer, walk: Walk): Promise<void> => {
  await database.rows(sql`
    insert into audit_trail.walks (reader, upper, started_at) values (${reader}, ${walk.upper}, ${walk.startedAt})
    on conflict (reader) do update set upper = excluded.upper, started_at = excluded.started_at`);
};

export const forgetWalks = async (session: Pick<Session, 'run'>, now: Date): Promise<void> => {
  await session.run(sql`delete from audit_trail.walks where started_at <= ${forgotten(now)}`);
};
