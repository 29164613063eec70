import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import pRetry from 'p-retry';
import { FolderBlobs, S3Blobs, type BlobStore } from '#blob-store';
import { Database, EventStore, Forgetting, isAheadOfCluster, isOutage, migrate, viewsOf } from '#event-store';
import {
  createLogger,
  DataFolderInUse,
  keepSecret,
  RandomIds,
  startEmbeddedPostgres,
  SystemClock,
  takeDataFolder,
  type Settings,
} from '#host';
import type { Clock, Ids } from '#kernel';
import { registry, slices } from './slices.js';

export type Logger = ReturnType<typeof createLogger>;

/** What every process of Cadastre stands on: settings, log, database, time, randomness. */
export type House = {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: EventStore;
  readonly forgetting: Forgetting;
  readonly blobs: BlobStore;
  readonly databaseUrl: string;
  readonly encryptionKey: Buffer;
  /** Gives everything back, in the right order. */
  close(): Promise<void>;
};

export type Foundation = { readonly databaseUrl: string; readonly encryptionKey: Buffer; close(): Promise<void> };

const URL_FILE = 'database-url';
// Four lanes carry more than a pool of sixteen: statements are pipelined (DESIGN decision 8).
const LANES = 4;

/** Settings name a database, or one is started in the data folder, which is then ours alone. */
const layFoundation = async (settings: Settings, logger: Logger): Promise<Foundation> => {
  if (settings.database.mode === 'url') {
    // Required with DATABASE_URL: readSettings has seen to it.
    if (!settings.encryptionKey) throw new Error('CADASTRE_ENCRYPTION_KEY is missing');
    const close = (): Promise<void> => Promise.resolve();
    return { databaseUrl: settings.database.url, encryptionKey: settings.encryptionKey, close };
  }
  const folder = await takeDataFolder(settings.dataFolder);
  const postgres = await startEmbeddedPostgres({
    folder: join(settings.dataFolder, 'postgres'),
    logger,
    onExit: ({ restartIn }) => logger.error(`the embedded Postgres ended; it is started again in ${restartIn} ms`),
  });
  const databaseUrl = postgres.socketUrl ?? postgres.url;
  const urlFile = join(settings.dataFolder, URL_FILE);
  await writeFile(urlFile, databaseUrl, { mode: 0o600 });
  return {
    databaseUrl,
    encryptionKey: await encryptionKeyOf(settings),
    close: async () => {
      await postgres.stop();
      await rm(urlFile, { force: true });
      folder.release();
    },
  };
};

const encryptionKeyOf = async (settings: Settings): Promise<Buffer> =>
  settings.encryptionKey ??
  Buffer.from(
    await keepSecret(settings.dataFolder, 'encryption-key', () => randomBytes(32).toString('base64')),
    'base64',
  );

/** For commands that work beside a running server: its database, or one started for the time of the command. */
const borrowFoundation = async (settings: Settings, logger: Logger): Promise<Foundation> => {
  try {
    return await layFoundation(settings, logger);
  } catch (error) {
    if (!(error instanceof DataFolderInUse)) throw error;
    const databaseUrl = await readFile(join(settings.dataFolder, URL_FILE), 'utf8');
    return { databaseUrl, encryptionKey: await encryptionKeyOf(settings), close: () => Promise.resolve() };
  }
};

export type HouseOptions = {
  readonly name: string;
  /** Work with the database of a server that runs on the same data folder. */
  readonly beside?: boolean;
};

export const openHouse = async (settings: Settings, { name, beside }: HouseOptions): Promise<House> => {
  const logger = createLogger(settings.logLevel);
  await mkdir(settings.dataFolder, { recursive: true, mode: 0o700 });
  const foundation = await (beside ? borrowFoundation : layFoundation)(settings, logger);
  return houseOn(foundation, { settings, logger, name, clock: new SystemClock(), ids: new RandomIds() });
};

type Furniture = Pick<House, 'settings' | 'logger' | 'clock' | 'ids'> & { readonly name: string };

export const houseOn = (foundation: Foundation, { name, ...furniture }: Furniture): House => {
  const { databaseUrl, encryptionKey } = foundation;
  const database = new Database({ url: databaseUrl, connections: LANES, applicationName: `cadastre ${name}` });
  const projections = slices.flatMap((slice) => slice.projections);
  const store = new EventStore(database, registry, projections, furniture.clock, furniture.ids, encryptionKey);
  return {
    ...furniture,
    store,
    forgetting: new Forgetting(database, viewsOf(slices)),
    blobs: blobsOf(furniture.settings, furniture.clock),
    databaseUrl,
    encryptionKey,
    close: async () => {
      store.signal.stop();
      await database.close();
      await foundation.close();
    },
  };
};

const blobsOf = ({ s3, blobsFolder }: Settings, clock: Clock): BlobStore =>
  s3 ? new S3Blobs(s3, clock) : new FolderBlobs(blobsFolder, clock);

/** For the start: tells what is wrong with the place of blobs. It may be away for a while, so nothing waits for this. */
export const inspectBlobs = ({ blobs, logger }: Pick<House, 'blobs' | 'logger'>): Promise<void> =>
  blobs.inspect().catch((error: Error) => {
    logger.warn(`the bucket of blobs cannot be used at the moment, or not safely: ${error.message}`);
  });

/**
 * Brings the tables up to date; every process does so at its start, one after the other. Waits for a database that is
 * away: nobody has to start us again when it comes.
 */
export const migrateHouse = async ({ databaseUrl, store, logger }: House): Promise<void> => {
  const ran = await pRetry(() => migrate(databaseUrl, slices), {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 500,
    maxTimeout: 5_000,
    shouldRetry: ({ error }) => isOutage(error),
    onFailedAttempt: ({ error }) => logger.warn(`the database is not available (${error.message}); trying again`),
  });
  if (ran.length > 0) logger.info(`migrations applied: ${ran.join(', ')}`);
  if (await isAheadOfCluster(store.database)) {
    logger.error(
      'the log is ahead of this cluster’s transaction counter, as after restoring a dump: followers stand still. ' +
        'Run deploy/after-restore.sql (docs/operations.md)',
    );
  }
};
