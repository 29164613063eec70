import {
  forEachConcurrently,
  formatPartName,
  type BackupArchive,
  type BackupControl,
  type BackupPart,
} from '#operations/backup';
import type { BlobStore } from '#storage/blob-store';
import type { OrganizationSnapshot } from '../format/organization-export.manifest.js';

const FILES_IN_PART = 5_000;

type CopiedFile = { readonly key: string; readonly size: number };

/** Copies the files with these keys that exist, and writes their list. Files that were copied before are kept. */
export const exportFiles = async (
  { archive, folder }: { readonly archive: BackupArchive; readonly folder: string },
  keys: readonly string[],
  access: (key: string) => BlobStore,
  control: BackupControl,
): Promise<OrganizationSnapshot['files']> => {
  const sizes = new Map<string, number>();
  for await (const { key, size } of archive.listFiles()) sizes.set(key, size);
  const files: CopiedFile[] = [];
  let done = 0;
  await forEachConcurrently(
    toAsync(keys),
    async (key) => {
      const size = sizes.get(key) ?? (await copyFile(archive, access(key), key));
      if (size !== null) files.push({ key, size });
      control.report?.('files', (done += 1), keys.length);
    },
    control,
  );
  const parts: BackupPart[] = [];
  for (let at = 0; at < files.length; at += FILES_IN_PART) {
    const lines = files.slice(at, at + FILES_IN_PART).map((file) => JSON.stringify(file));
    parts.push(await archive.putLines(formatPartName(`${folder}/files`, parts.length + 1), lines));
  }
  return { count: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0), parts };
};

/** Returns the size of the file; null if it does not exist. */
const copyFile = async (archive: BackupArchive, blobs: BlobStore, key: string): Promise<number | null> => {
  const file = await blobs.get(key);
  if (!file) return null;
  await archive.putFile(key, file.content as AsyncIterable<Uint8Array>);
  return file.size;
};

const toAsync = async function* <T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
};
