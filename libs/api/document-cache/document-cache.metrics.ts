import { Counter, Gauge } from 'prom-client';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
export const cacheMetrics = {
  requests: new Counter({
    name: 'cadastre_document_cache_requests_total',
    help: 'Requests for documents that may be kept in memory',
    labelNames: ['result'],
  }),
  dropped: new Counter({
    name: 'cadastre_document_cache_dropped_total',
    help: 'Documents that were dropped from memory',
    labelNames: ['reason'],
  }),
  checks: new Counter({
    name: 'cadastre_read_barrier_checks_total',
    help: 'Statements that checked for all requests that waited whether documents in memory are current',
  }),
  documents: new Gauge({
    name: 'cadastre_document_cache_documents',
    help: 'Documents in memory',
  }),
  bytes: new Gauge({
    name: 'cadastre_document_cache_bytes',
    help: 'Memory of the documents, estimated',
  }),
  resources: new Gauge({
    name: 'cadastre_kept_resources',
    help: 'Resources in memory, of which documents are made',
  }),
  resourceBytes: new Gauge({
    name: 'cadastre_kept_resources_bytes',
    help: 'Memory of the resources, estimated',
  }),
  names: new Gauge({
    name: 'cadastre_kept_names',
    help: 'Names in memory, with which lists and searches are answered',
  }),
};
