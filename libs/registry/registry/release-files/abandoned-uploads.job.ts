import type { BlobStore } from '#storage/blob-store';
import type { Clock } from '#platform/kernel';
import type { ScheduledJob, Database } from '#platform/postgres';
import { listAbandonedFiles, removeAbandonedFile } from './release-files.queries.js';
import { ReleaseFiles } from './release.files.js';

/** No upload that began so long ago can still be running: an upload takes at most a day (release-file.receiver.ts). */
const ABANDONED_AFTER_MS = 48 * 60 * 60 * 1000;
const PAGE_SIZE = 100;
const EVERY_MS = 60 * 60 * 1000;

/**
 * Removes files that were stored without an event: the process was killed in between, or the file was refused in the
 * end. A note is recorded before each file is stored and deleted in the transaction of the event.
 */
export const createAbandonedUploadsJob = (database: Database, blobs: BlobStore, clock: Clock): ScheduledJob => {
  const files = new ReleaseFiles(blobs);
  return {
    name: 'abandoned_uploads',
    everyMs: EVERY_MS,
    run: async ({ signal, done }) => {
      const before = new Date(clock.now().getTime() - ABANDONED_AFTER_MS);
      const session = await database.session();
      try {
        while (!signal.aborted) {
          const ids = await listAbandonedFiles(database, before, PAGE_SIZE);
          if (ids.length === 0) return;
          for (const id of ids) {
            await removeAbandonedFile(session, { id, before, remove: () => files.remove(id) });
            done();
          }
        }
      } finally {
        await session.close();
      }
    },
  };
};
