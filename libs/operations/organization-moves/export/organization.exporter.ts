import { randomUUID } from 'node:crypto';
import { hasSameName, sql, type Clock } from '#platform/kernel';
import { selectNewestCheckpoint } from '#activity/audit-trail-log';
import { hasOrganizationName } from '#api/access';
import {
  allowDeletions,
  deferDeletions,
  readMigrationNames,
  type BackupArchive,
  type BackupControl,
} from '#operations/backup';
import type { EventStore, ModuleDefinition } from '#storage/event-store';
import { StartupError } from '#platform/host';
import { computeLockKey, type DatabaseSession } from '#platform/postgres';
import {
  MANIFEST,
  organizationSnapshot,
  readOrganizationManifest,
  SNAPSHOT,
  type OrganizationManifest,
  type OrganizationSnapshot,
} from '../format/organization-export.manifest.js';
import { createFileAccess, type SiteFileStore } from '../format/site.files.js';
import { EventsExport } from './events.exporter.js';
import { exportFiles } from './files.exporter.js';
import { exportMovedTable, listMovedTables } from './secrets.exporter.js';

/** The site that has the organization. */
export type ExportingSite = SiteFileStore & {
  readonly store: EventStore;
  readonly definitions: readonly ModuleDefinition[];
  readonly publicUrl: string;
  readonly clock: Clock;
  /** Of Cadastre. */
  readonly version: string;
  readonly eventsInPart?: number;
};

const EXPORT_LOCK = computeLockKey('cadastre organization export');
const SNAPSHOTS = 'snapshots';

/**
 * Exports an organization while the site serves requests, or continues an interrupted export. As in a backup, deletions of
 * files are deferred while files are copied, and one snapshot of the database determines the events.
 */
export const exportOrganization = async (
  site: ExportingSite,
  name: string,
  archive: BackupArchive,
  control: BackupControl = {},
): Promise<OrganizationManifest> => {
  if (await readOrganizationManifest(archive)) {
    throw new StartupError('the destination contains a finished export; name a new or empty folder, or another prefix');
  }
  const session = await site.store.database.session();
  try {
    await acquireExportLock(session);
    const snapshot =
      (await findSnapshot(session, name, archive)) ?? (await writeSnapshot(session, site, name, archive, control));
    const log = new EventsExport(site.store, session, archive, snapshot, control, site.eventsInPart);
    const events = await log.run();
    const manifest: OrganizationManifest = {
      snapshot,
      events: [...events],
      people: await log.people.describe(session),
    };
    await archive.putJson(MANIFEST, manifest);
    return manifest;
  } finally {
    await session.close();
  }
};

const acquireExportLock = async (session: DatabaseSession): Promise<void> => {
  const [attempt] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${EXPORT_LOCK}) as ok`);
  if (!attempt?.ok) throw new StartupError('another export of this site is running; wait until it has ended');
};

/** Returns the snapshot of an interrupted export. */
const findSnapshot = async (
  session: DatabaseSession,
  name: string,
  archive: BackupArchive,
): Promise<OrganizationSnapshot | null> => {
  const snapshot = await archive.readJson(SNAPSHOT, organizationSnapshot);
  if (!snapshot) return null;
  const { transaction, position, id } = snapshot.last;
  const [event] = await session.run<{ id: string }>(sql`
    select id from event_store.events
     where transaction = ${transaction}::xid8 and position = ${position}::bigint and id = ${id}::uuid`);
  if (event && hasSameName(snapshot.organization.name, name)) return snapshot;
  throw new StartupError(
    'the destination contains an unfinished export of another organization or site; name another folder or prefix',
  );
};

const writeSnapshot = async (
  session: DatabaseSession,
  site: ExportingSite,
  name: string,
  archive: BackupArchive,
  control: BackupControl,
): Promise<OrganizationSnapshot> => {
  await archive.deleteAll(SNAPSHOTS);
  await deferDeletions(session);
  const target = { archive, folder: `${SNAPSHOTS}/${randomUUID()}` };
  const { keys, ...exported } = await exportSnapshot(session, site, name, target);
  const files = await exportFiles(target, keys, createFileAccess(site), control);
  const snapshot = { ...exported, files };
  await archive.putJson(SNAPSHOT, snapshot);
  await allowDeletions(session);
  return snapshot;
};

type SnapshotTarget = { readonly archive: BackupArchive; readonly folder: string };

/** Reads everything in one snapshot of the database. The transaction reads only, so it delays no follower. */
const exportSnapshot = async (
  session: DatabaseSession,
  { definitions, encryptionKeys, publicUrl, clock, version }: ExportingSite,
  name: string,
  target: SnapshotTarget,
): Promise<Omit<OrganizationSnapshot, 'files'> & { readonly keys: readonly string[] }> => {
  await encryptionKeys.refresh();
  await session.run(sql`begin isolation level repeatable read read only`);
  try {
    const organization = await findOrganization(session, name);
    const log = await readLog(session, organization.id);
    const tables = [];
    for (const table of listMovedTables(definitions))
      tables.push(await exportMovedTable({ session, ...target }, table, organization.id, encryptionKeys));
    const migrations = [...(await readMigrationNames(session, definitions))];
    const keys = await listFileKeys(session, definitions, organization.id);
    const [checkpoint] = await session.run<{ size: number; note: string }>(selectNewestCheckpoint(organization.id));
    const site = { source: publicUrl, madeBy: version, takenAt: clock.now().toISOString() };
    return { organization, ...log, ...site, migrations, tables, trailCheckpoint: checkpoint?.note ?? null, keys };
  } finally {
    await session.run(sql`rollback`);
  }
};

const findOrganization = async (session: DatabaseSession, name: string): Promise<{ id: string; name: string }> => {
  const [organization] = await session.run<{ id: string; name: string }>(sql`
    select id, name from organizations where ${hasOrganizationName('organizations', name)}`);
  if (!organization) throw new StartupError(`there is no organization named ${name}`);
  return organization;
};

type OrganizationLog = Pick<OrganizationSnapshot, 'visible' | 'events' | 'last'>;
type LastOrganizationEvent = { readonly transaction: string; readonly position: number; readonly id: string };

const readLog = async (session: DatabaseSession, organization: string): Promise<OrganizationLog> => {
  const [state] = await session.run<{ visible: string; events: number }>(sql`
    select pg_current_snapshot()::text as visible, count(*) as events from event_store.events
     where organization = ${organization}`);
  const [last] = await session.run<LastOrganizationEvent>(sql`
    select e.transaction::text as transaction, e.position, e.id from event_store.events e
     where e.organization = ${organization} order by e.transaction desc, e.position desc limit 1`);
  if (!state || !last) throw new Error(`the log has no event of the organization ${organization}`);
  return { ...state, last };
};

const listFileKeys = async (
  session: DatabaseSession,
  definitions: readonly ModuleDefinition[],
  organization: string,
): Promise<readonly string[]> => {
  const keys: string[] = [];
  for (const { selectOrganizationFiles } of definitions) {
    if (!selectOrganizationFiles) continue;
    const rows = await session.run<{ key: string }>(selectOrganizationFiles(organization));
    keys.push(...rows.map(({ key }) => key));
  }
  return keys;
};
