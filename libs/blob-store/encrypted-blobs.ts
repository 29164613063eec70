import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { pipeline as pipe, Readable, Transform, type TransformCallback } from 'node:stream';
import { BlobStore, readBytes, type BlobContent, type StoredBlob } from './blob-store.js';
import { clampRange, type ByteRange } from './byte-range.js';

/*
 * What lies on disk (AES-256-GCM in frames, after Tink's AES-GCM-HKDF streaming AEAD, so that neither side ever holds
 * more than a frame):
 *
 *   1 byte   format version, 1
 *   32 bytes salt: each blob has a key of its own, HKDF-SHA256(the store's key, salt)
 *   frames   64 KiB of content (the last one less, maybe nothing), each followed by its tag of 16 bytes
 *
 * A frame's nonce is its number and whether it is the last; so no frame can be left out, doubled, moved or cut off. The
 * blob's key in the store is authenticated with it: one blob's file put in another's place does not open.
 */
const VERSION = 1;
const SALT = 32;
const HEADER = 1 + SALT;
const FRAME_LENGTH = 64 * 1024;
const TAG = 16;
const ENCRYPTED_FRAME_LENGTH = FRAME_LENGTH + TAG;
const KEY_LENGTH = 32;
const CIPHER = 'aes-256-gcm';

type FrameCipher = (piece: Buffer, frame: number, last: boolean) => Buffer;

/** Nonces never repeat under a key: each blob has its own, and its frames are numbered. */
const buildNonce = (frame: number, last: boolean): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(frame, 7);
  nonce.writeUInt8(last ? 1 : 0, 11);
  return nonce;
};

type FrameRange = { readonly first: number; readonly toTheEnd: boolean };

const WHOLE: FrameRange = { first: 0, toTheEnd: true };

/** Cuts what flows through into frames, holding one back until it is known whether it is the last. */
class FrameTransform extends Transform {
  private buffered: Buffer[] = [];
  private size = 0;
  private count: number;

  constructor(
    private readonly chunkSize: number,
    private readonly work: FrameCipher,
    private readonly range = WHOLE,
  ) {
    super();
    this.count = range.first;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.buffered.push(chunk);
    this.size += chunk.length;
    done(this.attempt(() => this.size > this.chunkSize && this.cut()));
  }

  override _flush(done: TransformCallback): void {
    done(this.attempt(() => this.push(this.work(Buffer.concat(this.buffered), this.count, this.range.toTheEnd))));
  }

  private cut(): void {
    let rest = Buffer.concat(this.buffered);
    for (; rest.length > this.chunkSize; this.count += 1) {
      this.push(this.work(rest.subarray(0, this.chunkSize), this.count, false));
      rest = rest.subarray(this.chunkSize);
    }
    this.buffered = [rest];
    this.size = rest.length;
  }

  private attempt(step: () => unknown): Error | null {
    try {
      step();
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

/** The first so many bytes, and the stream of what comes after them. */
const splitHeader = async (content: Readable): Promise<{ header: Buffer; rest: AsyncGenerator<Buffer> }> => {
  const chunks = content[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let header = Buffer.alloc(0);
  while (header.length < HEADER) {
    const next = await chunks.next();
    if (next.done) break;
    header = Buffer.concat([header, next.value]);
  }
  const surplus = header.subarray(HEADER);
  const rest = async function* (): AsyncGenerator<Buffer> {
    yield surplus;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  };
  return { header: header.subarray(0, HEADER), rest: rest() };
};

const countFrames = (stored: number): number => Math.max(1, Math.ceil((stored - HEADER) / ENCRYPTED_FRAME_LENGTH));

/** Size of the content, told by the size of what is stored. */
const computeContentSize = (stored: number): number => Math.max(0, stored - HEADER - countFrames(stored) * TAG);

/** Another store's blobs, encrypted on their way in and decrypted on their way out: for content that holds secrets. */
export class EncryptedBlobs extends BlobStore {
  constructor(
    private readonly inner: BlobStore,
    private readonly secret: Buffer,
  ) {
    super();
    if (secret.length !== KEY_LENGTH) throw new Error('the encryption key must be 32 bytes');
  }

  override async put(key: string, content: BlobContent): Promise<void> {
    const salt = randomBytes(SALT);
    const blobKey = this.blobKey(salt);
    const seal: FrameCipher = (piece, frame, last) => {
      const cipher = createCipheriv(CIPHER, blobKey, buildNonce(frame, last)).setAAD(Buffer.from(key));
      return Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
    };
    const source = content instanceof Uint8Array ? [content] : content;
    await this.inner.put(
      key,
      encryptFrames(Buffer.concat([Buffer.of(VERSION), salt]), source, new FrameTransform(FRAME_LENGTH, seal)),
    );
  }

  override get(key: string, range?: ByteRange): Promise<StoredBlob | null> {
    return range ? this.readRange(key, range) : this.readAll(key);
  }

  override async head(key: string): Promise<{ readonly size: number } | null> {
    const found = await this.inner.head(key);
    return found && { size: computeContentSize(found.size) };
  }

  override delete(key: string): Promise<void> {
    return this.inner.delete(key);
  }

  private async readAll(key: string): Promise<StoredBlob | null> {
    const found = await this.inner.get(key);
    if (!found) return null;
    const { header, rest } = await splitHeader(found.content);
    try {
      const opened = new FrameTransform(ENCRYPTED_FRAME_LENGTH, this.unseals(key, header));
      // Errors of either side destroy the stream that is handed out with them: whoever reads it is told there.
      pipe(Readable.from(rest), opened, () => found.content.destroy());
      return { size: computeContentSize(found.size), content: opened };
    } catch (error) {
      found.content.destroy();
      throw error;
    }
  }

  /** The frames that the range touches, without what they have before and after it. */
  private async readRange(key: string, range: ByteRange): Promise<StoredBlob | null> {
    const beginning = await this.inner.get(key, { start: 0, end: HEADER - 1 });
    if (!beginning) return null;
    const unseal = this.unseals(key, await readBytes(beginning.content));
    const size = computeContentSize(beginning.size);
    const { start, end } = clampRange(range, size);
    const [first, last] = [Math.floor(start / FRAME_LENGTH), Math.floor(end / FRAME_LENGTH)];
    const found = await this.inner.get(key, {
      start: HEADER + first * ENCRYPTED_FRAME_LENGTH,
      end: HEADER + (last + 1) * ENCRYPTED_FRAME_LENGTH - 1,
    });
    if (!found) return null;
    const trimmed: FrameCipher = (piece, frame, isLast) =>
      unseal(piece, frame, isLast).subarray(Math.max(0, start - frame * FRAME_LENGTH), end + 1 - frame * FRAME_LENGTH);
    const toTheEnd = last === countFrames(beginning.size) - 1;
    const opened = new FrameTransform(ENCRYPTED_FRAME_LENGTH, trimmed, { first, toTheEnd });
    pipe(found.content, opened, () => undefined);
    return { size, content: opened };
  }

  /** Opens frames of the blob that begins with this header. */
  private unseals(key: string, header: Buffer): FrameCipher {
    if (header.length < HEADER || header[0] !== VERSION) {
      throw new Error(`blob ${key} was not written by this store, or is damaged`);
    }
    const blobKey = this.blobKey(header.subarray(1));
    return (piece, frame, last) => {
      const nonce = buildNonce(frame, last);
      const cipher = createDecipheriv(CIPHER, blobKey, nonce, { authTagLength: TAG }).setAAD(Buffer.from(key));
      if (piece.length < TAG) throw new Error(`blob ${key} is damaged: it ends too early`);
      cipher.setAuthTag(piece.subarray(-TAG));
      try {
        return Buffer.concat([cipher.update(piece.subarray(0, -TAG)), cipher.final()]);
      } catch (cause) {
        throw new Error(`blob ${key} is damaged, or was encrypted with another key`, { cause });
      }
    };
  }

  private blobKey(salt: Buffer): Buffer {
    return Buffer.from(hkdfSync('sha256', this.secret, salt, 'cadastre blob 1', KEY_LENGTH));
  }
}

const encryptFrames = async function* (
  header: Buffer,
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  frames: FrameTransform,
): AsyncGenerator<Buffer> {
  yield header;
  // An error of the content destroys `frames` with it, so it comes out of the loop below.
  pipe(content, frames, () => undefined);
  for await (const frame of frames) yield frame as Buffer;
};
