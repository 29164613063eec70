import { resolve } from 'node:path';

/** Where a backup is: a folder, or objects of a bucket whose keys begin with the prefix and a slash. */
export type BackupLocation =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string };

const S3 = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9])(?:\/(.*?))?\/?$/;
const PREFIX = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)?$/;

/** Matches `https://x`, and addresses with a typing error such as `s3:/x`, which would otherwise be names of folders. */
const ADDRESS = /^(?:[a-z0-9+.-]+:\/|s3:)/i;

/** Parses `DIR` or `s3://bucket/prefix`. Returns null for another scheme, or an invalid name of a bucket or prefix. */
export const parseBackupLocation = (text: string): BackupLocation | null => {
  const [, bucket, prefix = ''] = S3.exec(text) ?? [];
  if (bucket !== undefined) return PREFIX.test(prefix) ? { kind: 's3', bucket, prefix } : null;
  return text === '' || ADDRESS.test(text) ? null : { kind: 'folder', folder: resolve(text) };
};
