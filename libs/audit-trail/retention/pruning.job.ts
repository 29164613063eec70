import { sql, type Clock } from '#kernel';
import { pause, type ScheduledJob, type Database, type JobRun, type DatabaseSession } from '#postgres';
import { deleteExpiredPaginations } from '../reading/paginations.queries.js';
import { selectExpiryBounds } from './entry-retention.queries.js';

const EVERY_MS = 10 * 60 * 1_000;
// Each in a transaction of its own: a long one would hold up all followers, who wait for every transaction that runs.
const AT_ONCE = 1_000;

type DueTrail = { readonly organization: string; readonly first: number; readonly bound: number };

/**
 * Removes entries that are past their retention, and forgets walks. Nobody waits for it: what is too old is not shown
 * anyway. So it takes its time: it goes through a trail from its first entry on, a little at a time, and rests as long as
 * each took, on a connection that nobody else waits for.
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

const listDueTrails = (session: DatabaseSession, now: Date): Promise<DueTrail[]> =>
  session.run<DueTrail>(sql`
    select bounds.organization, first.ordinal as first, bounds.bound
      from (${selectExpiryBounds(now)}) bounds
      cross join lateral (
        select ordinal from audit_trail_entries e where e.organization = bounds.organization
         order by ordinal limit 1) first
     where first.ordinal < bounds.bound
     order by bounds.organization`);

const prune = async (
  session: DatabaseSession,
  { organization, first, bound }: DueTrail,
  { signal, done }: JobRun,
): Promise<void> => {
  // By where it got to, and not by what is first: until a vacuum, that would be found behind all that was removed.
  for (let from = first; from < bound && !signal.aborted; from += AT_ONCE) {
    const began = performance.now();
    await session.run(sql`
      delete from audit_trail_entries
       where organization = ${organization} and ordinal >= ${from} and ordinal < ${Math.min(from + AT_ONCE, bound)}`);
    done(Math.min(AT_ONCE, bound - from));
    if (from + AT_ONCE < bound) await pause(performance.now() - began, signal);
  }
};
