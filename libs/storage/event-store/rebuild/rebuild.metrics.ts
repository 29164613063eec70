import { Counter, Gauge } from 'prom-client';

/** Served at /metrics (docs/reference/metrics.md lists them). */
export const rebuildMetrics = {
  events: new Counter({
    name: 'cadastre_view_rebuild_events_total',
    help: 'Events that rebuilds have applied to a view',
    labelNames: ['view'],
  }),
  rebuilds: new Counter({
    name: 'cadastre_view_rebuilds_total',
    help: 'Rebuilds of a view that have ended',
    labelNames: ['view'],
  }),
  outdated: new Gauge({
    name: 'cadastre_views_to_rebuild',
    help: 'Views whose rows are of an earlier version than the one that this process writes',
  }),
};
