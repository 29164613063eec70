import { sql } from '#platform/kernel';
import type { ScheduledJob } from '#platform/postgres';
import { DurableRowError, type EventStore } from '#storage/event-store';
import { toTrailEntry } from '../writing/stored-entry.js';
import { describeLostEntries } from './leaf-differences.renderer.js';
import type { LeafRecorder, StoredLog } from './leaf.recorder.js';
import { LEAF_COUNT, listEntryRows } from './trail-logs.queries.js';

const EVERY_MS = 60_000;
const LEAVES_PER_TRANSACTION = 500;

type IncompleteLog = StoredLog & { readonly length: number };

/**
 * Adds the leaves of entries that a process of an earlier version has written, for trails without new entries. Without
 * them, the view could not be rebuilt as this version. If the follower adds a leaf at the same time, one of the two fails
 * and tries again. A log that fails delays no other log: the round ends with the first failure.
 */
export const createMissingLeavesJob = (store: EventStore, recorder: LeafRecorder): ScheduledJob => ({
  name: 'audit_trail_missing_leaves',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    let after = '';
    let failure: { readonly error: unknown } | null = null;
    while (!signal.aborted) {
      const log = await findIncompleteLog(store, after);
      if (!log) break;
      try {
        done(await addLeaves(store, recorder, log));
      } catch (error) {
        failure ??= { error };
        after = log.organization;
      }
    }
    if (failure) throw failure.error;
  },
});

const findIncompleteLog = ({ database }: EventStore, after: string): Promise<IncompleteLog | undefined> =>
  database.row<IncompleteLog>(sql`
    select l.organization, l.first_ordinal as "firstOrdinal", l.secret, l.pruned, ${LEAF_COUNT} as leaves, t.length
      from audit_trail.logs l join audit_trails t using (organization)
     where l.organization > ${after} and ${LEAF_COUNT} <= t.length - l.first_ordinal
     order by l.organization limit 1`);

const addLeaves = async (store: EventStore, recorder: LeafRecorder, log: IncompleteLog): Promise<number> => {
  const { organization, firstOrdinal, leaves, length } = log;
  const session = await store.database.session();
  try {
    const first = firstOrdinal + leaves;
    const last = Math.min(first + LEAVES_PER_TRANSACTION - 1, length);
    const rows = await listEntryRows(session, organization, first, last);
    if (rows.length <= last - first) throw new DurableRowError(describeLostEntries({ organization, index: leaves }));
    const entries = rows.map((row) => ({ ordinal: row.ordinal, entry: toTrailEntry(row) }));
    await session.pipeline(await recorder.record({ events: [], entries, logs: [log] }, { session, store }));
    return rows.length;
  } finally {
    await session.close();
  }
};
