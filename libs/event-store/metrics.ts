import { Counter, Gauge } from 'prom-client';

/** Served at /metrics (docs/operations.md lists them). */
export const followerMetrics = {
  events: new Counter({
    name: 'cadastre_follower_events_total',
    help: 'Events that a follower has handled',
    labelNames: ['follower'],
  }),
  failures: new Counter({
    name: 'cadastre_follower_failures_total',
    help: 'Batches that failed and were tried again',
    labelNames: ['follower'],
  }),
  lag: new Gauge({
    name: 'cadastre_follower_lag_seconds',
    help: 'Age of the last event handled, when it was handled',
    labelNames: ['follower'],
  }),
};

export const choreMetrics = {
  done: new Counter({
    name: 'cadastre_chore_done_total',
    help: 'Things that a chore has done',
    labelNames: ['chore'],
  }),
  failures: new Counter({
    name: 'cadastre_chore_failures_total',
    help: 'Rounds of a chore that failed, in whole or in part, and were tried again',
    labelNames: ['chore'],
  }),
  finished: new Gauge({
    name: 'cadastre_chore_finished_seconds',
    help: 'When a chore was last through with everything that was due (Unix time)',
    labelNames: ['chore'],
  }),
};
