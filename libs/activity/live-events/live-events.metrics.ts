import { Counter, Gauge, Histogram } from 'prom-client';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
export const liveEventMetrics = {
  open: new Gauge({
    name: 'cadastre_live_streams_open',
    help: 'Open live streams',
  }),
  ended: new Counter({
    name: 'cadastre_live_streams_ended_total',
    help: 'Live streams that have ended, by the reason; `client` if the client closed the connection',
    labelNames: ['reason'],
  }),
  messages: new Counter({
    name: 'cadastre_live_messages_total',
    help: 'Messages about changes that were sent to live streams',
  }),
  delay: new Histogram({
    name: 'cadastre_live_delay_seconds',
    help: 'Time from an event to its messages: of the oldest event of each batch',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  }),
};
