export { ArchiveLimits, readArchiveEntries, toArchiveError, UnusableArchiveError } from './archive-entries.js';
export {
  ArchiveBucket,
  ArchiveConflictError,
  ArchiveUnavailableError,
  computeArchiveDigest,
  type ArchiveObject,
} from './archive-bucket.js';
export {
  BlobExistsError,
  BlobStore,
  readBytes,
  type BlobContent,
  type ListedBlob,
  type StoredBlob,
} from './blob-store.js';
export { parseRangeHeader, type ByteRange } from './byte-range.js';
export { computeDigest, hashWhileReading } from './digest.js';
export { EncryptedBlobs } from './encrypted-blobs.js';
export { countFileKeys, reencryptFiles } from './file-keys.js';
export { createFileSweeper, type FileSweeperOptions } from './file-sweeper.follower.js';
export { FolderBlobs } from './folder-blobs.js';
export { checkContentLength, MIB, limitUpload } from './upload-limit.js';
export { S3Blobs } from './s3-blobs.js';
export type { S3Location } from './s3-client.js';
export { LINK_LIFETIME_MS, MAX_LINK_LIFETIME_MS, SignedLinks } from './signed-links.js';
