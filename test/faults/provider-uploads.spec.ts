import { randomBytes, randomInt } from 'node:crypto';
import { mkdir, readdir, watch } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FolderBlobs } from '#storage/blob-store';
import { Database } from '#platform/postgres';
import { sql } from '#platform/kernel';
import { createAbandonedUploadsJob } from '#registry/registry';
import { runJobOnce } from '../support/scheduled-jobs.js';
import { AdjustableClock } from '../support/clocks.js';
import { freshDatabase } from '../support/database.js';
import { openFlakyConnection } from '../support/flaky-connection.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import {
  addGpgKey,
  checksumsOf,
  makeRelease,
  makeSigner,
  type TestArchive,
  type TestRelease,
  type Signer,
} from '../support/releases.js';
import { expectStatus, makeOrganization } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import { expectGaplessStreams } from './ledger.js';
import { readLog } from './recorded-log.js';

const LONG = scaleLimit(300_000);
/** Three kinds of kills: while clients send, while the server stores, and together with Postgres. */
const KILLS = countRounds(3);
const PLATFORMS = 8;
/** Number of platforms whose upload is not repeated after an interruption. */
const GIVEN_UP = 4;
const PIECE = 64 * 1024;
const PIECES = 16;

let product: Product;
let api: ApiTestClient;
let signer: Signer;
/** Resolved while the product can be reached. */
let up: PromiseWithResolvers<void>;
/** Called for each piece that leaves a client. */
let sent: () => void;

beforeEach(() => {
  up = Promise.withResolvers<void>();
  up.resolve();
  sent = () => undefined;
});

afterEach(() => product?.remove());

const startProduct = async (settings: Readonly<Record<string, string>> = {}): Promise<void> => {
  product = await launchProduct(settings);
  await product.start();
  api = createApiTestClient(product.url, product.adminToken);
  signer = await makeSigner();
  await makeOrganization(api, 'acme');
  await addGpgKey(api, 'acme', signer);
};

const inPieces = function* (bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE) {
    sent();
    yield bytes.subarray(at, at + PIECE);
  }
};

/** Returns the status of the response, or null if there was none. */
const put = async (link: string, bytes: Buffer): Promise<number | null> => {
  const body = Readable.from(inPieces(bytes)) as unknown as ReadableStream;
  try {
    const response = await fetch(`${product.url}${link}`, { method: 'PUT', body, duplex: 'half' });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
};

/**
 * Repeats an upload until the server confirms it. A repeated upload may get 409 because the first one has succeeded.
 */
const deliver = async (link: string, bytes: Buffer): Promise<void> => {
  for (let attempts = 0; ; attempts += 1) {
    await up.promise;
    const status = await put(link, bytes);
    if (status === 200 || (status === 409 && attempts > 0)) return;
    expect([null, 503]).toContain(status);
  }
};

type Work = {
  readonly release: TestRelease;
  readonly archives: readonly TestArchive[];
  readonly abandoned: readonly TestArchive[];
  readonly done: Promise<unknown>;
};

/** Creates a version and starts all its uploads. Some of them are not repeated after an interruption. */
const startUploads = async (name: string): Promise<Work> => {
  const release = await makeRelease(api, 'acme', name, signer);
  const all = Array.from({ length: PLATFORMS }, (_, n) =>
    release.archive('linux', `arch${n}`, randomBytes(PIECES * PIECE)),
  );
  const [abandoned, archives] = [all.slice(0, GIVEN_UP), all.slice(GIVEN_UP)];
  const sums = checksumsOf(...all);
  for (const archive of all) await release.addPlatform(archive);
  const withLinks = (some: readonly TestArchive[]) =>
    Promise.all(
      some.map(async (archive) => {
        return { link: await release.linkOf(archive, 'provider-binary-upload'), bytes: archive.bytes };
      }),
    );
  const small = [
    { link: await release.link('shasums-upload'), bytes: sums },
    { link: await release.link('shasums-sig-upload'), bytes: await signer.sign(sums) },
  ];
  const [withoutRetry, withRetry] = [await withLinks(abandoned), [...small, ...(await withLinks(archives))]];
  const done = Promise.all([
    ...withoutRetry.map(({ link, bytes }) => put(link, bytes)),
    ...withRetry.map(({ link, bytes }) => deliver(link, bytes)),
  ]);
  return { release, archives, abandoned, done };
};

/** Resolves when this number of further pieces has been sent. */
const sending = (pieces: number): Promise<void> =>
  new Promise((resolve) => {
    let piecesLeft = pieces;
    sent = () => {
      piecesLeft -= 1;
      if (piecesLeft === 0) resolve();
    };
  });

/** Resolves when this number of further files is in the store, before the event of the last one is appended. */
const storing = async (files: number): Promise<void> => {
  const folder = join(product.dataFolder, 'blobs/registry');
  await mkdir(folder, { recursive: true });
  let filesLeft = files;
  for await (const { eventType } of watch(folder)) {
    if (eventType === 'rename') filesLeft -= 1;
    if (filesLeft === 0) return;
  }
};

const killAndStart = async (withPostgres: boolean): Promise<void> => {
  up = Promise.withResolvers<void>();
  const ended = await (withPostgres ? product.killWithPostgres() : product.kill());
  expect(ended.signal).toBe('SIGKILL');
  await product.start();
  up.resolve();
};

const download = async (link: string): Promise<Buffer> => {
  const response = await fetch(`${product.url}${link}`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};

/** Expects acknowledged files to be downloadable with the same bytes, and the other files to match their flags. */
const expectComplete = async ({ release, archives, abandoned }: Work): Promise<void> => {
  const isHere = async (archive: TestArchive): Promise<boolean> =>
    (await release.platform(archive)).attributes['provider-binary-uploaded'] as boolean;
  const missing: string[] = [];
  for (const archive of [...abandoned, ...archives]) {
    if (abandoned.includes(archive) && !(await isHere(archive))) missing.push(archive.filename);
    else {
      const bytes = await download(await release.linkOf(archive, 'provider-binary-download'));
      expect([archive.filename, bytes.equals(archive.bytes)]).toEqual([archive.filename, true]);
    }
  }
  const { attributes } = await release.document();
  expect(attributes).toMatchObject({ 'shasums-uploaded': true, 'shasums-sig-uploaded': true, missing });
  const sums = checksumsOf(...abandoned, ...archives);
  expect(await download(await release.link('shasums-download'))).toEqual(sums);
};

/** Returns the sorted ids of the files that the log names. */
const recordedFiles = async (url: string): Promise<string[]> => {
  const log = await readLog(url);
  expectGaplessStreams(log);
  const deleted = new Set(
    log.filter(({ type }) => type === 'RegistryProviderVersionDeleted').map(({ stream }) => stream),
  );
  return log
    .filter(({ stream }) => !deleted.has(stream))
    .flatMap(({ type, stream, data }) => {
      const { platform, sha256 } = data as { platform: string; sha256: string };
      if (type === 'RegistryProviderBinaryUploaded') return [platform];
      const isSmall = type === 'RegistryProviderShasumsUploaded' || type === 'RegistryProviderSignatureUploaded';
      return isSmall ? [`${stream}/${sha256}`] : [];
    })
    .toSorted();
};

/** Returns the paths of files below a folder, except for checkpoints of audit trails, which no upload writes. */
const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .filter((path) => !path.startsWith('trail-checkpoints/'))
    .toSorted();
};

const withDatabase = async (url: string, work: (database: Database) => Promise<void>): Promise<void> => {
  const database = new Database({ url, connections: 1, applicationName: 'cadastre test' });
  try {
    await work(database);
  } finally {
    await database.close();
  }
};

const notesIn = async (database: Database): Promise<string[]> =>
  (await database.rows<{ id: string }>(sql`select distinct id from registry.open_uploads`)).map(({ id }) => id);

/** Runs the clean-up of a process that starts in three days. */
const cleanUpInThreeDays = async (database: Database, folder: string): Promise<void> => {
  const clock = new AdjustableClock();
  clock.pass({ days: 3 });
  const blobs = new FolderBlobs(folder, clock);
  // The first write to a store removes the temporary files of others.
  await blobs.put('other', Buffer.alloc(1));
  await blobs.delete('other');
  await runJobOnce(createAbandonedUploadsJob(database, blobs, clock));
};

describe('kill -9 during uploads', () => {
  it(
    'loses no acknowledged file, permits repetitions, and leaves no files behind',
    async () => {
      await startProduct();
      const works: Work[] = [];
      for (let kill = 1; kill <= KILLS; kill += 1) {
        // Kills at a random time.
        const killTime = kill % 2 === 1 ? sending(randomInt(1, PLATFORMS * PIECES)) : storing(randomInt(1, PLATFORMS));
        const work = await startUploads(`provider-${kill}`);
        works.push(work);
        await killTime;
        await killAndStart(kill % 3 === 0);
        await work.done;
      }
      for (const work of works) await expectComplete(work);
      const verified = await product.run('verify');
      expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/match the log/) });

      const url = await product.databaseUrl();
      const folder = join(product.dataFolder, 'blobs');
      await withDatabase(url, async (database) => {
        const events = await recordedFiles(url);
        expect(new Set(events).size).toBe(events.length);
        const files = await filesIn(join(folder, 'registry'));
        expect(events.filter((id) => !files.includes(id))).toEqual([]);
        const noted = await notesIn(database);
        expect(files.filter((id) => !events.includes(id) && !noted.includes(id))).toEqual([]);
        await cleanUpInThreeDays(database, folder);
        expect(await notesIn(database)).toEqual([]);
        expect(await filesIn(folder)).toEqual(events.map((id) => `registry/${id}`));
      });
      for (const { release } of works) expectStatus(await api.delete(release.path), 204);
      await waitUntil(async () => (await filesIn(folder)).length === 0, 'the files of deleted versions are removed');
      expect(await recordedFiles(url)).toEqual([]);
    },
    LONG,
  );
});

describe('a database that fails between the upload of a file and its event', () => {
  it(
    'makes the upload fail with 503, and the file counts as uploaded after the next attempt',
    async () => {
      const database = await freshDatabase();
      const { url } = database;
      const line = await openFlakyConnection(url);
      const key = randomBytes(32).toString('base64');
      await startProduct({ DATABASE_URL: line.url, CADASTRE_ENCRYPTION_KEY: key });
      const release = await makeRelease(api, 'acme', 'tool', signer);
      const archive = release.archive('linux', 'amd64', randomBytes(2 * PIECE));
      const { id } = await release.addPlatform(archive);
      const link = await release.linkOf(archive, 'provider-binary-upload');
      const folder = join(product.dataFolder, 'blobs');
      await withDatabase(url, async (direct) => {
        const outage = Promise.withResolvers<void>();
        const body = async function* (): AsyncGenerator<Buffer> {
          yield archive.bytes.subarray(0, PIECE);
          await outage.promise;
          yield archive.bytes.subarray(PIECE);
        };
        const answer = fetch(`${product.url}${link}`, {
          method: 'PUT',
          body: Readable.from(body()) as unknown as ReadableStream,
          duplex: 'half',
        });
        await waitUntil(async () => (await notesIn(direct)).length === 1, 'the upload has begun');
        await line.cut();
        outage.resolve();
        expect((await answer).status).toBe(503);
        expect(await filesIn(folder)).toEqual([`registry/${id}`]);
        await line.mend();
        await waitUntil(async () => (await fetch(`${product.url}/readyz`)).status === 200, 'the database is back');
        expect((await release.platform(archive)).attributes['provider-binary-uploaded']).toBe(false);
        expect(await put(link, archive.bytes)).toBe(200);
        expect(await download(await release.linkOf(archive, 'provider-binary-download'))).toEqual(archive.bytes);
        await cleanUpInThreeDays(direct, folder);
        expect([await notesIn(direct), await filesIn(folder)]).toEqual([[], [`registry/${id}`]]);
      });
      await product.stop();
      await line.close();
      await database.drop();
    },
    LONG,
  );
});
