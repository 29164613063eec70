import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EncryptionKeys } from '#encryption';
import {
  readFileOrNull,
  DataFolderInUseError,
  readOrCreateSecret,
  StartupError,
  startEmbeddedPostgres,
  lockDataFolder,
  type PlainLogger,
  type Settings,
} from '#host';

/** The database and the keys that it is encrypted with. */
export type DatabaseResources = {
  readonly databaseUrl: string;
  readonly encryptionKeys: EncryptionKeys;
  close(): Promise<void>;
};

const URL_FILE = 'database-url';
export const KEY_FILE = 'encryption-key';
const KEY_LENGTH = 32;

/** Returns whether the data folder contains a site, which means that the embedded Postgres was set up there. */
export const hasEmbeddedSite = async ({ dataFolder }: Settings): Promise<boolean> =>
  (await readFileOrNull(join(dataFolder, 'postgres', 'cluster', 'PG_VERSION'))) !== null;

/** Opens the database of DATABASE_URL, or an embedded Postgres whose data folder this process locks until `close`. */
export const openDatabaseResources = async (settings: Settings, logger: PlainLogger): Promise<DatabaseResources> => {
  if (settings.database.mode === 'url') {
    // readSettings requires the key if DATABASE_URL is set.
    if (!settings.encryptionKey) throw new Error('CADASTRE_ENCRYPTION_KEY is missing');
    const close = (): Promise<void> => Promise.resolve();
    const encryptionKeys = new EncryptionKeys(settings.encryptionKey, settings.previousEncryptionKey);
    return { databaseUrl: settings.database.url, encryptionKeys, close };
  }
  const folder = await lockDataFolder(settings.dataFolder);
  // Steps that `close` runs, the last one first.
  const undo: (() => void | Promise<void>)[] = [() => folder.release()];
  const close = async (): Promise<void> => {
    for (const step of undo.toReversed()) await step();
  };
  try {
    // The key is read before Postgres starts, so that no database exists without its key.
    const encryptionKeys = await readEmbeddedKeys(settings, { make: !(await hasEmbeddedSite(settings)) });
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
export const shareDatabaseResources = async (settings: Settings, logger: PlainLogger): Promise<DatabaseResources> => {
  try {
    return await openDatabaseResources(settings, logger);
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
      encryptionKeys: await readEmbeddedKeys(settings, { make: false }),
      close: () => Promise.resolve(),
    };
  }
};

const readEmbeddedKeys = async (settings: Settings, options: { readonly make: boolean }): Promise<EncryptionKeys> =>
  new EncryptionKeys(await readEmbeddedKey(settings, options), settings.previousEncryptionKey);

/** Returns the key of the settings, else the one in the data folder, else null. Creates nothing. */
export const findEncryptionKey = async (settings: Settings): Promise<Buffer | null> => {
  if (settings.encryptionKey) return settings.encryptionKey;
  const isStored = (await readFileOrNull(join(settings.dataFolder, KEY_FILE))) !== null;
  return isStored ? readEmbeddedKey(settings, { make: false }) : null;
};

/** Returns the key of the settings, else the one in the data folder. Only a new site may create a key. */
const readEmbeddedKey = async (settings: Settings, { make }: { readonly make: boolean }): Promise<Buffer> => {
  if (settings.encryptionKey) return settings.encryptionKey;
  const file = join(settings.dataFolder, KEY_FILE);
  if (!make && (await readFileOrNull(file)) === null) {
    throw new StartupError(
      `CADASTRE_ENCRYPTION_KEY: not set, and ${file} is missing, although the database is encrypted; ` +
        'restore the file from a backup, or set the key that the site was first started with',
    );
  }
  const text = await readOrCreateSecret(settings.dataFolder, KEY_FILE, () =>
    randomBytes(KEY_LENGTH).toString('base64'),
  );
  const key = Buffer.from(text, 'base64');
  if (key.length !== KEY_LENGTH) {
    throw new StartupError(`CADASTRE_ENCRYPTION_KEY: not set, and ${file} is damaged; restore it from a backup`);
  }
  return key;
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
