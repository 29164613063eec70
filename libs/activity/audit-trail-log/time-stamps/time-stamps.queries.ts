import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { SELECT_SITE_CHECKPOINT } from '../serving/trail-logs.queries.js';
import { SITE_LOG } from '../tiles/hashes.js';
import type { ReceivedTimeStamp } from './time-stamp.client.js';

type CheckpointToStamp = { readonly origin: string; readonly size: number; readonly note: string };

/**
 * Returns the checkpoint of the log of the site that is served, unless it has a time stamp, or another one of its origin
 * has one that was stored after `before`.
 */
export const findCheckpointToStamp = (database: Database, before: Date): Promise<CheckpointToStamp | undefined> =>
  database.row<CheckpointToStamp>(sql`
    select present.origin, served.size, served.note
      from (${SELECT_SITE_CHECKPOINT}) served
     cross join (select origin from audit_trail.log_keys
                  where organization = ${SITE_LOG} order by position desc limit 1) present
     where not exists (select from audit_trail.time_stamps t
                        where t.origin = present.origin and (t.size >= served.size or t.stored_at > ${before}))`);

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
