import { createHash } from 'node:crypto';
import type { Clock } from '#platform/kernel';
import { checkBlobKey } from './blob-store.js';
import { openS3, type S3Connection, type S3Location } from './s3-client.js';
import { describeS3Error, isMissing, isWriteConflict } from './s3-errors.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

export type ArchiveObject = { readonly key: string; readonly content: Buffer; readonly mediaType: string };

/** Thrown if an object of the archive has other content than what would be delivered under its name. */
export class ArchiveConflictError extends Error {
  constructor(key: string) {
    super(`the archive has an object ${key} with other content; nothing was delivered after it`);
    this.name = 'ArchiveConflict';
  }
}

/** Thrown if the archive cannot be used for any object at the moment. */
export class ArchiveUnavailableError extends Error {
  override readonly name = 'ArchiveUnavailable';
}

/**
 * A bucket that objects are only added to. With Object Lock in compliance mode, nobody can delete or replace a version
 * before its date, also not the owner of the bucket.
 */
export class ArchiveBucket {
  private opened: Promise<S3Connection> | null = null;

  /** `lockDays`: null for a store without Object Lock. */
  constructor(
    private readonly location: S3Location,
    private readonly lockDays: number | null,
    private readonly clock: Clock,
  ) {}

  /** Checks that the bucket locks objects. Rejects with a message for the operator. */
  async inspect(): Promise<void> {
    if (this.lockDays === null) return;
    const { s3 } = await this.open();
    try {
      await s3.getObjectLockConfiguration({ Bucket: this.location.bucket });
    } catch (error) {
      throw new ArchiveUnavailableError(
        `the bucket ${this.location.bucket} has no Object Lock: ${describeS3Error(error)}`,
      );
    }
  }

  /**
   * Adds an object. Does nothing if it exists with this content, or with the content of an earlier attempt, of which
   * `earlierDigests` are the digests. Throws ArchiveConflictError for other content.
   */
  async add(object: ArchiveObject, earlierDigests: readonly string[] = []): Promise<void> {
    const { s3 } = await this.open();
    try {
      await s3.putObject({ ...this.describe(object), IfNoneMatch: '*' });
    } catch (error) {
      if (!isWriteConflict(error)) throw this.toError(error);
      // The object can be from an earlier attempt, whose answer was lost or whose process was killed.
      const digest = await this.findDigest(object.key);
      if (digest === null || ![computeArchiveDigest(object.content), ...earlierDigests].includes(digest))
        throw new ArchiveConflictError(object.key);
    }
  }

  /** Adds a new version of an object that changes, such as the newest checkpoint. */
  async addVersion(object: ArchiveObject): Promise<void> {
    const { s3 } = await this.open();
    try {
      await s3.putObject(this.describe(object));
    } catch (error) {
      throw this.toError(error);
    }
  }

  private async findDigest(key: string): Promise<string | null> {
    const { s3 } = await this.open();
    try {
      const { Metadata } = await s3.headObject(this.locate(key));
      return Metadata?.['sha256'] ?? null;
    } catch (error) {
      if (isMissing(error)) return null;
      throw this.toError(error);
    }
  }

  /** S3 requires a checksum for locked objects. */
  private describe({ key, content, mediaType }: ArchiveObject) {
    return {
      ...this.locate(key),
      Body: content,
      ContentType: mediaType,
      ChecksumAlgorithm: 'SHA256' as const,
      Metadata: { sha256: computeArchiveDigest(content) },
      ...(this.lockDays === null
        ? {}
        : {
            ObjectLockMode: 'COMPLIANCE' as const,
            ObjectLockRetainUntilDate: new Date(this.clock.now().getTime() + this.lockDays * DAY_MS),
          }),
    };
  }

  private locate(key: string): { readonly Bucket: string; readonly Key: string } {
    const { bucket, prefix } = this.location;
    return { Bucket: bucket, Key: prefix === '' ? checkBlobKey(key) : `${prefix}/${checkBlobKey(key)}` };
  }

  private toError(error: unknown): Error {
    return new ArchiveUnavailableError(
      `the archive ${this.location.bucket} cannot be written: ${describeS3Error(error)}`,
    );
  }

  private open(): Promise<S3Connection> {
    return (this.opened ??= openS3(this.location));
  }
}

/** Returns the SHA-256 of the content of an object, in hexadecimal, as its metadata has it. */
export const computeArchiveDigest = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
