import { Counter, Gauge } from 'prom-client';

/** Of topics that we read; served at /metrics (docs/reference/metrics.md lists them). */
export const consumerMetrics = {
  messages: new Counter({
    name: 'cadastre_inbox_messages_total',
    help: 'Messages that others sent, by what became of them',
    labelNames: ['topic', 'result'],
  }),
  failures: new Counter({
    name: 'cadastre_inbox_failures_total',
    help: 'Batches that could not be recorded, or told of, and were tried again',
    labelNames: ['topic'],
  }),
  lag: new Gauge({
    name: 'cadastre_inbox_lag_messages',
    help: 'Messages in a partition after the last one that was taken, when it was taken',
    labelNames: ['topic', 'partition'],
  }),
};
