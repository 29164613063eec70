import { chmod, readFile, writeFile } from 'node:fs/promises';
import { getErrorCode } from '#platform/kernel';
import { StartupError } from '#platform/host';
import { SuppliedValues } from '#operations/service-imports';

/** What the operator chooses about an import from another service. */
export type ServiceImportOptions = {
  readonly from: string;
  readonly organization: string;
  readonly into?: string;
  readonly owner: string;
  readonly tokenFile?: string;
  readonly values?: string;
  readonly report?: string;
  readonly apply?: boolean;
  readonly verify?: boolean;
  readonly finish?: boolean;
  readonly undo?: boolean;
  readonly states?: number;
  readonly rate: number;
};

export const TOKEN_VARIABLE = 'CADASTRE_IMPORT_TOKEN';

const LOCAL_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Returns the address of the source. Without TLS, its token would be readable on the way. */
export const parseSourceAddress = (text: string): URL => {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOCAL_HOSTS.has(url.hostname));
  if (!url || !isSafe || url.username !== '' || url.pathname !== '/' || url.search !== '') {
    throw new StartupError(`--from: must be the address of a server, such as https://app.terraform.io, got "${text}"`);
  }
  return url;
};

/** Names of organizations become parts of paths. */
export const requireOrganizationName = (option: string, name: string): string => {
  if (/^[\w-]{1,255}$/.test(name)) return name;
  throw new StartupError(`${option}: must be the name of an organization, got "${name}"`);
};

const readOptional = async (option: string, file: string): Promise<string | null> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return null;
    throw new StartupError(`${option}: ${file} cannot be read (${getErrorCode(error) ?? String(error)})`);
  }
};

/** Reads the token of the source from a file or a variable. An option would show it to all users of the machine. */
export const readSourceToken = async ({ tokenFile }: ServiceImportOptions): Promise<string> => {
  const text = tokenFile === undefined ? process.env[TOKEN_VARIABLE] : await readOptional('--token-file', tokenFile);
  const token = text?.trim() ?? '';
  if (/^[\x21-\x7e]{1,1000}$/.test(token)) return token;
  throw new StartupError(`--token-file or ${TOKEN_VARIABLE}: must contain a token of the source`);
};

export const readSuppliedValues = async ({ values }: ServiceImportOptions): Promise<SuppliedValues> => {
  const text = values === undefined ? null : await readOptional('--values', values);
  try {
    return new SuppliedValues(text);
  } catch (error) {
    throw new StartupError(`--values: ${(error as Error).message}`);
  }
};

/** Adds the entries that the file lacks. Only its owner may read it. */
export const writeSuppliedValues = async (
  { values: file }: ServiceImportOptions,
  values: SuppliedValues,
): Promise<void> => {
  if (file === undefined || !values.hasChanged) return;
  await writeFile(file, values.format(), { mode: 0o600 });
  await chmod(file, 0o600);
};
