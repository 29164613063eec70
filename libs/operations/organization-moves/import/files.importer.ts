import { z } from 'zod';
import { forEachConcurrently, type BackupArchive, type BackupControl } from '#operations/backup';
import type { BlobStore } from '#storage/blob-store';
import { StartupError } from '#platform/host';
import type { OrganizationSnapshot } from '../format/organization-export.manifest.js';
import { refuseExport } from '../inspection/export.inspector.js';

const listedFile = z.object({ key: z.string(), size: z.number().int() });

const readList = async function* (archive: BackupArchive, { parts }: OrganizationSnapshot['files']) {
  for (const part of parts) for (const line of await archive.readLines(part)) yield listedFile.parse(JSON.parse(line));
};

/** Throws StartupError unless each file has one of these keys, which files of the organization can have. */
export const requireFileKeys = async (
  archive: BackupArchive,
  files: OrganizationSnapshot['files'],
  allowed: ReadonlySet<string>,
): Promise<void> => {
  for await (const { key } of readList(archive, files))
    if (!allowed.has(key)) throw refuseExport(`its file ${JSON.stringify(key)} belongs to nothing in the export`);
};

/** Copies the files of an export to the file store. Files that an interrupted import has copied are kept. */
export const importFiles = async (
  archive: BackupArchive,
  files: OrganizationSnapshot['files'],
  access: (key: string) => BlobStore,
  control: BackupControl,
): Promise<void> => {
  let done = 0;
  await forEachConcurrently(
    readList(archive, files),
    async ({ key, size }) => {
      const blobs = access(key);
      const stored = await blobs.head(key);
      if (stored && stored.size !== size)
        throw new StartupError(`the file store contains another file named ${key}; remove it if no other site uses it`);
      if (!stored) await blobs.put(key, await archive.readFile(key));
      control.report?.('files', (done += 1), files.count);
    },
    control,
  );
};
