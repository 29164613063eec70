import { createPublicKey, hash, verify, type KeyObject } from 'node:crypto';
import { decodeBase64 } from './strict-base64.js';

/** Types of keys: Ed25519 signs the text of a note, a cosignature also its time. */
export const KEY_TYPES = { ed25519: 1, cosignature: 4 } as const;

export type NoteKeyType = (typeof KEY_TYPES)[keyof typeof KEY_TYPES];

/** A public key that verifies notes, and the name of the log or witness that has it (C2SP signed-note). */
export type VerifierKey = {
  readonly name: string;
  /** The first four bytes of a hash of name, type and public key, in hexadecimal digits. Notes name a key by them. */
  readonly id: string;
  readonly type: NoteKeyType;
  /** The 32 bytes of the Ed25519 key. */
  readonly publicKey: Buffer;
};

const ED25519_BYTES = 32;
const ED25519_SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;

/** Returns the verifier key of a name and an Ed25519 key. Throws RangeError for a name that a note cannot have. */
export const createVerifierKey = (
  name: string,
  publicKey: KeyObject | Uint8Array,
  type: NoteKeyType = KEY_TYPES.ed25519,
): VerifierKey => {
  if (!isKeyName(name)) {
    throw new RangeError(`a key needs a name without spaces and plus signs, got ${JSON.stringify(name)}`);
  }
  const bytes = Buffer.from(publicKey instanceof Uint8Array ? publicKey : exportRawKey(publicKey));
  if (bytes.length !== ED25519_BYTES) throw new RangeError(`an Ed25519 key has 32 bytes, got ${bytes.length}`);
  const digest = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([type]), bytes]), 'buffer');
  return { name, id: digest.toString('hex', 0, 4), type, publicKey: bytes };
};

const exportRawKey = (key: KeyObject): Buffer => {
  const { crv, x } = key.export({ format: 'jwk' });
  if (crv !== 'Ed25519' || x === undefined) throw new RangeError('the key must be an Ed25519 key');
  return Buffer.from(x, 'base64url');
};

/** Returns whether notes can be signed by this name: it has no space and no plus sign. */
export const isKeyName = (name: string): boolean => /^[^\p{White_Space}\p{Cs}+]+$/u.test(name);

/** Returns the text of a verifier key, such as `example.com/log+1a2b3c4d+AVx…`. */
export const formatVerifierKey = ({ name, id, type, publicKey }: VerifierKey): string =>
  `${name}+${id}+${Buffer.concat([Buffer.from([type]), publicKey]).toString('base64')}`;

/** Returns the verifier key of a text. Throws RangeError if the text is none, or its id is not the id of the key. */
export const parseVerifierKey = (text: string): VerifierKey => {
  const [, name, id, base64] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? [];
  const bytes = base64 === undefined ? null : decodeBase64(base64);
  const type = Object.values(KEY_TYPES).find((one) => one === bytes?.[0]);
  if (name === undefined || !bytes || type === undefined || bytes.length !== 1 + ED25519_BYTES) {
    throw new RangeError(`must be a verifier key of Ed25519, NAME+ID+KEY, got ${JSON.stringify(text.slice(0, 200))}`);
  }
  const key = createVerifierKey(name, bytes.subarray(1), type);
  if (key.id !== id) throw new RangeError(`${name}: the id of this verifier key is ${key.id}, got ${id}`);
  return key;
};

/**
 * Returns the bytes that a key signs for the text of a note. A cosignature begins with its time in seconds since 1970, which is
 * part of these bytes.
 */
export const createSignedBytes = (type: NoteKeyType, text: string, signature: Uint8Array = Buffer.alloc(0)): Buffer =>
  Buffer.from(
    type === KEY_TYPES.ed25519 ? text : `cosignature/v1\ntime ${Buffer.from(signature).readBigUInt64BE()}\n${text}`,
  );

/** Returns whether this is the signature of a key under the text of a note. */
export const verifySignature = (key: VerifierKey, text: string, signature: Uint8Array): boolean => {
  const prefix = key.type === KEY_TYPES.cosignature ? TIME_BYTES : 0;
  if (signature.length !== prefix + ED25519_SIGNATURE_BYTES) return false;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.publicKey.toString('base64url') };
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  return verify(null, createSignedBytes(key.type, text, signature), publicKey, signature.subarray(prefix));
};
