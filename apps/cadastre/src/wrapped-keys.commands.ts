import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { KeyWrapperError, type KeyWrapper } from '#platform/encryption';
import { StartupError, toDraftFile, writeAtomically } from '#platform/host';
import type { Settings } from '#platform/settings';
import { getErrorCode } from '#platform/kernel';
import { findStoredKey, KEY_FILE, openKeyWrapper, unwrapKey, type KeyOrigin } from '../../encryption-keys.js';
import { loadCommandSettings, withErrorReport } from './command-actions.js';
import { printLine } from './output.js';

type ReplaceOptions = { readonly replace?: boolean };

/** Returns the new text of a key. */
type RenewKey = (wrapper: KeyWrapper, siteKey: KeyOrigin) => Promise<string>;

/** Runs with the service that wraps keys. Does not wait for it, because a person waits for the command. */
const withKeyWrapper = async <T>(settings: Settings, work: (wrapper: KeyWrapper) => Promise<T>): Promise<T> => {
  const wrapper = openKeyWrapper(settings);
  if (!wrapper) {
    throw new StartupError('CADASTRE_VAULT_ADDRESS: missing; set it to the Vault or OpenBao that wraps the key');
  }
  try {
    return await work(wrapper);
  } catch (error) {
    throw error instanceof KeyWrapperError ? new StartupError(error.message, { cause: error }) : error;
  } finally {
    await wrapper.close();
  }
};

/** Prints a new wrapped key. Needs no site. */
const runCreate = async (settings: Settings): Promise<void> =>
  withKeyWrapper(settings, async (wrapper) => printLine(await wrapper.create()));

/** Prints the key in another form, or replaces the file in the data folder with it. */
const runRenewal = (settings: Settings, renew: RenewKey, { replace = false }: ReplaceOptions): Promise<void> =>
  withKeyWrapper(settings, async (wrapper) => {
    const siteKey = await findStoredKey(settings);
    if (!siteKey) {
      throw new StartupError(
        `CADASTRE_ENCRYPTION_KEY: not set, and there is no key in ${settings.dataFolder}; set the key, or the data folder ` +
          'of the server (CADASTRE_DATA)',
      );
    }
    const text = await renew(wrapper, siteKey);
    if (!replace) return printLine(text);
    if (settings.encryptionKey) {
      throw new StartupError(
        `--replace: only replaces the file ${KEY_FILE} of the data folder, but CADASTRE_ENCRYPTION_KEY is set; run the ` +
          'command without it, and put the printed key where the setting reads it',
      );
    }
    await replaceKeyFile(join(settings.dataFolder, KEY_FILE), text);
    printLine(`${siteKey.origin}: replaced. Restart the server at any time: the key is the same.`);
  });

/** Replaces the file at once, so that a killed command leaves the old or the new content. */
const replaceKeyFile = async (file: string, text: string): Promise<void> => {
  const { uid } = await stat(file);
  // The new file would belong to this user, and the server could not read it.
  if (process.getuid && process.getuid() !== uid) {
    throw new StartupError(`--replace: ${file} belongs to another user (${uid}); run the command as that user`);
  }
  await writeAtomically(file, `${text}\n`, 0o600, { isExclusive: true }).catch((error: unknown) => {
    if (getErrorCode(error) !== 'EEXIST') throw error;
    throw new StartupError(
      `--replace: ${toDraftFile(file)} exists: another command is replacing the key, or was killed; if none runs, delete ` +
        'that file and run this again',
      { cause: error },
    );
  });
};

/** Fails unless the service unwraps the new text to the key. A text that it does not unwrap would make the site unreadable. */
const requireSameKey = async (wrapper: KeyWrapper, wrapped: string, key: Buffer): Promise<string> => {
  const isSame = (await wrapper.unwrap(wrapped)).equals(key);
  if (isSame) return wrapped;
  throw new StartupError(`${wrapper.description} unwraps the new text to another key; nothing was changed`);
};

const wrapKey: RenewKey = async (wrapper, { stored, origin }) => {
  if (Buffer.isBuffer(stored)) return requireSameKey(wrapper, await wrapper.wrap(stored), stored);
  throw new StartupError(`${origin}: the key is wrapped already; run cadastre keys rewrap for the newest version`);
};

const unwrapToText: RenewKey = async (wrapper, siteKey) => {
  if (Buffer.isBuffer(siteKey.stored)) throw new StartupError(`${siteKey.origin}: the key is not wrapped`);
  return (await unwrapKey(siteKey, wrapper)).toString('base64');
};

const rewrapKey: RenewKey = async (wrapper, siteKey) => {
  if (Buffer.isBuffer(siteKey.stored)) {
    throw new StartupError(`${siteKey.origin}: the key is not wrapped; run cadastre keys wrap`);
  }
  const key = await unwrapKey(siteKey, wrapper);
  return requireSameKey(wrapper, await wrapper.rewrap(siteKey.stored.wrapped), key);
};

const REPLACE = `replace the file ${KEY_FILE} of the data folder instead of printing the key`;

/** Adds `create`, `wrap`, `unwrap` and `rewrap`. */
export const addWrappedKeyCommands = (keys: Command): void => {
  keys
    .command('create')
    .description('let Vault make a new encryption key, and print it wrapped; no process sees the plain key')
    .action(withErrorReport(async () => runCreate(await loadCommandSettings())));

  const renewals = [
    ['wrap', 'print the encryption key of the site, wrapped by Vault', wrapKey],
    ['unwrap', 'print the encryption key of the site in plain text, to run without Vault', unwrapToText],
    ['rewrap', "print the encryption key of the site, wrapped with the newest version of Vault's key", rewrapKey],
  ] as const;
  for (const [name, description, renew] of renewals) {
    keys
      .command(name)
      .description(description)
      .option('--replace', REPLACE)
      .action(
        withErrorReport(async (options: ReplaceOptions) => runRenewal(await loadCommandSettings(), renew, options)),
      );
  }
};
