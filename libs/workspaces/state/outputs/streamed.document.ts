import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Document } from '#api/json-api';

/**
 * A document that contains values as existing JSON. They are streamed as bytes from the store to the client, so no
 * value, however large, is parsed, rendered or kept in memory completely.
 */
export class StreamedDocument {
  /** Placeholder of each value in the document. It is random, so that text of a caller cannot match it. */
  readonly placeholder = randomUUID();

  /** `values`: one for each placeholder, in the order of the document. */
  stream(document: Document, values: AsyncGenerator<AsyncIterable<Uint8Array>>): Readable {
    const texts = JSON.stringify(document).split(`"${this.placeholder}"`);
    return Readable.from(interleave(texts, values), { objectMode: false });
  }
}

const interleave = async function* (
  [first = '', ...texts]: readonly string[],
  values: AsyncGenerator<AsyncIterable<Uint8Array>>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(first);
  try {
    for (const text of texts) {
      const value = await values.next();
      if (value.done) throw new Error('a document has more values than were read');
      yield* value.value;
      yield Buffer.from(text);
    }
  } finally {
    await values.return(undefined);
  }
};
