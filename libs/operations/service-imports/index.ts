export type { ImportContext } from './copies/resources.copier.js';
export { SuppliedValues } from './copies/supplied-values.js';
export { formatReport, ImportReport, renderReport, type ImportSummary } from './report/import-report.js';
export { importFromService } from './organization.copier.js';
export { ImportSourceError } from './source/source-errors.js';
export { SourceReader, type SourceConnection } from './source/source.reader.js';
export type { TargetFetch, TargetRequest, TargetResponse } from './target/import-target.port.js';
export { withImportLock } from './target/import-lock.queries.js';
export { ImportTarget } from './target/target.requests.js';
