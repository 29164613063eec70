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
