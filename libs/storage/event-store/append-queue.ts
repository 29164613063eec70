import { FailedGroupError, type Database, type DatabaseRow } from '#platform/postgres';
import { getActiveTrace, runInTrace, type ActiveTrace } from '#platform/tracing';
import {
  buildGroupTransaction,
  isOutdated,
  judgeFailure,
  listNewVersions,
  takeGroup,
  type GroupedAppend,
  type GroupTransaction,
} from './append-group.js';
import { appendMetrics } from './append.metrics.js';

/** An append that waits for its group. */
type QueuedAppend = GroupedAppend & {
  /** Runs the append in a transaction of its own. */
  readonly alone: () => Promise<DatabaseRow[][]>;
  /** Reports the end of the shared transaction, with an error if the append failed. */
  readonly ended: (error?: unknown) => void;
};

type WaitingAppend = QueuedAppend & {
  readonly resolve: (rows: DatabaseRow[][]) => void;
  readonly reject: (error: unknown) => void;
  readonly queuedAt: number;
  readonly trace: ActiveTrace | null;
  /** Number of groups that failed because of other appends. */
  failures: number;
};

/** After this number of failed groups, an append is sent alone. */
const MAX_GROUP_FAILURES = 2;
/** While a group takes longer than this, appends of other organizations do not wait for it. */
const SLOW_GROUP_MS = 20;
/** One for each connection of groups. */
const MAX_RUNNING_GROUPS = 2;

/** The error of event_store.append, for an append that would fail with it. */
class OutdatedVersionError extends Error {
  override readonly name = 'OutdatedVersionError';
  readonly code = 'CA409';
}

/** A group on its way to Postgres. It is slow after SLOW_GROUP_MS. */
type RunningGroup = { readonly appends: readonly WaitingAppend[]; isSlow: boolean };

/**
 * Commits appends that are ready at the same time in one transaction (ADR 42). While a group is being committed, further
 * appends form the next one, so an append never waits for others to arrive. The failure of an append fails only that
 * append.
 */
export class AppendQueue {
  private waiting: WaitingAppend[] = [];
  private readonly running = new Set<RunningGroup>();
  private isScheduled = false;

  constructor(private readonly database: Database) {}

  /** Resolves to the rows of the append's reads after the commit. */
  run(append: QueuedAppend): Promise<DatabaseRow[][]> {
    return new Promise((resolve, reject) => {
      const trace = getActiveTrace();
      this.waiting.push({ ...append, resolve, reject, queuedAt: performance.now(), trace, failures: 0 });
      this.schedule();
    });
  }

  /** Forms the next group at the end of this turn of the event loop, so that it contains all appends of the turn. */
  private schedule(): void {
    const isBusy = this.running.size === MAX_RUNNING_GROUPS || [...this.running].some(({ isSlow }) => !isSlow);
    if (this.isScheduled || isBusy || this.waiting.length === 0) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.start();
    });
  }

  private start(): void {
    const { group, rest } = takeGroup(
      this.waiting,
      [...this.running].flatMap(({ appends }) => appends),
    );
    this.waiting = rest;
    if (group.length === 0) return;
    const running: RunningGroup = { appends: group, isSlow: false };
    this.running.add(running);
    const timer = setTimeout(() => {
      running.isSlow = true;
      this.schedule();
    }, SLOW_GROUP_MS).unref();
    void this.commit(group).finally(() => {
      clearTimeout(timer);
      this.running.delete(running);
      this.schedule();
    });
  }

  private async commit(group: readonly WaitingAppend[]): Promise<void> {
    const transaction = buildGroupTransaction(group);
    try {
      const traces = group.flatMap(({ trace }) => trace ?? []);
      const results = await this.database.group(transaction.statements, { traces, requests: group.length });
      appendMetrics.perGroup.observe(group.length);
      const committedAt = performance.now();
      for (const { queuedAt } of group) this.database.writeDelays.add(committedAt - queuedAt);
      for (const append of group) {
        append.ended();
        append.resolve(transaction.pick(append, results));
      }
      this.refuseOutdated(listNewVersions(group));
    } catch (error) {
      this.settle(group, transaction, error);
    }
  }

  /** These appends would fail: the versions of streams only rise. */
  private refuseOutdated(versions: ReadonlyMap<string, number>): void {
    const outdated = this.waiting.filter((append) => isOutdated(append, versions));
    if (outdated.length === 0) return;
    this.waiting = this.waiting.filter((append) => !outdated.includes(append));
    for (const append of outdated) refuse(append, new OutdatedVersionError('another append has changed the stream'));
  }

  private settle(group: readonly WaitingAppend[], transaction: GroupTransaction<WaitingAppend>, error: unknown): void {
    if (!(error instanceof FailedGroupError)) return group.forEach((append) => refuse(append, error));
    const { refused, alone, repeated } = judgeFailure(group, transaction, error);
    for (const append of refused) refuse(append, error.error);
    alone.forEach(sendAlone);
    for (const append of repeated) append.failures += 1;
    const [again, tooOften] = [
      repeated.filter(({ failures }) => failures < MAX_GROUP_FAILURES),
      repeated.filter(({ failures }) => failures >= MAX_GROUP_FAILURES),
    ];
    tooOften.forEach(sendAlone);
    this.waiting.unshift(...again);
  }
}

const refuse = (append: WaitingAppend, error: unknown): void => {
  append.ended(error);
  append.reject(error);
};

const sendAlone = ({ alone, trace, resolve, reject }: WaitingAppend): void =>
  void runInTrace(trace, alone).then(resolve, reject);
