import { Counter, Gauge } from 'prom-client';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
export const archiveMetrics = {
  objects: new Counter({
    name: 'cadastre_audit_archive_objects_total',
    help: 'Objects that were delivered to the archive of audit trails',
  }),
  oldest: new Gauge({
    name: 'cadastre_audit_archive_oldest_undelivered_seconds',
    help: 'Time since the oldest checkpoint was signed that the archive of audit trails does not have',
  }),
};
