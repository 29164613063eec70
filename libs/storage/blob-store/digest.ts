import { createHash, type Hash } from 'node:crypto';

export const hashWhileReading = async function* (
  content: AsyncIterable<Uint8Array>,
  hash: Hash,
): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    hash.update(piece);
    yield piece;
  }
};

/** Returns the SHA-256 of the content. Not MD5, because an attacker can create MD5 collisions. */
export const computeDigest = async (content: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const sha256 = createHash('sha256');
  for await (const piece of content) sha256.update(piece);
  return sha256.digest();
};
