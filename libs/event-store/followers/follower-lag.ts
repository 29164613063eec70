import { sql } from '#kernel';
import { pause, type Database } from '#postgres';

/** How long a scrape waits for the database. */
const SCRAPE_TIMEOUT_MS = 2_000;

/** The followers that this process runs, whether they lead or stand by, with the database of each. */
const runningFollowers = new Map<Database, Map<string, number>>();

/** Includes the follower in the lag metric. Returns a function that removes it again. */
export const reportLag = (database: Database, follower: string): (() => void) => {
  const followers = runningFollowers.get(database) ?? new Map<string, number>();
  runningFollowers.set(database, followers);
  followers.set(follower, (followers.get(follower) ?? 0) + 1);
  return () => {
    const others = (followers.get(follower) ?? 1) - 1;
    if (others > 0) followers.set(follower, others);
    else followers.delete(follower);
    if (followers.size === 0) runningFollowers.delete(database);
  };
};

export type FollowerLag = { readonly follower: string; readonly seconds: number };

/** Returns the lag of each follower in this process; none of those whose database does not answer within 2 s. */
export const readCurrentLags = async (): Promise<readonly FollowerLag[]> => {
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

/** The age of the oldest event that the follower has not passed; zero at the head. Reads one row of the primary key each. */
export const readLags = (database: Database, followers: readonly string[]): Promise<FollowerLag[]> =>
  database.rows<FollowerLag>(sql`
    select f.follower,
           coalesce(greatest(extract(epoch from clock_timestamp() - e.time), 0), 0)::float8 as seconds
      from unnest(${followers}::text[]) as f (follower)
      left join event_store.checkpoints c on c.follower = f.follower
      left join lateral (
        select time from event_store.events
         where (transaction, position) > (coalesce(c.transaction, '0'::xid8), coalesce(c.position, 0))
         order by transaction, position limit 1) e on true`);
