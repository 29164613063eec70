import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { valid } from 'semver';
import { z } from 'zod';
import type { ExecutableName } from './tool-choice.js';

const VERSION_TIMEOUT_MS = 30_000;

const version = z.string().refine((text) => valid(text) !== null);

/** Both programs name the member after terraform. */
const versionOutput = z.object({ terraform_version: version });

type VersionCommand = { readonly arguments: readonly string[]; readonly read: (output: string) => string };

const JSON_VERSION: VersionCommand = {
  arguments: ['version', '-json'],
  read: (output) => versionOutput.parse(JSON.parse(output)).terraform_version,
};

const VERSION_COMMANDS: Readonly<Record<ExecutableName, VersionCommand>> = {
  terraform: JSON_VERSION,
  tofu: JSON_VERSION,
  opa: { arguments: ['version'], read: (output) => version.parse(/^Version: (\S+)$/m.exec(output)?.[1]) },
};

const execute = promisify(execFile);

const readVersion = async (name: ExecutableName, path: string): Promise<string> => {
  const command = VERSION_COMMANDS[name];
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', CHECKPOINT_DISABLE: '1' };
  const { stdout } = await execute(path, command.arguments, { env, timeout: VERSION_TIMEOUT_MS, cwd: '/' });
  return command.read(stdout);
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

/** Describes programs. To start one takes about as long as a small plan, and a checksum reads 100 MB. */
export class ProgramFiles {
  private readonly findVersion: Readonly<Record<ExecutableName, (path: string) => Promise<string>>> = {
    terraform: rememberFile((path) => readVersion('terraform', path)),
    tofu: rememberFile((path) => readVersion('tofu', path)),
    opa: rememberFile((path) => readVersion('opa', path)),
  };

  /** Resolves to the SHA-256 of a file. */
  readonly readChecksum = rememberFile(readChecksum);

  /** Resolves to the version that a program reports; to null if there is no such program. */
  readVersion(name: ExecutableName, path: string): Promise<string | null> {
    return this.findVersion[name](path).catch(() => null);
  }
}
