import { DamagedBlobError, type EncryptedBlobs } from './encrypted-blobs.js';

/** Requests to the store at the same time. */
const CONCURRENCY = 8;

/** Runs the work for all blobs below these segments of their keys. */
const forEachBlob = async (
  blobs: EncryptedBlobs,
  segments: string,
  work: (key: string) => Promise<void>,
): Promise<void> => {
  const listed = blobs.list(segments);
  const takeTurns = async (): Promise<void> => {
    for (let next = await listed.next(); !next.done; next = await listed.next()) await work(next.value.key);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, takeTurns));
};

/** Numbers of files by their encryption key. */
type FileKeyCount = { current: number; previous: number; missing: number };

/**
 * Counts the files below these segments by their encryption key. Reads the beginning of each file. `onFile` is called after
 * each file.
 */
export const countFileKeys = async (
  blobs: EncryptedBlobs,
  { current, previous }: { readonly current: Buffer; readonly previous: Buffer | null },
  segments: string,
  onFile: () => void,
): Promise<FileKeyCount> => {
  const count: FileKeyCount = { current: 0, previous: 0, missing: 0 };
  await forEachBlob(blobs, segments, async (key) => {
    const encryptionKey = await blobs.findKey(key);
    if (encryptionKey === current) count.current += 1;
    else if (encryptionKey === null) count.missing += 1;
    else if (encryptionKey === previous) count.previous += 1;
    onFile();
  });
  return count;
};

type FileRotation = { readonly reencrypted: number; readonly damaged: readonly string[] };

/**
 * Encrypts the files below these segments with the key of new values, unless they have it already. `onFile` is called after
 * each file. Resolves to the keys of files that no configured key decrypts; they stay as they are.
 */
export const reencryptFiles = async (
  blobs: EncryptedBlobs,
  segments: string,
  onFile: () => void,
): Promise<FileRotation> => {
  const damaged: string[] = [];
  let reencrypted = 0;
  await forEachBlob(blobs, segments, async (key) => {
    try {
      if (await blobs.reencrypt(key)) reencrypted += 1;
    } catch (error) {
      if (!(error instanceof DamagedBlobError)) throw error;
      damaged.push(key);
    }
    onFile();
  });
  return { reencrypted, damaged };
};
