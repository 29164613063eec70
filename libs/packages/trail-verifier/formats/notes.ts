import { decodeBase64, encodeHex } from './base64.js';
import { isKeyName, KEY_ID_BYTES, type NoteKeyName } from './keys.js';

/* Signed notes (C2SP signed-note): a text, an empty line, and lines with signatures of logs and witnesses. */

export const SIGNATURE_START = '— ';

/** The same limits as the Go library: a note that one reader accepts is accepted by the others. */
const NOTE_LENGTH = 1_000_000;
const SIGNATURES_MAX = 100;

/** Why a note is refused: it is malformed, a signature of a known key is wrong, or none is of a known key. */
type NoteProblem = 'malformed' | 'wrong-signature' | 'unknown-keys';

export class NoteError extends Error {
  override readonly name = 'NoteError';

  constructor(
    readonly problem: NoteProblem,
    message: string,
  ) {
    super(message);
  }
}

/** A signature line of a note. */
type NoteSignatureLine = {
  readonly key: NoteKeyName;
  readonly signature: Uint8Array<ArrayBuffer>;
};

/** Returns whether a note can have this text. */
export const isNoteText = (text: string): boolean =>
  text.isWellFormed() && /^(?:[^\p{Cc}]|[\n\x7f-\x9f])*\n$/u.test(text);

/** Returns the parts of a note without verifying them. Throws NoteError for a malformed note. */
export const splitNoteLines = (
  note: string,
): { readonly text: string; readonly signatures: readonly NoteSignatureLine[] } => {
  const end = note.lastIndexOf('\n\n') + 1;
  if (note.length > NOTE_LENGTH || end === 0 || !note.endsWith('\n') || !isNoteText(note)) throw createMalformedError();
  const lines = note.slice(end + 1, -1).split('\n');
  if (lines.length > SIGNATURES_MAX) throw createMalformedError();
  return { text: note.slice(0, end), signatures: lines.map(parseSignatureLine) };
};

const parseSignatureLine = (line: string): NoteSignatureLine => {
  const [, name, base64] = /^— ([^ ]+) ([^ ]+)$/.exec(line) ?? [];
  const bytes = base64 === undefined ? null : decodeBase64(base64);
  if (name === undefined || !isKeyName(name) || !bytes || bytes.length <= KEY_ID_BYTES) throw createMalformedError();
  return { key: { name, id: encodeHex(bytes.subarray(0, KEY_ID_BYTES)) }, signature: bytes.slice(KEY_ID_BYTES) };
};

const createMalformedError = (): NoteError =>
  new NoteError('malformed', 'must be a signed note: lines, an empty line, and at most 100 lines with signatures');

/** The signatures of a note by known keys, which are still to be verified. */
type MatchedNote<Key> = {
  readonly text: string;
  readonly matches: readonly { readonly key: Key; readonly signature: Uint8Array<ArrayBuffer> }[];
  /** How many signatures are of unknown keys. */
  readonly unknown: number;
};

/** Returns the signatures of known keys. Throws NoteError for a malformed note, and for one without such a signature. */
export const matchNote = <Key extends NoteKeyName>(note: string, keys: readonly Key[]): MatchedNote<Key> => {
  const { text, signatures } = splitNoteLines(note);
  const matches = signatures.flatMap(({ key: signer, signature }) => {
    const key = keys.find(({ name, id }) => name === signer.name && id === signer.id);
    return key ? [{ key, signature }] : [];
  });
  if (matches.length === 0) {
    const names = signatures.map(({ key }) => `${key.name} (key ${key.id})`);
    throw new NoteError('unknown-keys', `no given key has signed; the signatures are of ${names.join(', ')}`);
  }
  return { text, matches, unknown: signatures.length - matches.length };
};

export const createWrongSignatureError = ({ name, id }: NoteKeyName): NoteError =>
  new NoteError('wrong-signature', `the signature of ${name} (key ${id}) is wrong`);
