import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#kernel';
import { readFileOrNull, writeAtomically } from '../machine/atomic-file.js';
import type { KeyAndCertificate } from './certificates.js';
import { isHostOrAddress, isWildcard } from './host-names.js';

const DAY = 24 * 60 * 60 * 1000;
const RENEW_BEFORE = 30 * DAY;

export type LocalCertificates = {
  readonly key: string;
  /** The server's certificate and the CA's, PEM. */
  readonly cert: string;
  /** What clients trust, for example with SSL_CERT_FILE. */
  readonly caFile: string;
  readonly expires: Date;
};

/** Every name by which this server may be called; the first ones always hold. */
export const listCertificateNames = (host: string, publicUrl: string, machine = hostname()): readonly string[] => {
  // `hostname` of an IPv6 URL keeps its brackets.
  const publicHost = new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  const names = ['localhost', '127.0.0.1', '::1', machine, host, publicHost].map((name) => name.toLowerCase());
  return [...new Set(names)].filter((name) => isHostOrAddress(name) && !isWildcard(name));
};

/**
 * The server's certificate, from a CA of its own; both kept in `folder` and made anew when they run out or the names
 * have changed. Asking again is cheap, so a server that runs for years can ask every day.
 */
export const ensureLocalCertificates = async (
  folder: string,
  names: readonly string[],
  clock: Clock,
): Promise<LocalCertificates> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const now = clock.now();
  const fits = (kept: KeyAndCertificate): boolean => isMatchingPair(kept) && isLongValid(kept.certificate, now);

  const ca = await readOrIssue(folder, 'ca.pem', 'ca-key.pem', fits, async () =>
    (await importCertificateIssuer()).issueCa(now),
  );
  const authority = new X509Certificate(ca.certificate);
  const server = await readOrIssue(
    folder,
    'server.pem',
    'server-key.pem',
    (found) => fits(found) && isIssuedBy(authority, found) && coversNames(found, names),
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

/** What makes certificates takes a tenth of a second and 14 MB: only a start that makes some loads it. */
const importCertificateIssuer = () => import('./certificates.js');

/** What the two files hold if it still fits, else a new pair, written down. */
const readOrIssue = async (
  folder: string,
  certificateFile: string,
  keyFile: string,
  fits: (found: KeyAndCertificate) => boolean,
  make: () => Promise<KeyAndCertificate>,
): Promise<KeyAndCertificate> => {
  const [certificate, key] = await Promise.all([
    readFileOrNull(join(folder, certificateFile)),
    readFileOrNull(join(folder, keyFile)),
  ]);
  if (certificate !== null && key !== null && fits({ certificate, key })) return { certificate, key };
  const made = await make();
  // Killed between the two, the next start finds a pair that does not belong together, and makes another.
  await writeAtomically(join(folder, keyFile), made.key, 0o600);
  await writeAtomically(join(folder, certificateFile), made.certificate, 0o644);
  return made;
};

const isMatchingPair = ({ certificate, key }: KeyAndCertificate): boolean =>
  new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));

const isLongValid = (certificate: string, now: Date): boolean =>
  new X509Certificate(certificate).validToDate.getTime() - now.getTime() >= RENEW_BEFORE;

const isIssuedBy = (authority: X509Certificate, { certificate }: KeyAndCertificate): boolean =>
  new X509Certificate(certificate).verify(authority.publicKey);

/** For these names, and for no other. */
const coversNames = ({ certificate }: KeyAndCertificate, names: readonly string[]): boolean => {
  const server = new X509Certificate(certificate);
  const held = server.subjectAltName?.split(', ') ?? [];
  return (
    held.length === names.length &&
    names.every((name) => (isIP(name) === 0 ? server.checkHost(name) : server.checkIP(name)) !== undefined)
  );
};
