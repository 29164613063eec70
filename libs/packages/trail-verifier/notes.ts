import { createPublicKey, sign, type KeyObject } from 'node:crypto';
import { KEY_TYPES, readCosignatureTime, type NoteKeyName, type NoteKeyType } from './formats/keys.js';
import {
  createWrongSignatureError,
  isNoteText,
  matchNote,
  NoteError,
  SIGNATURE_START,
  splitNoteLines,
} from './formats/notes.js';
import { createSignedBytes, createVerifierKey, verifySignature, type VerifierKey } from './verifier-keys.js';

/** A log's or witness's private key with its name. */
export type NoteSigner = {
  readonly name: string;
  readonly privateKey: KeyObject;
  /** The time of a cosignature. Without it, the signature is that of a log. */
  readonly cosignedAt?: Date;
};

/** A signature line of a note. */
export type NoteSignature = {
  readonly key: NoteKeyName;
  readonly signature: Buffer;
};

/** A signature that was verified. */
export type VerifiedSignature = {
  readonly key: VerifierKey;
  /** When a witness signed. Null for a signature of a log, which has no time. */
  readonly time: Date | null;
};

export type OpenedNote = {
  /** The text above the signatures, with its final newline. */
  readonly text: string;
  /** The signatures of known keys, one for each key. */
  readonly signatures: readonly VerifiedSignature[];
  /** How many signatures are of unknown keys. */
  readonly unknown: number;
};

/** Returns a note with the signatures of these signers. Throws NoteError for a text that a note cannot have. */
export const signNote = (text: string, signers: readonly NoteSigner[]): string =>
  formatNote(
    text,
    signers.map((signer) => {
      const type = signer.cosignedAt ? KEY_TYPES.cosignature : KEY_TYPES.ed25519;
      const key = createVerifierKey(signer.name, createPublicKey(signer.privateKey), type);
      return { key, signature: createSignature(text, type, signer) };
    }),
  );

const createSignature = (text: string, type: NoteKeyType, { privateKey, cosignedAt }: NoteSigner): Buffer => {
  const time = Buffer.alloc(cosignedAt ? 8 : 0);
  if (cosignedAt) time.writeBigUInt64BE(BigInt(Math.floor(cosignedAt.getTime() / 1000)));
  return Buffer.concat([time, sign(null, createSignedBytes(type, text, time), privateKey)]);
};

/** Returns a note with signatures that were made elsewhere. Throws NoteError for a text that a note cannot have. */
export const formatNote = (text: string, signatures: readonly NoteSignature[]): string => {
  if (!isNoteText(text))
    throw new NoteError('malformed', 'the text of a note must be lines, the last with its newline');
  const lines = signatures.map(({ key, signature }) => {
    const bytes = Buffer.concat([Buffer.from(key.id, 'hex'), signature]);
    return `${SIGNATURE_START}${key.name} ${bytes.toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
};

/**
 * Returns the text of a note and its verified signatures. Ignores signatures of unknown keys. Throws NoteError for a
 * malformed note, a wrong signature of a known key, and a note without a signature of a known key.
 */
export const openNote = (note: string, verifierKeys: readonly VerifierKey[]): OpenedNote => {
  const { text, matches, unknown } = matchNote(note, verifierKeys);
  const verified = new Map<VerifierKey, VerifiedSignature>();
  for (const { key, signature } of matches) {
    if (!verifySignature(key, text, signature)) throw createWrongSignatureError(key);
    if (!verified.has(key)) verified.set(key, { key, time: readCosignatureTime(key.type, signature) });
  }
  return { text, signatures: [...verified.values()], unknown };
};

/** Returns the parts of a note without verifying them. Throws NoteError for a malformed note. */
export const splitNote = (note: string): { readonly text: string; readonly signatures: readonly NoteSignature[] } => {
  const { text, signatures } = splitNoteLines(note);
  return { text, signatures: signatures.map(({ key, signature }) => ({ key, signature: Buffer.from(signature) })) };
};
