import { sql, type Clock } from '#platform/kernel';
import type { BlobStore } from '#storage/blob-store';
import { readStoredKeys, selectCheckpoints, type FollowerPosition, type ModuleDefinition } from '#storage/event-store';
import type { DatabaseSession } from '#platform/postgres';
import type { BackupArchive } from '../format/backup-archive.js';
import type { BackupSnapshot } from '../format/backup-manifest.js';
import { readMigrationNames } from '../migrations.queries.js';
import { listStoredTables } from '../stored-tables.js';
import type { BackupControl } from '../progress.js';
import { exportTable } from './export-tables.js';

/** The site that is backed up. */
export type BackedUpSite = {
  readonly blobs: BlobStore;
  readonly definitions: readonly ModuleDefinition[];
  /** The fingerprint of the encryption key, as hexadecimal digits. */
  readonly key: string;
  readonly clock: Clock;
  /** Of Cadastre. */
  readonly version: string;
  /** Events in a part of the log, apart from the rest of the last transaction. Default: 2,000. */
  readonly eventsInPart?: number;
};

type LogState = { readonly visible: string; readonly events: number };
type LastEvent = { transaction: string; position: number; id: string; time: string };

const readLog = async (session: DatabaseSession): Promise<Pick<BackupSnapshot, 'visible' | 'events' | 'last'>> => {
  const [state] = await session.run<LogState>(sql`
    select pg_current_snapshot()::text as visible, count(*) as events from event_store.events`);
  if (!state) throw new Error('the snapshot was not read');
  const [last] = await session.run<LastEvent>(sql`
    select e.transaction::text as transaction, e.position, e.id, e.time from event_store.events e
     order by e.transaction desc, e.position desc limit 1`);
  return { ...state, last: last ?? null };
};

/**
 * Reads, in one snapshot of the database, which events are visible, and writes the tables outside the log to the backup.
 * The transaction reads only, so it gets no id and delays no follower.
 */
export const exportSnapshot = async (
  session: DatabaseSession,
  { definitions, key, clock, version }: BackedUpSite,
  { archive, folder }: { readonly archive: BackupArchive; readonly folder: string },
  control: BackupControl,
): Promise<Omit<BackupSnapshot, 'files'>> => {
  await session.run(sql`begin isolation level repeatable read read only`);
  try {
    const log = await readLog(session);
    const takenAt = clock.now().toISOString();
    const followers = await session.run<FollowerPosition>(selectCheckpoints());
    const migrations = await readMigrationNames(session, definitions);
    const names = listStoredTables(definitions);
    const tables = [];
    for (const [n, table] of names.entries()) {
      control.report?.('tables', n, names.length);
      tables.push(await exportTable({ session, archive, folder }, table, control));
    }
    const { macKey } = await readStoredKeys(session);
    const keys = { siteKey: key, macKey: macKey && macKey.toString('base64') };
    return { ...log, ...keys, madeBy: version, takenAt, followers, migrations: [...migrations], tables };
  } finally {
    await session.run(sql`rollback`);
  }
};
