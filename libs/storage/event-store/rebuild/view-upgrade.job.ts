import { sql, type Clock, type Logger } from '#platform/kernel';
import type { DatabaseSession, JobRun, ScheduledJob } from '#platform/postgres';
import type { EventStore } from '../event-store.js';
import { rebuildView, tryAcquireRebuildLock } from './rebuild.js';
import { rebuildMetrics } from './rebuild.metrics.js';
import type { ReplayPace } from './replay.js';
import { ViewCopy } from './view-copy.js';
import { listDifferentVersions, type ViewVersionState } from './view-versions.js';
import type { RebuildableView } from './views.js';

const EVERY_MS = 10_000;
/** Requests of this process wait for one page at most, and get half of the time. */
const BACKGROUND_PACE: ReplayPace = { page: 250, rest: 1 };
const PROGRESS_MS = 30_000;

type ViewUpgradeDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * Rebuilds views whose rows are of an earlier version than the one that this process writes. Waits while a process of
 * an earlier version runs, because that process would write rows of its own version into the rebuilt view (ADR 38).
 */
export const createViewUpgradeJob = (
  dependencies: ViewUpgradeDependencies,
  views: readonly RebuildableView[],
): ScheduledJob => {
  const { store, logger } = dependencies;
  const announced = new Set<string>();
  return {
    name: 'view_versions',
    everyMs: EVERY_MS,
    run: async (round) => {
      const earlier = await listEarlierViews(store, views);
      if (earlier.length === 0) return dropLeftovers(store);
      const failures: Error[] = [];
      for (const state of earlier) {
        if (round.signal.aborted) return;
        if (isWrittenByEarlierVersion(state)) {
          announceWait(logger, announced, state);
          continue;
        }
        await upgradeView(dependencies, state, round).catch((error: unknown) => {
          failures.push(new Error(`the view ${state.view.name} was not rebuilt`, { cause: error }));
        });
      }
      if (round.signal.aborted) return;
      await listEarlierViews(store, views);
      if (failures.length > 0) throw new AggregateError(failures, describeFailures(failures));
    },
  };
};

/** Returns these views, and reports their number to the metrics. */
const listEarlierViews = async (
  store: EventStore,
  views: readonly RebuildableView[],
): Promise<readonly ViewVersionState[]> => {
  const states = await listDifferentVersions(store.database, views);
  const earlier = states.filter(({ view, stored }) => stored < view.version);
  rebuildMetrics.outdated.set(earlier.length);
  return earlier;
};

const isWrittenByEarlierVersion = ({ view, lowestWritten }: ViewVersionState): boolean =>
  lowestWritten !== null && lowestWritten < view.version;

const announceWait = (logger: Logger, announced: Set<string>, { view, stored }: ViewVersionState): void => {
  if (announced.has(view.name)) return;
  announced.add(view.name);
  logger.info(
    { view: view.name, from: stored, to: view.version },
    'the rebuild of the view waits until processes of the earlier version have stopped',
  );
};

const upgradeView = async (
  { store, clock, logger }: ViewUpgradeDependencies,
  { view, stored }: ViewVersionState,
  { signal, done }: JobRun,
): Promise<void> => {
  const fields = { view: view.name, from: stored, to: view.version };
  const started = performance.now();
  let events = 0;
  let reportedAt = started;
  logger.info(fields, 'rebuild of the view begins; the live view is served meanwhile');
  const onEvents = (more: number): void => {
    events += more;
    if (performance.now() - reportedAt < PROGRESS_MS) return;
    reportedAt = performance.now();
    logger.info({ ...fields, events }, 'rebuild of the view continues');
  };
  const options = { now: clock.now(), pace: BACKGROUND_PACE, onlyIfEarlier: true, onEvents, signal };
  const result = await rebuildView(store, view, options);
  if (!result) return;
  done();
  const seconds = Math.round(performance.now() - started) / 1_000;
  logger.info(
    { ...fields, events: result.events, seconds, lockedMs: Math.round(result.lockedMs) },
    'rebuild of the view is done',
  );
};

/** Drops the copies of an interrupted rebuild that is no longer needed. */
const dropLeftovers = async (store: EventStore): Promise<void> => {
  const leftover = await store.database.row(sql`select 1 from pg_tables where schemaname = 'views_next' limit 1`);
  if (!leftover) return;
  const session: DatabaseSession = await store.database.session();
  try {
    if (await tryAcquireRebuildLock(session)) await ViewCopy.dropAll(session);
  } finally {
    await session.close();
  }
};

const describeFailures = (failures: readonly Error[]): string =>
  failures
    .map(({ message, cause }) => `${message}: ${cause instanceof Error ? cause.message : String(cause)}`)
    .join('; ');
