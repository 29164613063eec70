export { DocumentCacheModule, DocumentMemory } from './document-cache.module.js';
export { getChangedWorkspace, type DocumentDependencies } from './dependencies.js';
export { findDocumentScope, recordDocumentScope, type ReadTicket } from './document-cache.js';
export { cacheMetrics } from './document-cache.metrics.js';
export type { ResourcesInMemory, PlannedRead, MemoryRequest, ResourceKeys, LoadedRow } from './resources-in-memory.js';
