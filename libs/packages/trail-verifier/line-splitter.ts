import { TrailAlteredError } from './trail-errors.js';

/** A line has an entry, which has at most some 100 KB, and its proof. */
export const LINE_MAX = 4 * 1024 * 1024;

const NEWLINE = 0x0a;

/** Splits the chunks of a stream into lines without their newlines. Keeps at most one line in memory. */
export class LineSplitter {
  private rest: Buffer[] = [];
  private restLength = 0;

  /** Returns the lines that end in this chunk. */
  *split(chunk: Uint8Array): Generator<Buffer> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      yield this.take(bytes.subarray(start, end));
      start = end + 1;
    }
    this.keep(bytes.subarray(start));
  }

  /** Returns what is behind the last newline, or null if nothing is. */
  end(): Buffer | null {
    return this.restLength === 0 ? null : this.take(Buffer.alloc(0));
  }

  private take(end: Buffer): Buffer {
    this.keep(end);
    const line = this.rest.length === 1 ? (this.rest[0] as Buffer) : Buffer.concat(this.rest);
    this.rest = [];
    this.restLength = 0;
    return line;
  }

  private keep(part: Buffer): void {
    if (part.length === 0) return;
    this.restLength += part.length;
    if (this.restLength > LINE_MAX) {
      throw new TrailAlteredError('malformed', `a line must have at most ${LINE_MAX} bytes`);
    }
    this.rest.push(part);
  }
}
