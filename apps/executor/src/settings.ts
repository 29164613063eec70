import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { getErrorCode } from '#platform/kernel';
import { PHASES, type Phase } from './api/executor-api.js';
import { ExecutorError } from './executor-error.js';
import { isLoopback } from './loopback.js';

const MIB = 1024 * 1024;
const TOKEN_VARIABLE = 'CADASTRE_EXECUTOR_TOKEN';

/** The options of the command, as they were given. */
export type ExecutorCommandOptions = {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly name?: string;
  readonly capacity: string;
  readonly accept: string;
  readonly work: string;
  readonly toolMirror: string;
  readonly toolSignatures: string;
  readonly sandbox: string;
  readonly memoryMib: string;
  readonly diskMib: string;
  readonly processors?: string;
  readonly permittedHosts: string;
  readonly grace: string;
  readonly check?: boolean;
};

export type ExecutorSettings = {
  readonly server: URL;
  readonly name: string;
  readonly capacity: number;
  readonly phases: readonly Phase[];
  readonly workFolder: string;
  readonly toolMirror: string;
  /** Whether downloaded tools need the signature of their release. */
  readonly verifiesTools: boolean;
  readonly sandboxMode: 'on' | 'off';
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Null: an equal part of those of the machine. */
  readonly processors: number | null;
  readonly permittedHosts: readonly string[];
  readonly graceSeconds: number;
};

const createUsageError = (message: string): ExecutorError => new ExecutorError('usage', message);

const parseServer = (text: string | undefined): URL => {
  if (!text)
    throw createUsageError('--server: missing; name the address of the server, such as https://cadastre.example.com');
  if (!URL.canParse(text) || !/^https?:\/\//.test(text))
    throw createUsageError(`--server: must be an address such as https://cadastre.example.com, got ${text}`);
  const url = new URL(text);
  if (url.username || url.password)
    throw createUsageError('--server: the address must not contain a user or a password');
  if (url.protocol === 'http:' && !isLoopback(url.hostname.replaceAll(/[[\]]/g, '')))
    throw createUsageError(
      `--server: must begin with https://, because the token would cross the network unencrypted, got ${text}`,
    );
  return new URL(url.origin);
};

const parseNumber = (option: string, text: string, [least, most]: readonly [number, number]): number => {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw createUsageError(`${option}: must be a whole number from ${least} to ${most}, got ${text}`);
};

const parseProcessors = (text: string | undefined): number | null => {
  if (text === undefined) return null;
  const number = /^\d{1,4}(\.\d{1,2})?$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 0.1 && number <= 1_024) return number;
  throw createUsageError(`--processors: must be a number from 0.1 to 1024, such as 1.5, got ${text}`);
};

const parsePhases = (text: string): readonly Phase[] => {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !PHASES.some((phase) => phase === name));
  if (unknown !== undefined) throw createUsageError(`--accept: must be plan, apply, or plan,apply, got ${text}`);
  return PHASES.filter((phase) => names.includes(phase));
};

/** Parses a mode that is `off`, or the one that `on` names. */
const parseMode = <On extends string>(variable: string, text: string, on: On): On | 'off' => {
  if (text === on || text === 'off') return text as On | 'off';
  throw createUsageError(`${variable}: must be ${on} or off, got ${text}`);
};

/** Parses the options. Throws an `ExecutorError` that names the first wrong one. */
export const parseExecutorSettings = (
  options: Omit<ExecutorCommandOptions, 'tokenFile' | 'check'>,
): ExecutorSettings => ({
  server: parseServer(options.server),
  name: (options.name ?? hostname()).slice(0, 255),
  capacity: parseNumber('--capacity', options.capacity, [1, 64]),
  phases: parsePhases(options.accept),
  workFolder: resolve(options.work),
  toolMirror: /^https?:\/\//.test(options.toolMirror) ? options.toolMirror : resolve(options.toolMirror),
  verifiesTools: parseMode('CADASTRE_TOOL_SIGNATURES', options.toolSignatures, 'required') === 'required',
  sandboxMode: parseMode('CADASTRE_EXECUTOR_SANDBOX', options.sandbox, 'on'),
  memoryBytes: parseNumber('--memory-mib', options.memoryMib, [256, 1_000_000]) * MIB,
  diskBytes: parseNumber('--disk-mib', options.diskMib, [100, 10_000_000]) * MIB,
  processors: parseProcessors(options.processors),
  permittedHosts: options.permittedHosts.split(',').flatMap((host) => host.trim() || []),
  graceSeconds: parseNumber('--grace', options.grace, [0, 86_400]),
});

/**
 * Returns the token of the pool. It is never an argument, because all users of the machine can read arguments. Removes it
 * from the environment, which child processes inherit.
 */
export const readPoolToken = async (
  tokenFile: string | undefined,
  env: Record<string, string | undefined>,
): Promise<string> => {
  const value = env[TOKEN_VARIABLE];
  delete env[TOKEN_VARIABLE];
  if (tokenFile === undefined) {
    if (value?.trim()) return value.trim();
    throw createUsageError(`Token: missing; set ${TOKEN_VARIABLE}, or name a file with --token-file`);
  }
  try {
    const token = (await readFile(tokenFile, 'utf8')).trim();
    if (token !== '') return token;
  } catch (error) {
    throw createUsageError(`--token-file: ${tokenFile} cannot be read (${getErrorCode(error) ?? 'unknown error'})`);
  }
  throw createUsageError(`--token-file: ${tokenFile} is empty`);
};
