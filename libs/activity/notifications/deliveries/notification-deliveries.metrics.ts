import { Counter, Gauge } from 'prom-client';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
const attempts = new Counter({
  name: 'cadastre_notification_attempts_total',
  help: 'Requests to destinations of notification configurations',
  labelNames: ['result'],
});

const due = new Gauge({
  name: 'cadastre_notification_deliveries_due',
  help: 'Notifications that are due and not yet delivered',
});

const oldest = new Gauge({
  name: 'cadastre_notification_oldest_due_seconds',
  help: 'Time since the notification that has waited longest was due',
});

export type AttemptResult = 'delivered' | 'retried' | 'failed' | 'skipped';

export const countAttempt = (result: AttemptResult): void => attempts.inc({ result });

export const reportDue = (count: number, oldestSeconds: number): void => {
  due.set(count);
  oldest.set(oldestSeconds);
};
