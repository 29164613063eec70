import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { sql } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { runJobOnce } from '../support/scheduled-jobs.js';
import { createPruningJob } from '#activity/audit-trail';
import { SystemClock } from '#platform/host';
import { POLLS, PolledEntries } from './pollers.js';
import { EntriesGoneError, NoResponseError, type StubTrailServer } from './trail-server.js';

/**
 * Reads an audit trail while it is pruned. A reader must get all entries, or an error that says that entries are gone.
 * Only at the beginning may entries be missing without an error.
 */

const DAYS = 12;

/** Spreads the timestamps of a trail over the past twelve days. The last entry keeps its timestamp. */
const age = (database: Database, organization: string): Promise<unknown> =>
  database.rows(sql`
    update audit_trail_entries e
       set timestamp = e.timestamp - ${DAYS} * (1 - e.ordinal::float / t.length) * interval '1 day'
      from audit_trails t where e.organization = ${organization} and t.organization = e.organization`);

/**
 * Reduces the retention by one day each time and runs the pruning job. `keep` returns whether the server has accepted
 * the new retention.
 */
export const pruneEntries = async (
  url: string,
  organization: string,
  setRetention: (days: number) => Promise<boolean>,
  isRunning: () => boolean,
): Promise<void> => {
  const database = new Database({ url, connections: 1, applicationName: 'cadastre test' });
  try {
    await age(database, organization);
    const job = createPruningJob(database, new SystemClock());
    for (let days = DAYS - 1; days > 0 && isRunning();) {
      if (await setRetention(days)) days -= 1;
      await runJobOnce(job);
      await pause(500);
    }
  } finally {
    await database.close();
  }
};

/** The result of one reader that started to read a whole trail. */
export type PollResult = {
  readonly name: string;
  readonly ids: readonly string[];
  /** Id of the newest entry when the reader started. */
  readonly newest: string | undefined;
  /** Whether the server reported in the end that entries are gone. */
  readonly isPruned: boolean;
};

export const pollOnce = async (
  name: 'cursor' | 'export',
  server: StubTrailServer,
  isRunning: () => boolean,
): Promise<PollResult | null> => {
  const shelf = new PolledEntries();
  let newest: string | undefined;
  const visited = (isPruned: boolean): PollResult => ({
    name,
    ids: shelf.entries.map(({ id }) => id),
    newest,
    isPruned,
  });
  while (isRunning()) {
    try {
      newest ??= (await server.page({ 'page[size]': 1 })).data[0]?.id;
      await POLLS[name]?.(server, shelf);
      return visited(false);
    } catch (error) {
      if (error instanceof EntriesGoneError) return visited(true);
      if (!(error instanceof NoResponseError)) throw error;
      await pause(50);
    }
  }
  return null;
};

/** Returns the results with a gap that the server did not report, or without an end. */
export const findMissedEntries = (
  visits: readonly PollResult[],
  expectedIds: readonly string[],
): readonly PollResult[] =>
  visits.filter(({ ids, newest, isPruned }) => {
    const first = expectedIds.indexOf(ids[0] ?? '');
    const isUnbroken = isDeepStrictEqual(ids, first < 0 ? [] : expectedIds.slice(first, first + ids.length));
    const isThrough = newest !== undefined && ids.includes(newest);
    return !isUnbroken || !(isPruned || isThrough);
  });
