import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#platform/kernel';
import { readFileOrNull, writeAtomically } from '../machine/atomic-file.js';
import type { KeyAndCertificate } from './certificates.js';
import { isHostOrAddress, isWildcard } from '#platform/settings';

const DAY = 24 * 60 * 60 * 1000;
const RENEW_BEFORE = 30 * DAY;

export type LocalCertificates = {
  readonly key: string;
  /** The certificates of the server and of the CA, PEM. */
  readonly cert: string;
  /** The file with the CA that clients must trust, for example with SSL_CERT_FILE. */
  readonly caFile: string;
  readonly expires: Date;
};

/** Returns every name by which clients may call this server. The first three never change. */
export const listCertificateNames = (host: string, publicUrl: string, machine = hostname()): readonly string[] => {
  // `hostname` of an IPv6 URL includes brackets.
  const publicHost = new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  const names = ['localhost', '127.0.0.1', '::1', machine, host, publicHost].map((name) => name.toLowerCase());
  return [...new Set(names)].filter((name) => isHostOrAddress(name) && !isWildcard(name));
};

/**
 * Returns the server's certificate, issued by a local CA. Both are stored in `folder` and renewed when they are about
 * to expire or the names have changed. Repeated calls are cheap, so a server can call it every day.
 */
export const ensureLocalCertificates = async (
  folder: string,
  names: readonly string[],
  clock: Clock,
): Promise<LocalCertificates> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const now = clock.now();
  const fits = (pair: KeyAndCertificate): boolean => isMatchingPair(pair) && isLongValid(pair.certificate, now);

  const ca = await readOrIssue(folder, 'ca.pem', 'ca-key.pem', fits, async () =>
    (await importCertificateIssuer()).issueCa(now),
  );
  const authority = new X509Certificate(ca.certificate);
  const server = await readOrIssue(
    folder,
    'server.pem',
    'server-key.pem',
    (pair) => fits(pair) && isIssuedBy(authority, pair) && coversNames(pair, names),
    async () => {
      const issued = await (await importCertificateIssuer()).issueServerCertificate(ca, names, now);
      return { key: issued.key, certificate: `${issued.certificate}\n${ca.certificate}` };
    },
  );
  return {
    key: server.key,
    cert: server.certificate,
    caFile: join(folder, 'ca.pem'),
    expires: new X509Certificate(server.certificate).validToDate,
  };
};

/**
 * Loading the library for certificates takes a tenth of a second and 14 MB, so it is loaded only if a certificate is
 * issued.
 */
const importCertificateIssuer = () => import('./certificates.js');

/** Returns the pair in the two files if it is still usable, else a new pair, which it stores. */
const readOrIssue = async (
  folder: string,
  certificateFile: string,
  keyFile: string,
  fits: (pair: KeyAndCertificate) => boolean,
  make: () => Promise<KeyAndCertificate>,
): Promise<KeyAndCertificate> => {
  const [certificate, key] = await Promise.all([
    readFileOrNull(join(folder, certificateFile)),
    readFileOrNull(join(folder, keyFile)),
  ]);
  if (certificate !== null && key !== null && fits({ certificate, key })) return { certificate, key };
  const issued = await make();
  // If the process is killed in between, the next start finds a pair that does not match, and issues another.
  await writeAtomically(join(folder, keyFile), issued.key, 0o600);
  await writeAtomically(join(folder, certificateFile), issued.certificate, 0o644);
  return issued;
};

const isMatchingPair = ({ certificate, key }: KeyAndCertificate): boolean =>
  new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));

const isLongValid = (certificate: string, now: Date): boolean =>
  new X509Certificate(certificate).validToDate.getTime() - now.getTime() >= RENEW_BEFORE;

const isIssuedBy = (authority: X509Certificate, { certificate }: KeyAndCertificate): boolean =>
  new X509Certificate(certificate).verify(authority.publicKey);

/** Returns whether the certificate is for exactly these names. */
const coversNames = ({ certificate }: KeyAndCertificate, names: readonly string[]): boolean => {
  const server = new X509Certificate(certificate);
  const certificateNames = server.subjectAltName?.split(', ') ?? [];
  return (
    certificateNames.length === names.length &&
    names.every((name) => (isIP(name) === 0 ? server.checkHost(name) : server.checkIP(name)) !== undefined)
  );
};
