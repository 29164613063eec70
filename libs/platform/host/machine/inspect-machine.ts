import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { mkdtemp, readFile, rmdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { getErrorCode, getErrorMessage } from '#platform/kernel';
import type { ProcessKind, Settings } from '#platform/settings';

type Inspection = {
  /** Settings that the inspection depends on. It is skipped if one of them is invalid. */
  readonly variables: readonly string[];
  readonly processes: readonly ProcessKind[];
  inspect(settings: Settings, now: Date): Promise<readonly string[]>;
};

const SERVERS: readonly ProcessKind[] = ['serve', 'gateway', 'projector', 'publisher'];

/**
 * Returns one line for each folder, certificate or address of the settings that cannot be used on this machine. Leaves
 * no files.
 */
export const inspectMachine = async (
  settings: Settings,
  kind: ProcessKind,
  invalid: ReadonlySet<string>,
  now: Date,
): Promise<readonly string[]> => {
  const due = inspections.filter(
    ({ variables, processes }) => processes.includes(kind) && !variables.some((name) => invalid.has(name)),
  );
  return (await Promise.all(due.map((inspection) => inspection.inspect(settings, now)))).flat();
};

const inspections: readonly Inspection[] = [
  {
    variables: ['CADASTRE_DATA'],
    processes: [...SERVERS, 'command'],
    inspect: ({ dataFolder }) => inspectFolder('CADASTRE_DATA', dataFolder),
  },
  {
    variables: ['CADASTRE_DATA', 'CADASTRE_BLOBS'],
    processes: ['serve', 'gateway', 'projector', 'command'],
    inspect: async ({ s3, dataFolder, blobsFolder }) => {
      if (s3 !== null) return [];
      const isInside = blobsFolder.startsWith(join(dataFolder, '/'));
      // One line is enough if the data folder cannot be used.
      if (isInside && (await inspectFolder('CADASTRE_DATA', dataFolder)).length > 0) return [];
      return inspectFolder('CADASTRE_BLOBS', blobsFolder);
    },
  },
  {
    variables: ['CADASTRE_TLS_CERT', 'CADASTRE_TLS_KEY'],
    processes: ['serve', 'gateway', 'command'],
    inspect: ({ tls }, now) => (tls.mode === 'files' ? inspectCertificate(tls, now) : Promise.resolve([])),
  },
  { variables: ['HOST', 'PORT'], processes: SERVERS, inspect: inspectAddress },
];

const FOLDER_REMEDY = 'name a folder that this user can write to';

/** Tries to write into the folder or, if it does not exist yet, into its nearest existing parent. */
const inspectFolder = async (variable: string, folder: string): Promise<readonly string[]> => {
  const setting = `${variable}: ${folder}`;
  try {
    const existing = await findNearestExisting(folder);
    if (!(await stat(existing)).isDirectory()) {
      const which = existing === folder ? '' : ` cannot be created, because ${existing}`;
      return [`${setting}${which} is a file; ${FOLDER_REMEDY}`];
    }
    await rmdir(await mkdtemp(join(existing, '.cadastre-inspection-')));
    return [];
  } catch (error) {
    return [`${setting} cannot be written to (${describeError(error)}); ${FOLDER_REMEDY}`];
  }
};

const findNearestExisting = async (path: string): Promise<string> => {
  try {
    await stat(path);
    return path;
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(getErrorCode(error) ?? '')) throw error;
    return findNearestExisting(dirname(path));
  }
};

const inspectCertificate = async (
  files: { readonly cert: string; readonly key: string },
  now: Date,
): Promise<readonly string[]> => {
  const lines: string[] = [];
  const certificate = await parseFile('CADASTRE_TLS_CERT', files.cert, 'a certificate', lines, parseCertificate);
  const key = await parseFile('CADASTRE_TLS_KEY', files.key, 'a private key without a passphrase', lines, parseKey);
  if (certificate) lines.push(...inspectValidity(files.cert, certificate, now));
  if (certificate && key && !certificate.checkPrivateKey(key)) {
    lines.push(`CADASTRE_TLS_KEY: ${files.key} is not the key of the certificate in ${files.cert}; name a pair`);
  }
  return lines;
};

const parseCertificate = (pem: string): X509Certificate => new X509Certificate(pem);
const parseKey = (pem: string): KeyObject => createPrivateKey(pem);

const parseFile = async <T>(
  variable: string,
  file: string,
  content: string,
  lines: string[],
  parse: (pem: string) => T,
): Promise<T | null> => {
  let pem: string;
  try {
    pem = await readFile(file, 'utf8');
  } catch (error) {
    lines.push(
      `${variable}: ${file} cannot be read (${describeError(error)}); name a PEM file that this user can read`,
    );
    return null;
  }
  try {
    return parse(pem);
  } catch {
    lines.push(`${variable}: ${file} does not contain ${content} in PEM format`);
    return null;
  }
};

const inspectValidity = (file: string, certificate: X509Certificate, now: Date): readonly string[] => {
  const { validFromDate, validToDate } = certificate;
  const subject = `CADASTRE_TLS_CERT: the certificate in ${file}`;
  if (validToDate < now) return [`${subject} expired on ${validToDate.toISOString()}; renew it`];
  if (validFromDate > now) {
    return [`${subject} is valid from ${validFromDate.toISOString()} on; check the clock of this machine`];
  }
  return [];
};

async function inspectAddress({ host, port }: Settings): Promise<readonly string[]> {
  const error = await tryToListen(host, port);
  if (error === null) return [];
  switch (getErrorCode(error) ?? '') {
    case 'EADDRINUSE':
      return [describePortInUse(host, port)];
    case 'EADDRNOTAVAIL':
      return [
        `HOST: ${host} is not an address of this machine; use one of its addresses, 127.0.0.1, or 0.0.0.0 for all`,
      ];
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return [`HOST: ${host} cannot be resolved to an address; use an address of this machine, or 0.0.0.0 for all`];
    case 'EACCES':
      return [`PORT: ${port} needs more rights than this user has; use a port from 1024 on`];
    default:
      return [`HOST: cannot listen on ${host}, port ${port} (${describeError(error)})`];
  }
}

/** Returns the message for a port in use. Also used if another process takes the port after the inspection. */
export const describePortInUse = (host: string, port: number): string =>
  `PORT: ${port} on ${host} is in use by another process; stop that process or use another port`;

const tryToListen = (host: string, port: number): Promise<Error | null> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', resolve);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)));
  });

const describeError = (error: unknown): string => getErrorCode(error) ?? getErrorMessage(error);
