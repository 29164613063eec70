import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtemp } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { computeKeyFingerprint, EncryptionKeys } from '#platform/encryption';
import { sql } from '#platform/kernel';
import {
  checkBackup,
  createArchive,
  createDeferredDeletionsJob,
  DeferringBlobs,
  findCutIn,
  findUnfinishedRestore,
  listStoredTables,
  openArchive,
  readManifest,
  restoreBackup,
  writeBackup,
  type BackupArchive,
  type BackupControl,
  type BackupManifest,
  type RestoreTarget,
} from '#operations/backup';
import { FolderBlobs, S3Blobs, type BlobStore } from '#storage/blob-store';
import { isAheadOfCluster, listViews } from '#storage/event-store';
import { createLogger, RandomIds, SystemClock } from '#platform/host';
import { readSettings } from '#platform/settings';
import { computeLockKey, type Database } from '#platform/postgres';
import { createRuntime, migrateDatabase, type Runtime } from '../../apps/runtime.js';
import { createFollowers, moduleDefinitions } from '../../apps/modules.js';
import { createS3Location, listFiles } from '../../libs/storage/blob-store/spec.js';
import { freshDatabase } from '../support/database.js';
import { waitForFollowers } from '../support/event-log.js';
import { startOtlpReceiver, startTestTracing } from '../support/otlp-receiver.js';
import { startS3 } from '../support/s3/index.js';
import { expectStatus, makeMember, makeOrganization, makeWorkspace, resource } from '../support/seeds.js';
import { repeatInterrupted } from '../support/interruptions.js';
import { startAnotherGateway, startTestServer, type TestServer } from '../support/server.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';

const KEY = randomBytes(32);
/** The key that `startTestServer` uses. */
const SITE_KEY = Buffer.alloc(32, 7);
const clock = new SystemClock();
const state = stateFile();

let server: TestServer;
let root: string;
let token: string;
let workspace: string;
let stateVersion: string;
const sites: Site[] = [];

/** Creates a workspace with a sensitive variable and a state. */
const fillWorkspace = async (): Promise<void> => {
  workspace = await makeWorkspace(server, 'acme', 'app');
  const secret = { key: 'password', value: 'hunter2', category: 'env', sensitive: true };
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/vars`, resource('vars', secret)), 201);
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`, {}), 200);
  const body = newStateVersion(state, { inline: true });
  const created = await server.post(`/api/v2/workspaces/${workspace}/state-versions`, body);
  stateVersion = expectStatus(created, 201).body.data.id;
};

/** Sets the column that only events of a recorded trace have, so that comparisons cover it. */
const recordTrace = async (): Promise<void> => {
  await server.database.transaction([
    sql`alter table event_store.events disable trigger inserts_only`,
    sql`update event_store.events set traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
         where position % 2 = 0`,
    sql`alter table event_store.events enable trigger inserts_only`,
  ]);
};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'cadastre-backups-'));
  const collector = await startOtlpReceiver();
  const tracing = await startTestTracing(collector);
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
  // The first events have the trace of their request, and the others have none.
  await tracing.stop();
  await collector.close();
  token = (await makeMember(server, 'acme', 'ada')).token;
  await fillWorkspace();
  // Concurrent transactions, so that positions are in another order than transactions.
  await Promise.all(Array.from({ length: 40 }, (_, n) => makeWorkspace(server, 'acme', `w${n}`)));
  const { id } = await makeMember(server, 'acme', 'zerlinda');
  expectStatus(await server.delete(`/api/v2/admin/users/${id}`), 204);
  for (const follower of ['audit_trail', 'workspace_history', ...FOLLOWERS])
    await waitForFollowers(server.store, follower);
  await server.uses.flush();
  await recordTrace();
});

afterEach(async () => {
  for (const site of sites.splice(0)) await site.close();
});

afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});

type Site = { readonly runtime: Runtime; close(): Promise<void> };

/** Opens an empty site, with the key of the server. */
const openEmptySite = async (): Promise<Runtime> => {
  const database = await freshDatabase();
  const folder = await mkdtemp(join(root, 'site-'));
  const settings = readSettings({
    CADASTRE_TLS: 'off',
    CADASTRE_DATA: folder,
    DATABASE_URL: database.url,
    CADASTRE_ENCRYPTION_KEY: SITE_KEY.toString('base64'),
    LOG_LEVEL: 'fatal',
  });
  const resources = {
    databaseUrl: database.url,
    encryptionKeys: new EncryptionKeys(SITE_KEY),
    close: () => Promise.resolve(),
  };
  const logger = createLogger(settings.logLevel);
  const runtime = createRuntime(resources, { settings, logger, name: 'restored', clock, ids: new RandomIds() });
  const close = async (): Promise<void> => {
    await runtime.close();
    await database.drop();
  };
  sites.push({ runtime, close });
  return runtime;
};

const newFolder = async (): Promise<BlobStore> => new FolderBlobs(await mkdtemp(join(root, 'backup-')), clock);

const backUp = async (
  target: BlobStore,
  control: BackupControl = {},
  eventsInPart = 10,
  siteKey = SITE_KEY,
  { blobs } = { blobs: server.runtime.blobs },
) => {
  const archive = await createArchive(target, KEY);
  const site = {
    blobs,
    definitions: moduleDefinitions,
    key: computeKeyFingerprint(siteKey).toString('hex'),
    clock,
    version: '1.2.3',
    eventsInPart,
  };
  const manifest = await writeBackup(server.database, site, archive, control);
  return { archive, manifest };
};

type Backup = { readonly archive: BackupArchive; readonly manifest: BackupManifest };

const FOLLOWERS = [
  'run_queue',
  'assessments',
  'triggered_runs',
  'changed_runs',
  'scim_teams',
  'notifications',
  'account_notices',
  'state_sweeper',
  'configuration_sweeper',
  'run_file_sweeper',
  'module_sweeper',
  'release_sweeper',
];

const restoreInto = async (
  { store, blobs }: Runtime,
  backup: Backup,
  control: BackupControl = {},
  target: RestoreTarget = { to: 'end' },
): Promise<number> => {
  const cut = await findCutIn(backup.archive, backup.manifest, target);
  if (!cut) throw new Error('no such position');
  const site = { store, blobs, definitions: moduleDefinitions, followers: FOLLOWERS, clock };
  return restoreBackup(site, { ...backup, cut }, control);
};

const readTable = async ({ store }: Pick<Runtime, 'store'>, table: string): Promise<readonly unknown[]> =>
  (
    await store.database.rows<{ row: unknown }>(
      sql.raw(
        `select to_jsonb(t) - '{transaction,updated_at}'::text[] as row from ${table} t order by to_jsonb(t)::text`,
      ),
    )
  ).map(({ row }) => row);

type LogEvent = { readonly position: number; readonly time: string; readonly traceparent: string | null };

/** Returns the events with all their columns in the order of the log, without the ids of their transactions. */
const readEvents = async ({ store }: Pick<Runtime, 'store'>): Promise<readonly LogEvent[]> =>
  (
    await store.database.rows<{ event: unknown }>(sql`
      select to_jsonb(e) - 'transaction' as event from event_store.events e order by e.transaction, e.position`)
  ).map(({ event }) => event as LogEvent);

const expectSameSite = async (restored: Runtime): Promise<void> => {
  for (const table of listStoredTables(moduleDefinitions))
    expect([table, await readTable(restored, table)]).toEqual([table, await readTable(server.runtime, table)]);
  expect(await readEvents(restored)).toEqual(await readEvents(server.runtime));
  expect(await readTable(restored, 'organizations.reserved_names')).toEqual(
    await readTable(server.runtime, 'organizations.reserved_names'),
  );
  await expectViewsMatchLog({ store: restored.store, runtime: restored }, moduleDefinitions);
  expect(await isAheadOfCluster(restored.store.database)).toBe(false);
};

describe('a restored backup', () => {
  let restored: Runtime;
  let backup: Backup;
  let site: Site | undefined;

  beforeAll(async () => {
    backup = await backUp(await newFolder());
    restored = await openEmptySite();
    // Stays open for all tests of this block.
    site = sites.pop();
    await restoreInto(restored, backup);
  });

  afterAll(() => site?.close());

  it('has every event, secret, token, file and checkpoint of the site', async () => {
    expect(backup.manifest.log.length).toBeGreaterThan(3);
    await expectSameSite(restored);
    const traced = (await readEvents(restored)).filter(({ traceparent }) => traceparent !== null);
    expect(traced.length).toBeGreaterThan(0);
    const positions = sql`select follower, position from event_store.checkpoints order by follower`;
    expect(await restored.store.database.rows(positions)).toEqual(
      (await server.database.rows<{ follower: string }>(positions)).map((row) => ({
        ...row,
        ...(FOLLOWERS.includes(row.follower) ? {} : { position: backup.manifest.snapshot.last?.position }),
      })),
    );
    expect(await findUnfinishedRestore(restored.store.database)).toBeNull();
  });

  it('does not contain the name of a person who was forgotten', async () => {
    for (const table of [...listViews(moduleDefinitions).flatMap(({ tables }) => tables), 'event_store.events'])
      expect([table, JSON.stringify(await readTable(restored, table)).includes('zerlinda')]).toEqual([table, false]);
  });

  it('serves requests with the tokens of the site, and appends after the last event', async () => {
    const gateway = await startAnotherGateway({ ...server, runtime: restored });
    try {
      expectStatus(await gateway.as(token).get('/api/v2/account/details'), 200);
      const download = await gateway.get(`/api/v2/state-versions/${stateVersion}/download`);
      expect(download.text).toBe(String(state.bytes));
      expectStatus(await gateway.post(`/api/v2/workspaces/${workspace}/actions/unlock`, {}), 200);
      await expectViewsMatchLog({ store: restored.store, runtime: restored }, moduleDefinitions);
    } finally {
      await gateway.close();
    }
  });

  it('is not readable without its key', async () => {
    const folder = await mkdtemp(join(root, 'backup-'));
    await backUp(new FolderBlobs(folder, clock));
    for (const file of await listFiles(folder))
      expect(/hunter2|acme|workspace/.exec(await readFile(file, 'latin1'))).toBeNull();
    await expect(openArchive(new FolderBlobs(folder, clock), SITE_KEY)).rejects.toThrow(/not the key of the backup/);
  });
});

describe('a restore of a part of the log', () => {
  it('ends with the event at the position, and continues numbers after the complete log', async () => {
    const backup = await backUp(await newFolder());
    const events = await readEvents(server.runtime);
    const { position } = events[Math.floor(events.length / 2)] as { position: number };
    const restored = await openEmptySite();
    const count = await restoreInto(restored, backup, {}, { to: 'position', position });
    expect(count).toBeLessThan(events.length);
    expect(await readEvents(restored)).toEqual(events.slice(0, count));
    expect(events.slice(0, count).map((event) => event.position)).toContain(position);
    await expectViewsMatchLog({ store: restored.store, runtime: restored }, moduleDefinitions);
  });

  it('has no event after the time', async () => {
    const backup = await backUp(await newFolder());
    const events = await readEvents(server.runtime);
    const ms = Date.parse((events[30] as { time: string }).time);
    const restored = await openEmptySite();
    const count = await restoreInto(restored, backup, {}, { to: 'time', ms });
    expect(count).toBeGreaterThan(0);
    expect((await readEvents(restored)).every(({ time }) => Date.parse(time) <= ms)).toBe(true);
  });
});

/** Ends the connection that has the lock of a backup. */
const endBackupSession = async (): Promise<void> => {
  const key = computeLockKey('cadastre backup');
  const [ended] = await server.database.rows<{ ended: boolean }>(sql`
    select pg_terminate_backend(pid, 5000) as ended from pg_locks
     where locktype = 'advisory' and granted and (classid::bigint << 32 | objid::bigint) = ${key}::bigint
       and database = (select oid from pg_database where datname = current_database())`);
  expect(ended).toEqual({ ended: true });
};

describe('an interrupted', () => {
  it('backup continues when it is run again', async () => {
    const target = await newFolder();
    const backup = await repeatInterrupted((control) => backUp(target, control), 3);
    const events = await readEvents(server.runtime);
    expect(backup.manifest.snapshot.events).toBe(events.length);
    await checkBackup(backup.archive, backup.manifest);
  });

  it('restore continues when it is run again, and no process starts before its end', async () => {
    const backup = await backUp(await newFolder());
    const restored = await openEmptySite();
    const messages = new Set<string>();
    await repeatInterrupted(async (control) => {
      const count = await restoreInto(restored, backup, control).catch(async (error: unknown) => {
        await migrateDatabase(restored, { retries: 0 }).catch((refusal: Error) => messages.add(refusal.message));
        throw error;
      });
      return count;
    }, 17);
    await expectSameSite(restored);
    expect([...messages]).toEqual([expect.stringMatching(/^the database contains an unfinished restore; /)]);
    await migrateDatabase(restored, { retries: 0 });
  });

  it('backup takes another snapshot if its connection was lost before all files were copied', async () => {
    const target = await newFolder();
    const { blobs } = server.runtime;
    let lists = 0;
    const list = async function* () {
      if ((lists += 1) === 2) await endBackupSession();
      yield* blobs.list();
    };
    const losing = Object.create(blobs, { list: { value: list } }) as BlobStore;
    await expect(backUp(target, {}, 10, SITE_KEY, { blobs: losing })).rejects.toThrow(/connection/i);
    expect(lists).toBe(2);
    const archive = await openArchive(target, KEY);
    expect(await archive.readJson('snapshot', z.unknown())).toBeNull();
    const backup = await backUp(target);
    await checkBackup(backup.archive, backup.manifest);
  });

  it('backup is refused as a source, and a finished one as a destination', async () => {
    const target = await newFolder();
    await expect(backUp(target, { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow('stopped');
    expect(await readManifest(await openArchive(target, KEY))).toBeNull();
    await backUp(target);
    await expect(backUp(target)).rejects.toThrow(/^the destination contains a finished backup; /);
  });
});

describe('a restore', () => {
  it('is refused by a database with a site, and by one with an unfinished restore of another position', async () => {
    const backup = await backUp(await newFolder());
    await expect(restoreInto(server.runtime, backup)).rejects.toThrow(/^the database already contains a site; /);
    const restored = await openEmptySite();
    const stopped = { signal: AbortSignal.abort(new Error('stopped')) };
    await expect(restoreInto(restored, backup, stopped)).rejects.toThrow('stopped');
    const { position } = (await readEvents(server.runtime))[5] as { position: number };
    await expect(restoreInto(restored, backup, {}, { to: 'position', position })).rejects.toThrow(
      /^the database contains an unfinished restore of another backup, or of another position; /,
    );
  });

  it('is refused if a later version made the backup', async () => {
    const { archive, manifest } = await backUp(await newFolder());
    const migrations = [...manifest.snapshot.migrations, 'vault/999_later'];
    const later = { archive, manifest: { ...manifest, snapshot: { ...manifest.snapshot, migrations } } };
    await expect(restoreInto(await openEmptySite(), later)).rejects.toThrow(
      'Cadastre 1.2.3 made this backup, and this version lacks its migration vault/999_later; ',
    );
  });

  it('is refused if the file store contains another file of the same name', async () => {
    const backup = await backUp(await newFolder());
    const restored = await openEmptySite();
    for await (const { key } of server.runtime.blobs.list()) await restored.blobs.put(key, Buffer.from('other'));
    await expect(restoreInto(restored, backup)).rejects.toThrow(/^the file store contains another file named /);
  });
});

describe('a check', () => {
  it('succeeds for a complete backup, and names a file that was changed', async () => {
    const folder = await mkdtemp(join(root, 'backup-'));
    const { archive, manifest } = await backUp(new FolderBlobs(folder, clock));
    const phases = new Set<string>();
    await checkBackup(archive, manifest, { report: (phase) => void phases.add(phase) });
    expect([...phases]).toEqual(['parts checked', 'files checked']);
    const [file = ''] = await listFiles(join(folder, 'files'));
    await rm(file);
    await expect(checkBackup(archive, manifest)).rejects.toThrow(/^the backup is damaged: the file .* is missing/);
  });
});

describe('a deletion of a file while a backup copies files', () => {
  it('waits until the backup has the file', async () => {
    const { runtime, database } = server;
    const blobs = new DeferringBlobs(runtime.blobs, database);
    const job = createDeferredDeletionsJob(database, runtime.blobs);
    await blobs.put('states/doomed', Buffer.from('x'));
    const runJob = () => job.run({ signal: new AbortController().signal, done: () => undefined });
    const deletions: Promise<void>[] = [];
    const { archive } = await backUp(await newFolder(), {
      report: (phase) => {
        if (phase === 'tables' && deletions.length === 0) deletions.push(blobs.delete('states/doomed').then(runJob));
      },
    });
    await Promise.all(deletions);
    expect(deletions).toHaveLength(1);
    expect(await blobs.head('states/doomed')).toEqual({ size: 1 });
    await archive.readFile('states/doomed');
    await runJob();
    expect(await blobs.head('states/doomed')).toBeNull();
    await blobs.put('states/doomed', Buffer.from('x'));
    await blobs.delete('states/doomed');
    expect(await blobs.get('states/doomed')).toBeNull();
  });
});

describe('a backup of a site whose key was rotated', () => {
  const recordKeys = (database: Database, previous: Buffer | null, macKey: Buffer | null) =>
    database.transaction([
      sql`delete from event_store.encryption_key`,
      sql`insert into event_store.encryption_key (fingerprint, previous, mac_key)
          values (${computeKeyFingerprint(SITE_KEY)}, ${previous}, ${macKey})`,
    ]);

  const interrupt = (): BackupControl => ({ signal: AbortSignal.abort(new Error('interrupted')) });

  afterEach(async () => {
    await server.database.transaction([sql`delete from event_store.encryption_key`]);
  });

  it('restores the key of the MACs in the log', async () => {
    const macKey = randomBytes(60);
    await recordKeys(server.database, null, macKey);
    const restored = await openEmptySite();
    await recordKeys(restored.store.database, null, null);
    await restoreInto(restored, await backUp(await newFolder()));
    const row = await restored.store.database.row<{ key: Buffer }>(sql`
      select mac_key as key from event_store.encryption_key`);
    expect(row?.key.equals(macKey)).toBe(true);
  });

  it('is refused until the rotation has ended', async () => {
    await recordKeys(server.database, randomBytes(32), null);
    await expect(backUp(await newFolder())).rejects.toThrow(/^keys rotate has not ended; /);
  });

  it('does not continue a backup that began with another key', async () => {
    const target = await newFolder();
    await expect(backUp(target, interrupt())).rejects.toThrow('interrupted');
    await expect(backUp(target, {}, 10, randomBytes(32))).rejects.toThrow(
      'the encryption key was rotated since this backup began; back up to another folder or prefix',
    );
    await backUp(target);
  });
});

describe('a backup in a bucket', () => {
  it('has the same content as one in a folder', async () => {
    const s3 = await startS3();
    try {
      Object.assign(process.env, s3.credentials);
      const target = new S3Blobs(createS3Location(s3), clock);
      const backup = await repeatInterrupted((control) => backUp(target, control), 20);
      const restored = await openEmptySite();
      await restoreInto(restored, backup);
      await expectSameSite(restored);
    } finally {
      await s3.stop();
    }
  });
});

describe('every table', () => {
  it('is a part of the log, a view, or has a rule for backups', async () => {
    const rows = await server.database.rows<{ name: string }>(sql`
      select table_schema || '.' || table_name as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema', 'migrations')
         and table_schema not in ('event_store', 'views_next')`);
    const explained = [
      ...listViews(moduleDefinitions).flatMap(({ tables }) => tables.map((table) => `views.${table}`)),
      ...moduleDefinitions.flatMap(({ tablesOutsideLog = [] }) => tablesOutsideLog.map(({ table }) => table)),
    ];
    expect(rows.map(({ name }) => name).toSorted()).toEqual(explained.toSorted());
  });

  it('of the followers without tables is restored with their checkpoints', () => {
    const names = createFollowers(server.runtime).flatMap(({ name, tables }) => (tables.length === 0 ? [name] : []));
    expect(FOLLOWERS).toEqual(expect.arrayContaining(names));
  });
});
