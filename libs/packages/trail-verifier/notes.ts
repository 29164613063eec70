import { createPublicKey, sign, type KeyObject } from 'node:crypto';
import { decodeBase64 } from './strict-base64.js';
import {
  createSignedBytes,
  createVerifierKey,
  isKeyName,
  KEY_TYPES,
  verifySignature,
  type NoteKeyType,
  type VerifierKey,
} from './verifier-keys.js';

/* Signed notes (C2SP signed-note): a text, an empty line, and lines with signatures of logs and witnesses. */

const SIGNATURE_START = '— ';
const KEY_ID_BYTES = 4;

/** The same limits as the Go library: a note that one reader accepts is accepted by the others. */
const NOTE_LENGTH = 1_000_000;
const SIGNATURES_MAX = 100;

/** Why a note is refused: it is malformed, a signature of a known key is wrong, or none is of a known key. */
export type NoteProblem = 'malformed' | 'wrong-signature' | 'unknown-keys';

export class NoteError extends Error {
  override readonly name = 'NoteError';

  constructor(
    readonly problem: NoteProblem,
    message: string,
  ) {
    super(message);
  }
}

/** A log's or witness's private key with its name. */
export type NoteSigner = {
  readonly name: string;
  readonly privateKey: KeyObject;
  /** The time of a cosignature. Without it, the signature is that of a log. */
  readonly cosignedAt?: Date;
};

/** A signature line of a note. */
export type NoteSignature = {
  readonly key: Pick<VerifierKey, 'name' | 'id'>;
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

const isNoteText = (text: string): boolean => text.isWellFormed() && /^(?:[^\p{Cc}]|[\n\x7f-\x9f])*\n$/u.test(text);

/**
 * Returns the text of a note and its verified signatures. Ignores signatures of unknown keys. Throws NoteError for a
 * malformed note, a wrong signature of a known key, and a note without a signature of a known key.
 */
export const openNote = (note: string, verifierKeys: readonly VerifierKey[]): OpenedNote => {
  const { text, signatures } = splitNote(note);
  const verified = new Map<VerifierKey, VerifiedSignature>();
  let unknown = 0;
  for (const { key: signer, signature } of signatures) {
    const key = verifierKeys.find(({ name, id }) => name === signer.name && id === signer.id);
    if (!key) unknown += 1;
    else if (!verifySignature(key, text, signature)) {
      throw new NoteError('wrong-signature', `the signature of ${key.name} (key ${key.id}) is wrong`);
    } else if (!verified.has(key)) verified.set(key, { key, time: readTime(key, signature) });
  }
  if (verified.size === 0) {
    const names = signatures.map(({ key }) => `${key.name} (key ${key.id})`);
    throw new NoteError('unknown-keys', `no given key has signed; the signatures are of ${names.join(', ')}`);
  }
  return { text, signatures: [...verified.values()], unknown };
};

const readTime = ({ type }: VerifierKey, signature: Buffer): Date | null =>
  type === KEY_TYPES.cosignature ? new Date(Number(signature.readBigUInt64BE()) * 1000) : null;

/** Returns the parts of a note without verifying them. Throws NoteError for a malformed note. */
export const splitNote = (note: string): { readonly text: string; readonly signatures: readonly NoteSignature[] } => {
  const end = note.lastIndexOf('\n\n') + 1;
  if (note.length > NOTE_LENGTH || end === 0 || !note.endsWith('\n') || !isNoteText(note)) throw malformedNote();
  const lines = note.slice(end + 1, -1).split('\n');
  if (lines.length > SIGNATURES_MAX) throw malformedNote();
  return { text: note.slice(0, end), signatures: lines.map(parseSignature) };
};

const parseSignature = (line: string): NoteSignature => {
  const [, name, base64] = /^— ([^ ]+) ([^ ]+)$/.exec(line) ?? [];
  const bytes = base64 === undefined ? null : decodeBase64(base64);
  if (name === undefined || !isKeyName(name) || !bytes || bytes.length <= KEY_ID_BYTES) throw malformedNote();
  return { key: { name, id: bytes.toString('hex', 0, KEY_ID_BYTES) }, signature: bytes.subarray(KEY_ID_BYTES) };
};

const malformedNote = (): NoteError =>
  new NoteError('malformed', 'must be a signed note: lines, an empty line, and at most 100 lines with signatures');
