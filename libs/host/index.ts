export { contentOf } from './atomic-file.js';
export { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
export { DataFolderInUse, keepSecret, takeDataFolder, type DataFolder } from './data-folder.js';
export { certificateNames, localCertificates, type LocalCertificates } from './local-ca.js';
export { createLogger, NestLog, withoutSecrets, type LogLevel, type PlainLogger } from './logger.js';
export { RandomIds, SystemClock } from './machine.js';
export { BadSettings, readSettings, settingsHelp, type Settings } from './settings.js';
export { StartRefused } from './start-refused.js';
export type { EnvironmentValues } from './secret-files.js';
