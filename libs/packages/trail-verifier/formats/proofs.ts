import { decodeBase64, decodeDecimal, decodeDigest } from './base64.js';

/* Files `….tlog-proof` (C2SP tlog-proof), which prove one entry of a log without access to the log. */

export const PROOF_FIRST_LINE = 'c2sp.org/tlog-proof@v1';

/** The lines above the checkpoint: extra data, index and hashes. */
const PROOF_TEXT = /^c2sp\.org\/tlog-proof@v1\n(?:extra (.*)\n)?index (.*)\n((?:.+\n)*)\n/;

/** The Go library accepts no more bytes of extra data. */
export const EXTRA_MAX = 65_535;

/** A tree of at most 2^63 leaves has no longer inclusion proofs. */
const PROOF_MAX = 63;

export type ProofText = {
  readonly index: number;
  /** Inclusion proof, from the sibling of the leaf upwards. */
  readonly proof: readonly Uint8Array<ArrayBuffer>[];
  /** The signed note to which the proof refers. */
  readonly checkpoint: string;
  /** Bytes that nothing authenticates, such as those that open the leaf. Null if there are none. */
  readonly extra: Uint8Array<ArrayBuffer> | null;
};

/** Returns the parts of a proof without verifying them. Throws RangeError for another text. */
export const parseProofText = (text: string): ProofText => {
  const [, extraText, indexText = '', hashTexts = ''] = PROOF_TEXT.exec(text) ?? [];
  const extra = extraText === undefined ? null : decodeBase64(extraText);
  const index = decodeDecimal(indexText);
  const hashes = hashTexts.split('\n').slice(0, -1).map(decodeDigest);
  const proof = hashes.filter((hash) => hash !== null);
  const hasWrongExtra = extraText !== undefined && (extra === null || extra.length > EXTRA_MAX);
  if (index === null || hasWrongExtra || proof.length > PROOF_MAX || proof.length < hashes.length) {
    throw new RangeError(`must be a proof whose first line is ${PROOF_FIRST_LINE}`);
  }
  return { index, proof, checkpoint: text.slice(text.indexOf('\n\n') + 2), extra };
};
