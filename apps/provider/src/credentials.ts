import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { createUsageError } from './command-error.js';
import { readOptionFile } from './option-file.js';

type Environment = Readonly<Partial<Record<string, string>>>;

/** Returns the address of the server: that of the option, or that of CADASTRE_URL or TFE_ADDRESS. */
export const parseServerAddress = (option: string | undefined, env: Environment): URL => {
  const text = option ?? env['CADASTRE_URL'] ?? env['TFE_ADDRESS'];
  if (!text) throw createUsageError('--server: missing; give --server https://…, or set CADASTRE_URL or TFE_ADDRESS');
  const address = /^https?:\/\//.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) throw createUsageError('--server: must be an address such as https://tfe.example.com');
  const url = new URL(address);
  if (url.username || url.password)
    throw createUsageError('--server: the address must not contain a user or a password');
  return new URL(url.origin);
};

export type ServerToken = {
  readonly secret: string;
  /** Where the token was found, for error messages. */
  readonly source: string;
};

const PREFIX = 'TF_TOKEN_';

/**
 * Returns the host in the name of a variable. As in the command-line clients, two underscores stand for a dash and one
 * for a dot.
 */
const parseTokenHost = (variable: string): string =>
  variable.slice(PREFIX.length).replaceAll('__', '-').replaceAll('_', '.').toLowerCase();

const findTokenVariable = (host: string, env: Environment): ServerToken | null => {
  const hostVariable = Object.keys(env).find(
    (variable) => variable.startsWith(PREFIX) && parseTokenHost(variable) === host,
  );
  const source = hostVariable ?? 'TFE_TOKEN';
  const secret = env[source]?.trim();
  return secret ? { secret, source } : null;
};

const credentials = z.object({ credentials: z.record(z.string(), z.object({ token: z.string() })) });

/** Returns the path of the file in which `terraform login` stores tokens. */
const findCredentialsFile = (env: Environment): string => {
  const folder = env['APPDATA'] ? join(env['APPDATA'], 'terraform.d') : join(env['HOME'] ?? homedir(), '.terraform.d');
  return join(folder, 'credentials.tfrc.json');
};

const findLoginToken = async (host: string, env: Environment): Promise<ServerToken | null> => {
  const source = findCredentialsFile(env);
  const text = await readFile(source, 'utf8').catch(() => '{}');
  try {
    const secret = credentials.safeParse(JSON.parse(text)).data?.credentials[host]?.token;
    return secret ? { secret, source } : null;
  } catch {
    throw createUsageError(`${source} is not JSON`);
  }
};

/**
 * Returns the name of the variable for a host. A shell cannot export a name with a port in it, but `env` can set it.
 */
const toTokenVariable = (host: string): string => PREFIX + host.replaceAll('-', '__').replaceAll('.', '_');

/** Returns the token for this server. A token for the host takes precedence over one for any host. */
export const findToken = async (
  { host }: URL,
  tokenFile: string | undefined,
  env: Environment,
): Promise<ServerToken> => {
  if (tokenFile !== undefined) {
    const secret = (await readOptionFile(tokenFile, '--token-file')).trim();
    if (!secret) throw createUsageError(`--token-file: ${tokenFile} is empty`);
    return { secret, source: tokenFile };
  }
  const token = findTokenVariable(host, env) ?? (await findLoginToken(host, env));
  if (token) return token;
  throw createUsageError(
    `There is no token for ${host}: give --token-file FILE, set TFE_TOKEN or ${toTokenVariable(host)}, or run terraform login ${host}`,
  );
};

/**
 * Returns the passphrase of a private key. It is never an argument, because all users of the machine can read
 * arguments.
 */
export const readPassphrase = async (
  { keyPassphraseFile, keyPassphraseEnv }: { readonly keyPassphraseFile?: string; readonly keyPassphraseEnv: string },
  env: Environment,
): Promise<string | undefined> => {
  if (keyPassphraseFile === undefined) return env[keyPassphraseEnv];
  return (await readOptionFile(keyPassphraseFile, '--key-passphrase-file')).replace(/\r?\n$/, '');
};
