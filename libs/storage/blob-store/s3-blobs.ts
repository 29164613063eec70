import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '#platform/kernel';
import {
  BlobExistsError,
  BlobStore,
  checkBlobKey,
  type BlobContent,
  type ListedBlob,
  type StoredBlob,
} from './blob-store.js';
import { clampRange, type ByteRange } from './byte-range.js';
import { openS3, type S3Connection, type S3Location } from './s3-client.js';
import {
  isRangeNotSatisfiable,
  isWriteConflict,
  isMissing,
  createStoreUnavailableRefusal,
  toStoreError,
} from './s3-errors.js';
import { abortAbandoned, inspectBucket } from './bucket-inspection.js';

/**
 * A blob of up to one part is sent in one request, a larger one in parts. One part is collected while another is sent,
 * so an upload needs the memory of three parts at most, one of them for joining chunks. S3 accepts parts from 5 MiB,
 * and 10,000 of them, so the largest blob has 48 GiB.
 */
const PART_BYTES = 5 * 1024 * 1024;
const MAX_CONCURRENT_PARTS = 2;

const iterateChunks = async function* (content: BlobContent): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) yield content;
  else yield* content;
};

/** Records an error of the content, to distinguish it from an error of the store. */
class UploadSource implements AsyncIterable<Uint8Array> {
  broken: { readonly by: unknown } | null = null;

  constructor(private readonly content: BlobContent) {}

  // Not a generator: an upload that ends early would throw its own error into it.
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const pieces = iterateChunks(this.content);
    return {
      next: () =>
        pieces.next().catch((error: unknown) => {
          this.broken = { by: error };
          throw error;
        }),
      return: () => pieces.return(undefined),
    };
  }
}

const formatRangeHeader = (range: ByteRange): string => {
  const { start, end } = clampRange(range, Infinity);
  return `bytes=${start}-${end === Infinity ? '' : end}`;
};

/** Parses the size in `bytes 0-9/100`. */
const parseTotalSize = (contentRange: string | undefined): number => Number(contentRange?.split('/')[1]);

const translateErrors = async function* (body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw toStoreError(error);
  }
};

/**
 * Returns the body with translated errors. If the connection breaks before anyone reads, the later reader gets the
 * error.
 */
const toReadable = (body: Readable): Readable => {
  body.on('error', () => undefined);
  const content = Readable.from(translateErrors(body), { objectMode: false });
  // Closing a generator that was never started runs none of its code, so the body is destroyed here.
  return content.once('close', () => body.destroy());
};

type StoredObject = {
  readonly size: number;
  readonly version: string | undefined;
  readonly writer: string | undefined;
};

/**
 * Stores blobs as objects in a bucket, which any number of processes may share.
 *
 * An object appears when it is complete, and only if no object has its name (`If-None-Match`), so exactly one of two
 * writers wins. Each upload stores the id of its writer. A writer that gets a conflict may have written the object
 * itself, in an attempt whose response was lost.
 */
export class S3Blobs extends BlobStore {
  private opened: Promise<S3Connection> | null = null;

  constructor(
    private readonly location: S3Location,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async put(key: string, content: BlobContent): Promise<void> {
    const writer = randomUUID();
    if (!(await this.upload(key, content, writer, { IfNoneMatch: '*' }))) await this.demandWriter(key, writer);
  }

  override async get(key: string, range?: ByteRange): Promise<StoredBlob | null> {
    const object = this.objectOf(key);
    const rangeParameter = range ? { Range: formatRangeHeader(range) } : {};
    const { s3 } = await this.open();
    try {
      const { Body, ContentLength, ContentRange } = await s3.getObject({ ...object, ...rangeParameter });
      return {
        size: range ? parseTotalSize(ContentRange) : Number(ContentLength),
        content: toReadable(Body as Readable),
      };
    } catch (error) {
      if (isMissing(error)) return null;
      if (isRangeNotSatisfiable(error)) throw new RangeError(`blob ${key} ends before byte ${range?.start}`);
      throw toStoreError(error);
    }
  }

  override async head(key: string): Promise<{ readonly size: number } | null> {
    const blob = await this.look(key);
    return blob && { size: blob.size };
  }

  override async delete(key: string): Promise<void> {
    const object = this.objectOf(key);
    const { s3 } = await this.open();
    await s3.deleteObject(object).catch((error: unknown) => {
      throw toStoreError(error);
    });
  }

  override async *list(segments?: string): AsyncGenerator<ListedBlob> {
    const { s3 } = await this.open();
    const { bucket, prefix } = this.location;
    const own = prefix === '' ? '' : `${prefix}/`;
    const within = segments === undefined ? own : `${own}${checkBlobKey(segments)}/`;
    let next: { readonly ContinuationToken?: string } = {};
    for (;;) {
      const page = await s3.listObjectsV2({ Bucket: bucket, Prefix: within, ...next }).catch((error: unknown) => {
        throw toStoreError(error);
      });
      for (const { Key = '', Size = 0 } of page.Contents ?? []) {
        const key = Key.slice(own.length);
        // Objects of inspections are no blobs.
        if (!key.startsWith('.')) yield { key, size: Size };
      }
      if (page.NextContinuationToken === undefined) return;
      next = { ContinuationToken: page.NextContinuationToken };
    }
  }

  /** The object is replaced only if it still has its version, so a deleted blob does not return. */
  override async replace(key: string, content: BlobContent): Promise<boolean> {
    const before = await this.look(key);
    if (!before?.version) return false;
    const writer = randomUUID();
    if (await this.upload(key, content, writer, { IfMatch: before.version })) return true;
    return (await this.look(key))?.writer === writer;
  }

  override async inspect(): Promise<void> {
    const { s3 } = await this.open();
    await inspectBucket(s3, this.location);
    await abortAbandoned(s3, this.location, this.clock.now());
  }

  /** Returns false if the condition was not met. */
  private async upload(
    key: string,
    content: BlobContent,
    writer: string,
    condition: { readonly IfNoneMatch: '*' } | { readonly IfMatch: string },
  ): Promise<boolean> {
    const object = this.objectOf(key);
    const { s3, Upload } = await this.open();
    const source = new UploadSource(content);
    const upload = new Upload({
      client: s3,
      partSize: PART_BYTES,
      queueSize: MAX_CONCURRENT_PARTS,
      params: {
        ...object,
        ...condition,
        Body: Readable.from(source, { objectMode: false }),
        Metadata: { writer },
      },
    });
    try {
      await upload.done();
      return true;
    } catch (error) {
      if (source.broken) throw source.broken.by;
      if (isWriteConflict(error) || ('IfMatch' in condition && isMissing(error))) return false;
      throw toStoreError(error);
    }
  }

  private open(): Promise<S3Connection> {
    return (this.opened ??= openS3(this.location));
  }

  private objectOf(key: string): { readonly Bucket: string; readonly Key: string } {
    const { bucket, prefix } = this.location;
    return { Bucket: bucket, Key: prefix === '' ? checkBlobKey(key) : `${prefix}/${checkBlobKey(key)}` };
  }

  private async look(key: string): Promise<StoredObject | null> {
    const object = this.objectOf(key);
    const { s3 } = await this.open();
    try {
      const { ContentLength, ETag, Metadata } = await s3.headObject(object);
      return { size: Number(ContentLength), version: ETag, writer: Metadata?.['writer'] };
    } catch (error) {
      if (isMissing(error)) return null;
      throw toStoreError(error);
    }
  }

  private async demandWriter(key: string, writer: string): Promise<void> {
    const blob = await this.look(key);
    if (blob?.writer === writer) return;
    // The conflicting blob no longer exists: it was deleted, or its upload failed as well.
    throw blob ? new BlobExistsError(key) : createStoreUnavailableRefusal();
  }
}
