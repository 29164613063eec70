import type { KeyObject, X509Certificate } from 'node:crypto';
import { contextTag, DER, DerReader } from './der.js';
import { parseExtension, type DerExtension } from './extensions.js';
import { TimeStampError } from './time-stamp-errors.js';

/** Members of a certificate that Node does not show. */
type CertificateMembers = {
  /** The name of the issuer, as DER. */
  readonly issuer: Buffer;
  readonly serialNumber: Buffer;
  readonly signatureAlgorithm: string;
  readonly extensions: ReadonlyMap<string, DerExtension>;
};

const KEY_USAGE = '2.5.29.15';
const SUBJECT_KEY_ID = '2.5.29.14';
const BASIC_CONSTRAINTS = '2.5.29.19';
const CERTIFICATE_POLICIES = '2.5.29.32';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';

/** The bits `digitalSignature` and `nonRepudiation` of a key usage (RFC 5280, section 4.2.1.3). */
const SIGNATURE_USAGES = 0xc0;

const MIN_RSA_BITS = 2048;

/** Critical extensions that the checks below obey. Certificates with others are refused (RFC 5280, section 4.2). */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  KEY_USAGE,
  BASIC_CONSTRAINTS,
  CERTIFICATE_POLICIES,
  EXTENDED_KEY_USAGE,
]);

/** Signatures of certificates with SHA-2, and Ed25519. */
const ACCEPTED_SIGNATURES: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112',
]);

/** Certificates between that of the authority and a configured one. */
const MAX_INTERMEDIATES = 4;

export const readCertificateMembers = ({ raw }: X509Certificate): CertificateMembers => {
  const certificate = DerReader.open(raw);
  const body = certificate.open();
  body.optional(contextTag(0));
  const serialNumber = body.content(DER.integer);
  const signatureAlgorithm = body.algorithm();
  const issuer = body.raw(DER.sequence);
  const rest = body.all();
  const last = rest.at(-1);
  const extensions = last?.[0] === contextTag(3) ? DerReader.open(last, contextTag(3)).open().all() : [];
  return { issuer, serialNumber, signatureAlgorithm, extensions: new Map(extensions.map(parseExtension)) };
};

/** Returns the subject key identifier of a certificate; null if it has none. */
export const readSubjectKeyId = ({ extensions }: CertificateMembers): Buffer | null => {
  const extension = extensions.get(SUBJECT_KEY_ID);
  return extension === undefined ? null : new DerReader(extension.value).content(DER.octetString);
};

/**
 * Checks that a certificate belongs to a time stamp authority (RFC 3161, section 2.3): it is only for time stamps, and
 * leads to one of the configured certificates. `at`: when all certificates must be valid.
 */
export const verifyAuthorityCertificate = (
  certificate: X509Certificate,
  {
    sent,
    trusted,
    at,
  }: { readonly sent: readonly X509Certificate[]; readonly trusted: readonly X509Certificate[]; readonly at: Date },
): void => {
  const usage = readCertificateMembers(certificate).extensions.get(EXTENDED_KEY_USAGE);
  const purposes = usage ? listPurposes(usage.value) : [];
  if (!usage?.isCritical || purposes.length !== 1 || purposes[0] !== TIME_STAMPING) {
    throw new TimeStampError('certificate', 'the certificate of the authority is not only for time stamps');
  }
  checkKeyUsage(certificate);
  checkCertificate(certificate, at);
  if (trusted.some(({ raw }) => raw.equals(certificate.raw))) return;
  let current = certificate;
  for (let below = 0; below <= MAX_INTERMEDIATES; below += 1) {
    const anchor = trusted.find((each) => isIssuer(each, current, below));
    if (anchor) return checkCertificate(anchor, at);
    const next = sent.find((each) => isIssuer(each, current, below));
    if (!next) break;
    checkCertificate(next, at);
    current = next;
  }
  throw new TimeStampError(
    'certificate',
    'the certificate of the authority is not issued by a certificate in CADASTRE_TIME_STAMP_CA',
  );
};

const listPurposes = (value: Buffer): readonly string[] => {
  const purposes = DerReader.open(value);
  const ids: string[] = [];
  while (purposes.hasMore) ids.push(purposes.objectId());
  return ids;
};

/** Refuses a key that is for anything but signatures, as `openssl ts -verify` does. Without the extension, it is for everything. */
const checkKeyUsage = (certificate: X509Certificate): void => {
  const usage = readCertificateMembers(certificate).extensions.get(KEY_USAGE);
  if (!usage) return;
  // The first byte is the number of unused bits.
  const [, ...bits] = new DerReader(usage.value).content(DER.bitString);
  const [first = 0, second = 0] = bits;
  if ((first & SIGNATURE_USAGES) !== 0 && (first & ~SIGNATURE_USAGES) === 0 && second === 0) return;
  throw new TimeStampError('certificate', 'the certificate of the authority is not only for signatures');
};

/** Returns whether a key is of another type than RSA, or has at least 2048 bits. */
export const hasEnoughBits = ({ asymmetricKeyDetails }: KeyObject): boolean =>
  (asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS) >= MIN_RSA_BITS;

const checkCertificate = (certificate: X509Certificate, at: Date): void => {
  if (at < certificate.validFromDate || at > certificate.validToDate) {
    throw new TimeStampError('certificate', 'a certificate of the authority was not valid at the time of the stamp');
  }
  for (const [id, { isCritical }] of readCertificateMembers(certificate).extensions) {
    if (isCritical && !KNOWN_EXTENSIONS.has(id)) {
      throw new TimeStampError(
        'certificate',
        `a certificate of the authority has the unknown critical extension ${id}`,
      );
    }
  }
};

/** Returns whether a certificate may have issued another one, above `below` intermediate ones, and has signed it. */
const isIssuer = (issuer: X509Certificate, certificate: X509Certificate, below: number): boolean => {
  if (!issuer.ca || !certificate.checkIssued(issuer) || !hasEnoughBits(issuer.publicKey)) return false;
  if (!ACCEPTED_SIGNATURES.has(readCertificateMembers(certificate).signatureAlgorithm)) return false;
  const { extensions } = readCertificateMembers(issuer);
  const usage = extensions.get(EXTENDED_KEY_USAGE);
  if (usage && !listPurposes(usage.value).includes(TIME_STAMPING)) return false;
  const pathLength = readPathLength(extensions.get(BASIC_CONSTRAINTS)?.value);
  return (pathLength === null || below <= pathLength) && certificate.verify(issuer.publicKey);
};

const readPathLength = (value: Buffer | undefined): number | null => {
  if (!value) return null;
  const constraints = DerReader.open(value);
  constraints.optional(DER.boolean);
  const length = constraints.optional(DER.integer);
  return length === null ? null : length.readUIntBE(0, Math.min(length.length, 6));
};
