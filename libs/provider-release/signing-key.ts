import { enums, readKeys, type Key, type Subkey } from 'openpgp';
import { Refusal, formatTimestamp, unprocessable, type Timestamp } from '#kernel';
import { decodeArmor } from './armor.js';
import {
  allowClockSkew,
  checkKeySize,
  checkUsable,
  OPENPGP_CONFIG,
  getKeyKind,
  type KeyKind,
  type KeySubject,
} from './key-rules.js';

/** A public key that a registry can give to clients for verifying releases. */
export type SigningKey = {
  /** Last 16 digits of the fingerprint, in upper-case hex. Clients and the API identify the key by it. */
  readonly keyId: string;
  readonly fingerprint: string;
  readonly algorithm: KeyKind;
  readonly bits: number;
  readonly createdAt: Timestamp;
  readonly expiresAt: Timestamp | null;
  readonly userIds: readonly string[];
};

const KEY_SUBJECT: KeySubject = { name: 'The key', attribute: 'ascii-armor' };

const refuse = (what: string) => unprocessable(`The key ${what}`, 'ascii-armor');

/**
 * Maximum number of signatures that a key has of its own. Each is verified at least once without yielding, so a
 * malicious key blocks the event loop for half a second at most. Real keys have a few, one for each user id and subkey.
 * Signatures by other keys are neither verified nor counted.
 */
const MAX_OWN_SIGNATURES: Readonly<Record<KeyKind, number>> = { RSA: 64, DSA: 12 };

export const getKeyId = (key: Pick<Key, 'getKeyID'>): string => key.getKeyID().toHex().toUpperCase();

/** Rejects keys that are slow to verify or unusable, before anything is verified. */
const checkKeyPackets = (key: Key): void => {
  const { kind } = checkUsable(key.keyPacket, KEY_SUBJECT);
  for (const part of key.getKeys()) checkKeySize(part.keyPacket, KEY_SUBJECT);
  const own = key
    .toPacketList()
    .filterByTag(enums.packet.signature)
    .filter((packet) => 'issuerKeyID' in packet && packet.issuerKeyID.equals(key.getKeyID()));
  if (own.length > MAX_OWN_SIGNATURES[kind]) {
    throw refuse(
      `has more than ${MAX_OWN_SIGNATURES[kind]} signatures of its own: export it with --export-options export-minimal`,
    );
  }
};

const createNotAPublicKeyRefusal = () => unprocessable('Ascii armor contains no OpenPGP public key', 'ascii-armor');

/** Parses a key without checking whether it has expired or is revoked. */
export const parsePublicKey = async (armor: string): Promise<Key> => {
  const binaryKeys = decodeArmor(armor);
  const [key, ...others] = await readKeys({ binaryKeys, config: OPENPGP_CONFIG }).catch(() => {
    throw createNotAPublicKeyRefusal();
  });
  if (!key || key.isPrivate()) throw createNotAPublicKeyRefusal();
  if (others.length > 0)
    throw unprocessable('Ascii armor contains several keys: send one key at a time', 'ascii-armor');
  checkKeyPackets(key);
  return key;
};

/**
 * Returns when a key that was accepted before ends, or null if it has no end. It verifies no signature again, so that a list
 * of keys costs little.
 */
export const readKeyExpiry = async (armor: string): Promise<Timestamp | null> => {
  const [key] = await readKeys({ binaryKeys: decodeArmor(armor), config: OPENPGP_CONFIG });
  const [newest] = (key?.users ?? [])
    .flatMap(({ selfCertifications }) => selfCertifications)
    .toSorted((left, right) => Number(right.created) - Number(left.created));
  if (!key || !newest?.keyExpirationTime) return null;
  return formatTimestamp(key.getCreationTime().getTime() + newest.keyExpirationTime * 1_000);
};

/**
 * Lists the parts of a key in the order of gpg, which signs with the newest signing subkey, otherwise with the primary
 * key.
 */
const listKeyPackets = (key: Key): readonly (Key | Subkey)[] => {
  const bound = key.getSubkeys().filter(({ bindingSignatures }) => bindingSignatures.length > 0);
  return [...bound.toSorted((left, right) => Number(right.getCreationTime()) - Number(left.getCreationTime())), key];
};

const toRefusal = (reason: unknown): Refusal => {
  if (reason instanceof Refusal) return reason;
  const message = reason instanceof Error ? reason.message : 'no part of it is RSA or DSA and may sign';
  if (/revoked/.test(message)) return refuse('is revoked');
  if (/is expired/.test(message)) {
    return refuse('has expired: extend it with gpg --quick-set-expire');
  }
  return refuse(`cannot sign: ${message}`);
};

/** Returns the part of a key that signs releases: the first that may sign and that clients can verify. */
export const findSigningKey = async (
  key: Key,
  at: Date,
  mayUse: (part: Key | Subkey) => boolean = () => true,
): Promise<Key | Subkey> => {
  const reasons: unknown[] = [];
  for (const part of listKeyPackets(key)) {
    if (!getKeyKind(part.keyPacket) || !mayUse(part)) continue;
    try {
      const signingKey = await key.getSigningKey(part.getKeyID(), at, undefined, OPENPGP_CONFIG);
      checkUsable(signingKey.keyPacket, KEY_SUBJECT);
      return signingKey;
    } catch (error) {
      reasons.push(error);
    }
  }
  throw toRefusal(reasons[0]);
};

/**
 * Reads an ASCII-armored public key for verifying releases. Rejects a key that clients could not verify with or should
 * not get. Errors point to `ascii-armor`.
 *
 * Accepts an expired key, because clients install what it signed: terraform with a note in its log, tofu with a
 * warning.
 */
export const readPublicKey = async (armor: string, now: Date): Promise<SigningKey> => {
  const key = await parsePublicKey(armor);
  const expiresAt = await key.getExpirationTime(undefined, OPENPGP_CONFIG);
  const isExpired = expiresAt instanceof Date && expiresAt <= now;
  // An expired key is checked at a time when it could still sign.
  await findSigningKey(key, isExpired ? new Date(expiresAt.getTime() - 1000) : allowClockSkew(now));
  const { kind, bits } = checkUsable(key.keyPacket, KEY_SUBJECT);
  return {
    keyId: getKeyId(key),
    fingerprint: key.getFingerprint().toUpperCase(),
    algorithm: kind,
    bits,
    createdAt: formatTimestamp(key.getCreationTime().getTime()),
    expiresAt: expiresAt instanceof Date ? formatTimestamp(expiresAt.getTime()) : null,
    userIds: key.getUserIDs(),
  };
};
