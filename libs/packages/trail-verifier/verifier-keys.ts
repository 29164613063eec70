import { createPublicKey, hash, verify, type KeyObject } from 'node:crypto';
import {
  checkKeyId,
  createKeyIdBytes,
  formatSignedText,
  KEY_ID_BYTES,
  KEY_TYPES,
  splitSignedBytes,
  splitVerifierKey,
  type NoteKeyName,
  type NoteKeyType,
} from './formats/keys.js';

/** A public key that verifies notes, and the name of the log or witness that has it (C2SP signed-note). */
export type VerifierKey = NoteKeyName & {
  readonly type: NoteKeyType;
  /** The 32 bytes of the Ed25519 key. */
  readonly publicKey: Buffer;
};

/** Returns the verifier key of a name and an Ed25519 key. Throws RangeError for a name that a note cannot have. */
export const createVerifierKey = (
  name: string,
  publicKey: KeyObject | Uint8Array,
  type: NoteKeyType = KEY_TYPES.ed25519,
): VerifierKey => {
  const bytes = Buffer.from(publicKey instanceof Uint8Array ? publicKey : exportRawKey(publicKey));
  const digest = hash('sha256', createKeyIdBytes(name, type, bytes), 'buffer');
  return { name, id: digest.toString('hex', 0, KEY_ID_BYTES), type, publicKey: bytes };
};

const exportRawKey = (key: KeyObject): Buffer => {
  const { crv, x } = key.export({ format: 'jwk' });
  if (crv !== 'Ed25519' || x === undefined) throw new RangeError('the key must be an Ed25519 key');
  return Buffer.from(x, 'base64url');
};

/** Returns the text of a verifier key, such as `example.com/log+1a2b3c4d+AVx…`. */
export const formatVerifierKey = ({ name, id, type, publicKey }: VerifierKey): string =>
  `${name}+${id}+${Buffer.concat([Buffer.from([type]), publicKey]).toString('base64')}`;

/** Returns the verifier key of a text. Throws RangeError if the text is none, or its id is not the id of the key. */
export const parseVerifierKey = (text: string): VerifierKey => {
  const parts = splitVerifierKey(text);
  const key = createVerifierKey(parts.name, parts.publicKey, parts.type);
  checkKeyId(parts, key.id);
  return key;
};

/**
 * Returns the bytes that a key signs for the text of a note. A cosignature begins with its time in seconds since 1970, which is
 * part of these bytes.
 */
export const createSignedBytes = (type: NoteKeyType, text: string, signature: Uint8Array = Buffer.alloc(0)): Buffer =>
  Buffer.from(formatSignedText(type, text, signature));

/** Returns whether this is the signature of a key under the text of a note. */
export const verifySignature = (key: VerifierKey, text: string, signature: Uint8Array): boolean => {
  const parts = splitSignedBytes(key.type, text, signature);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.publicKey.toString('base64url') };
  return parts !== null && verify(null, parts.signed, createPublicKey({ key: jwk, format: 'jwk' }), parts.signature);
};
