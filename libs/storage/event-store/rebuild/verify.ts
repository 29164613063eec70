import { sql, type Sql } from '#platform/kernel';
import { buildErasureStatements } from '#storage/personal-data';
import type { DatabaseRow, DatabaseSession } from '#platform/postgres';
import type { EventStore } from '../event-store.js';
import { selectCheckpoint, type Checkpoint } from '../followers/checkpoints.js';
import { DurableRowError } from '../followers/follower.js';
import { LOG_START } from '../log-positions.js';
import { EXCHANGE_LOCK } from './rebuild.js';
import { eraseNamesInCopies, FULL_PACE, Replay, SELECT_FORGOTTEN_PEOPLE, type ForgottenPerson } from './replay.js';
import { ViewCopy } from './view-copy.js';
import type { RebuildableView } from './views.js';

/** The differences between a live view and the log. Each list contains up to ten rows. */
export type ViewDifference = {
  readonly table: string;
  readonly missing: readonly DatabaseRow[];
  readonly surplus: readonly DatabaseRow[];
  /** The first durable row that differs from the log: see `durable` of Follower. */
  readonly durable?: string;
};

/**
 * Copies the live tables, as `reader` sees them, to temporary tables named live_…, in a transaction that ends before
 * the log is replayed. Followers wait for every transaction that writes, even if it writes only temporary tables.
 */
const copyLive = async (reader: DatabaseSession, session: DatabaseSession, view: RebuildableView): Promise<void> => {
  const [exported] = await reader.run<{ snapshot: string }>(sql`select pg_export_snapshot() as snapshot`);
  await session.run(sql`begin isolation level repeatable read`);
  await session.run(sql.raw(`set transaction snapshot '${exported?.snapshot}'`));
  for (const table of view.tables) {
    await session.run(sql.raw(`create temporary table live_${table} as select * from views.${table}`));
  }
  await session.run(sql`commit`);
};

/** Prunes the copy of the live rows too: rows past their retention may be in only one of the two. */
const pruneBoth = async (session: DatabaseSession, view: RebuildableView, prune: Sql): Promise<void> => {
  const rename = async (from: string, to: string): Promise<void> => {
    for (const table of view.tables) {
      await session.run(sql.raw(`alter table pg_temp.${from}${table} rename to ${to}${table}`));
    }
  };
  await session.run(prune);
  await rename('', 'made_');
  await rename('live_', '');
  await session.run(prune);
  await rename('', 'live_');
  await rename('made_', '');
};

/** Compares the tables of the rebuilt view with the copies of the live ones. */
const listDifferences = async (session: DatabaseSession, view: RebuildableView): Promise<ViewDifference[]> => {
  const differences: ViewDifference[] = [];
  for (const table of view.tables) {
    const only = (left: string, right: string): Promise<DatabaseRow[]> =>
      session.run(sql.raw(`select * from pg_temp.${left} except select * from pg_temp.${right} limit 10`));
    const missing = await only(table, `live_${table}`);
    const surplus = await only(`live_${table}`, table);
    if (missing.length + surplus.length > 0) differences.push({ table, missing, surplus });
  }
  return differences;
};

/** Returns the first durable row that the replay found to differ, or that no event explains; null if there is none. */
const findDurableDifference = async (
  view: RebuildableView,
  replay: Promise<void>,
  reader: DatabaseSession,
): Promise<ViewDifference | null> => {
  const toDifference = (durable: string): ViewDifference => ({ table: view.name, missing: [], surplus: [], durable });
  try {
    await replay;
  } catch (error) {
    if (error instanceof DurableRowError) return toDifference(error.message);
    throw error;
  }
  const surplus = await view.follower?.durable?.findSurplus(reader);
  return surplus ? toDifference(surplus) : null;
};

/**
 * Compares views with the log, one after the other, on two connections. A connection of its own for each of 45 views took half of
 * the time of `verify` on a small site, because each one loads the catalog again.
 */
class ViewVerifier {
  private constructor(
    private readonly store: EventStore,
    private readonly reader: DatabaseSession,
    private readonly session: DatabaseSession,
  ) {}

  static async open(store: EventStore): Promise<ViewVerifier> {
    const reader = await store.database.session();
    try {
      return new ViewVerifier(store, reader, await store.database.session());
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  /**
   * Compares a view with the log at one point in time, without changes. Writers and followers continue. `onEvents` is
   * called with the number of events of each page. After an error, the verifier can only be closed.
   */
  async verify(
    view: RebuildableView,
    now: Date,
    onEvents: (events: number) => void = () => undefined,
  ): Promise<ViewDifference[]> {
    const { store, reader, session } = this;
    const copy = await ViewCopy.create(session, view, 'pg_temp');
    // Otherwise a statement that an earlier view has prepared would still use the live table instead of its copy.
    await session.run(sql`discard plans`);
    // Without this lock, the snapshot could show an empty table that replaces another one afterwards.
    await session.run(sql`select pg_advisory_lock_shared(${EXCHANGE_LOCK})`);
    // One snapshot for the log and the live view. This transaction only reads, so it has no id that followers would
    // wait for.
    await reader.run(sql`begin isolation level repeatable read, read only`);
    const [checkpoint] = view.follower ? await reader.run<Checkpoint>(selectCheckpoint(view.follower.name)) : [];
    await copyLive(reader, session, view);
    await session.run(sql`select pg_advisory_unlock_shared(${EXCHANGE_LOCK})`);
    const forgotten = await reader.run<ForgottenPerson>(SELECT_FORGOTTEN_PEOPLE);
    const replay = new Replay({ store, view, reader, session, pace: FULL_PACE, onEvents });
    // A live inline view shows every committed event.
    const durable = await findDurableDifference(
      view,
      view.follower
        ? replay.run({ until: checkpoint ?? LOG_START, isComplete: true })
        : replay.run({ extent: 'committed', isComplete: true }),
      reader,
    );
    await this.erase(view, copy, forgotten);
    if (view.follower?.prune) await pruneBoth(session, view, view.follower.prune(now));
    // After a difference of a durable row, the rebuilt tables are incomplete.
    const differences = durable === null ? await listDifferences(session, view) : [durable];
    await reader.run(sql`rollback`);
    await session.run(sql`discard temporary`);
    return differences;
  }

  /** Erases the names of forgotten people in the rebuilt tables, and in live rows that still contain them. */
  private async erase(view: RebuildableView, copy: ViewCopy, forgotten: readonly ForgottenPerson[]): Promise<void> {
    const people = forgotten.map(({ person }) => person);
    await eraseNamesInCopies(this.session, view, people, (table) => copy.nameOf(table));
    const uncleaned = forgotten.flatMap(({ person, cleaned }) => (cleaned ? [] : [person]));
    await this.session.pipeline(buildErasureStatements(view.names, uncleaned, (table) => `pg_temp.live_${table}`));
  }

  async close(): Promise<void> {
    await Promise.all([this.reader.close(), this.session.close()]);
  }
}

/** Runs with a verifier, and closes it. */
export const withVerifier = async <T>(store: EventStore, work: (verifier: ViewVerifier) => Promise<T>): Promise<T> => {
  const verifier = await ViewVerifier.open(store);
  try {
    return await work(verifier);
  } finally {
    await verifier.close();
  }
};

/** Compares one view with the log: see ViewVerifier. */
export const verifyView = (
  store: EventStore,
  view: RebuildableView,
  now: Date,
  onEvents?: (events: number) => void,
): Promise<ViewDifference[]> => withVerifier(store, (verifier) => verifier.verify(view, now, onEvents));
