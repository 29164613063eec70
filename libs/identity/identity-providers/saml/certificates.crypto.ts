// tsyringe, a dependency of @peculiar/x509, requires that the Reflect API is loaded first.
import 'reflect-metadata';
import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { PemConverter, X509CertificateGenerator } from '@peculiar/x509';
import { unprocessable } from '#platform/kernel';

const MIN_BITS = 2_048;
const MAX_CERTIFICATES = 5;
const KEY_YEARS = 10;
const YEAR_MS = 365 * 86_400_000;

type CertificateSource = 'certificates' | 'metadata';

const refuseCertificate = (source: CertificateSource, problem: string): never => {
  throw unprocessable(`${source}: must have RSA certificates with ${MIN_BITS} bits or more: ${problem}`, source);
};

const parseCertificate = (text: string, source: CertificateSource): X509Certificate => {
  const base64 = text.replaceAll(/-----(?:BEGIN|END) CERTIFICATE-----|\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return refuseCertificate(source, 'one is not PEM');
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    return refuseCertificate(source, 'one cannot be read');
  }
};

const isStrong = ({ publicKey: { asymmetricKeyType, asymmetricKeyDetails } }: X509Certificate): boolean =>
  asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_BITS;

/**
 * Returns certificates of a provider as PEM, each once. Their dates do not count: providers use certificates only as
 * containers of keys, and often let them expire. Metadata can have other kinds too, which are left out. Throws
 * `unprocessable`.
 */
export const normalizeCertificates = (texts: readonly string[], source: CertificateSource): readonly string[] => {
  const all = texts.map((text) => parseCertificate(text, source));
  const strong = all.filter(isStrong);
  const isComplete = source === 'metadata' ? strong.length > 0 : strong.length === all.length;
  if (!isComplete) refuseCertificate(source, 'one has another kind of key, or a shorter one');
  const certificates = [...new Set(strong.map((certificate) => certificate.toString()))];
  if (certificates.length > MAX_CERTIFICATES) refuseCertificate(source, `at most ${MAX_CERTIFICATES} of them`);
  return certificates;
};

const ALGORITHM = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2_048,
  publicExponent: new Uint8Array([1, 0, 1]),
};

/** A private key and its certificate, both PEM. */
export type ServiceKey = { readonly privateKey: string; readonly certificate: string };

/** Creates the key of this server at one provider: it signs requests, and decrypts assertions. */
export const createServiceKey = async (now: Date): Promise<ServiceKey> => {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: `4${randomBytes(16).toString('hex').slice(1)}`,
    name: [{ CN: ['Cadastre SAML'] }],
    notBefore: new Date(now.getTime() - 86_400_000),
    notAfter: new Date(now.getTime() + KEY_YEARS * YEAR_MS),
    signingAlgorithm: ALGORITHM,
    keys,
  });
  const exported = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    privateKey: PemConverter.encode(exported, PemConverter.PrivateKeyTag),
    certificate: certificate.toString('pem'),
  };
};
