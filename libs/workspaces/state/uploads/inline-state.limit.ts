import type { Readable } from 'node:stream';
import { Refusal } from '#platform/kernel';
import { checkContentLength, MIB, limitUpload } from '#storage/blob-store';

/**
 * Returns the size in Base64: four bytes for three, and a line break (`\\n` in JSON) after 76 characters from the
 * command line tool.
 */
const computeEncodedBytes = (bytes: number): number => Math.ceil((bytes * 4 * 78) / (3 * 76));

/** A request can contain the state in both of its forms, and attributes. */
const MAX_CONCURRENT_FILES = 2;
const ATTRIBUTE_BYTES = 256 * 1024;

/** Limits the size of a state within a request, and of the request itself. */
export class InlineStateLimit {
  private readonly bodyBytes: number;

  /** `fileBytes`: maximum size of one decoded file. */
  constructor(readonly fileBytes: number) {
    this.bodyBytes = MAX_CONCURRENT_FILES * computeEncodedBytes(fileBytes) + ATTRIBUTE_BYTES;
  }

  /** Returns the body in a buffer of its own, which can be transferred to a thread. Throws `too-large`. */
  async bytesOf(body: Readable, announced: number | null): Promise<Uint8Array<ArrayBuffer>> {
    try {
      checkContentLength(announced, this.bodyBytes);
      return await joinChunks(limitUpload(body, this.bodyBytes));
    } catch (error) {
      throw error instanceof Refusal && error.kind === 'too-large' ? this.tooLarge() : error;
    } finally {
      body.resume();
    }
  }

  private tooLarge(): Refusal {
    const detail =
      `The request is larger than ${Math.floor(this.bodyBytes / MIB)} MiB. ` +
      `A state within a request may have ${this.fileBytes / MIB} MiB. ` +
      'Create the state version without it, and upload the file to hosted-state-upload-url';
    return new Refusal('too-large', [{ detail }]);
  }
}

const joinChunks = async (pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> => {
  const list: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    list.push(piece);
    size += piece.length;
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of list) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
};
