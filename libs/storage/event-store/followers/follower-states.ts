import { sql } from '#platform/kernel';
import { computeFollowerLockKey, type Database } from '#platform/postgres';
import type { Follower } from './follower.js';

export type FollowerState = {
  readonly name: string;
  readonly isLed: boolean;
  /** Number of unread events, counted up to MAX_COUNTED_EVENTS. */
  readonly behind: number;
  /** Seconds since its checkpoint moved; null if it never moved. */
  readonly idleSeconds: number | null;
};

const MAX_COUNTED_EVENTS = 100_000;

/** Returns the progress of each follower from the database, including followers of other processes. */
export const readFollowerStates = (
  database: Database,
  followers: readonly Pick<Follower, 'name' | 'only'>[],
): Promise<readonly FollowerState[]> =>
  Promise.all(
    followers.map(async ({ name, only }) => {
      // Postgres shows the two halves of an advisory lock's number separately.
      const row = await database.row<Omit<FollowerState, 'name'>>(sql`
        select exists (select from pg_locks
                        where locktype = 'advisory' and granted and objsubid = 1
                          and database = (select oid from pg_database where datname = current_database())
                          and (classid::bigint << 32) | objid::bigint = ${computeFollowerLockKey(name)}::bigint) as "isLed",
               (select count(*)::integer from (
                  select from event_store.events e
                   where (e.transaction, e.position) >
                           (coalesce((select transaction from event_store.checkpoints where follower = ${name}), '0'),
                            coalesce((select position from event_store.checkpoints where follower = ${name}), 0))
                     and (${only ?? null}::text[] is null or e.type = any (${only ?? null}::text[]))
                   limit ${MAX_COUNTED_EVENTS}) unread) as behind,
               (select extract(epoch from now() - updated_at)::integer
                  from event_store.checkpoints where follower = ${name}) as "idleSeconds"`);
      if (!row) throw new Error(`no state of the follower ${name} was read`);
      return { name, ...row };
    }),
  );

/**
 * Returns whether the log contains transaction ids that this cluster has not reached, as after restoring a dump into a
 * new cluster. Followers would treat those events as uncommitted (docs/explanation/adr/0013).
 */
export const isAheadOfCluster = async (database: Database): Promise<boolean> => {
  const row = await database.row<{ ahead: boolean }>(sql`
    select transaction >= pg_snapshot_xmax(pg_current_snapshot()) as ahead
      from event_store.events order by transaction desc, position desc limit 1`);
  return row?.ahead ?? false;
};
