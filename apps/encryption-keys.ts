import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EncryptionKeys, KeyWrapperError, type KeyWrapper } from '#platform/encryption';
import { readFileOrNull, readOrCreateSecret, StartupError } from '#platform/host';
import { parseStoredKey, type Settings, type StoredKey } from '#platform/settings';
import { Backoff, type BackoffOptions } from '#platform/kernel';
import { TransitKeyWrapper } from '#platform/transit';

/** The key in the data folder, which is used if the settings have no key. */
export const KEY_FILE = 'encryption-key';
const KEY_LENGTH = 32;
const CURRENT = 'CADASTRE_ENCRYPTION_KEY';
const PREVIOUS = 'CADASTRE_ENCRYPTION_KEY_PREVIOUS';

/** Reads the keys of the site. Only a new site may create a key. */
export type ReadEncryptionKeys = (options: { readonly mayCreate: boolean }) => Promise<EncryptionKeys>;

/** A stored key, and what messages call the setting or file with it. */
export type KeyOrigin = { readonly stored: StoredKey; readonly origin: string };

type WaitOptions = {
  readonly logger: BackoffOptions['logger'];
  /** How often to retry if the service that unwraps keys is unavailable. */
  readonly retries?: number;
  /** Ends the retries. */
  readonly signal?: AbortSignal;
};

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;

/** Returns the service that wraps keys, or null if the settings name none. Close it after use. */
export const openKeyWrapper = ({ transit }: Settings, signal?: AbortSignal): KeyWrapper | null =>
  transit && new TransitKeyWrapper(transit, signal);

/**
 * Returns the function that reads the keys when a process starts. It waits for the service that unwraps them, and throws
 * StartupError if only the operator can solve the problem. The process keeps the keys, so it does not need the service
 * afterwards.
 */
export const createKeyReader =
  (settings: Settings, { logger, retries = 0, signal }: WaitOptions): ReadEncryptionKeys =>
  async ({ mayCreate }) => {
    const wrapper = openKeyWrapper(settings, signal);
    const backoff = new Backoff({
      logger,
      subject: 'unwrapping of the encryption key',
      firstMs: FIRST_PAUSE_MS,
      maxMs: MAX_PAUSE_MS,
    });
    try {
      for (let attempt = 0; ; attempt += 1) {
        try {
          const keys = await readKeys(settings, wrapper, mayCreate);
          backoff.succeeded();
          return keys;
        } catch (error) {
          signal?.throwIfAborted();
          if (!(error instanceof KeyWrapperError)) throw error;
          if (error.failure !== 'unavailable' || attempt >= retries)
            throw new StartupError(error.message, { cause: error });
          await delay(backoff.failed(error), undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
        }
      }
    } finally {
      await wrapper?.close();
    }
  };

/** Reads the keys once. Throws `KeyWrapperError`, or StartupError. */
const readKeys = async (
  settings: Settings,
  wrapper: KeyWrapper | null,
  mayCreate: boolean,
): Promise<EncryptionKeys> => {
  const current = await unwrapKey(await readStoredKey(settings, wrapper, mayCreate), wrapper);
  if (!settings.previousEncryptionKey) return new EncryptionKeys(current);
  const previous = await unwrapKey({ stored: settings.previousEncryptionKey, origin: PREVIOUS }, wrapper);
  if (previous.equals(current)) {
    throw new StartupError(
      `${PREVIOUS}: the same key as ${CURRENT}, wrapped again; set the key before it, or remove it`,
    );
  }
  return new EncryptionKeys(current, previous);
};

/** Returns the key itself. */
export const unwrapKey = async ({ stored, origin }: KeyOrigin, wrapper: KeyWrapper | null): Promise<Buffer> => {
  if (Buffer.isBuffer(stored)) return stored;
  if (!wrapper) throw new StartupError(`CADASTRE_VAULT_ADDRESS: missing; the wrapped key in ${origin} needs it`);
  const key = await wrapper.unwrap(stored.wrapped).catch((error: unknown) => {
    if (error instanceof KeyWrapperError && error.failure === 'wrong-key') {
      throw new KeyWrapperError('wrong-key', `${origin}: ${error.message}`);
    }
    throw error;
  });
  if (key.length === KEY_LENGTH) return key;
  throw new StartupError(`${origin}: the wrapped key has ${key.length} bytes; create one with cadastre keys create`);
};

/** Returns the key of the settings, else the one in the data folder, else null. Creates nothing. */
export const findStoredKey = async (settings: Settings): Promise<KeyOrigin | null> => {
  if (settings.encryptionKey) return { stored: settings.encryptionKey, origin: CURRENT };
  const file = join(settings.dataFolder, KEY_FILE);
  const text = await readFileOrNull(file);
  return text === null ? null : { stored: parseKeyFile(file, text), origin: file };
};

/** Returns the unwrapped key of the settings or of the data folder, or null. Creates nothing. */
export const findEncryptionKey = async (settings: Settings, options: WaitOptions): Promise<Buffer | null> =>
  (await findStoredKey(settings))
    ? (await createKeyReader({ ...settings, previousEncryptionKey: null }, options)({ mayCreate: false })).current
    : null;

const readStoredKey = async (
  settings: Settings,
  wrapper: KeyWrapper | null,
  mayCreate: boolean,
): Promise<KeyOrigin> => {
  const storedKey = await findStoredKey(settings);
  if (storedKey) return storedKey;
  // readSettings requires the key if DATABASE_URL is set.
  if (settings.database.mode === 'url') throw new Error(`${CURRENT} is missing`);
  const file = join(settings.dataFolder, KEY_FILE);
  if (!mayCreate) {
    throw new StartupError(
      `${CURRENT}: not set, and ${file} is missing, although the database is encrypted; ` +
        'restore the file from a backup, or set the key that the site was first started with',
    );
  }
  // A site with a wrapper never has its plain key on a disk.
  const create = () => wrapper?.create() ?? randomBytes(KEY_LENGTH).toString('base64');
  return { stored: parseKeyFile(file, await readOrCreateSecret(settings.dataFolder, KEY_FILE, create)), origin: file };
};

const parseKeyFile = (file: string, text: string): StoredKey => {
  if (text.trim() === '') {
    // A lost key is never replaced silently, because everything that was encrypted with it would be lost.
    throw new StartupError(`${file} is empty: restore it from a backup, or delete it to create a new secret`);
  }
  const stored = parseStoredKey(text.trim());
  if (stored) return stored;
  // A key that was written by hand may lack the padding.
  const key = Buffer.from(text, 'base64');
  if (key.length === KEY_LENGTH) return key;
  throw new StartupError(`${CURRENT}: not set, and ${file} is damaged; restore it from a backup`);
};
