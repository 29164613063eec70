import { sql, type LogPosition, type RecordedEvent, type Sql } from '#platform/kernel';
import { computeFollowerLockKey, type Database, type DatabaseSession } from '#platform/postgres';
import type { EventStore } from '../event-store.js';
import { findEarliest, isAfter, toPosition } from '../log-positions.js';
import { BatchHandler, type FollowerBatch, type FollowerFailure } from './batch-handler.js';
import type { FollowerProgress } from './follower-progress.js';
import type { GroupMember } from './group-member.js';
import { listenForLog, parseReadRequest } from './log-signal.js';
import type { RoundResult } from './log-watch.js';
import { PositionWaiters } from './position-waiters.js';
import type { SharedSession } from './shared-session.js';
import { WakeablePause } from './wakeable-pause.js';

const IDLE_FIRST_MS = 5;
const IDLE_MAX_MS = 1_000;
/**
 * Time between two reads of a log that grows slowly. A round takes several milliseconds of CPU, however few events it
 * has. Readers of views do not wait for this time: see `hurry`.
 */
const GATHER_MS = 100;
const HURRY_FIRST_MS = 2;
const HURRY_MAX_MS = 20;
/** The shortest time between the starts of two rounds, however many readers wait. */
const MIN_ROUND_MS = 20;

const groups = new Map<EventStore, FollowerGroup>();

/** A process of 0.2.0 keeps its followers until it stops, even if its connection breaks (010_log_format.sql). */
export const tryFollowerLock = async (session: DatabaseSession, follower: string): Promise<boolean> => {
  const [lock] = await session.run<{ ok: boolean }>(
    sql`select case when event_store.is_led_by_earlier_version(${follower}) then false
                    else pg_try_advisory_lock(${computeFollowerLockKey(follower)}) end as ok`,
  );
  return lock?.ok ?? false;
};

const releaseFollowerLock = (follower: string): Sql =>
  sql`select pg_advisory_unlock(${computeFollowerLockKey(follower)})`;

/**
 * Adds a follower that has caught up to the group of its process. Its lock moves from the session to the connection of
 * the group. Resolves to false if another process got the lock.
 */
export const joinGroup = async (store: EventStore, member: GroupMember, session: SharedSession): Promise<boolean> => {
  const group = groups.get(store);
  if (group) return group.admit(member, session);
  groups.set(store, FollowerGroup.begin(store, member, session.share()));
  return true;
};

/**
 * Makes the follower read the log at once. Resolves to true when it has stored the position, and to false after 5 s
 * or if the follower leaves the group. Returns null if no group of this process has the follower.
 */
export const hurryFollower = (database: Database, follower: string, position: LogPosition): Promise<boolean> | null => {
  for (const group of groups.values()) {
    const stored = group.database === database ? group.hurry(follower, position) : null;
    if (stored) return stored;
  }
  return null;
};

/**
 * The followers of this process that have caught up with the log. One connection holds their locks, listens, reads the
 * log once for all, and commits their statements in one transaction. Followers with effects outside their tables get the
 * same events, but work and commit at their own pace. A follower leaves the group if it fails, falls behind or stops;
 * its runner then continues alone, and joins again when it has caught up (ADR 43).
 */
export class FollowerGroup {
  private readonly members = new Map<string, GroupMember>();
  /** Followers that are about to join, or that have left and whose last batch or lock is not finished yet. */
  private readonly unsettled = new Set<string>();
  private readonly pause = new WakeablePause();
  private readonly waiters = new PositionWaiters();
  private readonly handler: BatchHandler;
  private idleMs = IDLE_FIRST_MS;
  private hurryMs = HURRY_FIRST_MS;
  private isRegistered = false;
  private hasEnded = false;

  private constructor(
    private readonly store: EventStore,
    private readonly session: SharedSession,
  ) {
    this.handler = new BatchHandler(store, session, ({ progress, end }) =>
      this.waiters.isAwaited(progress.follower.name, end),
    );
  }

  /** Begins with a follower that has its lock on this session. */
  static begin(store: EventStore, member: GroupMember, session: SharedSession): FollowerGroup {
    const group = new FollowerGroup(store, session);
    group.isRegistered = !member.isIndependent;
    session.onEnd(() => group.pause.wake('urgent'));
    session.onNotification((payload) => group.onNotification(payload));
    group.add(member);
    void group.run();
    return group;
  }

  get database(): Database {
    return this.store.database;
  }

  /** Resolves to false if another process got the lock, or another runner of this process has the follower. */
  async admit(member: GroupMember, session: DatabaseSession): Promise<boolean> {
    const { name } = member;
    if (this.members.has(name) || this.unsettled.has(name)) return false;
    this.unsettled.add(name);
    try {
      await session.run(releaseFollowerLock(name));
      if (!(await tryFollowerLock(this.session, name))) return false;
      const { writerRegistration } = this.database;
      if (!member.isIndependent && !this.isRegistered && writerRegistration) await this.session.run(writerRegistration);
      this.isRegistered ||= !member.isIndependent;
      if (this.hasEnded) throw new Error('the connection of the followers was closed');
      this.add(member);
      return true;
    } finally {
      this.unsettled.delete(name);
      this.pause.wake('urgent');
    }
  }

  hurry(follower: string, position: LogPosition): Promise<boolean> | null {
    const member = this.members.get(follower);
    if (!member) return null;
    if (!isAfter(position, member.progress.stored)) return Promise.resolve(true);
    const stored = this.waiters.add(follower, position);
    this.hurryMs = HURRY_FIRST_MS;
    this.pause.wake('urgent');
    return stored;
  }

  private onNotification(payload: string): void {
    const request = parseReadRequest(payload);
    if (request) void this.hurry(request.follower, request.position);
    else this.pause.wake('news');
  }

  private add(member: GroupMember): void {
    this.members.set(member.name, member);
    const wake = (): void => this.pause.wake('urgent');
    member.signal.addEventListener('abort', wake);
    const forget = (): void => member.signal.removeEventListener('abort', wake);
    member.ended.then(forget, forget);
  }

  private async run(): Promise<void> {
    let removeListener = (): void => undefined;
    try {
      removeListener = await this.listen();
      while (this.members.size + this.unsettled.size > 0) {
        const startedAt = performance.now();
        // The next read includes all events that woke the group until now.
        this.pause.clear();
        this.releaseLeaving();
        await this.waitForBacklogs();
        await this.pauseAfter(await this.round(), startedAt);
      }
    } catch (error) {
      for (const member of this.members.values()) this.end(member, error);
    } finally {
      removeListener();
      await this.close();
    }
  }

  private async listen(): Promise<() => void> {
    const backend = await listenForLog(this.session);
    return this.store.signal.addListener({ backend, wake: () => this.pause.wake('news') });
  }

  private async close(): Promise<void> {
    this.hasEnded = true;
    if (groups.get(this.store) === this) groups.delete(this.store);
    // The connection may already be broken. Each follower has reported the error.
    await this.session.close().catch(() => undefined);
  }

  private releaseLeaving(): void {
    for (const member of this.members.values()) if (member.isLeaving) this.end(member);
  }

  /** Independent followers that cannot keep up with the others leave. If there are no others, the group waits. */
  private async waitForBacklogs(): Promise<void> {
    const behind = [...this.members.values()].filter(({ isBehind }) => isBehind);
    if (behind.length === 0) return;
    if (behind.length === this.members.size) await Promise.race(behind.map(({ work }) => work));
    else for (const member of behind) this.end(member);
  }

  private async round(): Promise<RoundResult> {
    const members = [...this.members.values()];
    if (members.length === 0) return 'none';
    const from = findEarliest(members.map(({ passed }) => passed));
    const limit = Math.min(...members.map(({ follower }) => follower.batch));
    const options = { only: listTypes(members), keepEncrypted: true };
    const run = (statement: Sql) => this.session.run(statement);
    const { events, length } = await this.store.log.readPage(from, limit, run, options);
    const last = events.at(-1);
    if (last) {
      const end = toPosition(last);
      const batches = members.flatMap((member) => this.pass(member, events, end));
      this.endFailed(await this.handler.handle(batches, this.listUnstored(members)));
    }
    const isDue = (progress: FollowerProgress): boolean =>
      !last || progress.isDue || this.waiters.isAwaited(progress.follower.name, progress.position);
    this.endFailed(await this.handler.storePositions(this.listUnstored(members).filter(isDue)));
    this.answerWaiters();
    if (!last) return 'none';
    return length < limit / 2 ? 'few' : 'many';
  }

  /** Returns the progress of those that have nothing to do, and whose position is not stored. */
  private listUnstored(members: readonly GroupMember[]): readonly FollowerProgress[] {
    return members
      .filter((one) => this.members.has(one.name) && one.isIdle && !one.progress.isStored)
      .map(({ progress }) => progress);
  }

  /** Returns the batch to handle together with those of other followers, if there is one. */
  private pass(member: GroupMember, events: readonly RecordedEvent[], end: LogPosition): readonly FollowerBatch[] {
    if (!isAfter(end, member.passed)) return [];
    const { progress, isIdle } = member;
    const batch = { progress, events: member.select(events), end };
    if (member.needsTimeFor(batch.events)) {
      member.departs = true;
      return [];
    }
    member.passed = end;
    if (batch.events.length === 0 && isIdle) progress.position = end;
    else if (member.isIndependent) member.enqueue(batch, (queued) => this.handleAlone(member, queued));
    else return [batch];
    return [];
  }

  private async handleAlone(member: GroupMember, batch: FollowerBatch): Promise<void> {
    // If the follower has left, its next leader reads the events again.
    if (member.isLeaving || this.members.get(member.name) !== member) return;
    if (batch.events.length === 0) batch.progress.position = batch.end;
    else this.endFailed(await this.handler.handle([batch]));
    this.answerWaiters();
  }

  private endFailed(failures: readonly FollowerFailure[]): void {
    for (const { progress, error } of failures) {
      const member = this.members.get(progress.follower.name);
      if (member?.progress === progress) this.end(member, error);
    }
  }

  /** Ends the membership after the follower's last batch, and releases its lock. */
  private end(member: GroupMember, error?: unknown): void {
    const { name } = member;
    if (!this.members.delete(name)) return;
    this.unsettled.add(name);
    this.answerWaiters();
    void member.work.then(async () => {
      // Otherwise its next leader would handle events again whose position was not stored yet. If the position cannot be
      // stored, a rebuild has moved the checkpoint, or the connection is broken. The next leader then begins at the checkpoint.
      if (error === undefined && !member.progress.isStored) await this.handler.storePositions([member.progress]);
      // If the connection is broken, Postgres has released the lock.
      await this.session.run(releaseFollowerLock(name)).catch(() => undefined);
      this.unsettled.delete(name);
      if (this.members.size + this.unsettled.size === 0) await this.close();
      member.end(error);
      this.pause.wake('urgent');
    });
  }

  private answerWaiters(): void {
    this.waiters.answer((follower) => this.members.get(follower)?.progress.stored);
  }

  private async pauseAfter(result: RoundResult, startedAt: number): Promise<void> {
    if (result === 'many') return;
    if (!this.waiters.isEmpty) {
      // The awaited events may follow a transaction that still runs.
      await this.pause.wait(this.hurryMs, ['urgent']);
      this.hurryMs = Math.min(this.hurryMs * 2, HURRY_MAX_MS);
    } else if (result === 'few') {
      this.idleMs = GATHER_MS;
      await this.pause.wait(GATHER_MS, ['urgent']);
    } else {
      // An empty result may only mean that a transaction is still running. The pauses are short at first and then grow.
      const isWoken = await this.pause.wait(this.idleMs, ['urgent', 'news']);
      this.idleMs = isWoken ? IDLE_FIRST_MS : Math.min(this.idleMs * 2, IDLE_MAX_MS);
    }
    const rest = MIN_ROUND_MS - (performance.now() - startedAt);
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
  }
}

/** Returns the types of events that some member needs; null if one needs all. */
const listTypes = (members: readonly GroupMember[]): readonly string[] | null => {
  const types = members.map(({ follower }) => follower.only);
  return types.some((only) => only === undefined) ? null : [...new Set(types.flatMap((only) => only ?? []))];
};
