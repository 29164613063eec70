import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { sql } from '#kernel';
import { Database } from '#postgres';
import { runJobOnce } from '../support/scheduled-jobs.js';
import { createPruningJob } from '#audit-trail';
import { SystemClock } from '#host';
import { POLLS, PolledEntries } from './pollers.js';
import { EntriesGoneError, NoResponseError, type StubTrailServer } from './trail-server.js';

/*
 * A trail that is pruned while it is read. Who reads all of it must have all of it, or be told that something has gone:
 * only at its beginning may entries be missing without a word.
 */

const DAYS = 12;

/** Has a trail as old as if it had been written over the past twelve days; its last entry stays where it is. */
const age = (database: Database, organization: string): Promise<unknown> =>
  database.rows(sql`
    update audit_trail_entries e
       set timestamp = e.timestamp - ${DAYS} * (1 - e.ordinal::float / t.length) * interval '1 day'
      from audit_trails t where e.organization = ${organization} and t.organization = e.organization`);

/** Keeps it for a day less each time, and removes what is too old by then. `keep` says whether it was told that it counts. */
export const pruneEntries = async (
  url: string,
  organization: string,
  keep: (days: number) => Promise<boolean>,
  goesOn: () => boolean,
): Promise<void> => {
  const database = new Database({ url, connections: 1, applicationName: 'cadastre test' });
  try {
    await age(database, organization);
    const chore = createPruningJob(database, new SystemClock());
    for (let days = DAYS - 1; days > 0 && goesOn();) {
      if (await keep(days)) days -= 1;
      await runJobOnce(chore);
      await pause(500);
    }
  } finally {
    await database.close();
  }
};

/** What somebody has got who came to read all of a trail. */
export type PollResult = {
  readonly name: string;
  readonly ids: readonly string[];
  /** The newest entry when they came. */
  readonly newest: string | undefined;
  /** Whether they were told in the end that something has gone. */
  readonly isPruned: boolean;
};

export const pollOnce = async (
  name: 'cursor' | 'export',
  server: StubTrailServer,
  goesOn: () => boolean,
): Promise<PollResult | null> => {
  const shelf = new PolledEntries();
  let newest: string | undefined;
  const visited = (isPruned: boolean): PollResult => ({
    name,
    ids: shelf.entries.map(({ id }) => id),
    newest,
    isPruned,
  });
  while (goesOn()) {
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

/** Those with a hole in what they have, or without an end, of whom nobody knows it. */
export const findMissedEntries = (visits: readonly PollResult[], wanted: readonly string[]): readonly PollResult[] =>
  visits.filter(({ ids, newest, isPruned }) => {
    const first = wanted.indexOf(ids[0] ?? '');
    const isUnbroken = isDeepStrictEqual(ids, first < 0 ? [] : wanted.slice(first, first + ids.length));
    const isThrough = newest !== undefined && ids.includes(newest);
    return !isUnbroken || !(isPruned || isThrough);
  });
