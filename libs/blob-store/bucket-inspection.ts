import { randomUUID } from 'node:crypto';
import type { MultipartUpload, S3 } from '@aws-sdk/client-s3';
import type { S3Location } from './s3-client.js';
import { isWriteConflict, isMissing, describeS3Error } from './s3-errors.js';

type BucketPrefix = Pick<S3Location, 'bucket' | 'prefix'>;
type S3Object = { readonly Bucket: string; readonly Key: string };

const ABANDONED_AFTER = 24 * 60 * 60 * 1000;
const CREATE_ONLY = { IfNoneMatch: '*' };

const prefixKey = ({ prefix }: BucketPrefix, name: string): string => (prefix === '' ? name : `${prefix}/${name}`);

/** Names the permission that is wanted: the operator's, who gave too few, or none. */
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
  throw new Error('the store does not keep to If-None-Match, so blobs could be overwritten');
};

/** Who may not list a bucket is forbidden to read what is not there, and cannot tell the two apart. */
const requireAbsence = async (reading: Promise<unknown>): Promise<void> => {
  try {
    await reading;
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  throw new Error('the store gives back what was deleted');
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
 * Tries what S3Blobs counts on: that we may write, read and delete; and that what is there is not overwritten, neither at
 * once nor in parts: not all stores that resemble S3 keep to that.
 */
export const inspectBucket = async (s3: S3, place: BucketPrefix): Promise<void> => {
  // No blob's key can name it: their segments do not begin with a dot.
  const object = { Bucket: place.bucket, Key: prefixKey(place, `.inspections/${randomUUID()}`) };
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

const listUploads = async function* (s3: S3, place: BucketPrefix): AsyncGenerator<MultipartUpload> {
  let next = {};
  for (;;) {
    const asked = { Bucket: place.bucket, Prefix: prefixKey(place, ''), ...next };
    const page = await requireS3Permission('s3:ListBucketMultipartUploads', s3.listMultipartUploads(asked));
    yield* page.Uploads ?? [];
    if (!page.IsTruncated) return;
    next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
};

/** Ends uploads that were begun more than a day ago: parts that killed processes have left are paid for, and not seen. */
export const abortAbandoned = async (s3: S3, place: BucketPrefix, now: Date): Promise<void> => {
  for await (const { Key, UploadId, Initiated = now } of listUploads(s3, place)) {
    if (now.getTime() - Initiated.getTime() <= ABANDONED_AFTER) continue;
    const aborted = s3.abortMultipartUpload({ Bucket: place.bucket, Key, UploadId }).catch((error: unknown) => {
      // Another process was faster.
      if (!isWriteConflict(error)) throw error;
    });
    await requireS3Permission('s3:AbortMultipartUpload', aborted);
  }
};
