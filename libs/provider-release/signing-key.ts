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

/** A public key that a registry may hand out for verifying releases. */
export type SigningKey = {
  /** The last 16 digits of the fingerprint, in upper-case hex: how clients and the API call the key. */
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
 * Each is verified at least once, and without a pause: a key made to keep us busy does so for half a second at most. Real
 * keys have a few, one for each user id and subkey. Signatures of others are neither looked at nor counted.
 */
const MAX_OWN_SIGNATURES: Readonly<Record<KeyKind, number>> = { RSA: 64, DSA: 12 };

export const getKeyId = (key: Pick<Key, 'getKeyID'>): string => key.getKeyID().toHex().toUpperCase();

/** Refuses what would keep us busy, or be in vain, before anything is verified. */
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

const createNotAPublicKeyRefusal = () => unprocessable('Ascii armor holds no public key of OpenPGP', 'ascii-armor');

/** Reads a key without asking whether it is still good. */
export const parsePublicKey = async (armor: string): Promise<Key> => {
  const binaryKeys = decodeArmor(armor);
  const [key, ...others] = await readKeys({ binaryKeys, config: OPENPGP_CONFIG }).catch(() => {
    throw createNotAPublicKeyRefusal();
  });
  if (!key || key.isPrivate()) throw createNotAPublicKeyRefusal();
  if (others.length > 0) throw unprocessable('Ascii armor has several keys: send one at a time', 'ascii-armor');
  checkKeyPackets(key);
  return key;
};

/** gpg signs with the newest subkey that may, else with the key itself. */
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

/** The part of a key that signs releases: the first that may sign, and that clients can verify. */
export const findSigningKey = async (
  key: Key,
  at: Date,
  mayUse: (part: Key | Subkey) => boolean = () => true,
): Promise<Key | Subkey> => {
  const reasons: unknown[] = [];
  for (const part of listKeyPackets(key)) {
    if (!getKeyKind(part.keyPacket) || !mayUse(part)) continue;
    try {
      const found = await key.getSigningKey(part.getKeyID(), at, undefined, OPENPGP_CONFIG);
      checkUsable(found.keyPacket, KEY_SUBJECT);
      return found;
    } catch (error) {
      reasons.push(error);
    }
  }
  throw toRefusal(reasons[0]);
};

/**
 * Reads an ASCII-armored public key for verifying releases, and refuses what clients could not verify with, or what
 * should not be given to them. Its texts point at `ascii-armor`.
 *
 * An expired key is taken: the clients install what one signed, terraform with a note in its log, tofu with a warning.
 */
export const readPublicKey = async (armor: string, now: Date): Promise<SigningKey> => {
  const key = await parsePublicKey(armor);
  const expiresAt = await key.getExpirationTime(undefined, OPENPGP_CONFIG);
  const isExpired = expiresAt instanceof Date && expiresAt <= now;
  // As it was while it could sign.
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
