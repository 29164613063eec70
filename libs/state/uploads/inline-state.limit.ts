import type { Readable } from 'node:stream';
import { Refusal } from '#kernel';
import { checkContentLength, MIB, limitUpload } from '#blob-store';

/** Base64 makes four bytes of three, and at the command line it has a line break, `\\n` in JSON, after 76 of them. */
const computeEncodedBytes = (bytes: number): number => Math.ceil((bytes * 4 * 78) / (3 * 76));

/** A request may bring the state in both of its forms, and attributes. */
const MAX_CONCURRENT_FILES = 2;
const ATTRIBUTE_BYTES = 256 * 1024;

/** How large a state may be that comes within a request, and so the request. */
export class InlineStateLimit {
  private readonly bodyBytes: number;

  /** `fileBytes`: of one file, decoded. */
  constructor(readonly fileBytes: number) {
    this.bodyBytes = MAX_CONCURRENT_FILES * computeEncodedBytes(fileBytes) + ATTRIBUTE_BYTES;
  }

  /** The body in memory of its own, which can be handed to a thread. Throws `too-large`. */
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
