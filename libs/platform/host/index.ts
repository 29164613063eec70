export { readFileOrNull, toDraftFile, writeAtomically } from './machine/atomic-file.js';
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './embedded-postgres/embedded-postgres.js';
export {
  DataFolderInUseError,
  demandUnlockedFolder,
  readOrCreateSecret,
  lockDataFolder,
  type DataFolder,
} from './machine/data-folder.js';
export { listCertificateNames, ensureLocalCertificates, type LocalCertificates } from './certificates/local-ca.js';
export { createLogger, NestLoggerAdapter, type LogLevel, type PlainLogger } from './logging/logger.js';
export { createRequestLogger, type RequestLogger } from './logging/request-logger.js';
export { VERSION } from './machine/version.js';
export { RandomIds, SystemClock } from './machine/clock-and-ids.js';
export { StartupError } from './machine/startup-error.js';
export { inspectMachine, describePortInUse } from './machine/inspect-machine.js';
