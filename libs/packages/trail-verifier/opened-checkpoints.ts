import { parseCheckpoint, type LogCheckpoint } from './checkpoints.js';
import { checkOriginSigned, explainCheckpointError } from './formats/checkpoints.js';
import { verifyConsistency, proveConsistency, type HashSource } from './merkle-tree.js';
import { openNote, type VerifiedSignature } from './notes.js';
import { TrailAlteredError, TrailUnreadableError } from './trail-errors.js';
import type { VerifierKey } from './verifier-keys.js';

/** A checkpoint whose signatures were verified. */
export type OpenedCheckpoint = LogCheckpoint & {
  readonly note: string;
  readonly signatures: readonly VerifiedSignature[];
};

/**
 * Returns the checkpoint in a signed note. Throws TrailAlteredError unless the log with the origin of the checkpoint has signed
 * it with one of the keys. `name` is how messages call the note.
 */
export const openCheckpoint = (
  note: string,
  keys: readonly VerifierKey[],
  name = 'the checkpoint',
): OpenedCheckpoint => {
  try {
    const { text, signatures } = openNote(note, keys);
    const checkpoint = parseCheckpoint(text);
    checkOriginSigned(
      checkpoint,
      signatures.map(({ key }) => key),
      name,
    );
    return { ...checkpoint, note, signatures };
  } catch (error) {
    throw explainCheckpointError(error, name);
  }
};

/**
 * Throws TrailAlteredError if the log of the later checkpoint cannot extend that of the earlier one, whatever the proof: if it
 * is another log, smaller, or of the same size with another root. Returns whether nothing else needs to be proved.
 */
export const checkSuccession = (earlier: LogCheckpoint, later: LogCheckpoint): boolean => {
  if (earlier.origin !== later.origin) {
    throw new TrailAlteredError('split-view', `the checkpoints are of two logs, ${earlier.origin} and ${later.origin}`);
  }
  if (earlier.size > later.size) {
    throw new TrailAlteredError(
      'rollback',
      `the log was rolled back: it had ${earlier.size} entries, and now has ${later.size}`,
    );
  }
  if (earlier.size === later.size && !earlier.root.equals(later.root)) throw createForkError(earlier, later);
  return earlier.size === later.size || earlier.size === 0;
};

export const createForkError = (earlier: LogCheckpoint, later: LogCheckpoint): TrailAlteredError =>
  new TrailAlteredError(
    'split-view',
    `two histories were signed: the checkpoint of size ${later.size} does not extend the checkpoint of size ` +
      `${earlier.size}`,
  );

/** Throws TrailAlteredError unless the log of the later checkpoint extends that of the earlier one. */
export const demandConsistency = async (
  earlier: LogCheckpoint,
  later: LogCheckpoint,
  source: HashSource,
): Promise<void> => {
  if (checkSuccession(earlier, later)) return;
  const proof = await proveConsistency(earlier.size, later.size, source);
  const sizes = { from: earlier.size, to: later.size, fromRoot: earlier.root, toRoot: later.root };
  if (!verifyConsistency({ ...sizes, proof })) throw createForkError(earlier, later);
};

export const createUnprovenError = (earlier: LogCheckpoint, later: LogCheckpoint): TrailUnreadableError =>
  new TrailUnreadableError(
    `the file cannot prove that the checkpoint of size ${later.size} extends that of size ${earlier.size}, because it ` +
      `has neither entry ${earlier.size - 1} nor entry ${earlier.size}; name the log with --url`,
  );
