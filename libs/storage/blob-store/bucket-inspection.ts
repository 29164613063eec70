import { randomUUID } from 'node:crypto';
import type { MultipartUpload, S3 } from '@aws-sdk/client-s3';
import type { S3Location } from './s3-client.js';
import { isWriteConflict, isMissing, describeS3Error } from './s3-errors.js';

type BucketPrefix = Pick<S3Location, 'bucket' | 'prefix'>;
type S3Object = { readonly Bucket: string; readonly Key: string };

const ABANDONED_AFTER = 24 * 60 * 60 * 1000;
const CREATE_ONLY = { IfNoneMatch: '*' };

const prefixKey = ({ prefix }: BucketPrefix, name: string): string => (prefix === '' ? name : `${prefix}/${name}`);

/** Adds the name of the permission to an error, because a missing permission is the usual cause. */
const requireS3Permission = async <T>(permission: string, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${permission}: ${describeS3Error(error)}`);
  }
};

const requireRefusal = async (writing: Promise<unknown>): Promise<void> => {
  try {
    await writing;
  } catch (error) {
    if (isWriteConflict(error)) return;
    throw error;
  }
  throw new Error('the store ignores If-None-Match, so blobs could be overwritten');
};

/**
 * Checks that reading a missing object fails with "not found". Without permission to list the bucket it would fail with
 * "forbidden".
 */
const requireAbsence = async (reading: Promise<unknown>): Promise<void> => {
  try {
    await reading;
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  throw new Error('the store still returns a deleted object');
};

const writeInParts = async (s3: S3, object: S3Object): Promise<void> => {
  const { UploadId } = await s3.createMultipartUpload(object);
  const upload = { ...object, UploadId };
  try {
    const { ETag } = await s3.uploadPart({ ...upload, PartNumber: 1, Body: 'in parts' });
    await s3.completeMultipartUpload({
      ...upload,
      ...CREATE_ONLY,
      MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] },
    });
  } catch (error) {
    await requireS3Permission('s3:AbortMultipartUpload', s3.abortMultipartUpload(upload));
    throw error;
  }
};

/**
 * Tries the operations that S3Blobs needs: write, read and delete. Also checks that the store does not overwrite an
 * existing object, neither in one request nor in parts. Not all stores with an S3 API do so.
 */
export const inspectBucket = async (s3: S3, location: BucketPrefix): Promise<void> => {
  // No blob has this key: segments of keys do not begin with a dot.
  const object = { Bucket: location.bucket, Key: prefixKey(location, `.inspections/${randomUUID()}`) };
  await requireS3Permission('s3:PutObject', s3.putObject({ ...object, ...CREATE_ONLY, Body: 'once' }));
  try {
    const { Body } = await requireS3Permission('s3:GetObject', s3.getObject(object));
    await Body?.transformToByteArray();
    await requireS3Permission(
      's3:PutObject',
      requireRefusal(s3.putObject({ ...object, ...CREATE_ONLY, Body: 'twice' })),
    );
    await requireS3Permission('s3:PutObject', requireRefusal(writeInParts(s3, object)));
  } finally {
    await requireS3Permission('s3:DeleteObject', s3.deleteObject(object));
  }
  await requireS3Permission('s3:ListBucket', requireAbsence(s3.getObject(object)));
};

const listUploads = async function* (s3: S3, location: BucketPrefix): AsyncGenerator<MultipartUpload> {
  let next = {};
  for (;;) {
    const request = { Bucket: location.bucket, Prefix: prefixKey(location, ''), ...next };
    const page = await requireS3Permission('s3:ListBucketMultipartUploads', s3.listMultipartUploads(request));
    yield* page.Uploads ?? [];
    if (!page.IsTruncated) return;
    next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
};

/**
 * Aborts uploads that were started more than a day ago. Processes that were killed leave such parts, which are
 * invisible and cost money.
 */
export const abortAbandoned = async (s3: S3, location: BucketPrefix, now: Date): Promise<void> => {
  for await (const { Key, UploadId, Initiated = now } of listUploads(s3, location)) {
    if (now.getTime() - Initiated.getTime() <= ABANDONED_AFTER) continue;
    const aborted = s3.abortMultipartUpload({ Bucket: location.bucket, Key, UploadId }).catch((error: unknown) => {
      // Another process was faster.
      if (!isWriteConflict(error)) throw error;
    });
    await requireS3Permission('s3:AbortMultipartUpload', aborted);
  }
};
