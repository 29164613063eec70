import {
  createWrongValueError,
  listRevealedValues,
  parseOpening,
  type EntryOpening,
  type NamedMembers,
} from './formats/openings.js';
import { computeOpenedLeaf, computeRevealedCommitment } from './leaves.js';
import { isDigest } from './strict-base64.js';

/** Returns the opening in a JSON object. Throws RangeError if it is none. */
export const readOpening = (members: NamedMembers): EntryOpening => parseOpening(members, isDigest);

/** The opened leaf of an entry in base64, and the pointers of its values that were erased. */
export type VerifiedEntry = { readonly leaf: string; readonly withheld: readonly string[] };

/**
 * Returns the leaf of an entry after comparing its personal values with their commitments. Throws RangeError if a value is
 * not the one of the commitment.
 */
export const openEntry = (entry: unknown, opening: EntryOpening): VerifiedEntry => {
  const { revealed, withheld } = listRevealedValues(entry, opening);
  for (const { pointer, value, salt, commitment } of revealed) {
    if (value === undefined || computeRevealedCommitment(salt, value) !== commitment) {
      throw createWrongValueError(pointer);
    }
  }
  return { leaf: computeOpenedLeaf(entry, opening), withheld };
};
