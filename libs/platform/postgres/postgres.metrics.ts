import { Counter, Gauge } from 'prom-client';

/** The label is not `job`, because Prometheus adds a label with that name to everything that it reads. */
export const jobMetrics = {
  items: new Counter({
    name: 'cadastre_scheduled_job_items_total',
    help: 'Items that a scheduled job has processed',
    labelNames: ['scheduled_job'],
  }),
  failures: new Counter({
    name: 'cadastre_scheduled_job_failures_total',
    help: 'Runs of a scheduled job that failed, in whole or in part, and were retried',
    labelNames: ['scheduled_job'],
  }),
  lastSuccess: new Gauge({
    name: 'cadastre_scheduled_job_last_success_timestamp_seconds',
    help: 'When a scheduled job last finished everything that was due (Unix time)',
    labelNames: ['scheduled_job'],
  }),
};

export const databaseMetrics = {
  connections: new Gauge({
    name: 'cadastre_postgres_connections',
    help: 'Connections to Postgres that requests share',
    labelNames: ['pool', 'state'],
  }),
  waiting: new Gauge({
    name: 'cadastre_postgres_round_trips_waiting',
    help: 'Statements and transactions that wait for a connection or for their answer',
    labelNames: ['pool'],
  }),
};
