import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EncryptionKeys } from '#platform/encryption';
import {
  readFileOrNull,
  DataFolderInUseError,
  StartupError,
  startEmbeddedPostgres,
  lockDataFolder,
  type PlainLogger,
} from '#platform/host';
import type { Settings } from '#platform/settings';
import { KEY_FILE, type ReadEncryptionKeys } from './encryption-keys.js';

/** The database and the keys that it is encrypted with. */
export type DatabaseResources = {
  readonly databaseUrl: string;
  readonly encryptionKeys: EncryptionKeys;
  close(): Promise<void>;
};

const URL_FILE = 'database-url';

/** Returns whether the data folder contains a site, which means that the embedded Postgres was set up there. */
export const hasEmbeddedSite = async ({ dataFolder }: Settings): Promise<boolean> =>
  (await readFileOrNull(join(dataFolder, 'postgres', 'cluster', 'PG_VERSION'))) !== null;

type ResourceOptions = { readonly logger: PlainLogger; readonly readKeys: ReadEncryptionKeys };

/** Opens the database of DATABASE_URL, or an embedded Postgres whose data folder this process locks until `close`. */
export const openDatabaseResources = async (
  settings: Settings,
  { logger, readKeys }: ResourceOptions,
): Promise<DatabaseResources> => {
  if (settings.database.mode === 'url') {
    const encryptionKeys = await readKeys({ mayCreate: false });
    return { databaseUrl: settings.database.url, encryptionKeys, close: () => Promise.resolve() };
  }
  const folder = await lockDataFolder(settings.dataFolder);
  // Steps that `close` runs, the last one first.
  const undo: (() => void | Promise<void>)[] = [() => folder.release()];
  const close = async (): Promise<void> => {
    for (const step of undo.toReversed()) await step();
  };
  try {
    // The key is read before Postgres starts, so that no database exists without its key.
    const encryptionKeys = await readKeys({ mayCreate: !(await hasEmbeddedSite(settings)) });
    const postgres = await startEmbeddedPostgres({
      folder: join(settings.dataFolder, 'postgres'),
      logger,
    });
    undo.push(() => postgres.stop());
    const databaseUrl = postgres.socketUrl ?? postgres.url;
    const urlFile = join(settings.dataFolder, URL_FILE);
    await writeFile(urlFile, databaseUrl, { mode: 0o600 });
    // `close` removes the file before Postgres stops. A command that starts then is refused instead of losing its
    // connection.
    undo.push(() => rm(urlFile, { force: true }));
    return { databaseUrl, encryptionKeys, close };
  } catch (error) {
    await close();
    throw error;
  }
};

/**
 * Opens the database for a command: that of a server which runs on the same data folder, else as
 * `openDatabaseResources`.
 */
export const shareDatabaseResources = async (
  settings: Settings,
  options: ResourceOptions,
): Promise<DatabaseResources> => {
  try {
    return await openDatabaseResources(settings, options);
  } catch (error) {
    if (!(error instanceof DataFolderInUseError)) throw error;
    const databaseUrl = await readFileOrNull(join(settings.dataFolder, URL_FILE));
    if (databaseUrl === null) {
      throw new StartupError(
        `the process that uses ${settings.dataFolder} is starting or stopping; try again in a few seconds`,
        { cause: error },
      );
    }
    return {
      databaseUrl,
      encryptionKeys: await options.readKeys({ mayCreate: false }),
      close: () => Promise.resolve(),
    };
  }
};

/** Returns what to do if the database is encrypted with another key. */
export const describeWrongKey = ({ encryptionKey, previousEncryptionKey, dataFolder }: Settings): string => {
  const key =
    encryptionKey === null
      ? `CADASTRE_ENCRYPTION_KEY: not set, and the key in ${join(dataFolder, KEY_FILE)}`
      : 'CADASTRE_ENCRYPTION_KEY: this key';
  const [previous, advice] = previousEncryptionKey
    ? [', nor is CADASTRE_ENCRYPTION_KEY_PREVIOUS', '']
    : ['', '; if you are rotating the key, also set CADASTRE_ENCRYPTION_KEY_PREVIOUS to the present one'];
  return (
    `${key} is not the one that the database is encrypted with${previous}; set the key that the site was first ` +
    `started with, or the one of the last keys rotate${advice}`
  );
};

/** Returns what to do if values may still be encrypted with the previous key, and it is not configured. */
export const MISSING_PREVIOUS_KEY =
  'CADASTRE_ENCRYPTION_KEY_PREVIOUS: missing, and values of the database may still be encrypted with the previous key; ' +
  'set it, and run cadastre keys rotate';

/** Returns what to do if a command finds no site. */
export const describeMissingSite = ({ database, dataFolder }: Settings): string =>
  database.mode === 'url'
    ? 'DATABASE_URL: the database contains no site; correct the URL, or start the server once'
    : `CADASTRE_DATA: there is no site in ${dataFolder}; set the data folder of the server, or start the server once`;
