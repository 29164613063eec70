import { constants } from 'node:fs';
import { access, mkdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { parseBackupKey, parseBackupLocation, type BackupLocation } from '#operations/backup';
import { FolderBlobs, S3Blobs, type BlobStore } from '#storage/blob-store';
import { createLogger, StartupError } from '#platform/host';
import type { Settings } from '#platform/settings';
import { getErrorCode, type Clock } from '#platform/kernel';
import { findEncryptionKey, KEY_FILE } from '../../../encryption-keys.js';
import { RETRIES } from '../command-runtime.js';
import type { BackupOptions } from './backup-options.js';

export const isWithin = (inner: string, outer: string): boolean => {
  const path = relative(outer, inner);
  return path === '' || (!path.startsWith('..') && !isAbsolute(path));
};

/** Returns the path without symbolic links. The last parts of the path need not exist. */
const resolveLinks = async (path: string): Promise<string> => {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path) throw error;
    return join(await resolveLinks(parent), basename(path));
  }
};

/** Refuses a location among the files of the site, because the next backup would contain the archive. */
const refuseOwnFiles = async (location: BackupLocation, { s3, blobsFolder }: Settings, noun: string): Promise<void> => {
  const isOwn =
    location.kind === 'folder'
      ? !s3 && isWithin(await resolveLinks(location.folder), await resolveLinks(blobsFolder))
      : s3?.bucket === location.bucket && `${location.prefix}/`.startsWith(s3.prefix === '' ? '' : `${s3.prefix}/`);
  if (isOwn) {
    throw new StartupError(`the ${noun} would be among the files of the site; name another folder or bucket`);
  }
};

/** Opens the store at `DIR` or `s3://BUCKET/PREFIX`. Options win over the settings of the site's own bucket. */
export const openBackupStore = async (
  text: string,
  options: BackupOptions,
  settings: Settings,
  { clock, noun }: { readonly clock: Clock; readonly noun: string },
): Promise<BlobStore> => {
  const location = parseBackupLocation(text);
  if (!location) throw new StartupError(`name a folder or s3://BUCKET/PREFIX, got "${text}"`);
  await refuseOwnFiles(location, settings, noun);
  if (location.kind === 'folder') return new FolderBlobs(location.folder, clock);
  const { s3 } = settings;
  return new S3Blobs(
    {
      bucket: location.bucket,
      prefix: location.prefix,
      endpoint: options.s3Endpoint ?? s3?.endpoint ?? null,
      region: options.s3Region ?? s3?.region ?? null,
      pathStyle: options.s3PathStyle ?? s3?.pathStyle ?? false,
    },
    clock,
  );
};

/** Creates the folder of a backup, if its location is a folder. Throws StartupError if the process cannot write there. */
export const prepareBackupFolder = async (text: string): Promise<void> => {
  const location = parseBackupLocation(text);
  if (location?.kind !== 'folder') return;
  try {
    await mkdir(location.folder, { recursive: true, mode: 0o700 });
    await access(location.folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = getErrorCode(error) ?? String(error);
    throw new StartupError(
      `the folder ${location.folder} cannot be written (${code}); name a folder that this user can write to`,
      { cause: error },
    );
  }
};

/** Returns the key of the site. Never creates one, because a new key could read nothing of a backup. */
export const requireSiteKey = async (settings: Settings): Promise<Buffer> => {
  const logger = createLogger(settings.logLevel, process.stderr);
  const key = await findEncryptionKey(settings, { logger, retries: RETRIES });
  if (key) return key;
  throw new StartupError(
    'CADASTRE_ENCRYPTION_KEY: not set; set the key of the site that made the backup, ' +
      `or copy its file ${KEY_FILE} to ${settings.dataFolder}`,
  );
};

/** Returns the key in the file, else the key of the site. */
export const readArchiveKey = async ({ keyFile }: BackupOptions, settings: Settings): Promise<Buffer> => {
  if (keyFile === undefined) return requireSiteKey(settings);
  const text = await readFile(keyFile, 'utf8').catch((error: unknown) => {
    throw new StartupError(`--key-file: ${keyFile} cannot be read (${getErrorCode(error) ?? String(error)})`);
  });
  const key = parseBackupKey(text);
  if (key) return key;
  throw new StartupError(
    `--key-file: ${keyFile} must contain 32 bytes in base64; create one with: openssl rand -base64 32`,
  );
};
