import { EncryptedBlobs, type BlobStore } from '#storage/blob-store';
import type { EncryptionKeys } from '#platform/encryption';

/** The file store of a site. `encryptedFiles` are the first segments of the keys of files that the site encrypts. */
export type SiteFileStore = {
  readonly blobs: BlobStore;
  readonly encryptionKeys: EncryptionKeys;
  readonly encryptedFiles: readonly string[];
};

/** Returns a function that selects the store for a key, so that readers and writers see the content of files. */
export const createFileAccess = ({
  blobs,
  encryptionKeys,
  encryptedFiles,
}: SiteFileStore): ((key: string) => BlobStore) => {
  const encrypted = new EncryptedBlobs(blobs, encryptionKeys);
  return (key) => (encryptedFiles.includes(key.split('/')[0] ?? '') ? encrypted : blobs);
};
