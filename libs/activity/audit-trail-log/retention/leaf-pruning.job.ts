import { deleteLeaves, selectLeafBounds } from '#activity/audit-trail';
import { sql } from '#platform/kernel';
import { pause, type Database, type DatabaseSession, type JobRun, type ScheduledJob } from '#platform/postgres';

const EVERY_MS = 10 * 60 * 1_000;
// Like entries, leaves are deleted in short transactions, because followers wait for every open transaction.
const LEAVES_PER_DELETE = 1_024;
const LEAVES_IN_TILE = 256;

type PrunableLog = { readonly organization: string; readonly first: number; readonly end: number };

/**
 * Deletes the leaves of entries that were pruned, as far as complete tiles contain these leaves. So every proof stays
 * possible, while nothing of the entry is left except its hash.
 */
export const createLeafPruningJob = (database: Database): ScheduledJob => ({
  name: 'audit_trail_leaf_pruning',
  everyMs: EVERY_MS,
  run: async (round) => {
    const session = await database.session();
    try {
      const logs = await session.run<PrunableLog>(sql`
        select bounds.organization, bounds.first, least(bounds.end, tiles.count * ${LEAVES_IN_TILE}) as end
          from (${selectLeafBounds()}) bounds
          cross join lateral (
            select coalesce(max(index) + 1, 0) as count from audit_trail.tiles t
             where t.organization = bounds.organization and t.level = 0) tiles
         where bounds.first < least(bounds.end, tiles.count * ${LEAVES_IN_TILE})
         order by bounds.organization`);
      for (const log of logs) await pruneLog(session, log, round);
    } finally {
      await session.close();
    }
  },
});

const pruneLog = async (
  session: DatabaseSession,
  { organization, first, end }: PrunableLog,
  { signal, done }: JobRun,
): Promise<void> => {
  for (let from = first; from < end && !signal.aborted; from += LEAVES_PER_DELETE) {
    const began = performance.now();
    const to = Math.min(from + LEAVES_PER_DELETE, end);
    await session.pipeline(deleteLeaves(organization, from, to));
    done(to - from);
    if (to < end) await pause(performance.now() - began, signal);
  }
};
