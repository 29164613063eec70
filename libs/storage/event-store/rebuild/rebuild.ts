import { sql, type LogPosition } from '#platform/kernel';
import { ACQUIRE_SHARED_NAMES_XACT_LOCK } from '#storage/personal-data';
import {
  computeLockKey,
  getViolatedConstraint,
  isLockTimeout,
  isRetryableError,
  pause,
  type DatabaseSession,
} from '#platform/postgres';
import type { EventStore } from '../event-store.js';
import { selectCheckpoint, writeCheckpoint, type Checkpoint } from '../followers/checkpoints.js';
import { DurableRowError } from '../followers/follower.js';
import { LOG_START } from '../log-positions.js';
import { rebuildMetrics } from './rebuild.metrics.js';
import { eraseNamesInCopies, FULL_PACE, Replay, SELECT_FORGOTTEN_PEOPLE, type ForgottenPerson } from './replay.js';
import type { ReplayPace } from './replay.js';
import { ViewCopy } from './view-copy.js';
import { writeViewVersion } from './view-versions.js';
import type { RebuildableView } from './views.js';

export type RebuildOptions = {
  /** Rows that are past their retention at this time are left out. */
  readonly now: Date;
  readonly pace?: ReplayPace;
  /** Called with the number of events of each page. */
  readonly onEvents?: (events: number) => void;
  readonly signal?: AbortSignal;
  /** Rebuild the view only if its rows are still of an earlier version once no other rebuild runs. */
  readonly onlyIfEarlier?: boolean;
};

export type RebuildResult = {
  readonly events: number;
  /** Longest time in milliseconds that writers (of an inline view) or readers (of a follower's view) waited. */
  readonly lockedMs: number;
};

/**
 * Computes a view from the log beside the live one, and then exchanges the two. Requests continue; writers wait only
 * while the last events are applied. An interrupted rebuild changes nothing. Resolves to null if another process has
 * rebuilt the view meanwhile.
 *
 * 1. The log is replayed into copies of the tables, in pages.
 * 2. Indexes are built, and the rest of the log is replayed, until few events are left.
 * 3. One transaction locks the log against writers, applies the last events, and renames the tables.
 *
 * A follower's view needs no lock on the log. Its last step locks its tables, so that the follower cannot advance the
 * checkpoint meanwhile.
 */
export const rebuildView = async (
  store: EventStore,
  view: RebuildableView,
  options: RebuildOptions,
): Promise<RebuildResult | null> => {
  const session = await store.database.session();
  const reader = await store.database.session();
  try {
    await acquireRebuildLock(session, options.signal);
    if (options.onlyIfEarlier && !(await isEarlier(session, view))) return null;
    await ViewCopy.dropAll(session);
    try {
      const result = await new ViewRebuild(store, view, { reader, session }, options).run();
      rebuildMetrics.rebuilds.inc({ view: view.name });
      return result;
    } catch (error) {
      // After a lost connection the next rebuild drops them.
      await ViewCopy.dropAll(session).catch(() => undefined);
      throw error;
    }
  } finally {
    await Promise.all([reader.close(), session.close()]);
  }
};

/** Only one rebuild runs at a time: each needs as much of the machine as a busy follower. */
const REBUILD_LOCK = computeLockKey('cadastre rebuild');
const LOCK_RETRY_MS = 200;

const acquireRebuildLock = async (session: DatabaseSession, signal: AbortSignal | undefined): Promise<void> => {
  while (!(await tryAcquireRebuildLock(session))) {
    await pause(LOCK_RETRY_MS, signal);
    signal?.throwIfAborted();
  }
};

export const tryAcquireRebuildLock = async (session: DatabaseSession): Promise<boolean> => {
  const [attempt] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${REBUILD_LOCK}) as ok`);
  return attempt?.ok ?? false;
};

const isEarlier = async (session: DatabaseSession, { name, version }: RebuildableView): Promise<boolean> => {
  const [row] = await session.run<{ version: number }>(
    sql`select version from event_store.view_versions where view = ${name}`,
  );
  return (row?.version ?? 0) < version;
};

/** Exclusive while live tables are exchanged, and shared by readers that read several of them in one snapshot. */
export const EXCHANGE_LOCK = computeLockKey('cadastre exchange of views');

/** An exchange gives up after this time and is tried again, so that requests behind it do not wait long. */
const LOCK_TIMEOUT_MS = 300;
/**
 * Some attempts wait longer for the log, or for the tables of a follower, because Postgres interrupts its own
 * maintenance of a table only after a second.
 */
const LONG_LOCK_TIMEOUT_MS = 2_000;
const LONG_ATTEMPT = 5;
const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 2_000;
/** More events than this are not applied while writers wait. */
const MAX_LOCKED_EVENTS = 2_000;
const UNSETTLED_RETRY_MS = 500;

/** `reader` reads the log while `session` writes. Both see all committed events while `session` locks the log. */
type RebuildSessions = { readonly reader: DatabaseSession; readonly session: DatabaseSession };

class ViewRebuild {
  private readonly replay: Replay;
  private readonly session: DatabaseSession;
  /** People whose names were removed from the copies. */
  private erased: ReadonlySet<string> = new Set();
  private events = 0;
  private lockedMs = 0;
  /** After two streams were found with one name, unique indexes are built while no one writes. */
  private hasUniqueIndexes = true;

  constructor(
    store: EventStore,
    private readonly view: RebuildableView,
    { reader, session }: RebuildSessions,
    private readonly options: RebuildOptions,
  ) {
    this.session = session;
    const { pace = FULL_PACE, onEvents, signal } = options;
    const count = (events: number): void => {
      this.events += events;
      rebuildMetrics.events.inc({ view: view.name }, events);
      onEvents?.(events);
    };
    this.replay = new Replay({ store, view, reader, session, pace, onEvents: count, signal });
  }

  async run(): Promise<RebuildResult> {
    const { view, session, options } = this;
    const copy = await ViewCopy.create(session, view, 'views_next');
    await this.replayNext();
    if (view.follower?.prune) await session.run(view.follower.prune(options.now));
    await this.eraseNames(copy);
    await copy.makeDurable();
    await copy.createLateIndexes('other');
    this.replay.order = 'log';
    await this.withoutUniqueIndexesOnConflict(copy, () => copy.createLateIndexes('unique'));
    await copy.vacuum();
    await this.exchange(copy);
    return { lockedMs: this.lockedMs, events: this.events };
  }

  private async exchange(copy: ViewCopy): Promise<void> {
    const { signal } = this.options;
    let retryMs = RETRY_FIRST_MS;
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      const isCaughtUp = await this.withoutUniqueIndexesOnConflict(copy, () => this.replayNext());
      if (!isCaughtUp) continue;
      if (await this.hasManyUnreadEvents()) {
        if (!this.view.follower) await pause(UNSETTLED_RETRY_MS, signal);
        continue;
      }
      // Writers do not wait for the search of complete tables. The exchange searches them only for people who were
      // forgotten since.
      await this.eraseNames(copy);
      const timeoutMs = attempt % LONG_ATTEMPT === 0 ? LONG_LOCK_TIMEOUT_MS : LOCK_TIMEOUT_MS;
      try {
        if (await this.withoutUniqueIndexesOnConflict(copy, () => this.tryExchange(copy, timeoutMs))) return;
      } catch (error) {
        if (!isLockTimeout(error) && !isRetryableError(error)) throw error;
        await pause(retryMs, signal);
        retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
      }
    }
  }

  private async tryExchange(copy: ViewCopy, timeoutMs: number): Promise<void> {
    const { view, session, replay, events, erased } = this;
    const { position } = replay;
    let started = performance.now();
    await session.run(sql`begin`);
    try {
      await session.run(sql.raw(`set local lock_timeout = ${timeoutMs}`));
      // Acquired before all other locks: see name-columns.ts. No person is forgotten until the exchange is over.
      if (view.follower) await session.run(ACQUIRE_SHARED_NAMES_XACT_LOCK);
      await session.run(sql`select pg_advisory_xact_lock(${EXCHANGE_LOCK})`);
      await session.run(sql`select event_store.lock_view_writers()`);
      started = performance.now();
      if (view.follower) await copy.lockLiveTables();
      else await session.run(sql`lock table event_store.events in share mode`);
      await session.run(sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`));
      // The follower continues at the position of the rebuild, so no event may precede it later.
      const until = await this.readEnd();
      await replay.run({ isComplete: true, extent: view.follower ? 'settled' : 'committed', until });
      await this.refuseSurplus();
      await this.eraseNames(copy);
      if (!this.hasUniqueIndexes) await copy.createLateIndexes('unique');
      if (!view.follower) await copy.lockLiveTables();
      await copy.replaceLiveTables();
      if (view.follower) await session.run(writeCheckpoint(view.follower.name, replay.position));
      await session.run(writeViewVersion(view));
      await session.run(sql`commit`);
    } catch (error) {
      await session.run(sql`rollback`);
      replay.position = position;
      this.events = events;
      this.erased = erased;
      throw error;
    } finally {
      this.lockedMs = Math.max(this.lockedMs, performance.now() - started);
    }
  }

  private async replayNext(): Promise<void> {
    await this.replay.run({ isComplete: false, until: await this.readEnd() });
  }

  /** Returns where the replay ends: see `durable` of Follower. Null for no end. */
  private async readEnd(): Promise<LogPosition | null> {
    const { follower } = this.view;
    if (!follower?.durable) return null;
    const [checkpoint] = await this.session.run<Checkpoint>(selectCheckpoint(follower.name));
    return checkpoint ?? LOG_START;
  }

  private async refuseSurplus(): Promise<void> {
    const surplus = await this.view.follower?.durable?.findSurplus(this.session);
    if (surplus) throw new DurableRowError(surplus);
  }

  /**
   * Resolves to false if a unique index of the copy was violated: concurrent transactions can have used one name in
   * another order than that of the log. The next exchange then builds these indexes after the complete log.
   */
  private async withoutUniqueIndexesOnConflict(copy: ViewCopy, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!this.hasUniqueIndexes || getViolatedConstraint(error) === null) throw error;
      this.hasUniqueIndexes = false;
      await copy.dropUniqueIndexes();
      return false;
    }
  }

  /** Erases the names of people who were forgotten after their events were read. */
  private async eraseNames(copy: ViewCopy): Promise<void> {
    const forgotten = await this.session.run<ForgottenPerson>(SELECT_FORGOTTEN_PEOPLE);
    const people = forgotten.map(({ person }) => person).filter((person) => !this.erased.has(person));
    await eraseNamesInCopies(this.session, this.view, people, (table) => copy.nameOf(table));
    this.erased = new Set([...this.erased, ...people]);
  }

  /**
   * Returns whether the exchange would apply many events. Those of an inline view may be unreadable before the lock,
   * because an old transaction, in any database of the server, delays them. Those of a follower's view are readable.
   */
  private async hasManyUnreadEvents(): Promise<boolean> {
    const { transaction, position } = this.replay.position;
    const isApplied = this.view.follower ? sql`transaction < pg_snapshot_xmin(pg_current_snapshot())` : sql`true`;
    const end = await this.readEnd();
    const isBeforeEnd = end
      ? sql`(transaction, position) <= (${end.transaction}::xid8, ${end.position}::bigint)`
      : sql`true`;
    const [row] = await this.session.run<{ events: number }>(sql`
      select count(*)::integer as events from (
        select from event_store.events
         where (transaction, position) > (${transaction}::xid8, ${position}::bigint) and ${isApplied} and ${isBeforeEnd}
         limit ${MAX_LOCKED_EVENTS + 1}) remaining`);
    return (row?.events ?? 0) > MAX_LOCKED_EVENTS;
  }
}
