import { collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client';
import type { RequestObserver } from './request-observer.http.js';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
const duration = new Histogram({
  name: 'cadastre_http_request_duration_seconds',
  help: 'Time from the headers of a request to the end of its response',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
});

const inFlight = new Gauge({
  name: 'cadastre_http_requests_in_flight',
  help: 'Requests that are being answered',
});

const buildInfo = new Gauge({
  name: 'cadastre_build_info',
  help: '1; the label is the version of the product',
  labelNames: ['version'],
  // Workers have the same version, and most metrics of several workers are sums.
  aggregator: 'first',
});

/** Collects metrics of the process and the runtime, once for all servers in the process. */
export const collectProcessMetrics = (version: string): void => {
  buildInfo.set({ version }, 1);
  if (!register.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics();
};

export const requestMetrics: RequestObserver = {
  started: () => inFlight.inc(),
  completed: ({ method, route, status, durationMs }) => {
    inFlight.dec();
    duration.observe({ method, route, status: String(status) }, durationMs / 1_000);
  },
};
