import { randomUUID } from 'node:crypto';
import { sql } from '#platform/kernel';
import { StartupError } from '#platform/host';
import { computeLockKey, type Database, type DatabaseSession } from '#platform/postgres';
import { allowDeletions, deferDeletions } from '../deferred-deletions.js';
import type { BackupArchive } from '../format/backup-archive.js';
import {
  backupManifest,
  backupOrigin,
  backupSnapshot,
  type BackupManifest,
  type BackupSnapshot,
} from '../format/backup-manifest.js';
import type { BackupControl } from '../progress.js';
import { preventRotation } from '../rotation-lock.js';
import { exportSnapshot, type BackedUpSite } from './backup-snapshot.js';
import { FileExport } from './export-files.js';
import { LogExport } from './export-log.js';

const BACKUP_LOCK = computeLockKey('cadastre backup');
const ORIGIN = 'origin';
const SNAPSHOT = 'snapshot';
const SNAPSHOTS = 'snapshots';
const MANIFEST = 'manifest';

export const readManifest = (archive: BackupArchive): Promise<BackupManifest | null> =>
  archive.readJson(MANIFEST, backupManifest);

/**
 * Backs up a site while it serves requests, or continues an interrupted backup. The backup's position is a snapshot of
 * the database: it contains every event that was committed before the snapshot, and no other.
 *
 * 1. Files are copied, without the database.
 * 2. Deletions of files are deferred. The snapshot is taken, and the files that are new since step 1 are copied. So the
 *    backup has every file that its position needs. A backup that is interrupted before takes another snapshot.
 * 3. The events of the snapshot are written. A backup that is interrupted here continues with the same snapshot.
 */
export const writeBackup = async (
  database: Database,
  site: BackedUpSite,
  archive: BackupArchive,
  control: BackupControl = {},
): Promise<BackupManifest> => {
  if (await readManifest(archive)) {
    throw new StartupError('the destination contains a finished backup; name a new or empty folder, or another prefix');
  }
  const session = await database.session();
  try {
    await acquireBackupLock(session);
    await requireSameKey(session, site, archive);
    const snapshot = (await findSnapshot(session, archive)) ?? (await writeSnapshot(session, site, archive, control));
    const log = await new LogExport(session, archive, snapshot, control, site.eventsInPart).run();
    const manifest: BackupManifest = { snapshot, log: [...log] };
    await archive.putJson(MANIFEST, manifest);
    return manifest;
  } finally {
    await session.close();
  }
};

const acquireBackupLock = async (session: DatabaseSession): Promise<void> => {
  const [attempt] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${BACKUP_LOCK}) as ok`);
  if (!attempt?.ok) throw new StartupError('another backup of this site is running; wait until it has ended');
};

/** Throws StartupError if the key was rotated since the backup began, because a restored site would need both keys. */
const requireSameKey = async (session: DatabaseSession, site: BackedUpSite, archive: BackupArchive): Promise<void> => {
  await preventRotation(session);
  const origin = await archive.readJson(ORIGIN, backupOrigin);
  if (origin === null) await archive.putJson(ORIGIN, { siteKey: site.key });
  else if (origin.siteKey !== site.key) {
    throw new StartupError(
      'the encryption key was rotated since this backup began; back up to another folder or prefix',
    );
  }
};

/** Returns the snapshot of an interrupted backup. */
const findSnapshot = async (session: DatabaseSession, archive: BackupArchive): Promise<BackupSnapshot | null> => {
  const snapshot = await archive.readJson(SNAPSHOT, backupSnapshot);
  if (!snapshot?.last) return snapshot;
  const { transaction, position, id } = snapshot.last;
  const [event] = await session.run<{ id: string }>(sql`
    select id from event_store.events
     where transaction = ${transaction}::xid8 and position = ${position}::bigint and id = ${id}::uuid`);
  if (event) return snapshot;
  throw new StartupError(
    'the destination contains an unfinished backup of another site; name another folder or prefix',
  );
};

const writeSnapshot = async (
  session: DatabaseSession,
  site: BackedUpSite,
  archive: BackupArchive,
  control: BackupControl,
): Promise<BackupSnapshot> => {
  await archive.deleteAll(SNAPSHOTS);
  const files = new FileExport(site.blobs, archive, control);
  await files.resume();
  await files.copyMissing();
  await deferDeletions(session);
  const folder = `${SNAPSHOTS}/${randomUUID()}`;
  const exported = await exportSnapshot(session, site, { archive, folder }, control);
  const snapshot = { ...exported, files: await files.copyAndList(folder) };
  // Rejects if the connection was lost, because files could then be deleted before they were copied. So this precedes
  // the snapshot, from which an interrupted backup continues.
  await allowDeletions(session);
  await archive.putJson(SNAPSHOT, snapshot);
  return snapshot;
};
