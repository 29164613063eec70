import type { Readable } from 'node:stream';
import { badRequest, Refusal } from '#platform/kernel';

const KIB = 1024;
export const MIB = 1024 * KIB;

const createTooLargeRefusal = (limit: number): Refusal => {
  const most = limit < MIB ? `${limit / KIB} KiB` : `${limit / MIB} MiB`;
  return new Refusal('too-large', [{ detail: `The upload is larger than ${most}` }]);
};

/** Refuses an upload whose `Content-Length` exceeds the limit, before any byte is read. */
export const checkContentLength = (length: number | null, limit: number): void => {
  if (length !== null && length > limit) throw createTooLargeRefusal(limit);
};

/**
 * Yields an upload up to the limit. If the reader stops early, the connection stays open and the rest is drained,
 * because some clients read no response before they have sent everything.
 */
export const limitUpload = async function* (content: Readable, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    // The connection stays open so that a refusal can be sent.
    for await (const piece of content.iterator({ destroyOnReturn: false })) {
      size += (piece as Buffer).length;
      if (size > limit) throw createTooLargeRefusal(limit);
      yield piece as Buffer;
    }
  } catch (error) {
    throw error instanceof Refusal ? error : badRequest('The upload was cut short');
  } finally {
    content.resume();
  }
};
