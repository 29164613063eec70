// tsyringe, a dependency of @peculiar/x509, requires that the Reflect API is loaded first.
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** A private key and its certificate, both PEM. */
export type KeyAndCertificate = { readonly key: string; readonly certificate: string };

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const CA_DAYS = 3650;
// Apple's verifier refuses more than 825 days, even under a CA that the user has added.
const SERVER_DAYS = 820;

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export const issueCa = async (now: Date): Promise<KeyAndCertificate> => {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: createSerialNumber(),
    name: [{ CN: ['Cadastre local CA'] }],
    ...computeValidity(now, CA_DAYS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      // Path length 0: the CA signs servers but no further authorities.
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { key: await exportPem(keys.privateKey), certificate: certificate.toString('pem') };
};

export const issueServerCertificate = async (
  ca: KeyAndCertificate,
  names: readonly string[],
  now: Date,
): Promise<KeyAndCertificate> => {
  const keys = await generateKeys();
  const authority = new X509Certificate(ca.certificate);
  const { notBefore, notAfter } = computeValidity(now, SERVER_DAYS);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: createSerialNumber(),
    subject: [{ CN: ['Cadastre'] }],
    issuer: authority.subject,
    // Never valid for longer than its CA.
    notBefore,
    notAfter: notAfter < authority.notAfter ? notAfter : authority.notAfter,
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await importSigningKey(ca.key),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      // Go and browsers check only these names. The CN no longer counts as a host name.
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }))),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(authority),
    ],
  });
  return { key: await exportPem(keys.privateKey), certificate: certificate.toString('pem') };
};

// Starts an hour earlier, because the clock of a client, such as a virtual machine, may be behind.
const computeValidity = (now: Date, days: number): { notBefore: Date; notAfter: Date } => ({
  notBefore: new Date(now.getTime() - HOUR),
  notAfter: new Date(now.getTime() - HOUR + days * DAY),
});

// Positive, as RFC 5280 requires: the highest bit is 0. The digit 4 ensures that it is not zero.
const createSerialNumber = (): string => `4${randomBytes(16).toString('hex').slice(1)}`;

const generateKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

const exportPem = async (key: webcrypto.CryptoKey): Promise<string> =>
  PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), PemConverter.PrivateKeyTag);

const importSigningKey = (pem: string): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), algorithm, false, ['sign']);
