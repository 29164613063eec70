import { readFile } from 'node:fs/promises';
import tls from 'node:tls';
import { ExecutorError } from './executor-error.js';

/**
 * Trusts the authorities of this machine, as terraform does, and those of SSL_CERT_FILE. Applies to the whole process. Returns all of
 * them for the commands of runs, because a file in SSL_CERT_FILE replaces those of the system.
 */
export const trustAuthorities = async (env: Readonly<Record<string, string | undefined>>): Promise<string> => {
  const file = env['SSL_CERT_FILE'];
  // The file is empty in a container for any server, if the server has a certificate of a public authority.
  const own = file ? [await readAuthorities(file)].filter((text) => text.trim() !== '') : [];
  const all = [...tls.getCACertificates('default'), ...tls.getCACertificates('system'), ...own];
  tls.setDefaultCACertificates(all);
  return `${[...new Set(all.map((certificate) => certificate.trim()))].join('\n')}\n`;
};

const readAuthorities = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new ExecutorError('usage', `SSL_CERT_FILE: ${file} cannot be read`);
  }
};
