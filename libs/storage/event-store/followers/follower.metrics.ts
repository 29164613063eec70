import { Counter, Gauge } from 'prom-client';
import { readCurrentLags } from './follower-lag.js';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
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
    help: 'Age of the oldest event that a follower has not handled, at the time of the scrape',
    labelNames: ['follower'],
    async collect() {
      const lags = await readCurrentLags();
      // A lag that cannot be read is left out, because an old value would look like a follower without lag.
      this.reset();
      for (const { follower, seconds } of lags) this.set({ follower }, seconds);
    },
  }),
  backlog: new Gauge({
    name: 'cadastre_follower_backlog_events',
    help: 'Events of the log that a follower has not passed, at the time of the scrape; counted up to 10000',
    labelNames: ['follower'],
    async collect() {
      const lags = await readCurrentLags();
      this.reset();
      for (const { follower, events } of lags) this.set({ follower }, events);
    },
  }),
};
