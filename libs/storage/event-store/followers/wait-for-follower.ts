import { sql, unavailable, type LogPosition, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { hurryFollower } from './follower-group.js';
import { sendReadRequest } from './log-signal.js';
import { WAIT_TIMEOUT_MS } from './position-waiters.js';

/** Most unread events that one wait searches. Beyond that it waits for older events, whether they matter or not. */
export const UNREAD_MAX = 20_000;

/**
 * The events that a reader of a follower's view waits for: of these types, of this organization or of none, because an
 * event of a person can concern several organizations. An absent member means all.
 */
export type AwaitedEvents = {
  readonly only?: readonly string[];
  /** An SQL expression for the organization's id. If it is null, events of all organizations count. */
  readonly organization?: Sql;
};

/**
 * Resolves when the follower has read everything that was in the log at the time of the call, so that a read of its
 * view shows every write that was acknowledged before. Does not wait for later events of other organizations (ADR 33).
 * Throws `unavailable` after 5 s.
 */
export const waitForFollower = async (
  database: Database,
  follower: string,
  awaited: AwaitedEvents = {},
): Promise<void> => {
  const deadline = Date.now() + WAIT_TIMEOUT_MS;
  const last = await database.row<LogPosition>(selectLastUnread(follower, awaited));
  if (!last) return;
  if (await readAtOnce(database, follower, last)) return;
  for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const passed = await database.row(sql`
      select 1 from event_store.checkpoints where follower = ${follower}
         and (transaction, position) >= (${last.transaction}::xid8, ${last.position}::bigint)`);
    if (passed) return;
    if (Date.now() > deadline) throw unavailable('This view is behind the log. Please try again in a moment.', 5);
  }
};

/**
 * Makes the follower read the log at once, in this process or in another one. Resolves to true if it has stored the
 * position, and to false if that is unknown.
 */
const readAtOnce = async (database: Database, follower: string, position: LogPosition): Promise<boolean> => {
  const stored = hurryFollower(database, follower, position);
  if (stored) return stored;
  // Without the request, the follower reads a moment later.
  await database.rows(sendReadRequest({ follower, position })).catch(() => undefined);
  return false;
};

/**
 * Selects the last unread event that the call waits for, by a search from the end of the log back to the checkpoint.
 * There is no index for it, because an index would slow down every append, and few events are unread unless the
 * follower is behind.
 */
const selectLastUnread = (follower: string, { only, organization }: AwaitedEvents): Sql => sql`
  with unread as materialized (
    select e.transaction, e.position, e.type, e.organization
      from event_store.events e
     where (e.transaction, e.position) > (coalesce((select transaction from event_store.checkpoints where follower = ${follower}), '0'),
                                          coalesce((select position from event_store.checkpoints where follower = ${follower}), 0))
     order by e.transaction desc, e.position desc limit ${UNREAD_MAX})
  select awaited.transaction::text as transaction, awaited.position from (
    (select u.transaction, u.position from unread u
      where ${only === undefined ? sql`true` : sql`u.type = any (${only}::text[])`}
        and ${organization === undefined ? sql`true` : sql`(u.organization is null or u.organization = coalesce(${organization}, u.organization))`}
      order by u.transaction desc, u.position desc limit 1)
    union all
    (select u.transaction, u.position from unread u
      order by u.transaction desc, u.position desc offset ${UNREAD_MAX - 1} limit 1)) awaited
   order by awaited.transaction desc, awaited.position desc limit 1`;
