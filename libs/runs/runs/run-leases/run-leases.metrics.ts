import { Counter, Gauge } from 'prom-client';
import type { PhaseName } from '../runs/phases.js';

/** Served at /metrics (docs/reference/metrics.md lists them). */
const leases = new Gauge({
  name: 'cadastre_run_leases',
  help: 'Plans and applies that executors have claimed',
});

const lost = new Counter({
  name: 'cadastre_run_leases_lost_total',
  help: 'Leases that executors have not renewed',
  labelNames: ['phase'],
});

const oldestQueued = new Gauge({
  name: 'cadastre_run_oldest_queued_seconds',
  help: 'Time since the run that has waited longest for an executor was queued',
});

const waiting = new Gauge({
  name: 'cadastre_executor_requests_waiting',
  help: 'Requests of executors that wait for a run or for the end of their lease',
});

export const countLostLease = (phase: PhaseName): void => lost.inc({ phase });

export const reportQueue = (leaseCount: number, oldestQueuedSeconds: number): void => {
  leases.set(leaseCount);
  oldestQueued.set(oldestQueuedSeconds);
};

export const changeWaiting = (by: 1 | -1): void => waiting.inc(by);
