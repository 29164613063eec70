import { hash } from 'node:crypto';
import { canonicalize } from './canonical-json.js';
import { formatLeafText } from './formats/leaves.js';

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

/** Where most texts are put behind their salt. A new buffer for each takes as long as its hash. */
const scratch = Buffer.alloc(64 * 1024);

const hashSalted = (salt: Uint8Array, text: string): Buffer => {
  // Salts of another length would let one text have two meanings.
  checkLength(salt, 'the salt');
  // A character of JavaScript has at most three bytes in UTF-8.
  if (DIGEST_BYTES + 3 * text.length > scratch.length) {
    return hash('sha256', Buffer.concat([salt, Buffer.from(text)]), 'buffer');
  }
  scratch.set(salt);
  const length = scratch.write(text, DIGEST_BYTES, 'utf8');
  return hash('sha256', scratch.subarray(0, DIGEST_BYTES + length), 'buffer');
};

const checkLength = (bytes: Uint8Array, name: string): void => {
  if (bytes.length !== DIGEST_BYTES) throw new RangeError(`${name} must have 32 bytes, got ${bytes.length}`);
};
