import { hash } from 'node:crypto';
import { canonicalize } from './canonical-json.js';
import { formatLeafText } from './formats/leaves.js';
import type { EntryOpening } from './formats/openings.js';

/** Bytes of a salt, a commitment, a leaf and a hash. */
export const DIGEST_BYTES = 32;

/** Returns the commitment to a personal value: SHA-256(salt ‖ canonical JSON). Without the salt, nobody can test a guess. */
export const computeCommitment = (salt: Uint8Array, value: unknown): Buffer => hashSalted(salt, canonicalize(value));

export type LeafContent = {
  readonly salt: Uint8Array;
  readonly entry: unknown;
  /** JSON pointers of the personal values in the entry, each with the commitment to the value. */
  readonly commitments: Readonly<Record<string, Uint8Array>>;
};

/**
 * Returns the leaf of an entry, 32 bytes. The leaf does not depend on the personal values themselves, which are masked, but on
 * their commitments, so that it can be computed after a person was forgotten.
 */
export const computeLeaf = ({ salt, entry, commitments }: LeafContent): Buffer => {
  const digests = Object.fromEntries(
    Object.entries(commitments).map(([pointer, digest]) => {
      checkLength(digest, `the commitment to ${pointer}`);
      return [pointer, Buffer.from(digest).toString('base64')];
    }),
  );
  return hashSalted(salt, formatLeafText(entry, digests));
};

/** The same as `computeCommitment` with texts in base64: verifiers read and compare texts, and decoding takes time. */
export const computeRevealedCommitment = (salt: string, value: unknown): string =>
  hash('sha256', joinSalted(salt, canonicalize(value)), 'base64');

/** The same as `computeLeaf` in base64, with the texts of an opening, which were checked. */
export const computeOpenedLeaf = (entry: unknown, { salt, commitments }: EntryOpening): string =>
  hash('sha256', joinSalted(salt, formatLeafText(entry, commitments)), 'base64');

const hashSalted = (salt: Uint8Array, text: string): Buffer => {
  // Salts of another length would let one text have two meanings.
  checkLength(salt, 'the salt');
  return hash('sha256', joinSalted(salt, text), 'buffer');
};

/** Where most texts are put behind their salt. A new buffer for each takes as long as its hash. */
const scratch = Buffer.alloc(64 * 1024);

/** Returns the salt and the text, in bytes that the next call replaces. A salt that is a text is base64. */
const joinSalted = (salt: Uint8Array | string, text: string): Uint8Array => {
  // A character of JavaScript has at most three bytes in UTF-8.
  if (DIGEST_BYTES + 3 * text.length > scratch.length) {
    const bytes = typeof salt === 'string' ? Buffer.from(salt, 'base64') : salt;
    return Buffer.concat([bytes, Buffer.from(text)]);
  }
  if (typeof salt === 'string') scratch.write(salt, 0, 'base64');
  else scratch.set(salt);
  const length = scratch.write(text, DIGEST_BYTES, 'utf8');
  return scratch.subarray(0, DIGEST_BYTES + length);
};

const checkLength = (bytes: Uint8Array, name: string): void => {
  if (bytes.length !== DIGEST_BYTES) throw new RangeError(`${name} must have 32 bytes, got ${bytes.length}`);
};
