const HASH_BYTES = 32;

/** Returns the hashes or leaves, 32 bytes each, that are joined in a buffer. */
export const splitHashes = (joined: Buffer): Buffer[] =>
  Array.from({ length: joined.length / HASH_BYTES }, (_, n) => joined.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES));
