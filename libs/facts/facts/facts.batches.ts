import { toFactStream, type Fact } from './fact.js';

/**
 * Organizations, streams and people are locked while their facts are recorded. Postgres has room for some thousands of
 * locks, those of all its transactions together; who finds none left is turned away, whatever he wants.
 */
export const MAX_LOCKS_PER_BATCH = 200;

const listLocks = (organization: string, { source, auth }: Fact): readonly string[] => [
  organization,
  toFactStream(organization, source),
  `person ${auth.accessor_id}`,
];

/** In their order, as many together as one transaction may record. */
export const splitIntoBatches = <T extends { readonly organization: string; readonly fact: Fact }>(
  all: readonly T[],
): T[][] => {
  const parts: T[][] = [];
  let locked = new Set<string>();
  for (const one of all) {
    const locks = listLocks(one.organization, one.fact);
    const together = new Set([...locked, ...locks]);
    const isRoom = together.size <= MAX_LOCKS_PER_BATCH;
    if (parts.length === 0 || !isRoom) parts.push([]);
    locked = isRoom ? together : new Set(locks);
    parts.at(-1)?.push(one);
  }
  return parts;
};
