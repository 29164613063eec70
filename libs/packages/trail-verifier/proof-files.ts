import { EXTRA_MAX, parseProofText, PROOF_FIRST_LINE } from './formats/proofs.js';

export type ProofFile = {
  readonly index: number;
  /** Inclusion proof, from the sibling of the leaf upwards. */
  readonly proof: readonly Buffer[];
  /** The signed note to which the proof refers. */
  readonly checkpoint: string;
  /** Bytes that nothing authenticates, such as those that open the leaf. Null if there are none. */
  readonly extra: Buffer | null;
};

/** Returns the text of a proof. Throws RangeError for extra data of 64 KiB or more. */
export const formatProof = ({ index, proof, checkpoint, extra }: ProofFile): string => {
  if (extra && extra.length > EXTRA_MAX) throw new RangeError(`extra: must have at most ${EXTRA_MAX} bytes`);
  const extraLines = extra ? [`extra ${extra.toString('base64')}`] : [];
  const lines = [PROOF_FIRST_LINE, ...extraLines, `index ${index}`, ...proof.map((hash) => hash.toString('base64'))];
  return `${lines.join('\n')}\n\n${checkpoint}`;
};

/** Returns the parts of a proof without verifying them. Throws RangeError for another text. */
export const parseProof = (text: string): ProofFile => {
  const { index, proof, checkpoint, extra } = parseProofText(text);
  return { index, proof: proof.map((hash) => Buffer.from(hash)), checkpoint, extra: extra && Buffer.from(extra) };
};
