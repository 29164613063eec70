import type { Readable } from 'node:stream';
import { badRequest, Refusal } from '#kernel';

const KIB = 1024;
export const MIB = 1024 * KIB;

const createTooLargeRefusal = (limit: number): Refusal => {
  const most = limit < MIB ? `${limit / KIB} KiB` : `${limit / MIB} MiB`;
  return new Refusal('too-large', [{ detail: `The upload is larger than ${most}` }]);
};

/** Refuses what says of itself that it is larger than allowed (`Content-Length`), before any of it is read. */
export const checkContentLength = (length: number | null, limit: number): void => {
  if (length !== null && length > limit) throw createTooLargeRefusal(limit);
};

/**
 * What arrives over the line, no more of it than allowed. Whoever stops reading leaves the line open, and the rest flows
 * away: clients that read no answer before they have sent everything get through to it.
 */
export const limitUpload = async function* (content: Readable, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    // The connection is left open, so that a refusal can still be told.
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
