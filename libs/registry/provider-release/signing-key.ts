import { enums, readKeys, type Key, type SignaturePacket, type Subkey } from 'openpgp';
import { Refusal, formatTimestamp, unprocessable, type Timestamp } from '#platform/kernel';
import { decodeArmor } from './armor.js';
import {
  allowClockSkew,
  checkKeySize,
  checkUsable,
  findFirstReader,
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
  /** Null for a curve, whose name contains its size. */
  readonly bits: number | null;
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
const MAX_OWN_SIGNATURES = 64;
const MAX_OWN_DSA_SIGNATURES = 12;

export const getKeyId = (key: Pick<Key, 'getKeyID'>): string => key.getKeyID().toHex().toUpperCase();

/** Rejects keys that are slow to verify or unusable, before anything is verified. */
const checkKeyPackets = (key: Key): void => {
  const { kind } = checkUsable(key.keyPacket, KEY_SUBJECT);
  for (const part of key.getKeys()) checkKeySize(part.keyPacket, KEY_SUBJECT);
  const own = key
    .toPacketList()
    .filterByTag(enums.packet.signature)
    .filter((packet) => 'issuerKeyID' in packet && packet.issuerKeyID.equals(key.getKeyID()));
  const most = kind === 'DSA' ? MAX_OWN_DSA_SIGNATURES : MAX_OWN_SIGNATURES;
  if (own.length > most) {
    throw refuse(`has more than ${most} signatures of its own: export it with --export-options export-minimal`);
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

/** The facts that documents show about a key that was accepted before. */
export type AcceptedKey = {
  readonly algorithm: KeyKind | null;
  /** When the key ends; null if it has no end. */
  readonly expiresAt: Timestamp | null;
  /** The first terraform version that reads the key, such as `1.6`; null if all versions do. */
  readonly firstTerraform: string | null;
};

/** Reads a key that was accepted before. Verifies no signature again, because a list can contain many keys. */
export const readAcceptedKey = async (armor: string): Promise<AcceptedKey> => {
  const [key] = await readKeys({ binaryKeys: decodeArmor(armor), config: OPENPGP_CONFIG });
  if (!key) throw createNotAPublicKeyRefusal();
  const [newest] = listSelfSignatures(key);
  return {
    algorithm: getKeyKind(key.keyPacket) ?? null,
    expiresAt: newest?.keyExpirationTime
      ? formatTimestamp(key.getCreationTime().getTime() + newest.keyExpirationTime * 1_000)
      : null,
    firstTerraform: findFirstReader(key.getKeys().map(({ keyPacket }) => keyPacket)),
  };
};

/** Returns the signatures of the key over its own user ids, the newest first. */
const listSelfSignatures = (key: Key): readonly SignaturePacket[] =>
  key.users
    .flatMap(({ selfCertifications }) => selfCertifications)
    .toSorted((left, right) => Number(right.created) - Number(left.created));

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
  const message = reason instanceof Error ? reason.message : 'no part of it that clients can verify may sign';
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

/**
 * Rejects a text that cannot replace the present text of a key. The new text must be a later copy of the same key, and
 * must verify every signature that the present text verifies, so that published versions stay installable. Call
 * `readPublicKey` for the new text first.
 */
export const checkRenewal = async (present: string, renewed: string): Promise<void> => {
  const [before, after] = [await parsePublicKey(present), await parsePublicKey(renewed)];
  if (before.getFingerprint() !== after.getFingerprint()) {
    throw unprocessable(
      `Key id is taken by the key ${formatFingerprint(before)}. The sent key ${formatFingerprint(after)} has the same id, but is another key`,
      'key-id',
    );
  }
  const [newest, replacement] = [listSelfSignatures(before)[0]?.created, listSelfSignatures(after)[0]?.created];
  if (Number(replacement) < Number(newest)) throw refuse('is an older copy of the key that the registry has');
  const verifying = new Set((await listVerifyingParts(after)).map((part) => part.getFingerprint()));
  const lost = (await listVerifyingParts(before)).find((part) => !verifying.has(part.getFingerprint()));
  if (lost) {
    throw refuse(
      `does not verify the signatures of its part ${getKeyId(lost)}, as the present copy does. Export the whole key`,
    );
  }
};

const formatFingerprint = (key: Key): string => key.getFingerprint().toUpperCase();

/** Returns the parts whose signatures `verifyDetached` accepts, at any time. */
const listVerifyingParts = async (key: Key): Promise<readonly (Key | Subkey)[]> => {
  const verifying: (Key | Subkey)[] = [];
  for (const part of listKeyPackets(key)) {
    if (!getKeyKind(part.keyPacket)) continue;
    const signingKey = await key.getSigningKey(part.getKeyID(), null, undefined, OPENPGP_CONFIG).catch(() => undefined);
    if (signingKey) verifying.push(signingKey);
  }
  return verifying;
};
