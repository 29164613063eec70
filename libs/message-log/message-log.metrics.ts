import { Counter, Gauge } from 'prom-client';

/** Metrics of consumed topics, served at /metrics (docs/reference/metrics.md lists them). */
export const consumerMetrics = {
  messages: new Counter({
    name: 'cadastre_inbox_messages_total',
    help: 'Messages of consumed topics, by result',
    labelNames: ['topic', 'result'],
  }),
  failures: new Counter({
    name: 'cadastre_inbox_failures_total',
    help: 'Attempts to record messages or to send rejections that failed and were retried',
    labelNames: ['topic'],
  }),
  lag: new Gauge({
    name: 'cadastre_inbox_lag_messages',
    help: 'Messages in a partition after the last handled message, at the time it was handled',
    labelNames: ['topic', 'partition'],
  }),
};
