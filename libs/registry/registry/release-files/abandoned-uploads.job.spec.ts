import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { BlobStore, type BlobContent } from '#storage/blob-store';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { makeRelease, upload, type TestArchive, type TestRelease } from '../../../../test/support/releases.js';
import { expectStatus, makeOrganization } from '../../../../test/support/seeds.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createAbandonedUploadsJob } from '../index.js';
import { recordUploadAttempt } from './release-files.queries.js';
import { ReleaseFiles } from './release.files.js';

const clock = new AdjustableClock();
let server: TestServer;
let files: ReleaseFiles;

beforeAll(async () => {
  server = await startTestServer({ clock });
  files = new ReleaseFiles(server.runtime.blobs);
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

let count = 0;
let release: TestRelease;
let linux: TestArchive;
/** Id of the platform, which is also the id of its file. */
let id: string;

beforeEach(async () => {
  release = await makeRelease(server, 'acme', `made-${(count += 1)}`, { keyId: 'NONE' });
  linux = release.archive('linux');
  id = (await release.addPlatform(linux)).id as string;
});

const removeAbandoned = (blobs: BlobStore = server.runtime.blobs): Promise<number> =>
  runJobOnce(createAbandonedUploadsJob(server.database, blobs, clock));

const notes = async (): Promise<string[]> => {
  const rows = await server.database.rows<{ id: string }>(sql`select id from registry.open_uploads order by id`);
  return rows.map((row) => row.id);
};

const beginUpload = (file = id): Promise<void> =>
  recordUploadAttempt(server.database, { id: file, attempt: randomUUID() }, clock.now());

/** Leaves the state of a process that was killed between storing the file and appending the event. */
const beKilledAfterStoring = async (file = id, bytes = linux.bytes): Promise<void> => {
  await beginUpload(file);
  await files.put(file, bytes);
};

const uploaded = async (): Promise<void> => {
  expectStatus(await upload(server, await release.linkOf(linux, 'provider-binary-upload'), linux.bytes), 200);
};

const download = async (): Promise<Buffer> => {
  const response = await fetch(`${server.url}${await release.linkOf(linux, 'provider-binary-download')}`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};

describe('a stored file without an event', () => {
  it('is removed with its note after two days, not earlier', async () => {
    const version = (await release.document()).id as string;
    const otherFiles = [`${version}/${'a'.repeat(64)}`, `${version}/${'b'.repeat(64)}`];
    await beKilledAfterStoring();
    for (const other of otherFiles) await beKilledAfterStoring(other);
    clock.pass({ minutes: 47 * 60 });
    expect(await removeAbandoned()).toBe(0);
    expect(await files.size(id)).toBe(linux.bytes.length);
    clock.pass({ minutes: 2 * 60 });
    expect(await removeAbandoned()).toBe(3);
    expect(await Promise.all([id, ...otherFiles].map((file) => files.size(file)))).toEqual([null, null, null]);
    expect(await notes()).toEqual([]);
  });

  it('has only a note to remove if it was never stored', async () => {
    await beginUpload();
    clock.pass({ days: 3 });
    expect(await removeAbandoned()).toBe(1);
    expect(await notes()).toEqual([]);
  });

  it('is used by a client that uploads it again', async () => {
    await beKilledAfterStoring();
    await uploaded();
    expect(await download()).toEqual(linux.bytes);
    clock.pass({ days: 3 });
    expect(await removeAbandoned()).toBe(1);
    expect(await download()).toEqual(linux.bytes);
    expect(await notes()).toEqual([]);
  });

  it('is not removed while a client uploads it again', async () => {
    await beKilledAfterStoring();
    clock.pass({ days: 3 });
    await beginUpload();
    expect(await removeAbandoned()).toBe(0);
    expect(await files.size(id)).toBe(linux.bytes.length);
    clock.pass({ days: 3 });
    expect(await removeAbandoned()).toBe(1);
    expect(await files.size(id)).toBeNull();
  });

  it('is removed even if its version was deleted', async () => {
    await beKilledAfterStoring();
    expectStatus(await server.delete(release.path), 204);
    clock.pass({ days: 3 });
    expect(await removeAbandoned()).toBe(1);
    expect(await files.size(id)).toBeNull();
  });
});

/** A blob store whose removals wait until the test opens the gate. */
class GuardedBlobs extends BlobStore {
  readonly removalBegan = Promise.withResolvers<void>();
  readonly gate = Promise.withResolvers<void>();

  constructor(private readonly inner: BlobStore) {
    super();
  }

  override put(key: string, content: BlobContent): Promise<void> {
    return this.inner.put(key, content);
  }

  override get(key: string) {
    return this.inner.get(key);
  }

  override head(key: string) {
    return this.inner.head(key);
  }

  override replace(key: string, content: BlobContent) {
    return this.inner.replace(key, content);
  }

  override async delete(key: string): Promise<void> {
    this.removalBegan.resolve();
    await this.gate.promise;
    await this.inner.delete(key);
  }

  override list(segments?: string) {
    return this.inner.list(segments);
  }
}

describe('a file that is being removed', () => {
  it('is uploaded again only after the removal has finished', async () => {
    await beKilledAfterStoring();
    clock.pass({ days: 3 });
    const blobs = new GuardedBlobs(server.runtime.blobs);
    const removal = removeAbandoned(blobs);
    await blobs.removalBegan.promise;
    const upload = uploaded();
    await waitingForLock();
    blobs.gate.resolve();
    expect(await removal).toBe(1);
    await upload;
    expect(await download()).toEqual(linux.bytes);
    expect(await notes()).toEqual([]);
  });
});

const waitingForLock = async (): Promise<void> => {
  for (;;) {
    const [waiting] = await server.database.rows(sql`
      select 1 from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`);
    if (waiting) return;
  }
};
