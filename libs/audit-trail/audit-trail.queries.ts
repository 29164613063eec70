import { createHash } from 'node:crypto';
import { sql, type Timestamp } from '#kernel';
import type { Database } from '#event-store';
import { fresh, type Actor } from '#access';
import type { Page } from '#json-api';
import type { Entry } from './entry.js';
import { oldestKept } from './trail.js';
import { MOST_NEWER, WALK_MS, type View, type Walk } from './walk.js';

/** What a reader asks for; `since` in milliseconds, null where everything is wanted. */
export type Question = {
  readonly organization: string;
  readonly since: number | null;
  readonly page: Page;
  /** See walk.ts. */
  readonly resumes: boolean;
  readonly now: Date;
  /** Tells walks apart. */
  readonly reader: Buffer;
};

/**
 * An organization has one token of each kind, so kind and organization name the token. The program's name keeps two
 * readers apart that share it.
 */
export const readerOf = (actor: Actor, since: number | null, { size }: Page): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([actor.id, actor.kind, actor.request.userAgent, since, size]))
    .digest();

const forgotten = (now: Date): string => new Date(now.getTime() - WALK_MS).toISOString();

/** The reader's walk, where there is one. */
export const findWalk = async (database: Database, { reader, now }: Question): Promise<Walk | null> => {
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

export type TrailState = { readonly last: Timestamp; readonly newer: number };

/** Where a trail stands; undefined where the organization has none. `newer`: entries since the walk's bound. */
export const readTrail = async (
  database: Database,
  actor: Actor,
  { organization }: Question,
  walk: Walk | null,
): Promise<TrailState | undefined> => {
  const row = await database.row<TrailState & { open: boolean | null }>(sql`
    select t.open, t.last,
           (select count(*) from (select 1 from audit_trail_entries e
                                   where e.organization = t.organization and e.timestamp > ${walk?.upper ?? null}
                                   limit ${MOST_NEWER + 1}) as newer) as newer
      from (values (${organization})) as asked (organization)
      left join audit_trails t on t.organization = asked.organization
     where ${fresh(actor)}`);
  return row?.open && row.last !== null ? row : undefined;
};

/** One page, newest first, and how many entries the pages have in all. */
export const readPage = async (
  database: Database,
  { organization, since, page, now }: Question,
  { last }: TrailState,
  { upper, newer }: View,
): Promise<{ readonly entries: readonly Entry[]; readonly total: number }> => {
  // What is too old is not shown, pruned or not. No later than the last entry: there the year 9999 ends.
  const after = Math.min(Math.max(since ?? 0, oldestKept(now).getTime() - 1), Date.parse(last));
  const shown = sql`organization = ${organization} and timestamp > ${new Date(after).toISOString()}`;
  const rows = await database.rows<{ total: number; entry: Entry | null }>(sql`
    select total.n as total, page.entry
      from (select count(*) as n from audit_trail_entries where ${shown} and timestamp <= ${upper}) as total
      left join lateral (
        select timestamp, entry from audit_trail_entries where ${shown} and timestamp <= ${newer > 0 ? last : upper}
         order by timestamp desc limit ${page.size + newer} offset ${(page.number - 1) * page.size}) as page on true
     order by page.timestamp desc`);
  return { entries: rows.flatMap(({ entry }) => entry ?? []), total: rows[0]?.total ?? 0 };
};

/** Removes some of what is past its retention, and resolves to how much that was. */
export const pruneSome = async (database: Database, now: Date, limit: number): Promise<number> => {
  const row = await database.row<{ count: number }>(sql`
    with gone as (
      delete from audit_trail_entries where ctid = any (array(
        select ctid from audit_trail_entries where timestamp < ${oldestKept(now).toISOString()} limit ${limit}))
      returning 1)
    select count(*) as count from gone`);
  return row?.count ?? 0;
};

export const forgetWalks = async (database: Database, now: Date): Promise<void> => {
  await database.rows(sql`delete from audit_trail.walks where started_at <= ${forgotten(now)}`);
};
