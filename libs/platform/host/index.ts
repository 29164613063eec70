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
export { createLogger, NestLoggerAdapter, redactSecrets, type LogLevel, type PlainLogger } from './logging/logger.js';
export { createRequestLogger, type RequestLogger } from './logging/request-logger.js';
export { VERSION } from './machine/version.js';
export { RandomIds, SystemClock } from './machine/clock-and-ids.js';
export {
  InvalidSettingsError,
  parseSettings,
  readSettings,
  formatSettingsHelp,
  type Settings,
} from './settings/settings.js';
export type { KafkaSettings } from './settings/kafka-settings.js';
export type { SmtpSettings } from './settings/smtp-settings.js';
export { parseStoredKey, type StoredKey } from './settings/stored-key.js';
export type { TransitLogin, TransitSettings } from './settings/transit-settings.js';
export { describeMissingConnections, toWorkerSettings } from './settings/worker-settings.js';
export { StartupError } from './machine/startup-error.js';
export { inspectMachine, describePortInUse, type ProcessKind } from './machine/inspect-machine.js';
export { listSettingWarnings } from './settings/setting-warnings.js';
export type { EnvironmentValues } from './settings/secret-files.js';
