import { sql } from '#platform/kernel';
import { BlobStore, type BlobContent, type ByteRange, type ListedBlob, type StoredBlob } from '#storage/blob-store';
import { computeLockKey, type Database, type DatabaseSession, type ScheduledJob } from '#platform/postgres';

/** A backup holds this lock exclusively while it copies the files that its position needs. */
const FILES_LOCK = computeLockKey('cadastre backup of files');

/** From now on, DeferringBlobs of all processes defer deletions, until the session unlocks or ends. */
export const deferDeletions = async (session: DatabaseSession): Promise<void> => {
  await session.run(sql`select pg_advisory_lock(${FILES_LOCK})`);
};

export const allowDeletions = async (session: DatabaseSession): Promise<void> => {
  await session.run(sql`select pg_advisory_unlock(${FILES_LOCK})`);
};

/**
 * Deletes blobs of another store, but not while a backup copies files: an event that precedes the backup's position may
 * need them. Deletions are then recorded, and the job below executes them. Everything else passes through.
 *
 * A deletion that begins before the backup takes the lock concerns a file that no event needs at the backup's position.
 */
export class DeferringBlobs extends BlobStore {
  constructor(
    private readonly inner: BlobStore,
    private readonly database: Database,
  ) {
    super();
  }

  override put(key: string, content: BlobContent): Promise<void> {
    return this.inner.put(key, content);
  }

  override get(key: string, range?: ByteRange): Promise<StoredBlob | null> {
    return this.inner.get(key, range);
  }

  override head(key: string): Promise<{ readonly size: number } | null> {
    return this.inner.head(key);
  }

  override async delete(key: string): Promise<void> {
    const [deferred = []] = await this.database.transaction([
      sql`insert into backup.deferred_deletions (key)
          select ${key} where not pg_try_advisory_xact_lock_shared(${FILES_LOCK})
          on conflict (key) do update set key = excluded.key
          returning key`,
    ]);
    if (deferred.length === 0) await this.inner.delete(key);
  }

  override list(segments?: string): AsyncGenerator<ListedBlob> {
    return this.inner.list(segments);
  }

  override replace(key: string, content: BlobContent): Promise<boolean> {
    return this.inner.replace(key, content);
  }

  override inspect(): Promise<void> {
    return this.inner.inspect();
  }
}

const EVERY_MS = 60_000;
const PAGE = 500;

/** Deletes the files whose deletion was deferred, when no backup copies files. */
export const createDeferredDeletionsJob = (database: Database, blobs: BlobStore): ScheduledJob => ({
  name: 'deferred_file_deletions',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    while (!signal.aborted) {
      const rows = await database.rows<{ key: string }>(sql`
        select key from backup.deferred_deletions
         where pg_try_advisory_xact_lock_shared(${FILES_LOCK}) order by key limit ${PAGE}`);
      if (rows.length === 0) return;
      const keys = rows.map(({ key }) => key);
      for (const key of keys) await blobs.delete(key);
      await database.transaction([sql`delete from backup.deferred_deletions where key = any (${keys}::text[])`]);
      done(keys.length);
    }
  },
});
