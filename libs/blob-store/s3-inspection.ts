import { randomUUID } from 'node:crypto';
import type { MultipartUpload, S3 } from '@aws-sdk/client-s3';
import type { S3Place } from './s3-client.js';
import { isContested, isMissing, reasonOf } from './s3-errors.js';

type Place = Pick<S3Place, 'bucket' | 'prefix'>;
type S3Object = { readonly Bucket: string; readonly Key: string };

const ABANDONED_AFTER = 24 * 60 * 60 * 1000;
const ONCE = { IfNoneMatch: '*' };

const below = ({ prefix }: Place, name: string): string => (prefix === '' ? name : `${prefix}/${name}`);

/** Names the permission that is wanted: the operator's, who gave too few, or none. */
const may = async <T>(permission: string, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${permission}: ${reasonOf(error)}`);
  }
};

const demandRefusal = async (writing: Promise<unknown>): Promise<void> => {
  try {
    await writing;
  } catch (error) {
    if (isContested(error)) return;
    throw error;
  }
  throw new Error('the store does not keep to If-None-Match, so blobs could be overwritten');
};

/** Who may not list a bucket is forbidden to read what is not there, and cannot tell the two apart. */
const demandAbsence = async (reading: Promise<unknown>): Promise<void> => {
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
    await s3.completeMultipartUpload({ ...upload, ...ONCE, MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] } });
  } catch (error) {
    await may('s3:AbortMultipartUpload', s3.abortMultipartUpload(upload));
    throw error;
  }
};

/**
 * Tries what S3Blobs counts on: that we may write, read and delete; and that what is there is not overwritten, neither at
 * once nor in parts: not all stores that resemble S3 keep to that.
 */
export const inspectBucket = async (s3: S3, place: Place): Promise<void> => {
  // No blob's key can name it: their segments do not begin with a dot.
  const object = { Bucket: place.bucket, Key: below(place, `.inspections/${randomUUID()}`) };
  await may('s3:PutObject', s3.putObject({ ...object, ...ONCE, Body: 'once' }));
  try {
    const { Body } = await may('s3:GetObject', s3.getObject(object));
    await Body?.transformToByteArray();
    await may('s3:PutObject', demandRefusal(s3.putObject({ ...object, ...ONCE, Body: 'twice' })));
    await may('s3:PutObject', demandRefusal(writeInParts(s3, object)));
  } finally {
    await may('s3:DeleteObject', s3.deleteObject(object));
  }
  await may('s3:ListBucket', demandAbsence(s3.getObject(object)));
};

const uploadsBelow = async function* (s3: S3, place: Place): AsyncGenerator<MultipartUpload> {
  let next = {};
  for (;;) {
    const asked = { Bucket: place.bucket, Prefix: below(place, ''), ...next };
    const page = await may('s3:ListBucketMultipartUploads', s3.listMultipartUploads(asked));
    yield* page.Uploads ?? [];
    if (!page.IsTruncated) return;
    next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
};

/** Ends uploads that were begun more than a day ago: parts that killed processes have left are paid for, and not seen. */
export const abortAbandoned = async (s3: S3, place: Place, now: Date): Promise<void> => {
  for await (const { Key, UploadId, Initiated = now } of uploadsBelow(s3, place)) {
    if (now.getTime() - Initiated.getTime() <= ABANDONED_AFTER) continue;
    const aborted = s3.abortMultipartUpload({ Bucket: place.bucket, Key, UploadId }).catch((error: unknown) => {
      // Another process was faster.
      if (!isContested(error)) throw error;
    });
    await may('s3:AbortMultipartUpload', aborted);
  }
};
