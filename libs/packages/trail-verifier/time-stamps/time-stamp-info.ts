import { contextTag, DER, DerError, DerReader, encodeDer, encodeObjectId } from './der.js';
import { parseExtension } from './extensions.js';
import { TimeStampError } from './time-stamp-errors.js';

/** The signed content of a time stamp (RFC 3161, TSTInfo). */
export type TimeStampInfo = {
  readonly policy: string;
  readonly digestAlgorithm: string;
  readonly digest: Buffer;
  readonly stampedAt: Date;
  /** Content of a DER integer; null if it has none. */
  readonly nonce: Buffer | null;
};

const SHA_256 = '2.16.840.1.101.3.4.2.1';

const VERSION = encodeDer(DER.integer, Buffer.of(1));

/** Returns a request (RFC 3161, TimeStampReq) whose answer contains the certificate of the authority. */
export const encodeTimeStampRequest = ({
  digest,
  nonce,
  policy,
}: {
  /** SHA-256 of the bytes. */
  readonly digest: Buffer;
  readonly nonce: Buffer;
  readonly policy: string | null;
}): Buffer =>
  encodeDer(
    DER.sequence,
    VERSION,
    encodeDer(
      DER.sequence,
      encodeDer(DER.sequence, encodeObjectId(SHA_256), Buffer.of(0x05, 0)),
      encodeDer(DER.octetString, digest),
    ),
    ...(policy === null ? [] : [encodeObjectId(policy)]),
    encodeDer(DER.integer, nonce),
    encodeDer(DER.boolean, Buffer.of(0xff)),
  );

export const parseTimeStampInfo = (content: Buffer): TimeStampInfo => {
  const info = DerReader.open(content);
  if (!info.raw(DER.integer).equals(VERSION)) throw new DerError('the time stamp has an unknown version');
  const policy = info.objectId();
  const imprint = info.open();
  const digestAlgorithm = imprint.algorithm();
  const digest = imprint.content(DER.octetString);
  info.content(DER.integer);
  const stampedAt = parseTime(info.content(DER.generalizedTime).toString('latin1'));
  info.optional(DER.sequence);
  info.optional(DER.boolean);
  const nonce = info.optional(DER.integer);
  info.optional(contextTag(0));
  checkExtensions(info.optional(contextTag(1)));
  info.end();
  return { policy, digestAlgorithm, digest, stampedAt, nonce };
};

/** Refuses critical extensions, because this program knows none (RFC 3161, section 2.4.2). */
const checkExtensions = (content: Buffer | null): void => {
  if (content === null) return;
  for (const [id, { isCritical }] of new DerReader(content).all().map(parseExtension)) {
    if (isCritical) throw new TimeStampError('answer', `the time stamp has the unknown critical extension ${id}`);
  }
};

/** Parses a time such as `20261129211325.5Z` (RFC 3161, section 2.4.2). */
const parseTime = (text: string): Date => {
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d{1,9})?Z$/.exec(text);
  if (!match) throw new DerError('the time of the stamp has another form');
  const [, year, month, day, hour, minute, second, fraction = '.000'] = match;
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}Z`);
  if (Number.isNaN(time.getTime())) throw new DerError('the time of the stamp is no time');
  return time;
};
