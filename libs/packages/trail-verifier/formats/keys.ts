import { decodeBase64, encodeText, joinBytes } from './base64.js';

/** Types of keys: Ed25519 signs the text of a note, a cosignature also its time. */
export const KEY_TYPES = { ed25519: 1, cosignature: 4 } as const;

export type NoteKeyType = (typeof KEY_TYPES)[keyof typeof KEY_TYPES];

/** What notes have of a key: the name of the log or witness, and the id of the key. */
export type NoteKeyName = {
  readonly name: string;
  /** The first four bytes of a hash of name, type and public key, in hexadecimal digits. Notes name a key by them. */
  readonly id: string;
};

/** The parts of a verifier key. */
export type VerifierKeyParts = NoteKeyName & {
  readonly type: NoteKeyType;
  /** The 32 bytes of the Ed25519 key. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
};

const ED25519_BYTES = 32;
const ED25519_SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;
/** How many bytes of the hash of a key are its id. */
export const KEY_ID_BYTES = 4;

/** Returns whether notes can be signed by this name: it has no space and no plus sign. */
export const isKeyName = (name: string): boolean => /^[^\p{White_Space}\p{Cs}+]+$/u.test(name);

/** Returns the bytes whose hash begins with the id of a key. Throws RangeError for what no key has. */
export const createKeyIdBytes = (name: string, type: NoteKeyType, publicKey: Uint8Array): Uint8Array<ArrayBuffer> => {
  if (!isKeyName(name)) {
    throw new RangeError(`a key needs a name without spaces and plus signs, got ${JSON.stringify(name)}`);
  }
  if (publicKey.length !== ED25519_BYTES) {
    throw new RangeError(`an Ed25519 key has 32 bytes, got ${publicKey.length}`);
  }
  return joinBytes(encodeText(`${name}\n`), Uint8Array.of(type), publicKey);
};

/** Returns the parts of a verifier key without comparing its id with its hash. Throws RangeError if the text is none. */
export const splitVerifierKey = (text: string): VerifierKeyParts => {
  const [, name, id, base64] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? [];
  const bytes = base64 === undefined ? null : decodeBase64(base64);
  const type = Object.values(KEY_TYPES).find((one) => one === bytes?.[0]);
  if (name === undefined || id === undefined || !bytes || type === undefined || bytes.length !== 1 + ED25519_BYTES) {
    throw new RangeError(`must be a verifier key of Ed25519, NAME+ID+KEY, got ${JSON.stringify(text.slice(0, 200))}`);
  }
  return { name, id, type, publicKey: bytes.slice(1) };
};

/** Throws RangeError unless the id of a verifier key is the one that its hash has. */
export const checkKeyId = ({ name, id }: NoteKeyName, hashed: string): void => {
  if (hashed !== id) throw new RangeError(`${name}: the id of this verifier key is ${hashed}, got ${id}`);
};

/** What a key has signed, and its signature. */
type SignedBytes = {
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
};

/**
 * Returns what a key must have signed under the text of a note, and the Ed25519 signature; null if its length is wrong. A
 * cosignature begins with its time in seconds since 1970, which is signed too.
 */
export const splitSignedBytes = (type: NoteKeyType, text: string, signature: Uint8Array): SignedBytes | null => {
  const prefix = type === KEY_TYPES.cosignature ? TIME_BYTES : 0;
  if (signature.length !== prefix + ED25519_SIGNATURE_BYTES) return null;
  return {
    signed: encodeText(formatSignedText(type, text, signature)),
    signature: Uint8Array.from(signature.subarray(prefix)),
  };
};

/** Returns the text that a key signs for the text of a note. */
export const formatSignedText = (type: NoteKeyType, text: string, signature: Uint8Array): string =>
  type === KEY_TYPES.ed25519 ? text : `cosignature/v1\ntime ${readSeconds(signature)}\n${text}`;

/** Returns when a witness signed; null for a signature of a log, which has no time. */
export const readCosignatureTime = (type: NoteKeyType, signature: Uint8Array): Date | null =>
  type === KEY_TYPES.cosignature ? new Date(Number(readSeconds(signature)) * 1000) : null;

const readSeconds = ({ buffer, byteOffset }: Uint8Array): bigint =>
  new DataView(buffer, byteOffset, TIME_BYTES).getBigUint64(0);
