import type { Clock, Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { expireLease } from '../runs/change-run.operation.js';
import { endLease, listLostRuns, summarizeQueue, type LostRun } from '../runs/run-leases.queries.js';
import { countLostLease, reportQueue } from './run-leases.metrics.js';

const PAGE_SIZE = 100;
const EVERY_MS = 10_000;
/** Executors repeat a request at most 23 s after a failure, and a lease lasts 60 s. */
const QUIET_MS = 90_000;

const describeLoss = ({ execution: { agent, agentName }, isApply }: LostRun): string => {
  const name = agentName ?? agent;
  return isApply
    ? `The executor ${name} stopped answering while it applied. It may have changed resources that the state does not contain: compare them, and import what is missing, before the next run.`
    : `The executor ${name} stopped answering while it planned.`;
};

/**
 * Ends the work of executors that have not renewed their leases: plans begin again, and applies fail. It also reports the metrics of
 * runs that wait, because one process runs it.
 *
 * After a start, and after a time in which the job could not run, it ends no lease for `quietMs`: executors could not renew them
 * while the server was away.
 */
export const createLostExecutorsJob = (store: EventStore, clock: Clock, ids: Ids, quietMs = QUIET_MS): ScheduledJob => {
  let lastRoundAt = Number.NEGATIVE_INFINITY;
  let quietUntil = Number.NEGATIVE_INFINITY;
  const isQuiet = (): boolean => {
    const now = clock.now().getTime();
    if (now - lastRoundAt > 3 * EVERY_MS) quietUntil = now + quietMs;
    lastRoundAt = now;
    return now < quietUntil;
  };
  return {
    name: 'lost_executors',
    everyMs: EVERY_MS,
    run: async ({ signal, done }) => {
      const losses = isQuiet() ? [] : await listLostRuns(store.database, clock.now(), PAGE_SIZE);
      for (const lost of losses) {
        if (signal.aborted) return;
        if (!(await endLease(store.database, lost.run, clock.now()))) continue;
        const { agent, fence } = lost.execution;
        const data = { agent, fence, message: describeLoss(lost) };
        await expireLease(store, lost.run, data, createSystemContext('lost executors', ids.uuid()));
        countLostLease(lost.isApply ? 'apply' : 'plan');
        done();
      }
      const { leases, queuedSince } = await summarizeQueue(store.database);
      const waitedMs = queuedSince === null ? 0 : clock.now().getTime() - Date.parse(queuedSince);
      reportQueue(leases, Math.max(0, waitedMs / 1_000));
    },
  };
};
