import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { SELECT_SITE_CHECKPOINT } from '../serving/trail-logs.queries.js';
import { SITE_LOG } from '../tiles/hashes.js';
import type { ReceivedTimeStamp } from './time-stamp.client.js';

type CheckpointToStamp = { readonly origin: string; readonly size: number; readonly note: string };

/**
 * Returns the checkpoint of the log of the site that is served, unless it has a time stamp, or the newest one of its origin
 * was stored less than an interval ago. `overdueSeconds`: since both the interval was over and there was a new checkpoint.
 */
export const findCheckpointToStamp = (
  database: Database,
  now: Date,
  intervalMs: number,
): Promise<(CheckpointToStamp & { readonly overdueSeconds: number }) | undefined> =>
  database.row<CheckpointToStamp & { readonly overdueSeconds: number }>(sql`
    select present.origin, served.size, served.note,
           extract(epoch from ${now}::timestamptz - greatest(first.signed_at, last.due_at))::float8 as "overdueSeconds"
      from (${SELECT_SITE_CHECKPOINT}) served
     cross join (select origin from audit_trail.log_keys
                  where organization = ${SITE_LOG} order by position desc limit 1) present
      left join lateral (select size, stored_at + ${intervalMs}::float8 * interval '1 millisecond' as due_at
                           from audit_trail.time_stamps where origin = present.origin
                          order by size desc limit 1) last on true
     cross join lateral (select signed_at from audit_trail.signed_checkpoints
                          where organization = ${SITE_LOG} and origin = present.origin and size > coalesce(last.size, -1)
                          order by size limit 1) first
     where last.size is null or (last.size < served.size and last.due_at <= ${now})`);

export const storeTimeStamp = (
  id: string,
  { origin, size, note }: CheckpointToStamp,
  { response, authority, policy, stampedAt }: ReceivedTimeStamp,
  storedAt: Date,
): Sql => sql`
  insert into audit_trail.time_stamps (id, origin, size, note, response, authority, policy, stamped_at, stored_at)
  values (${id}, ${origin}, ${size}, ${note}, ${response}, ${authority}, ${policy}, ${stampedAt}, ${storedAt})
  on conflict do nothing`;

export type TimeStampRow = {
  readonly id: string;
  readonly origin: string;
  readonly size: number;
  readonly authority: string;
  readonly policy: string;
  readonly stampedAt: Timestamp;
};

/** Returns a page of the time stamps, newest first. */
export const listTimeStamps = async (database: Database, page: PageRequest): Promise<ListPage<TimeStampRow>> =>
  toListPage(
    await database.rows<ListRow<TimeStampRow, { readonly total: number }>>(sql`
      select counted.total, t.*
        from (select count(*) as total from audit_trail.time_stamps) counted
        left join lateral (
          select id, origin, size, authority, policy, stamped_at as "stampedAt" from audit_trail.time_stamps
           order by stamped_at desc, size desc, id ${buildLimit(page)}) t on true`),
  );

type StampedFiles = { readonly note: string; readonly response: Buffer };

/** Returns the bytes that were stamped, and the answer of the authority. */
export const findStampedFiles = (database: Database, id: string): Promise<StampedFiles | undefined> =>
  database.row<StampedFiles>(sql`select note, response from audit_trail.time_stamps where id = ${id}`);
