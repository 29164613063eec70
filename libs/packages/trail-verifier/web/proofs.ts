import { areEqual, decodeDigest, encodeBase64, encodeHex, encodeText, joinBytes } from '../formats/base64.js';
import { formatCheckpointText, type CheckpointText } from '../formats/checkpoints.js';
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

/** What `verifyWebProof` verifies, one after the other. */
export type WebProofStep = 'format' | 'signature' | 'leaf' | 'inclusion';

/**
 * Verifies that an entry is in the log, by a file `….tlog-proof` that opens the leaf. The same as `verifyProof`, with Web Crypto:
 * whose functions are asynchronous, so that the two share the formats only. `entry` is the entry as JSON. Throws
 * TrailAlteredError if the file does not show that. `onStep` is called when a step begins.
 */
export const verifyWebProof = async (
  text: string,
  entry: Uint8Array,
  keys: readonly WebVerifierKey[],
  onStep: (step: WebProofStep) => void = () => {},
): Promise<WebProofReport> => {
  onStep('format');
  const { extra, ...file } = parseFile(text);
  if (!extra) throw createFileError('does not open the leaf of an entry');
  const { index, proof } = file;
  onStep('signature');
  const checkpoint = await openWebCheckpoint(file.checkpoint, keys, 'the checkpoint');
  onStep('leaf');
  const { leaf, revealed, withheld } = await openLeaf(entry, { extra, index });
  onStep('inclusion');
  if (!(await isIncluded(leaf, file, checkpoint))) throw createMisfitError(index);
  return { checkpoint, index, revealed, withheld, hashes: proof.length };
};

/**
 * Verifies that the log of the site has a checkpoint of another log, by a file `….tlog-proof`. Returns the checkpoint of the log
 * of the site. Throws TrailAlteredError if the file does not show that.
 */
export const verifyWebSiteProof = async (
  text: string,
  checkpoint: CheckpointText,
  keys: readonly WebVerifierKey[],
): Promise<WebCheckpoint> => {
  const file = parseFile(text);
  const site = await openWebCheckpoint(file.checkpoint, keys, SITE_CHECKPOINT);
  const origin = await computeHash(encodeText(checkpoint.origin));
  const leaf = joinBytes(origin, await computeHash(encodeCheckpoint(checkpoint)));
  if (await isIncluded(leaf, file, site)) return site;
  throw new TrailAlteredError(
    'split-view',
    `the log of the site does not have the checkpoint of ${checkpoint.size} entries of ${checkpoint.origin} at its place ` +
      `${file.index}, where the server says that it is`,
  );
};

const SITE_CHECKPOINT = 'the checkpoint of the log of the site';

/** Returns the SHA-256 of the text of a checkpoint, in hexadecimal digits. The log of the site is searched by it. */
export const computeCheckpointDigest = async (checkpoint: CheckpointText): Promise<string> =>
  encodeHex(await computeHash(encodeCheckpoint(checkpoint)));

const encodeCheckpoint = ({ origin, size, root }: CheckpointText): WebBytes =>
  encodeText(formatCheckpointText(origin, size, encodeBase64(root)));

const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

/** Returns whether the hashes of a proof lead from a leaf to the root of the checkpoint. */
const isIncluded = async (
  leaf: Uint8Array,
  { index, proof }: Pick<ProofText, 'index' | 'proof'>,
  checkpoint: CheckpointText,
): Promise<boolean> => {
  const sides = index < checkpoint.size ? listSides(index, checkpoint.size - 1, proof.length) : null;
  if (!sides) return false;
  let node = await computeHash(joinBytes(LEAF_PREFIX, leaf));
  for (const [level, sibling] of proof.entries()) {
    const children = sides[level] === 'left' ? [sibling, node] : [node, sibling];
    node = await computeHash(joinBytes(NODE_PREFIX, ...children));
  }
  return areEqual(node, checkpoint.root);
};

const parseFile = (text: string): ProofText => {
  try {
    return parseProofText(text);
  } catch (error) {
    throw createFileError((error as Error).message);
  }
};

const createFileError = (message: string): TrailAlteredError =>
  new TrailAlteredError('malformed', `the proof ${message}`);

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
