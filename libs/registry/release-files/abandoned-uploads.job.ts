import type { BlobStore } from '#blob-store';
import type { Clock } from '#kernel';
import type { ScheduledJob, Database } from '#postgres';
import { listAbandonedFiles, removeAbandonedFile } from './release-files.queries.js';
import { ReleaseFiles } from './release.files.js';

/** Nothing that was begun so long ago is still going on: no upload takes longer than a day (release-files.handler.ts). */
const ABANDONED_AFTER_MS = 48 * 60 * 60 * 1000;
const AT_ONCE = 100;
const EVERY_MS = 60 * 60 * 1000;

/**
 * Removes files that were stored without the log being told: the process was killed in between, or the file was no longer
 * wanted by then. Each was noted before it was stored, and its note goes with the event that tells of it.
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
          const ids = await listAbandonedFiles(database, before, AT_ONCE);
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
