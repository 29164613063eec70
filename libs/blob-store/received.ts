import type { Readable } from 'node:stream';
import { badRequest, Refused } from '#kernel';

export const MIB = 1024 * 1024;

/** What arrives over the line, no more of it than allowed; whoever stops reading leaves the line open. */
export const received = async function* (content: Readable, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    // The connection is left open, so that a refusal can still be told.
    for await (const piece of content.iterator({ destroyOnReturn: false })) {
      size += (piece as Buffer).length;
      if (size > limit) throw new Refused('too-large', [{ detail: `The upload is larger than ${limit / MIB} MiB` }]);
      yield piece as Buffer;
    }
  } catch (error) {
    throw error instanceof Refused ? error : badRequest('The upload was cut short');
  }
};
