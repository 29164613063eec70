import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { FolderBlobs, S3Blobs, type BlobStore } from '#blob-store';
import {
  EventStore,
  ForeignMigrations,
  isAheadOfCluster,
  migrate,
  MissingSiteError,
  UnsupportedPostgresError,
  listViews,
  WrongEncryptionKeyError,
} from '#event-store';
import { NameEraser } from '#personal-data';
import { Database, isOutage } from '#postgres';
import { createLogger, RandomIds, StartupError, SystemClock, type Settings } from '#host';
import { Backoff, getErrorCode, type Clock, type Ids } from '#kernel';
import { describeDatabaseError } from './database-errors.js';
import {
  shareDatabaseResources,
  describeMissingSite,
  describeWrongKey,
  openDatabaseResources,
  type DatabaseResources,
} from './database-resources.js';
import { eventRegistry, moduleDefinitions } from './modules.js';

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
  readonly encryptionKey: Buffer;
  /** Closes the database connections, then the database that this process started. */
  close(): Promise<void>;
};

// Four pipelined connections carry more than a pool of sixteen (ADR 7).
const READ_CONNECTIONS = 4;

export type RuntimeOptions = {
  readonly name: string;
  /** Work with the database of a server that runs on the same data folder. */
  readonly beside?: boolean;
  /** Commands log to standard error, because standard output holds their result. */
  readonly logToStderr?: boolean;
};

export const openRuntime = async (
  settings: Settings,
  { name, beside, logToStderr }: RuntimeOptions,
): Promise<Runtime> => {
  const logger = createLogger(settings.logLevel, logToStderr ? process.stderr : undefined);
  await mkdir(settings.dataFolder, { recursive: true, mode: 0o700 });
  const resources = await (beside ? shareDatabaseResources : openDatabaseResources)(settings, logger);
  return createRuntime(resources, { settings, logger, name, clock: new SystemClock(), ids: new RandomIds() });
};

type RuntimeParts = Pick<Runtime, 'settings' | 'logger' | 'clock' | 'ids'> & { readonly name: string };

export const createRuntime = (resources: DatabaseResources, { name, ...parts }: RuntimeParts): Runtime => {
  const { databaseUrl, encryptionKey } = resources;
  const { readTimeoutMs, slowReadTimeoutMs, slowConnections, slowReadsPerCaller } = parts.settings;
  const database = new Database({
    url: databaseUrl,
    connections: READ_CONNECTIONS,
    applicationName: `cadastre ${name}`,
    readTimeoutMs,
    slowReadTimeoutMs,
    slow: { connections: slowConnections, perCaller: slowReadsPerCaller },
  });
  const projections = moduleDefinitions.flatMap((definition) => definition.projections);
  const store = new EventStore(database, eventRegistry, projections, parts.clock, parts.ids, encryptionKey);
  return {
    ...parts,
    store,
    forgetting: new NameEraser(database, listViews(moduleDefinitions)),
    blobs: createBlobStore(parts.settings, parts.clock),
    databaseUrl,
    encryptionKey,
    close: async () => {
      store.signal.stop();
      await database.close();
      await resources.close();
    },
  };
};

const createBlobStore = ({ s3, blobsFolder }: Settings, clock: Clock): BlobStore =>
  s3 ? new S3Blobs(s3, clock) : new FolderBlobs(blobsFolder, clock);

/** For the start: tells what is wrong with the place of blobs. It may be away for a while, so nothing waits for this. */
export const inspectBlobs = ({ blobs, logger }: Pick<Runtime, 'blobs' | 'logger'>): Promise<void> =>
  blobs.inspect().catch((error: Error) => {
    logger.warn(`the bucket of blobs cannot be used at the moment, or not safely: ${error.message}`);
  });

export type MigrationOptions = {
  /** How often a database that is away is tried again. */
  readonly retries: number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
  /** False: an empty database is refused instead of becoming a new site. */
  readonly mayInitialise?: boolean;
};

const DISK_FULL = '53100';

/** Whether waiting can help. It cannot for a full disk, and the operator should hear of that. */
const isWorthWaitingFor = (error: unknown): boolean => isOutage(error) && getErrorCode(error) !== DISK_FULL;

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
 * Brings the tables up to date; every process does so at its start, one after the other. Waits for a database that is
 * away: nobody has to start the process again when it comes. Throws StartupError for what only the operator can change.
 */
export const migrateDatabase = async (house: Runtime, options: MigrationOptions): Promise<void> => {
  const { databaseUrl, encryptionKey, settings, store, logger } = house;
  const { signal, mayInitialise = true } = options;
  const { migrations, undecryptable } = await retryUntilDatabaseAnswers(
    () => migrate(databaseUrl, moduleDefinitions, { encryptionKey, mayInitialise }),
    logger,
    options,
  ).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw new StartupError(describeMigrationError(error, settings), { cause: error });
  });
  if (migrations.length > 0) logger.info(`migrations applied: ${migrations.join(', ')}`);
  if (undecryptable > 0) {
    logger.warn(
      { undecryptable },
      'the database holds values that another encryption key encrypted; they cannot be read. Run cadastre verify',
    );
  }
  if (await isAheadOfCluster(store.database)) {
    logger.error(
      'the log is ahead of this cluster’s transaction counter, as after restoring a dump: audit trails, ' +
        'history and Kafka get no new events. Run deploy/after-restore.sql (docs/how-to/operations.md)',
    );
  }
};

const describeMigrationError = (error: unknown, settings: Settings): string => {
  if (error instanceof WrongEncryptionKeyError) return describeWrongKey(settings);
  if (error instanceof MissingSiteError) return describeMissingSite(settings);
  if (error instanceof UnsupportedPostgresError) return `DATABASE_URL: ${error.message}`;
  if (error instanceof ForeignMigrations) {
    return `${settings.database.mode === 'url' ? 'DATABASE_URL' : 'CADASTRE_DATA'}: ${error.message}`;
  }
  return describeDatabaseError(error, settings);
};
