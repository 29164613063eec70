import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { findUnfinishedRestore } from '#operations/backup';
import { FolderBlobs, S3Blobs, type BlobStore } from '#storage/blob-store';
import {
  adoptEncryptionKeys,
  EventStore,
  ForeignMigrations,
  formatConnectionKeys,
  isAheadOfCluster,
  migrate,
  MissingPreviousKeyError,
  MissingSiteError,
  UnsupportedPostgresError,
  buildWriterRegistration,
  listDifferentVersions,
  recordCompleteViews,
  watchWritingKey,
  WrongEncryptionKeyError,
} from '#storage/event-store';
import type { EncryptionKeys } from '#platform/encryption';
import { NameEraser } from '#storage/personal-data';
import { Database, inspectConnections, isOutage, PoolerError } from '#platform/postgres';
import { createLogger, RandomIds, StartupError, SystemClock } from '#platform/host';
import type { Settings } from '#platform/settings';
import { Backoff, getErrorCode, type Clock, type Ids } from '#platform/kernel';
import { describeDatabaseError, nameDatabaseVariable } from './database-errors.js';
import { createKeyReader } from './encryption-keys.js';
import {
  shareDatabaseResources,
  describeMissingSite,
  describeWrongKey,
  MISSING_PREVIOUS_KEY,
  openDatabaseResources,
  type DatabaseResources,
} from './database-resources.js';
import { eventRegistry, moduleDefinitions, views } from './modules.js';

export type ProcessLogger = ReturnType<typeof createLogger>;

/** Resources that every process of Cadastre uses: settings, logger, database, clock, ids. */
export type Runtime = {
  readonly settings: Settings;
  readonly logger: ProcessLogger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: EventStore;
  readonly forgetting: NameEraser;
  readonly blobs: BlobStore;
  readonly databaseUrl: string;
  readonly encryptionKeys: EncryptionKeys;
  /** Aborts when the runtime closes. */
  readonly closing: AbortSignal;
  /** Closes the database connections, then the database that this process started. */
  close(): Promise<void>;
};

// Four pipelined connections carry more than a pool of sixteen (ADR 7).
const READ_CONNECTIONS = 4;

type RuntimeOptions = {
  readonly name: string;
  /** Whether to use the database of a server that runs on the same data folder. */
  readonly beside?: boolean;
  /** Whether to log to standard error. Standard output of commands contains their result. */
  readonly logToStderr?: boolean;
  /** How often to retry if the service that unwraps the key is unavailable; not at all by default. */
  readonly retries?: number;
  /** Ends the retries. */
  readonly signal?: AbortSignal;
  /** The keys, if another process has read them already. */
  readonly encryptionKeys?: EncryptionKeys;
};

export const openRuntime = async (
  settings: Settings,
  { name, beside, logToStderr, encryptionKeys, ...waiting }: RuntimeOptions,
): Promise<Runtime> => {
  const logger = createLogger(settings.logLevel, logToStderr ? process.stderr : undefined);
  await mkdir(settings.dataFolder, { recursive: true, mode: 0o700 });
  const readKeys = encryptionKeys
    ? () => Promise.resolve(encryptionKeys)
    : createKeyReader(settings, { ...waiting, logger });
  const resources = await (beside ? shareDatabaseResources : openDatabaseResources)(settings, { logger, readKeys });
  return createRuntime(resources, { settings, logger, name, clock: new SystemClock(), ids: new RandomIds() });
};

type RuntimeParts = Pick<Runtime, 'settings' | 'logger' | 'clock' | 'ids'> & { readonly name: string };

export const createRuntime = (resources: DatabaseResources, { name, ...parts }: RuntimeParts): Runtime => {
  const { databaseUrl, encryptionKeys } = resources;
  const { readTimeoutMs, slowReadTimeoutMs, slowConnections, slowReadsPerCaller } = parts.settings;
  const database = new Database({
    url: databaseUrl,
    poolerUrl: parts.settings.database.mode === 'url' ? parts.settings.database.poolerUrl : null,
    connections: READ_CONNECTIONS,
    applicationName: `cadastre ${name}, ${formatConnectionKeys(encryptionKeys)}`,
    writerRegistration: buildWriterRegistration(views),
    readTimeoutMs,
    slowReadTimeoutMs,
    slow: { connections: slowConnections, perCaller: slowReadsPerCaller },
  });
  const closing = new AbortController();
  const projections = moduleDefinitions.flatMap((definition) => definition.projections);
  const store = new EventStore(database, eventRegistry, projections, parts.clock, parts.ids, encryptionKeys);
  return {
    ...parts,
    store,
    forgetting: new NameEraser(database, views),
    blobs: createBlobStore(parts.settings, parts.clock),
    databaseUrl,
    encryptionKeys,
    closing: closing.signal,
    close: async () => {
      closing.abort();
      store.signal.stop();
      await database.close();
      await resources.close();
    },
  };
};

const createBlobStore = ({ s3, blobsFolder }: Settings, clock: Clock): BlobStore =>
  s3 ? new S3Blobs(s3, clock) : new FolderBlobs(blobsFolder, clock);

/**
 * Logs a warning if the file store cannot be used. The store may be unavailable for some time, so the start does not
 * wait for this.
 */
export const inspectBlobs = ({ blobs, logger }: Pick<Runtime, 'blobs' | 'logger'>): Promise<void> =>
  blobs.inspect().catch((error: Error) => {
    logger.warn(`the file store cannot be used safely at the moment: ${error.message}`);
  });

type MigrationOptions = {
  /** How often to retry if the database is unavailable. */
  readonly retries: number;
  /** Ends the retries. */
  readonly signal?: AbortSignal;
  /** If false, an empty database is refused instead of becoming a new site. */
  readonly mayInitialise?: boolean;
  /** If false, a database is refused whose restore has not ended. */
  readonly mayContinueRestore?: boolean;
};

const DISK_FULL = '53100';

/** Returns whether waiting can help. It cannot help if the disk is full, which the operator should learn at once. */
const isWorthWaitingFor = (error: unknown): boolean => {
  const reason = error instanceof PoolerError ? error.cause : error;
  return isOutage(reason) && getErrorCode(reason) !== DISK_FULL;
};

const retryUntilDatabaseAnswers = async <T>(
  work: () => Promise<T>,
  logger: ProcessLogger,
  { retries, signal }: MigrationOptions,
): Promise<T> => {
  const backoff = new Backoff({ logger, subject: 'connection to the database', firstMs: 500, maxMs: 5_000 });
  for (let attempt = 0; ; attempt += 1) {
    try {
      const done = await work();
      backoff.succeeded();
      return done;
    } catch (error) {
      if (!isWorthWaitingFor(error) || attempt >= retries) throw error;
      await delay(backoff.failed(error), undefined, signal ? { signal } : {});
    }
  }
};

/**
 * Runs the migrations. Every process does so at its start, one after the other. Waits for an unavailable database, so
 * that nobody has to restart the process. Throws StartupError if only the operator can solve the problem.
 */
export const migrateDatabase = async (runtime: Runtime, options: MigrationOptions): Promise<void> => {
  const { databaseUrl, encryptionKeys, settings, store, logger, closing } = runtime;
  const { signal, mayInitialise = true, mayContinueRestore = false } = options;
  const { migrations, undecryptable } = await retryUntilDatabaseAnswers(
    async () => {
      await inspectConnections(store.database);
      return migrate(databaseUrl, moduleDefinitions, { encryptionKeys, mayInitialise });
    },
    logger,
    options,
  ).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw new StartupError(describeMigrationError(error, settings), { cause: error });
  });
  void watchWritingKey(store.database, encryptionKeys, closing);
  if (!mayContinueRestore && (await findUnfinishedRestore(store.database)) !== null) {
    throw new StartupError(
      'the database contains an unfinished restore; run cadastre restore again to finish it, or use another database',
    );
  }
  if (migrations.length > 0) logger.info(`migrations applied: ${migrations.join(', ')}`);
  if (undecryptable > 0) {
    logger.warn(
      { undecryptable },
      'the database contains values that another encryption key encrypted; they cannot be read. Run cadastre verify',
    );
  }
  await reportViewVersions(runtime);
  if (await isAheadOfCluster(store.database)) {
    logger.error(
      'the log is ahead of this cluster’s transaction counter, as after restoring a dump: audit trails, ' +
        'history and Kafka get no new events. Run deploy/after-restore.sql (docs/how-to/operate.md)',
    );
  }
};

/** Prepares a process beside one that has migrated the database. Waits for an unavailable database. */
export const adoptKeys = async ({ databaseUrl, encryptionKeys, settings, store, logger, closing }: Runtime) => {
  await retryUntilDatabaseAnswers(() => adoptEncryptionKeys(databaseUrl, moduleDefinitions, encryptionKeys), logger, {
    retries: Number.POSITIVE_INFINITY,
    signal: closing,
  }).catch((error: unknown) => {
    throw new StartupError(describeMigrationError(error, settings), { cause: error });
  });
  void watchWritingKey(store.database, encryptionKeys, closing);
};

/**
 * Logs which views are of another version. The projector rebuilds those of an earlier one: see createViewUpgradeJob.
 */
const reportViewVersions = async ({ store, logger }: Runtime): Promise<void> => {
  await recordCompleteViews(store.database, views);
  for (const { view, stored } of await listDifferentVersions(store.database, views)) {
    const fields = { view: view.name, stored, version: view.version };
    if (stored < view.version) logger.info(fields, 'the view is of an earlier version; the projector rebuilds it');
    else {
      logger.warn(
        fields,
        'a later version of Cadastre rebuilt the view; this version serves it as it is, and the later version ' +
          'rebuilds it when it starts again',
      );
    }
  }
};

const describeMigrationError = (error: unknown, settings: Settings): string => {
  if (error instanceof WrongEncryptionKeyError) return describeWrongKey(settings);
  if (error instanceof MissingPreviousKeyError) return MISSING_PREVIOUS_KEY;
  if (error instanceof MissingSiteError) return describeMissingSite(settings);
  if (error instanceof UnsupportedPostgresError || error instanceof ForeignMigrations) {
    return `${nameDatabaseVariable(settings) ?? 'CADASTRE_DATA'}: ${error.message}`;
  }
  return describeDatabaseError(error, settings);
};
