import { openEntry, readOpening } from './entry-openings.js';
import { checkMemberNames, parseMembers } from './formats/openings.js';
import { hashLeaf, verifyInclusion } from './merkle-tree.js';
import { checkSuccession, createUnprovenError, openCheckpoint, type OpenedCheckpoint } from './opened-checkpoints.js';
import { parseProof, type ProofFile } from './proof-files.js';
import { createMisfitError, TrailAlteredError } from './trail-errors.js';
import type { VerifierKey } from './verifier-keys.js';

export type ProofOptions = {
  readonly keys: readonly VerifierKey[];
  /** The entry as JSON. If the proof does not open the leaf, these bytes are the leaf itself. */
  readonly entry: Uint8Array;
  readonly since?: OpenedCheckpoint | null;
};

export type ProofReport = {
  readonly checkpoint: OpenedCheckpoint;
  readonly index: number;
  /** How many personal values are hidden, because the person was forgotten. */
  readonly withheld: number;
  readonly since: OpenedCheckpoint | null;
};

/** Verifies that an entry is in the log, by a file `….tlog-proof`. Throws TrailAlteredError if it does not show that. */
export const verifyProof = (text: string, { keys, entry, since = null }: ProofOptions): ProofReport => {
  const file = readProofFile(text);
  const checkpoint = openCheckpoint(file.checkpoint, keys);
  if (since && !checkSuccession(since, checkpoint)) throw createUnprovenError(since, checkpoint);
  const { leaf, withheld } = openLeaf(entry, file);
  const { index, proof } = file;
  const leafHash = hashLeaf(leaf);
  if (!verifyInclusion({ index, size: checkpoint.size, leafHash, proof, root: checkpoint.root })) {
    throw createMisfitError(index);
  }
  return { checkpoint, index, withheld, since };
};

const readProofFile = (text: string): ProofFile => {
  try {
    return parseProof(text);
  } catch (error) {
    throw new TrailAlteredError('malformed', `the proof ${(error as Error).message}`);
  }
};

const openLeaf = (entry: Uint8Array, { extra, index }: ProofFile): { leaf: Uint8Array; withheld: number } => {
  if (!extra) return { leaf: entry, withheld: 0 };
  try {
    const opening = parseMembers(extra, 'the extra line');
    checkMemberNames(opening);
    const { leaf, withheld } = openEntry(parseMembers(entry, 'the entry'), readOpening(opening));
    return { leaf: Buffer.from(leaf, 'base64'), withheld: withheld.length };
  } catch (error) {
    if (!(error instanceof RangeError) && !(error instanceof TypeError)) throw error;
    throw new TrailAlteredError('altered', `entry ${index}: ${error.message}`, index);
  }
};
