import type { EventStore } from '#storage/event-store';
import { toTrailEntry } from '../writing/stored-entry.js';
import { findTrailLog, openEntries, type OpenedEntry } from './opened-entries.reader.js';
import { listEntryRows } from './trail-logs.queries.js';

/** Computing a leaf takes up to 0.1 ms, so that more entries at once would keep the event loop busy for too long. */
const ENTRIES_PER_READ = 250;

/**
 * Returns the entries of a log with indexes from `from` to before `to`, with the details of clients. Entries that were
 * deleted are left out.
 */
export const openLogRange = async (
  store: EventStore,
  organization: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly OpenedEntry[]> => {
  const log = await findTrailLog(store, organization);
  if (!log) return [];
  const session = { run: store.database.rows.bind(store.database) };
  const opened: OpenedEntry[] = [];
  for (let next = from; next < to; next += ENTRIES_PER_READ) {
    const last = Math.min(to, next + ENTRIES_PER_READ) - 1;
    const rows = await listEntryRows(session, organization, log.firstOrdinal + next, log.firstOrdinal + last);
    const stored = rows.map((row) => ({ ordinal: row.ordinal, entry: toTrailEntry(row) }));
    opened.push(...(await openEntries(store, log, stored, { clientDetails: true })));
  }
  return opened;
};
