import { Counter } from 'prom-client';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
export const tracingMetrics = {
  spans: new Counter({
    name: 'cadastre_trace_spans_total',
    help: 'Spans of traces, by result of their export to the collector',
    labelNames: ['result'],
  }),
};
