import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { createUsageError } from './command-error.js';
import { readOptionFile } from './option-file.js';

type Environment = Readonly<Partial<Record<string, string>>>;

/** The server's address, as given or as other clients of this API know it. */
export const parseServerAddress = (given: string | undefined, env: Environment): URL => {
  const text = given ?? env['CADASTRE_URL'] ?? env['TFE_ADDRESS'];
  if (!text) throw createUsageError('Which server? Give --server https://… or set CADASTRE_URL');
  const address = /^https?:\/\//.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) throw createUsageError('--server: this is no address such as https://tfe.example.com');
  const url = new URL(address);
  if (url.username || url.password) throw createUsageError('--server: an address has no user and no password in it');
  return new URL(url.origin);
};

export type ServerToken = {
  readonly secret: string;
  /** Where it was found; for telling that it is wrong. */
  readonly source: string;
};

const PREFIX = 'TF_TOKEN_';

/** As the command-line clients read such a name: two underscores are a dash, one is a dot. */
const parseTokenHost = (variable: string): string =>
  variable.slice(PREFIX.length).replaceAll('__', '-').replaceAll('_', '.').toLowerCase();

const findTokenVariable = (host: string, env: Environment): ServerToken | null => {
  const named = Object.keys(env).find((variable) => variable.startsWith(PREFIX) && parseTokenHost(variable) === host);
  const source = named ?? 'TFE_TOKEN';
  const secret = env[source]?.trim();
  return secret ? { secret, source } : null;
};

const credentials = z.object({ credentials: z.record(z.string(), z.object({ token: z.string() })) });

/** Where `terraform login` keeps tokens. */
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

/** What the name of the host is in a variable's name. A shell cannot export one with a port in it; `env` can set it. */
const toTokenVariable = (host: string): string => PREFIX + host.replaceAll('-', '__').replaceAll('.', '_');

/** The token for this server. One that is set for its host goes before one that is set for any. */
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
  const found = findTokenVariable(host, env) ?? (await findLoginToken(host, env));
  if (found) return found;
  throw createUsageError(
    `There is no token for ${host}: give --token-file FILE, set TFE_TOKEN or ${toTokenVariable(host)}, or run terraform login ${host}`,
  );
};

/** The passphrase of a private key. Never an argument: those are seen by everybody on the machine. */
export const readPassphrase = async (
  { keyPassphraseFile, keyPassphraseEnv }: { readonly keyPassphraseFile?: string; readonly keyPassphraseEnv: string },
  env: Environment,
): Promise<string | undefined> => {
  if (keyPassphraseFile === undefined) return env[keyPassphraseEnv];
  return (await readOptionFile(keyPassphraseFile, '--key-passphrase-file')).replace(/\r?\n$/, '');
};
