import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { badUsage } from './failure.js';
import { fileNamed } from './file-named.js';

type Environment = Readonly<Partial<Record<string, string>>>;

/** The server's address, as given or as other clients of this API know it. */
export const serverOf = (given: string | undefined, env: Environment): URL => {
  const text = given ?? env['CADASTRE_URL'] ?? env['TFE_ADDRESS'];
  if (!text) throw badUsage('Which server? Give --server https://… or set CADASTRE_URL');
  const address = /^https?:\/\//.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) throw badUsage('--server: this is no address such as https://tfe.example.com');
  const url = new URL(address);
  if (url.username || url.password) throw badUsage('--server: an address has no user and no password in it');
  return new URL(url.origin);
};

export type Token = {
  readonly secret: string;
  /** Where it was found; for telling that it is wrong. */
  readonly source: string;
};

const PREFIX = 'TF_TOKEN_';

/** As the command-line clients read such a name: two underscores are a dash, one is a dot. */
const hostIn = (variable: string): string =>
  variable.slice(PREFIX.length).replaceAll('__', '-').replaceAll('_', '.').toLowerCase();

const fromVariables = (host: string, env: Environment): Token | null => {
  const named = Object.keys(env).find((variable) => variable.startsWith(PREFIX) && hostIn(variable) === host);
  const source = named ?? 'TFE_TOKEN';
  const secret = env[source]?.trim();
  return secret ? { secret, source } : null;
};

const credentials = z.object({ credentials: z.record(z.string(), z.object({ token: z.string() })) });

/** Where `terraform login` keeps tokens. */
const credentialsFile = (env: Environment): string => {
  const folder = env['APPDATA'] ? join(env['APPDATA'], 'terraform.d') : join(env['HOME'] ?? homedir(), '.terraform.d');
  return join(folder, 'credentials.tfrc.json');
};

const fromLogin = async (host: string, env: Environment): Promise<Token | null> => {
  const source = credentialsFile(env);
  const text = await readFile(source, 'utf8').catch(() => '{}');
  try {
    const secret = credentials.safeParse(JSON.parse(text)).data?.credentials[host]?.token;
    return secret ? { secret, source } : null;
  } catch {
    throw badUsage(`${source} is not JSON`);
  }
};

/** What the name of the host is in a variable's name. A shell cannot export one with a port in it; `env` can set it. */
const variableFor = (host: string): string => PREFIX + host.replaceAll('-', '__').replaceAll('.', '_');

/** The token for this server. One that is set for its host goes before one that is set for any. */
export const tokenFor = async ({ host }: URL, tokenFile: string | undefined, env: Environment): Promise<Token> => {
  if (tokenFile !== undefined) {
    const secret = (await fileNamed(tokenFile, '--token-file')).trim();
    if (!secret) throw badUsage(`--token-file: ${tokenFile} is empty`);
    return { secret, source: tokenFile };
  }
  const found = fromVariables(host, env) ?? (await fromLogin(host, env));
  if (found) return found;
  throw badUsage(
    `There is no token for ${host}: give --token-file FILE, set TFE_TOKEN or ${variableFor(host)}, or run terraform login ${host}`,
  );
};

/** The passphrase of a private key. Never an argument: those are seen by everybody on the machine. */
export const passphraseOf = async (
  { keyPassphraseFile, keyPassphraseEnv }: { readonly keyPassphraseFile?: string; readonly keyPassphraseEnv: string },
  env: Environment,
): Promise<string | undefined> => {
  if (keyPassphraseFile === undefined) return env[keyPassphraseEnv];
  return (await fileNamed(keyPassphraseFile, '--key-passphrase-file')).replace(/\r?\n$/, '');
};
