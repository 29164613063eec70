import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { FollowerRunner } from '#storage/event-store';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import {
  addGpgKey,
  checksumsOf,
  makeRelease,
  makeSigner,
  publish,
  sha256Of,
  upload,
  type TestRelease,
  type Signer,
} from '../../../../test/support/releases.js';
import { expectStatus, makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createReleaseSweeper } from '../index.js';
import { ReleaseFiles } from './release.files.js';

const SWEEPER = 'release_sweeper';

let server: TestServer;
let files: ReleaseFiles;
let signer: Signer;

beforeAll(async () => {
  server = await startTestServer({ env: { CADASTRE_RECOVERABLE_DAYS: '0' } });
  signer = await makeSigner();
  await makeOrganization(server, 'acme');
  await addGpgKey(server, 'acme', signer);
  files = new ReleaseFiles(server.runtime.blobs);
});

afterAll(() => server.close());

/** Runs the sweeper up to the head of the log, as a newly started projector would. */
const sweep = async (): Promise<void> => {
  const runner = new FollowerRunner(server.store, createReleaseSweeper(server.runtime.blobs), server.runtime.logger);
  runner.start();
  try {
    await waitForFollowers(server.store, SWEEPER);
  } finally {
    await runner.stop();
  }
};

type Published = { readonly release: TestRelease; readonly ids: readonly string[] };

/** Publishes a version with all files: SHA256SUMS, the signature, and a zip for each of two platforms. */
const published = async (organization: string, name: string): Promise<Published> => {
  const release = await makeRelease(server, organization, name, signer);
  const archives = [release.archive('darwin'), release.archive('linux')];
  await publish(server, release, signer, ...archives);
  const { id } = await release.document();
  const sums = checksumsOf(...archives);
  const platforms = await Promise.all(archives.map(async (archive) => (await release.platform(archive)).id as string));
  return { release, ids: [...platforms, `${id}/${sha256Of(sums)}`] };
};

/** Returns for each file whether it exists. */
const listExisting = async ({ ids }: Published): Promise<boolean[]> =>
  Promise.all(ids.map(async (id) => (await files.size(id)) !== null));

const ALL = [true, true, true];
const NONE = [false, false, false];

describe('files of a release', () => {
  it('are removed with their platform, version, provider or organization, and no other files are', async () => {
    await makeOrganization(server, 'brief');
    await addGpgKey(server, 'brief', signer);
    const [stays, loses, version, provider] = [
      await published('acme', 'stays'),
      await published('acme', 'loses'),
      await published('acme', 'version'),
      await published('acme', 'provider'),
    ];
    const organization = await published('brief', 'tool');
    const all = [stays, loses, version, provider, organization];
    await sweep();
    expect(await Promise.all(all.map(listExisting))).toEqual(all.map(() => ALL));
    const linux = loses.release.platformPath({ os: 'linux', arch: 'amd64' });
    const tool = provider.release.path.replace(/\/versions.*/, '');
    for (const path of [linux, version.release.path, tool, '/api/v2/organizations/brief']) {
      expectStatus(await server.delete(path), 204);
    }
    await sweep();
    expect(await Promise.all(all.map(listExisting))).toEqual([ALL, [true, false, true], NONE, NONE, NONE]);
    const rows = await server.database.rows(sql`select count(*) as n from registry.kept_files`);
    expect(rows).toEqual([{ n: 7 }]);
  });

  it('are removed even if the sweeper starts later, or was killed before it stored its checkpoint', async () => {
    const late = await published('acme', 'late');
    expectStatus(await server.delete(late.release.path), 204);
    const before = await server.database.row(sql`select * from event_store.checkpoints where follower = ${SWEEPER}`);
    await sweep();
    expect(await listExisting(late)).toEqual(NONE);
    // Simulates a sweeper that removed the files but did not store its checkpoint.
    await server.database.rows(sql`
      update event_store.checkpoints
         set transaction = ${before?.['transaction']}::xid8, position = ${before?.['position']}
       where follower = ${SWEEPER}`);
    await sweep();
    expect(await listExisting(late)).toEqual(NONE);
  });

  it('are all removed, including replaced signatures', async () => {
    const release = await makeRelease(server, 'acme', 'replaced', signer);
    const { id } = await release.document();
    const signatures = [await signer.sign(Buffer.from('one')), await signer.sign(Buffer.from('two'))];
    for (const signature of signatures) {
      expectStatus(await upload(server, await release.link('shasums-sig-upload'), signature), 200);
    }
    const sizes = () => Promise.all(signatures.map((signature) => files.size(`${id}/${sha256Of(signature)}`)));
    await sweep();
    expect(await sizes()).toEqual(signatures.map(({ length }) => length));
    expectStatus(await server.delete(release.path), 204);
    await sweep();
    expect(await sizes()).toEqual([null, null]);
  });
});
