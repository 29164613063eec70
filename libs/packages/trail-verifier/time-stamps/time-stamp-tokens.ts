import { hash, verify, X509Certificate, type KeyObject } from 'node:crypto';
import {
  hasEnoughBits,
  readCertificateMembers,
  readSubjectKeyId,
  verifyAuthorityCertificate,
} from './certificate-chains.js';
import { contextTag, DER, DerError, DerReader, encodeDer, encodeObjectId } from './der.js';
import { TimeStampError } from './time-stamp-errors.js';
import { parseTimeStampInfo, type TimeStampInfo } from './time-stamp-info.js';

/** The members of a request that the answer must repeat. */
type TimeStampQuery = {
  /** SHA-256 of the stamped bytes. */
  readonly digest: Buffer;
  /** Content of a DER integer; null if the request is unknown. */
  readonly nonce: Buffer | null;
  /** Null if any policy is accepted. */
  readonly policy: string | null;
};

/** A time stamp that was verified. */
export type VerifiedTimeStamp = {
  /** The name in the certificate of the authority. */
  readonly authority: string;
  readonly policy: string;
  readonly stampedAt: Date;
};

type SignerInfo = {
  /** The issuer and the serial number, or the subject key identifier of the certificate. */
  readonly isCertificate: (certificate: X509Certificate) => boolean;
  readonly digestAlgorithm: string;
  /** As they are signed. */
  readonly signedAttributes: Buffer;
  readonly attributes: ReadonlyMap<string, Buffer>;
  readonly signatureAlgorithm: string;
  readonly signature: Buffer;
};

type Token = {
  readonly content: Buffer;
  readonly certificates: readonly X509Certificate[];
  readonly signer: SignerInfo;
};

const SIGNED_DATA = '1.2.840.113549.1.7.2';
const TIME_STAMP_INFO = '1.2.840.113549.1.9.16.1.4';
const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12';
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';

/** The statuses `granted` and `grantedWithMods`. */
const GRANTED: ReadonlySet<number> = new Set([0, 1]);

/** The bits of PKIFailureInfo (RFC 3161, section 2.4.2). */
const REFUSALS: readonly (readonly [bit: number, reason: string])[] = [
  [0, 'it does not support SHA-256'],
  [2, 'it does not support such a request'],
  [5, 'it cannot read the request'],
  [14, 'its clock is not available'],
  [15, 'it does not support the policy'],
  [16, 'it does not support an extension'],
  [17, 'information that was requested is not available'],
  [25, 'it has a failure'],
];

/** With SHA-2 only. */
const DIGESTS: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

/** The type of the key, and the digest; null if it is that of the signer, or none. */
const SIGNATURES: Readonly<Record<string, readonly [keyType: string, digest: string | null]>> = {
  '1.2.840.113549.1.1.1': ['rsa', null],
  '1.2.840.113549.1.1.11': ['rsa', 'sha256'],
  '1.2.840.113549.1.1.12': ['rsa', 'sha384'],
  '1.2.840.113549.1.1.13': ['rsa', 'sha512'],
  '1.2.840.10045.4.3.2': ['ec', 'sha256'],
  '1.2.840.10045.4.3.3': ['ec', 'sha384'],
  '1.2.840.10045.4.3.4': ['ec', 'sha512'],
  '1.3.101.112': ['ed25519', null],
};

/** Certificates of a chain. */
const MAX_CERTIFICATES = 10;

/** The clocks of the site and of an authority may differ so much. */
const MAX_SKEW_MS = 60 * 60 * 1_000;

/**
 * Verifies the answer of a time stamp authority (RFC 3161) completely: that it is for this query, and that an authority has
 * signed it whose certificate leads to a configured one. `now` is null for a stamp of the past. Throws TimeStampError.
 */
export const verifyTimeStampResponse = (
  response: Buffer,
  query: TimeStampQuery,
  { trusted, now }: { readonly trusted: readonly X509Certificate[]; readonly now: Date | null },
): VerifiedTimeStamp => {
  try {
    const token = parseToken(response);
    const info = parseTimeStampInfo(token.content);
    checkQuery(info, query);
    if (now && Math.abs(info.stampedAt.getTime() - now.getTime()) > MAX_SKEW_MS) {
      throw new TimeStampError(
        'time',
        'the time of the stamp differs by more than an hour from the clock of this machine',
      );
    }
    const certificate = findSigner(token);
    verifySignature(token, certificate.publicKey);
    verifyAuthorityCertificate(certificate, { sent: token.certificates, trusted, at: info.stampedAt });
    return { authority: describeSubject(certificate), policy: info.policy, stampedAt: info.stampedAt };
  } catch (error) {
    if (error instanceof TimeStampError) throw error;
    // OpenSSL does not read one of the certificates, or the bytes are not DER.
    throw new TimeStampError('answer', 'the answer of the authority is no time stamp', { cause: error });
  }
};

const checkQuery = (info: TimeStampInfo, { digest, nonce, policy }: TimeStampQuery): void => {
  if (DIGESTS[info.digestAlgorithm] !== 'sha256' || !info.digest.equals(digest)) {
    throw new TimeStampError('imprint', 'the time stamp is for other bytes');
  }
  if (nonce && !info.nonce?.equals(nonce)) throw new TimeStampError('nonce', 'the time stamp answers another request');
  if (policy !== null && info.policy !== policy) {
    throw new TimeStampError('policy', 'the time stamp has another policy than CADASTRE_TIME_STAMP_POLICY');
  }
};

const parseToken = (response: Buffer): Token => {
  const outer = DerReader.open(response);
  checkStatus(outer.open());
  const token = outer.open();
  outer.end();
  expectObjectId(token.objectId(), SIGNED_DATA);
  const signed = token.open(contextTag(0)).open();
  signed.content(DER.integer);
  signed.content(DER.set);
  const encapsulated = signed.open();
  expectObjectId(encapsulated.objectId(), TIME_STAMP_INFO);
  const content = encapsulated.open(contextTag(0)).content(DER.octetString);
  const sent = signed.optional(contextTag(0));
  signed.optional(contextTag(1));
  const signers = signed.open(DER.set);
  const signer = parseSigner(signers.open());
  // Nobody would check the certificates of further signers.
  signers.end();
  return { content, certificates: sent ? parseCertificates(sent) : [], signer };
};

const checkStatus = (info: DerReader): void => {
  const status = info.content(DER.integer);
  if (status.length === 1 && GRANTED.has(status[0] ?? -1)) return;
  info.optional(DER.sequence);
  // The first byte is the number of unused bits.
  const bits = info.optional(DER.bitString)?.subarray(1) ?? Buffer.alloc(0);
  const reasons = REFUSALS.filter(([bit]) => ((bits[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
  const details = [`status ${status.readInt8()}`, ...reasons.map(([, reason]) => reason)].join(', ');
  throw new TimeStampError('refused', `the authority refuses to stamp (${details})`);
};

const parseCertificates = (content: Buffer): readonly X509Certificate[] => {
  const certificates = new DerReader(content).all();
  if (certificates.length > MAX_CERTIFICATES) throw new DerError('there are too many certificates');
  // Others are attribute certificates, which nothing here needs.
  return certificates.filter(([tag]) => tag === DER.sequence).map((raw) => new X509Certificate(raw));
};

const expectObjectId = (id: string, expected: string): void => {
  if (id !== expected) throw new DerError(`an object identifier is ${id} instead of ${expected}`);
};

const parseSigner = (signer: DerReader): SignerInfo => {
  signer.content(DER.integer);
  const isCertificate = parseSignerId(signer);
  const digestAlgorithm = signer.algorithm();
  const attributes = signer.content(contextTag(0));
  return {
    isCertificate,
    digestAlgorithm,
    // The signature is over the set, not over the member that contains it (RFC 5652, section 5.4).
    signedAttributes: encodeDer(DER.set, attributes),
    attributes: parseAttributes(attributes),
    signatureAlgorithm: signer.algorithm(),
    signature: signer.content(DER.octetString),
  };
};

const parseSignerId = (signer: DerReader): SignerInfo['isCertificate'] => {
  const keyId = signer.optional(contextTag(0, 'primitive'));
  if (keyId) return (certificate) => readSubjectKeyId(readCertificateMembers(certificate))?.equals(keyId) ?? false;
  const id = signer.open();
  const issuer = id.raw(DER.sequence);
  const serialNumber = id.content(DER.integer);
  return (certificate) => {
    const members = readCertificateMembers(certificate);
    return members.issuer.equals(issuer) && members.serialNumber.equals(serialNumber);
  };
};

/** Returns the only value of each attribute, with tag and length. */
const parseAttributes = (content: Buffer): ReadonlyMap<string, Buffer> => {
  const attributes = new Map<string, Buffer>();
  for (const bytes of new DerReader(content).all()) {
    const attribute = DerReader.open(bytes);
    const id = attribute.objectId();
    const [value, ...others] = attribute.open(DER.set).all();
    if (!value || others.length > 0 || attributes.has(id)) throw new DerError('an attribute has not one value');
    attributes.set(id, value);
  }
  return attributes;
};

/** Returns the certificate that the signer names twice: outside of the signed attributes, and by its digest inside. */
const findSigner = ({ certificates, signer }: Token): X509Certificate => {
  const certificate = certificates.find(signer.isCertificate);
  if (!certificate)
    throw new TimeStampError('certificate', 'the answer does not contain the certificate of the authority');
  const [algorithm, digest] = readCertificateDigest(signer.attributes);
  if (hash(algorithm, certificate.raw, 'buffer').equals(digest)) return certificate;
  throw new TimeStampError('signature', 'the time stamp is signed for another certificate');
};

/** Reads the attribute of RFC 5035 or, of earlier authorities, that of RFC 2634. SHA-1 only selects the certificate there. */
const readCertificateDigest = (
  attributes: ReadonlyMap<string, Buffer>,
): readonly [algorithm: string, digest: Buffer] => {
  const current = attributes.get(SIGNING_CERTIFICATE_V2);
  const value = current ?? attributes.get(SIGNING_CERTIFICATE);
  if (!value) throw new DerError('the signer names no certificate');
  const [first = Buffer.alloc(0)] = DerReader.open(value).open().all();
  const id = DerReader.open(first);
  if (!current) return ['sha1', id.content(DER.octetString)];
  const algorithm = id.optional(DER.sequence);
  const digest = algorithm === null ? 'sha256' : DIGESTS[new DerReader(algorithm).objectId()];
  if (digest === undefined) throw new DerError('the digest of a certificate has an unknown algorithm');
  return [digest, id.content(DER.octetString)];
};

const verifySignature = ({ content, signer }: Token, key: KeyObject): void => {
  const digest = DIGESTS[signer.digestAlgorithm];
  const [keyType, ownDigest] = SIGNATURES[signer.signatureAlgorithm] ?? [];
  if (digest === undefined || keyType === undefined) {
    throw new TimeStampError('signature', 'the time stamp is signed with an algorithm that is not accepted');
  }
  if (key.asymmetricKeyType !== keyType || !hasEnoughBits(key)) {
    throw new TimeStampError('signature', 'the time stamp is signed with a key that is not accepted');
  }
  const algorithm = keyType === 'ed25519' ? null : (ownDigest ?? digest);
  const isSigned = verify(algorithm, signer.signedAttributes, key, signer.signature);
  if (isSigned && isForContent(signer, hash(digest, content, 'buffer'))) return;
  throw new TimeStampError('signature', 'the signature of the time stamp is wrong');
};

/** Returns whether the signed attributes name the type of the content and its digest. */
const isForContent = ({ attributes }: SignerInfo, digest: Buffer): boolean => {
  const type = attributes.get(CONTENT_TYPE);
  const signed = attributes.get(MESSAGE_DIGEST);
  if (!type || !signed) return false;
  return type.equals(encodeObjectId(TIME_STAMP_INFO)) && signed.equals(encodeDer(DER.octetString, digest));
};

const MAX_NAME_LENGTH = 200;

/** Returns the common name, or the whole name if there is none. */
const describeSubject = ({ subject }: X509Certificate): string => {
  const [, commonName] = /^CN=(.+)$/m.exec(subject) ?? [];
  return (commonName ?? subject).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_NAME_LENGTH).toWellFormed();
};
