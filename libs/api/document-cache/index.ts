export { DocumentCacheModule, DocumentMemory } from './document-cache.module.js';
export { findDocumentScope, recordDocumentScope, type ReadTicket } from './document-cache.js';
export { cacheMetrics } from './document-cache.metrics.js';
