import { sql, type Clock } from '#platform/kernel';
import { pause, type ScheduledJob, type Database, type JobRun, type DatabaseSession } from '#platform/postgres';
import { deleteExpiredPaginations } from '../reading/paginations.queries.js';
import { getBlockOf } from '../blocks/trail-blocks.js';
import { LEAF_COUNT } from '../log/trail-logs.queries.js';
import { selectExpiryBounds } from '../settings/entry-retention.queries.js';

const EVERY_MS = 10 * 60 * 1_000;
// Each batch is a transaction of its own. A long transaction would delay all followers, which wait for every open
// transaction.
const ENTRIES_PER_DELETE = 1_000;

type DueTrail = { readonly organization: string; readonly first: number; readonly bound: number };

/**
 * Deletes expired entries and stored page bounds. It is not urgent, because expired entries are already hidden. So it
 * deletes small batches from the first entry on, pauses after each as long as the batch took, and uses a connection of
 * its own.
 */
export const createPruningJob = (database: Database, clock: Clock): ScheduledJob => ({
  name: 'audit_trail_pruning',
  everyMs: EVERY_MS,
  run: async (round) => {
    const now = clock.now();
    const session = await database.session();
    try {
      for (const due of await listDueTrails(session, now)) await prune(session, due, round);
      await deleteExpiredPaginations(session, now);
    } finally {
      await session.close();
    }
  },
});

/** Entries without a leaf are kept: a process of an earlier version has written them, and their leaves are still computed. */
const listDueTrails = (session: DatabaseSession, now: Date): Promise<DueTrail[]> =>
  session.run<DueTrail>(sql`
    select bounds.organization, first.ordinal as first, logged.bound
      from (${selectExpiryBounds(now)}) bounds
      cross join lateral (
        select ordinal from audit_trail_entries e where e.organization = bounds.organization
         order by ordinal limit 1) first
      cross join lateral (
        select least(bounds.bound, (
          select l.first_ordinal + ${LEAF_COUNT} from audit_trail.logs l
           where l.organization = bounds.organization)) as bound) logged
     where first.ordinal < logged.bound
     order by bounds.organization`);

const prune = async (
  session: DatabaseSession,
  { organization, first, bound }: DueTrail,
  { signal, done }: JobRun,
): Promise<void> => {
  // Counts ordinals instead of querying for the first entry: until the next vacuum, that query would scan all deleted
  // rows.
  for (let from = first; from < bound && !signal.aborted; from += ENTRIES_PER_DELETE) {
    const began = performance.now();
    await session.run(sql`
      delete from audit_trail_entries
       where organization = ${organization} and ordinal >= ${from} and ordinal < ${Math.min(from + ENTRIES_PER_DELETE, bound)}`);
    done(Math.min(ENTRIES_PER_DELETE, bound - from));
    if (from + ENTRIES_PER_DELETE < bound) await pause(performance.now() - began, signal);
  }
  const block = getBlockOf(bound);
  if (getBlockOf(first) === block || signal.aborted) return;
  await session.run(sql`delete from audit_trail_blocks where organization = ${organization} and block < ${block}`);
};
