import type { EntryLeaf } from './log-secret.service.js';

type LeafLocation = { readonly organization: string; readonly index: number };

/** Describes how the stored leaf of an entry differs from the computed one; null if it does not. */
export const describeLeafDifference = (
  location: LeafLocation,
  computed: EntryLeaf,
  stored: EntryLeaf | undefined,
): string | null => {
  const { id } = computed;
  if (!stored) return describe(location, `the leaf of the entry ${id} is missing`);
  if (stored.id !== id) return describe(location, `the leaf belongs to the entry ${stored.id} instead of ${id}`);
  const isSame = stored.leaf.equals(computed.leaf) && haveSameBytes(stored.commitments, computed.commitments);
  return isSame ? null : describe(location, `the entry ${id} gives another leaf`);
};

export const describeSurplusLeaf = ({ id, ...location }: LeafLocation & { readonly id: string }): string =>
  describe(location, `the leaf of ${id} belongs to no entry`);

export const describeLeafBeforeEntry = (location: LeafLocation): string =>
  describe(location, 'there is a leaf without an entry');

export const describeLostEntries = (location: LeafLocation): string =>
  describe(location, 'the leaf is missing, and so is its entry');

const describe = ({ organization, index }: LeafLocation, what: string): string =>
  `the log of the audit trail of ${organization} differs at index ${index}: ${what}`;

const haveSameBytes = (a: Buffer | null, b: Buffer | null): boolean =>
  a === null || b === null ? a === b : a.equals(b);
