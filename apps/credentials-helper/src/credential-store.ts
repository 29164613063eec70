import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

export type HelperEnvironment = Readonly<Partial<Record<string, string>>>;

/** What terraform and tofu store for a host. Other members than the token are kept as they are. */
type StoredCredentials = Readonly<Record<string, unknown>> & { readonly token: string };

const MAX_LENGTH = 64 * 1024;

/** Returns the credentials in a JSON text; null if it is not an object with a token. */
export const parseCredentials = (text: string): StoredCredentials | null => {
  if (text.length > MAX_LENGTH) return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && 'token' in value;
    return isObject && typeof value.token === 'string' ? (value as StoredCredentials) : null;
  } catch {
    return null;
  }
};

/** Returns the folder of the files: in `XDG_CONFIG_HOME`, on Windows in `APPDATA`, otherwise in `~/.config`. */
const findFolder = (env: HelperEnvironment): string => {
  const configuration = env['XDG_CONFIG_HOME'] || env['APPDATA'] || join(env['HOME'] || homedir(), '.config');
  return join(configuration, 'cadastre', 'credentials');
};

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** The credentials of the hosts, each in a file that only the user of this computer can read. */
export class CredentialStore {
  private readonly folder: string;

  constructor(env: HelperEnvironment) {
    this.folder = findFolder(env);
  }

  /** Returns the path of the file of a host. */
  fileOf(host: string): string {
    return join(this.folder, `${encodeURIComponent(host)}.json`);
  }

  /** Returns the credentials of a host; null if there are none. Throws if the file is damaged. */
  async find(host: string): Promise<StoredCredentials | null> {
    const file = this.fileOf(host);
    try {
      const credentials = parseCredentials(await readFile(file, 'utf8'));
      if (credentials === null) throw new Error(`${file} contains no token. Delete it, and log in again.`);
      return credentials;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Replaces the file as a whole, so that nobody reads a part of it. */
  async store(host: string, credentials: StoredCredentials): Promise<void> {
    const file = this.fileOf(host);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const newFile = `${file}.${randomBytes(6).toString('hex')}`;
    try {
      await writeFile(newFile, JSON.stringify(credentials), { mode: 0o600, flag: 'wx' });
      await rename(newFile, file);
    } catch (error) {
      await rm(newFile, { force: true });
      throw error;
    }
  }

  async remove(host: string): Promise<void> {
    await rm(this.fileOf(host), { force: true });
  }
}
