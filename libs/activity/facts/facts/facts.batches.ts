import { toFactStream, type Fact } from './fact.js';

/**
 * Maximum number of locks of a transaction that records facts. It locks organizations, streams and people. Postgres has
 * room for some thousands of locks in all transactions together, and fails any statement that needs one more.
 */
export const MAX_LOCKS_PER_BATCH = 200;

const listLocks = (organization: string, { source, auth }: Fact): readonly string[] => [
  organization,
  toFactStream(organization, source),
  `person ${auth.accessor_id}`,
];

/** Splits facts, in order, into batches that one transaction each can record. */
export const splitIntoBatches = <T extends { readonly organization: string; readonly fact: Fact }>(
  all: readonly T[],
): T[][] => {
  const parts: T[][] = [];
  let locked = new Set<string>();
  for (const one of all) {
    const locks = listLocks(one.organization, one.fact);
    const together = new Set([...locked, ...locks]);
    const fits = together.size <= MAX_LOCKS_PER_BATCH;
    if (parts.length === 0 || !fits) parts.push([]);
    locked = fits ? together : new Set(locks);
    parts.at(-1)?.push(one);
  }
  return parts;
};
