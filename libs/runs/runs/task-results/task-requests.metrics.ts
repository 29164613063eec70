import { Gauge } from 'prom-client';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
const due = new Gauge({
  name: 'cadastre_run_task_requests_due',
  help: 'Requests to services of run tasks that are due and not yet sent',
});

const oldest = new Gauge({
  name: 'cadastre_run_task_oldest_due_seconds',
  help: 'Time since the request to a service of a run task that has waited longest was due',
});

export const reportDueTaskRequests = (count: number, oldestSeconds: number): void => {
  due.set(count);
  oldest.set(oldestSeconds);
};
