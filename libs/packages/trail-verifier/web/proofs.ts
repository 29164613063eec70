import { areEqual, decodeDigest, encodeBase64, encodeText, joinBytes } from '../formats/base64.js';
import { listSides } from '../formats/inclusion-paths.js';
import { formatLeafText } from '../formats/leaves.js';
import {
  checkMemberNames,
  createWrongValueError,
  listRevealedValues,
  parseMembers,
  parseOpening,
  type EntryOpening,
} from '../formats/openings.js';
import { parseProofText, type ProofText } from '../formats/proofs.js';
import { canonicalize } from '../canonical-json.js';
import { createMisfitError, TrailAlteredError } from '../trail-errors.js';
import { openWebCheckpoint, type WebCheckpoint } from './checkpoints.js';
import { computeHash, type WebVerifierKey } from './keys.js';

type WebBytes = Uint8Array<ArrayBuffer>;

type WebProofReport = {
  readonly checkpoint: WebCheckpoint;
  readonly index: number;
  /** How many personal values were compared with their commitments. */
  readonly revealed: number;
  /** How many personal values are hidden, because the person was forgotten. */
  readonly withheld: number;
  /** How many hashes lead from the leaf to the root. */
  readonly hashes: number;
};

/**
 * Verifies that an entry is in the log, by a file `….tlog-proof` that opens the leaf. The same as `verifyProof`, with Web Crypto:
 * whose functions are asynchronous, so that the two share the formats only. `entry` is the entry as JSON. Throws
 * TrailAlteredError if the file does not show that.
 */
export const verifyWebProof = async (
  text: string,
  entry: Uint8Array,
  keys: readonly WebVerifierKey[],
): Promise<WebProofReport> => {
  const file = parseFile(text);
  const { index, proof } = file;
  const checkpoint = await openWebCheckpoint(file.checkpoint, keys, 'the checkpoint');
  const { leaf, revealed, withheld } = await openLeaf(entry, file);
  const sides = index < checkpoint.size ? listSides(index, checkpoint.size - 1, proof.length) : null;
  if (!sides) throw createMisfitError(index);
  let node = await computeHash(joinBytes(LEAF_PREFIX, leaf));
  for (const [level, sibling] of proof.entries()) {
    const children = sides[level] === 'left' ? [sibling, node] : [node, sibling];
    node = await computeHash(joinBytes(NODE_PREFIX, ...children));
  }
  if (!areEqual(node, checkpoint.root)) throw createMisfitError(index);
  return { checkpoint, index, revealed, withheld, hashes: proof.length };
};

const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

const parseFile = (text: string): ProofText & { readonly extra: WebBytes } => {
  try {
    const { extra, ...file } = parseProofText(text);
    if (!extra) throw new RangeError('does not open the leaf of an entry');
    return { ...file, extra };
  } catch (error) {
    throw new TrailAlteredError('malformed', `the proof ${(error as Error).message}`);
  }
};

type OpenedLeaf = { readonly leaf: WebBytes; readonly revealed: number; readonly withheld: number };

const openLeaf = async (entry: Uint8Array, { extra, index }: { readonly extra: WebBytes; readonly index: number }) => {
  try {
    const opening = parseMembers(extra, 'the extra line');
    checkMemberNames(opening);
    return await openEntry(parseMembers(entry, 'the entry'), parseOpening(opening, isDigest));
  } catch (error) {
    if (!(error instanceof RangeError) && !(error instanceof TypeError)) throw error;
    throw new TrailAlteredError('altered', `entry ${index}: ${error.message}`, index);
  }
};

const openEntry = async (entry: unknown, opening: EntryOpening): Promise<OpenedLeaf> => {
  const { revealed, withheld } = listRevealedValues(entry, opening);
  for (const { pointer, value, salt, commitment } of revealed) {
    const matches = value !== undefined && encodeBase64(await hashSalted(salt, canonicalize(value))) === commitment;
    if (!matches) throw createWrongValueError(pointer);
  }
  const leaf = await hashSalted(opening.salt, formatLeafText(entry, opening.commitments));
  return { leaf, revealed: revealed.length, withheld: withheld.length };
};

const isDigest = (text: string): boolean => decodeDigest(text) !== null;

/** The salt is base64 that was checked. */
const hashSalted = (salt: string, text: string): Promise<WebBytes> =>
  computeHash(joinBytes(decodeDigest(salt) ?? new Uint8Array(), encodeText(text)));
