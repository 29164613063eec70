import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { KEY_TYPES } from './formats/keys.js';
import { NoteError } from './formats/notes.js';
import { formatNote, openNote, signNote, splitNote } from './notes.js';
import { createVerifierKey, formatVerifierKey, parseVerifierKey, type VerifierKey } from './verifier-keys.js';

/** The key and the note in the documentation of Go's golang.org/x/mod/sumdb/note. */
const GO_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const GO_TEXT = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.
`;
const GO_NOTE = `${GO_TEXT}
— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`;

const createSigner = (name: string): { name: string; privateKey: ReturnType<typeof createPrivateKey> } => ({
  name,
  privateKey: generateKeyPairSync('ed25519').privateKey,
});

const log = createSigner('cadastre.example.com/org-1');
const logKey = createVerifierKey(log.name, log.privateKey);
const TEXT = 'cadastre.example.com/org-1\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n';

const expectProblem = (note: string, keys: readonly VerifierKey[], problem: NoteError['problem']): void => {
  expect(() => openNote(note, keys)).toThrow(expect.objectContaining({ name: 'NoteError', problem }));
};

describe('a verifier key', () => {
  it('is read and written as by Go', () => {
    const key = parseVerifierKey(GO_KEY);
    expect(key).toMatchObject({ name: 'PeterNeumann', id: 'c74f20a3', type: KEY_TYPES.ed25519 });
    expect(formatVerifierKey(key)).toBe(GO_KEY);
  });

  it.each([
    ['', /^must be a verifier key of Ed25519, NAME\+ID\+KEY, got ""$/],
    [GO_KEY.slice(0, -1), /^must be a verifier key/],
    [GO_KEY.replace('+AR', '+AQ'), /^PeterNeumann: the id of this verifier key is [0-9a-f]{8}, got c74f20a3$/],
    [GO_KEY.replace('Peter', 'peter'), /^peterNeumann: the id of this verifier key is/],
    [GO_KEY.replace('Peter', 'Peter '), /^a key needs a name without spaces and plus signs, got "Peter Neumann"$/],
    // ECDSA
    [`a+12345678+${Buffer.alloc(33, 2).toString('base64')}`, /^must be a verifier key/],
  ])('is refused: %s', (text, message) => {
    expect(() => parseVerifierKey(text)).toThrow(message);
  });

  it.each(['', 'a b', 'a+b', 'a\u2003b', 'a\n'])('cannot have the name %j', (name) => {
    expect(() => createVerifierKey(name, log.privateKey)).toThrow('a key needs a name');
  });

  it('needs an Ed25519 key', () => {
    const { publicKey } = generateKeyPairSync('x25519');
    expect(() => createVerifierKey('a', publicKey)).toThrow('the key must be an Ed25519 key');
    expect(() => createVerifierKey('a', Buffer.alloc(31))).toThrow('an Ed25519 key has 32 bytes, got 31');
  });
});

describe('a signed note', () => {
  it('of Go is verified', () => {
    const key = parseVerifierKey(GO_KEY);
    expect(openNote(GO_NOTE, [key])).toEqual({ text: GO_TEXT, signatures: [{ key, time: null }], unknown: 0 });
  });

  it('is opened with the key of its signer', () => {
    const note = signNote(TEXT, [log]);
    expect(note).toMatch(/^cadastre.example.com\/org-1\n0\n\S+\n\n— cadastre.example.com\/org-1 \S{92}\n$/);
    expect(openNote(note, [logKey])).toEqual({ text: TEXT, signatures: [{ key: logKey, time: null }], unknown: 0 });
  });

  it('is opened with one known key among 16 signatures', () => {
    const note = signNote(TEXT, [...Array.from({ length: 15 }, (_, index) => createSigner(`witness-${index}`)), log]);
    expect(openNote(note, [logKey])).toMatchObject({ signatures: [{ key: logKey }], unknown: 15 });
  });

  it('has the time of a cosignature', () => {
    const witness = createSigner('witness.example.com');
    const cosignedAt = new Date('2026-11-29T10:00:00Z');
    const note = signNote(TEXT, [log, { ...witness, cosignedAt }]);
    const key = createVerifierKey(witness.name, witness.privateKey, KEY_TYPES.cosignature);

    expect(parseVerifierKey(formatVerifierKey(key))).toEqual(key);
    expect(openNote(note, [logKey, key]).signatures).toEqual([
      { key: logKey, time: null },
      { key, time: cosignedAt },
    ]);
    expect(openNote(note, [createVerifierKey(witness.name, witness.privateKey), logKey])).toMatchObject({ unknown: 1 });
    const { text, signatures } = splitNote(note);
    const later = Buffer.from(signatures[1]?.signature ?? []);
    later.writeUInt8((later[7] as number) ^ 1, 7);
    expectProblem(formatNote(text, [{ key, signature: later }]), [key], 'wrong-signature');
  });

  it('is refused if no signature is of a known key', () => {
    const other = createVerifierKey(log.name, createSigner('x').privateKey);
    expectProblem(signNote(TEXT, [log]), [other], 'unknown-keys');
    expectProblem(signNote(TEXT, [log]), [], 'unknown-keys');
  });

  it('is refused if one signature of a known key is wrong, beside good ones', () => {
    const other = createSigner('other');
    const otherKey = createVerifierKey('other', other.privateKey);
    const [good] = splitNote(signNote(TEXT, [log])).signatures;
    const [wrong] = splitNote(signNote('another text\n', [other])).signatures;
    const [short] = splitNote(signNote(TEXT, [other])).signatures;
    if (!good || !wrong || !short) throw new Error('no signatures');
    expectProblem(formatNote(TEXT, [good, wrong]), [logKey, otherKey], 'wrong-signature');
    expectProblem(
      formatNote(TEXT, [good, { ...short, signature: short.signature.subarray(1) }]),
      [logKey, otherKey],
      'wrong-signature',
    );
    expect(openNote(formatNote(TEXT, [good, wrong]), [logKey])).toMatchObject({ unknown: 1 });
  });

  it('is refused after any change of its text', () => {
    const note = signNote(TEXT, [log]);
    expectProblem(note.replace('org-1\n0', 'org-1\n1'), [logKey], 'wrong-signature');
    expectProblem(`x\n${note}`, [logKey], 'wrong-signature');
    expectProblem(`\n\n${note}`, [logKey], 'wrong-signature');
  });

  const note = signNote(TEXT, [log]);
  const [head = '', signature = ''] = note.split('— ');
  it.each([
    ['without signatures', head],
    ['without an empty line', note.replace('\n\n', '\n')],
    ['without a final newline', note.slice(0, -1)],
    ['with a line behind', `${note}\n`],
    ['with a carriage return', note.replace('\n', '\r\n')],
    ['with a tab', note.replace('org', '\torg')],
    ['with a hyphen for the dash', `${head}- ${signature}`],
    ['with two spaces', note.replace('org-1 ', 'org-1  ')],
    ['with base64 without padding', note.replaceAll('=', '')],
    ['with base64 whose last bits are set', note.replace(/.=\n$/, 'B=\n')],
    ['with 101 signatures', `${head}${`— ${signature}`.repeat(101)}`],
    ['with a lone surrogate', note.replace('org', '\ud800')],
    ['with a megabyte', `${'x'.repeat(1_000_000)}${note}`],
  ])('is refused %s', (_, malformed) => {
    expectProblem(malformed, [logKey], 'malformed');
  });

  it('accepts 100 signatures of one key', () => {
    const many = `${head}${`— ${signature}`.repeat(100)}`;
    expect(openNote(many, [logKey])).toMatchObject({ signatures: [{ key: logKey }], unknown: 0 });
  });

  it.each(['', 'no newline', 'a\tb\n', '\ud800\n'])('cannot have the text %j', (text) => {
    expect(() => signNote(text, [log])).toThrow(NoteError);
  });
});
