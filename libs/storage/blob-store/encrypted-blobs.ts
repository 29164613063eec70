import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { pipeline as pipe, Readable, Transform, type TransformCallback } from 'node:stream';
import type { EncryptionKeys } from '#platform/encryption';
import { BlobStore, readBytes, type BlobContent, type ListedBlob, type StoredBlob } from './blob-store.js';
import { clampRange, type ByteRange } from './byte-range.js';

/**
 * Format of an encrypted blob: AES-256-GCM in frames, after Tink's AES-GCM-HKDF streaming AEAD, so that neither side
 * keeps more than one frame in memory.
 *
 * - 1 byte: format version, 1
 * - 32 bytes: salt. Each blob has its own key, HKDF-SHA256(the encryption key, salt). The salt begins with 4 bytes that
 *   are the fingerprint of the encryption key, and 28 random ones. Versions up to 0.2.0 wrote 32 random bytes, and read
 *   both.
 * - frames: 64 KiB of content (the last frame is shorter or empty), each followed by its tag of 16 bytes
 *
 * A frame's nonce contains its number and whether it is the last one, so no frame can be left out, repeated, moved or
 * cut off. The blob's key in the store is authenticated too: a file that was copied to another key cannot be decrypted.
 */
const VERSION = 1;
const SALT = 32;
const KEY_FINGERPRINT_LENGTH = 4;
const HEADER = 1 + SALT;
const FRAME_LENGTH = 64 * 1024;
const TAG = 16;
const ENCRYPTED_FRAME_LENGTH = FRAME_LENGTH + TAG;
const KEY_LENGTH = 32;
const CIPHER = 'aes-256-gcm';

type FrameCipher = (piece: Buffer, index: number, last: boolean) => Buffer;

/** Nonces never repeat under a key: each blob has its own key, and its frames are numbered. */
const buildNonce = (index: number, last: boolean): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 7);
  nonce.writeUInt8(last ? 1 : 0, 11);
  return nonce;
};

type FrameRange = { readonly first: number; readonly toTheEnd: boolean };

const ALL_FRAMES: FrameRange = { first: 0, toTheEnd: true };

/** Cuts a stream into frames. Keeps one frame back until it is known whether that frame is the last. */
class FrameTransform extends Transform {
  private buffered: Buffer[] = [];
  private size = 0;
  private count: number;

  constructor(
    private readonly chunkSize: number,
    private readonly work: FrameCipher,
    private readonly range = ALL_FRAMES,
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

/** Thrown if no configured key decrypts a blob. */
export class DamagedBlobError extends Error {
  override readonly name = 'DamagedBlobError';
}

/** Returns the header and a stream of the remaining bytes. */
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

/** Computes the size of the content from the size of the stored file. */
const computeContentSize = (stored: number): number => Math.max(0, stored - HEADER - countFrames(stored) * TAG);

const computeFingerprint = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'cadastre blob 1: mark', KEY_FINGERPRINT_LENGTH));

const deriveBlobKey = (encryptionKey: Buffer, salt: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, salt, 'cadastre blob 1', KEY_LENGTH));

const getFingerprint = (header: Buffer): Buffer => header.subarray(1, 1 + KEY_FINGERPRINT_LENGTH);

/**
 * Encrypts the blobs of another store when they are put, and decrypts them when they are read. For content with
 * secrets.
 */
export class EncryptedBlobs extends BlobStore {
  private readonly fingerprints: ReadonlyMap<Buffer, Buffer>;

  constructor(
    private readonly inner: BlobStore,
    private readonly keys: EncryptionKeys,
  ) {
    super();
    this.fingerprints = new Map(keys.all.map((key) => [key, computeFingerprint(key)]));
  }

  override async put(key: string, content: BlobContent): Promise<void> {
    const { writing } = this.keys;
    await this.inner.put(key, this.encrypted(key, content, writing));
    // An upload can take hours. `cadastre keys rotate` may have passed this blob before it existed.
    await this.keys.refresh();
    if (this.keys.writing !== writing) await this.reencrypt(key);
  }

  override get(key: string, range?: ByteRange): Promise<StoredBlob | null> {
    return range ? this.readRange(key, range) : this.readAll(key);
  }

  override async head(key: string): Promise<{ readonly size: number } | null> {
    const stored = await this.inner.head(key);
    return stored && { size: computeContentSize(stored.size) };
  }

  override delete(key: string): Promise<void> {
    return this.inner.delete(key);
  }

  override async *list(segments?: string): AsyncGenerator<ListedBlob> {
    for await (const { key, size } of this.inner.list(segments)) yield { key, size: computeContentSize(size) };
  }

  override replace(key: string, content: BlobContent): Promise<boolean> {
    return this.inner.replace(key, this.encrypted(key, content, this.keys.writing));
  }

  /**
   * Encrypts the blob with the key of new values, unless it has this key already or no longer exists. Returns whether it
   * was replaced. Throws if no configured key decrypts it.
   */
  async reencrypt(key: string): Promise<boolean> {
    const header = await this.readHeader(key);
    if (header === null || this.fingerprints.get(this.keys.writing)?.equals(getFingerprint(header))) return false;
    const blob = await this.get(key);
    return blob !== null && this.replace(key, blob.content);
  }

  /** Returns the encryption key of a blob; null if no configured key decrypts it, undefined if it does not exist. */
  async findKey(key: string): Promise<Buffer | null | undefined> {
    const header = await this.readHeader(key);
    if (header === null) return undefined;
    if (header.length < HEADER) return null;
    const marked = this.keys.all.find((one) => this.fingerprints.get(one)?.equals(getFingerprint(header)));
    if (marked) return marked;
    // A blob of version 0.2.0, or of another key. The first frame shows which.
    const stored = await this.inner.get(key, { start: HEADER, end: HEADER + ENCRYPTED_FRAME_LENGTH - 1 });
    if (!stored) return undefined;
    const frame = await readBytes(stored.content);
    const isLast = countFrames(stored.size) === 1;
    return this.keys.all.find((one) => canDecrypt(key, deriveBlobKey(one, header.subarray(1)), frame, isLast)) ?? null;
  }

  private encrypted(key: string, content: BlobContent, encryptionKey: Buffer): AsyncGenerator<Buffer> {
    const fingerprint = this.fingerprints.get(encryptionKey) as Buffer;
    const salt = Buffer.concat([fingerprint, randomBytes(SALT - KEY_FINGERPRINT_LENGTH)]);
    const blobKey = deriveBlobKey(encryptionKey, salt);
    const encryptFrame: FrameCipher = (piece, index, last) => {
      const cipher = createCipheriv(CIPHER, blobKey, buildNonce(index, last)).setAAD(Buffer.from(key));
      return Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
    };
    const source = content instanceof Uint8Array ? [content] : content;
    const header = Buffer.concat([Buffer.of(VERSION), salt]);
    return encryptFrames(header, source, new FrameTransform(FRAME_LENGTH, encryptFrame));
  }

  /** Returns null if the blob does not exist. */
  private async readHeader(key: string): Promise<Buffer | null> {
    const beginning = await this.inner.get(key, { start: 0, end: HEADER - 1 });
    return beginning && readBytes(beginning.content);
  }

  private async readAll(key: string): Promise<StoredBlob | null> {
    const stored = await this.inner.get(key);
    if (!stored) return null;
    const { header, rest } = await splitHeader(stored.content);
    try {
      const opened = new FrameTransform(ENCRYPTED_FRAME_LENGTH, this.createDecipher(key, header));
      // An error on either side destroys `opened`, so its reader gets the error.
      pipe(Readable.from(rest), opened, () => stored.content.destroy());
      return { size: computeContentSize(stored.size), content: opened };
    } catch (error) {
      stored.content.destroy();
      throw error;
    }
  }

  /** Reads the frames that the range overlaps, and cuts off the bytes outside the range. */
  private async readRange(key: string, range: ByteRange): Promise<StoredBlob | null> {
    const beginning = await this.inner.get(key, { start: 0, end: HEADER - 1 });
    if (!beginning) return null;
    const header = await readBytes(beginning.content);
    const decipher = this.createDecipher(key, header);
    const size = computeContentSize(beginning.size);
    const { start, end } = clampRange(range, size);
    const [first, last] = [Math.floor(start / FRAME_LENGTH), Math.floor(end / FRAME_LENGTH)];
    const stored = await this.inner.get(key, {
      start: HEADER + first * ENCRYPTED_FRAME_LENGTH,
      end: HEADER + (last + 1) * ENCRYPTED_FRAME_LENGTH - 1,
    });
    if (!stored) return null;
    if (this.keys.previous !== null && !(await this.readHeader(key))?.equals(header)) {
      // The blob was replaced between the two reads.
      stored.content.destroy();
      return this.readRange(key, range);
    }
    const trimmed: FrameCipher = (piece, index, isLast) =>
      decipher(piece, index, isLast).subarray(
        Math.max(0, start - index * FRAME_LENGTH),
        end + 1 - index * FRAME_LENGTH,
      );
    const toTheEnd = last === countFrames(beginning.size) - 1;
    const opened = new FrameTransform(ENCRYPTED_FRAME_LENGTH, trimmed, { first, toTheEnd });
    pipe(stored.content, opened, () => undefined);
    return { size, content: opened };
  }

  /** Returns the function that decrypts frames of the blob with this header. */
  private createDecipher(key: string, header: Buffer): FrameCipher {
    if (header.length < HEADER || header[0] !== VERSION) {
      throw new DamagedBlobError(`blob ${key} was not written by this store, or is damaged`);
    }
    let candidates = this.orderKeys(header).map((encryptionKey) => deriveBlobKey(encryptionKey, header.subarray(1)));
    return (piece, index, last) => {
      if (piece.length < TAG) throw new DamagedBlobError(`blob ${key} is damaged: it ends too early`);
      let cause: unknown;
      for (const blobKey of candidates) {
        try {
          const bytes = decryptFrame(key, blobKey, { piece, index, last });
          candidates = [blobKey];
          return bytes;
        } catch (error) {
          cause = error;
        }
      }
      throw new DamagedBlobError(`blob ${key} is damaged, or was encrypted with another key`, { cause });
    };
  }

  /** Returns all keys, the one that the header names first. */
  private orderKeys(header: Buffer): readonly Buffer[] {
    const isNamed = (key: Buffer): boolean => this.fingerprints.get(key)?.equals(getFingerprint(header)) ?? false;
    return this.keys.all.toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)));
  }
}

type EncryptedFrame = { readonly piece: Buffer; readonly index: number; readonly last: boolean };

/** Throws if the frame is damaged or has another key. */
const decryptFrame = (key: string, blobKey: Buffer, { piece, index, last }: EncryptedFrame): Buffer => {
  const decipher = createDecipheriv(CIPHER, blobKey, buildNonce(index, last), { authTagLength: TAG })
    .setAAD(Buffer.from(key))
    .setAuthTag(piece.subarray(-TAG));
  return Buffer.concat([decipher.update(piece.subarray(0, -TAG)), decipher.final()]);
};

const canDecrypt = (key: string, blobKey: Buffer, piece: Buffer, last: boolean): boolean => {
  try {
    decryptFrame(key, blobKey, { piece, index: 0, last });
    return true;
  } catch {
    return false;
  }
};

const encryptFrames = async function* (
  header: Buffer,
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  frameStream: FrameTransform,
): AsyncGenerator<Buffer> {
  yield header;
  // An error of the content destroys `frameStream`, so the loop below throws it.
  pipe(content, frameStream, () => undefined);
  for await (const frame of frameStream) yield frame as Buffer;
};
