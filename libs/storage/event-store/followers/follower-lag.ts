import { sql } from '#platform/kernel';
import { pause, type Database } from '#platform/postgres';

const SCRAPE_TIMEOUT_MS = 2_000;

/** The followers in this process, leading or standby, with the database of each. */
const runningFollowers = new Map<Database, Map<string, number>>();

/** Adds the follower to the lag metric. Returns a function that removes it. */
export const reportLag = (database: Database, follower: string): (() => void) => {
  const followers = runningFollowers.get(database) ?? new Map<string, number>();
  runningFollowers.set(database, followers);
  followers.set(follower, (followers.get(follower) ?? 0) + 1);
  return () => {
    const remaining = (followers.get(follower) ?? 1) - 1;
    if (remaining > 0) followers.set(follower, remaining);
    else followers.delete(follower);
    if (followers.size === 0) runningFollowers.delete(database);
  };
};

/** `events`: number of events that the follower has not passed, counted up to MAX_BACKLOG_EVENTS. */
type FollowerLag = { readonly follower: string; readonly seconds: number; readonly events: number };

const MAX_BACKLOG_EVENTS = 10_000;

let underway: Promise<readonly FollowerLag[]> | null = null;

/**
 * Returns the lag of each follower in this process, except those whose database does not respond within 2 s. The metrics
 * of a scrape share a statement.
 */
export const readCurrentLags = (): Promise<readonly FollowerLag[]> => {
  underway ??= readAllLags().finally(() => (underway = null));
  return underway;
};

const readAllLags = async (): Promise<readonly FollowerLag[]> => {
  const lags = await Promise.all(
    [...runningFollowers].map(([database, followers]) => readLagsInTime(database, [...followers.keys()])),
  );
  return lags.flat();
};

const readLagsInTime = async (database: Database, followers: readonly string[]): Promise<readonly FollowerLag[]> => {
  const answered = new AbortController();
  const query = readLags(database, followers).catch(() => []);
  try {
    return await Promise.race([query, pause(SCRAPE_TIMEOUT_MS, answered.signal).then(() => [])]);
  } finally {
    answered.abort();
  }
};

/**
 * Returns the age of the oldest event that each follower has not passed, zero at the end of the log, and the number of
 * such events. Reads the primary key only, up to a limit.
 */
export const readLags = (database: Database, followers: readonly string[]): Promise<FollowerLag[]> =>
  database.rows<FollowerLag>(sql`
    select f.follower,
           coalesce(greatest(extract(epoch from clock_timestamp() - e.time), 0), 0)::float8 as seconds,
           unread.events
      from unnest(${followers}::text[]) as f (follower)
      left join event_store.checkpoints c on c.follower = f.follower
      left join lateral (
        select time from event_store.events
         where (transaction, position) > (coalesce(c.transaction, '0'::xid8), coalesce(c.position, 0))
         order by transaction, position limit 1) e on true
      cross join lateral (
        select count(*) as events from (
          select from event_store.events
           where (transaction, position) > (coalesce(c.transaction, '0'::xid8), coalesce(c.position, 0))
           limit ${MAX_BACKLOG_EVENTS}) listed) unread`);
