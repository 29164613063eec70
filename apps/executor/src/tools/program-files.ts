import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { valid } from 'semver';
import { z } from 'zod';

const VERSION_TIMEOUT_MS = 30_000;

/** Both programs name the member after terraform. */
const versionOutput = z.object({ terraform_version: z.string().refine((text) => valid(text) !== null) });

const execute = promisify(execFile);

const readVersion = async (path: string): Promise<string> => {
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', CHECKPOINT_DISABLE: '1' };
  const { stdout } = await execute(path, ['version', '-json'], { env, timeout: VERSION_TIMEOUT_MS, cwd: '/' });
  return versionOutput.parse(JSON.parse(stdout)).terraform_version;
};

const readChecksum = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
};

/** Returns a text that differs if somebody has replaced the file. */
const identify = async (path: string): Promise<string> => {
  const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
  return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
};

/** Remembers what a function returns for a file, until somebody replaces the file. */
const rememberFile = <T>(read: (path: string) => Promise<T>): ((path: string) => Promise<T>) => {
  const remembered = new Map<string, { readonly identity: string; readonly value: Promise<T> }>();
  return async (path) => {
    const identity = await identify(path);
    const present = remembered.get(path);
    if (present?.identity === identity) return present.value;
    const value = read(path);
    remembered.set(path, { identity, value });
    return value.catch((error: unknown) => {
      remembered.delete(path);
      throw error;
    });
  };
};

/** Describes the programs of terraform and tofu. To start one takes about as long as a small plan, and a checksum reads 100 MB. */
export class ProgramFiles {
  private readonly findVersion = rememberFile(readVersion);

  /** Resolves to the SHA-256 of a file. */
  readonly readChecksum = rememberFile(readChecksum);

  /** Resolves to the version that a program reports; to null if there is no such program. */
  readVersion(path: string): Promise<string | null> {
    return this.findVersion(path).catch(() => null);
  }
}
