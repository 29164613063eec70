import { Counter, Gauge, Histogram } from 'prom-client';

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
    help: 'Messages in an assigned partition after the last handled message, when it was handled or the partition assigned',
    labelNames: ['topic', 'partition'],
  }),
};

/** Metrics of messages that this process sends. */
export const senderMetrics = {
  messages: new Counter({
    name: 'cadastre_kafka_sent_messages_total',
    help: 'Messages that all in-sync replicas have acknowledged',
    labelNames: ['topic'],
  }),
  seconds: new Histogram({
    name: 'cadastre_kafka_send_seconds',
    help: 'Time until a batch of messages was acknowledged, or had failed',
    labelNames: ['client', 'result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
  }),
};
