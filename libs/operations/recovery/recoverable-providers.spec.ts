import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { createDeletedProvidersJob, createExpiredProvidersJob, registryDefinition } from '#registry/registry';
import { fromTheFullHour } from '../../../test/support/clocks.js';
import { readWholeLog, waitForFollowers } from '../../../test/support/event-log.js';
import { listRecoverable, purgeItem, recoverItem } from '../../../test/support/recovery.js';
import {
  addKey,
  makeProvider,
  pathOfProvider,
  pathOfVersions,
  publishVersion,
} from '../../../test/support/registry.js';
import { makeSigner, type Signer } from '../../../test/support/releases.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import { expectStatus, makeMember, makeOrganization, refusalOf } from '../../../test/support/seeds.js';
import { pathOf } from '../../../test/support/state-file.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';

const SWEEPER = 'release_sweeper';
const clock = fromTheFullHour();
let server: TestServer;
let signer: Signer;
let ownersTeam: string;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  ({ ownersTeam } = await makeOrganization(server, 'acme'));
  signer = await makeSigner();
  expectStatus(await addKey(server, 'acme', signer), 201);
});

afterAll(() => server.close());

const makePublished = async (name: string): Promise<string> => {
  const id = await makeProvider(server, 'acme', name);
  await publishVersion(server, 'acme', name, '1.0.0', signer);
  return id;
};

const remove = async (name: string): Promise<void> =>
  void expectStatus(await server.delete(pathOfProvider('acme', name)), 204);

/** Returns what terraform gets for the package of version 1.0.0, and the status of the download of its zip. */
const download = async (name: string): Promise<unknown> => {
  const answer = await server.get(`/api/registry/v1/providers/acme/${name}/1.0.0/download/linux/amd64`);
  if (answer.status !== 200) return answer.status;
  const { filename, shasum, download_url: url } = answer.body;
  return { filename, shasum, status: (await server.get(pathOf(url as string))).status };
};

const countFiles = async (): Promise<number> => {
  await waitForFollowers(server.store, SWEEPER);
  return (await server.store.database.rows(sql`select 1 as one from registry.kept_files`)).length;
};

/** Deletes the versions of providers that were deleted for good, and their files. */
const sweep = async (): Promise<void> => {
  await runJobOnce(createExpiredProvidersJob(server.store, clock, server.runtime.ids));
  await runJobOnce(createDeletedProvidersJob(server.store));
};

describe('a deleted provider', () => {
  it('comes back under its id with its versions, platforms and files', async () => {
    const id = await makePublished('back');
    const before = [await download('back'), (await server.get(pathOfVersions('acme', 'back'))).body.data.length];
    await remove('back');
    clock.pass({ seconds: 29 * 86_400 });
    await sweep();
    expect([await download('back'), (await server.get(pathOfProvider('acme', 'back'))).status]).toEqual([404, 404]);
    const [item] = await listRecoverable(server, 'acme');
    expect(item).toMatchObject({ id, attributes: { kind: 'registry-providers', name: 'back' } });
    const answer = expectStatus(await recoverItem(server, id), 200);
    expect(answer.body.data.attributes.changes).toEqual([]);
    const after = [await download('back'), (await server.get(pathOfVersions('acme', 'back'))).body.data.length];
    expect(after).toEqual(before);
    expect(before[0]).toMatchObject({ status: 200 });
  });

  it('is refused while another one has its name, and accepts another name', async () => {
    const id = await makePublished('taken');
    await remove('taken');
    const other = await makeProvider(server, 'acme', 'taken');
    expect(refusalOf(expectStatus(await recoverItem(server, id), 422))).toEqual([
      '/data/attributes/name',
      'Name has already been taken: delete the other provider, or send another name for a private one',
    ]);
    expect(refusalOf(expectStatus(await recoverItem(server, id, 'A B'), 422))[0]).toBe('/data/attributes/name');
    const { changes } = expectStatus(await recoverItem(server, id, 'taken2'), 200).body.data.attributes;
    expect(changes.map(({ field }: { field: string }) => field)).toEqual(['name']);
    expect((await server.get(pathOfProvider('acme', 'taken'))).body.data.id).toBe(other);
    expect((await server.get(pathOfProvider('acme', 'taken2'))).body.data.id).toBe(id);
  });

  it('is recovered only by callers that may manage providers', async () => {
    const id = await makeProvider(server, 'acme', 'managed');
    const member = await makeMember(server, 'acme', 'mia');
    await remove('managed');
    expect((await listRecoverable(member, 'acme')).map((item) => item.id)).not.toContain(id);
    expect((await recoverItem(member, id)).status).toBeGreaterThanOrEqual(403);
    expectStatus(await recoverItem(server, id), 200);
    expectStatus(await recoverItem(server, id), 409);
  });

  it('is removed with its versions and files when its time is over, or by an owner', async () => {
    const files = await countFiles();
    const [expired, purged] = [await makePublished('expired'), await makePublished('purged')];
    await remove('purged');
    expect(await countFiles()).toBe(files + 6);
    expectStatus(await purgeItem(server, purged), 204);
    await sweep();
    expect(await countFiles()).toBe(files + 3);
    await remove('expired');
    clock.pass({ seconds: 30 * 86_400 });
    await sweep();
    expect(await countFiles()).toBe(files);
    for (const id of [expired, purged]) expectStatus(await recoverItem(server, id), 404);
    const rows = await server.store.database.rows(sql`
      select 1 as one from registry_provider_versions where provider = any (${[expired, purged]}::text[])`);
    expect(rows).toEqual([]);
  });

  it('is removed with its versions after the person who deleted it for good was forgotten', async () => {
    const files = await countFiles();
    const owner = await makeMember(server, 'acme', 'olga', [ownersTeam]);
    const id = await makePublished('orphan');
    expectStatus(await owner.delete(pathOfProvider('acme', 'orphan')), 204);
    expectStatus(await purgeItem(owner, id), 204);
    expectStatus(await server.delete(`/api/v2/admin/users/${owner.id}`), 204);
    await sweep();
    expect(await countFiles()).toBe(files);
    const events = await readWholeLog(server.store);
    expect(events.findLast(({ type }) => type === 'RegistryProviderVersionDeleted')).toMatchObject({
      context: { accessor: { id: owner.id, name: owner.id }, request: { address: null, userAgent: null } },
    });
  });

  it('leaves views that match the log', async () => {
    await makePublished('last');
    await remove('last');
    await expectViewsMatchLog(server, [registryDefinition]);
  });
});
