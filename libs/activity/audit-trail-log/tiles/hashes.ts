/** Stands for an organization in the tables of logs: the log of the site, whose leaves name checkpoints of other logs. */
export const SITE_LOG = 'site';

export const HASH_BYTES = 32;

/** Returns the length of the leaves of a log. */
export const getLeafBytes = (log: string): number => (log === SITE_LOG ? 2 * HASH_BYTES : HASH_BYTES);

/** Returns the hashes or leaves that are joined in a buffer. */
export const splitHashes = (joined: Buffer, bytes: number = HASH_BYTES): Buffer[] =>
  Array.from({ length: joined.length / bytes }, (_, n) => joined.subarray(n * bytes, (n + 1) * bytes));
