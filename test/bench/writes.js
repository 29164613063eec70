// The writes of Postgres: bytes of WAL, and transactions that write. Exact at once, unlike pg_stat_wal and
// pg_stat_database, which backends update up to ten seconds later.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const IDLE_SECONDS = 3;

/** Only transactions that write get an id. This query gets none. */
const COUNT = `
  select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes,
         pg_snapshot_xmax(pg_current_snapshot())::text::float8 as transactions`;

/**
 * Returns the writes between two counts, without those of an idle server in the same time: leaders, scheduled jobs and
 * checkpoints.
 */
export const differenceOf = (before, after, idle) => {
  const seconds = (after.at - before.at) / 1_000;
  const writtenOf = (key) => Math.max(0, after[key] - before[key] - (idle?.[key] ?? 0) * seconds);
  return { bytes: writtenOf('bytes'), transactions: writtenOf('transactions') };
};

/** Whether a follower has not yet processed an event that is committed. */
const BEHIND = `
  select exists (
    select from event_store.checkpoints c
     where exists (select from event_store.events e where (e.transaction, e.position) > (c.transaction, c.position))
  ) as behind`;

const POLL_MS = 5;
/** Enough for a follower that commits after its checkpoint was read. */
const REST_MS = 50;

export const openWriteCounter = async (product) => {
  const client = new pg.Client({ connectionString: await product.databaseUrl() });
  await client.connect();
  let idle = null;
  const count = async () => ({ at: performance.now(), ...(await client.query(COUNT)).rows[0] });
  return {
    count,
    /** Resolves when all followers have processed the log. */
    settle: async () => {
      while ((await client.query(BEHIND)).rows[0].behind) await delay(POLL_MS);
      await delay(REST_MS);
    },
    /** Measures the writes of the idle product, which `difference` subtracts. */
    measureIdle: async () => {
      const before = await count();
      await delay(IDLE_SECONDS * 1_000);
      const after = await count();
      const { bytes, transactions } = differenceOf(before, after, null);
      const seconds = (after.at - before.at) / 1_000;
      idle = { bytes: bytes / seconds, transactions: transactions / seconds };
    },
    difference: (before, after) => differenceOf(before, after, idle),
    close: () => client.end(),
  };
};
