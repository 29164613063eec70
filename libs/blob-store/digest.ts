import { createHash, type Hash } from 'node:crypto';

/** Passes content on, and takes its fingerprint. */
export const hashWhileReading = async function* (
  content: AsyncIterable<Uint8Array>,
  hash: Hash,
): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    hash.update(piece);
    yield piece;
  }
};

/** SHA-256 of content: not MD5, whose collisions can be made to order. */
export const computeDigest = async (content: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const sha256 = createHash('sha256');
  for await (const piece of content) sha256.update(piece);
  return sha256.digest();
};
