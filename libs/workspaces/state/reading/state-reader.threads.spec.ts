import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal, sql } from '#platform/kernel';
import { makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createStateFile, createLockedWorkspace, createStateRequests, unlock } from '../spec.js';
import { StateReaders } from './state-reader.threads.js';

const md5Of = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
const { postState } = createStateRequests(md5Of);

const readers = new StateReaders();
afterAll(() => readers.onApplicationShutdown());

/** Copies bytes into a buffer of their own, like those of a file. */
const own = (bytes: Buffer): Promise<Uint8Array> => Promise.resolve(Uint8Array.from(bytes));
const read = (bytes: Buffer, owner = 'org-1') => readers.readState(owner, bytes.length, () => own(bytes));

const LARGE = 'x'.repeat(200_000);

describe('a thread that reads states', () => {
  it('returns the same result as the event loop', async () => {
    const outputs = { big: { value: LARGE, type: 'string' }, small: { value: 1, type: 'number' } };
    const state = await read(createStateFile({ outputs }));
    expect(state?.facts).toMatchObject({ resources: 2, outputs: [{ name: 'big' }, { name: 'small', type: 'number' }] });
    expect(Buffer.from(state?.outputs ?? []).toString()).toContain(LARGE);
  });

  it('leaves the event loop free', async () => {
    const loaded = Promise.withResolvers<Uint8Array>();
    const order: string[] = [];
    const large = readers.readState('org-1', LARGE.length, () => loaded.promise).finally(() => order.push('large'));
    // A small state is read although the thread is busy.
    await read(createStateFile()).then(() => order.push('small'));
    loaded.resolve(await own(createStateFile({ outputs: { big: { value: LARGE } } })));
    await large;
    expect(order).toEqual(['small', 'large']);
  });

  it.each([
    ['brackets', Buffer.alloc(10_000_000, '[')],
    ['no JSON', Buffer.from(`{"version":4,"x":"${LARGE}`)],
    ['a NUL', Buffer.from(`{"version":4,"serial":1,"x":"${LARGE}\0"}`)],
  ])('refuses %s and still reads the next state', async (_, bytes) => {
    await expect(read(bytes)).rejects.toThrow(/cannot be read/);
    expect((await read(createStateFile({ outputs: { big: { value: LARGE } } })))?.facts.outputs).toHaveLength(1);
  });

  it('refuses a state that needs too much memory, and still reads the next state', async () => {
    // Names of members are built in memory for comparison. This one exceeds the heap.
    const huge = Buffer.from(`{"version":4,"serial":1,"outputs":{"${'n'.repeat(150_000_000)}\\u0041":{"value":1}}}`);
    const error: unknown = await read(huge).catch((refused: unknown) => refused);
    expect(error).toBeInstanceOf(Refusal);
    expect(error).toMatchObject({ kind: 'unprocessable' });
    expect((await read(createStateFile({ outputs: { big: { value: LARGE } } })))?.facts.outputs).toHaveLength(1);
  });

  it('skips many repeated names without storing them', async () => {
    const names = '"a":{"value":1},'.repeat(200_000);
    const state = await read(Buffer.from(`{"version":4,"serial":1,"outputs":{${names}"a":{"value":2}}}`));
    expect(state?.facts.outputs).toHaveLength(1);
  });
});

describe('outputs and resources', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer({ env: { CADASTRE_INLINE_STATE_MAX_MIB: '1' } });
    await makeOrganization(server, 'acme');
  });

  afterAll(() => server.close());

  const OUTPUTS = {
    number: { value: 1, type: 'number' },
    text: { value: LARGE, type: 'string' },
    secret: { value: `${LARGE}hunter2`, type: 'string', sensitive: true },
  };

  const current = async (outputs: object): Promise<{ workspace: string; version: string; folder: string }> => {
    const workspace = await createLockedWorkspace(server);
    const bytes = createStateFile({ outputs });
    const created = await postState(server, workspace, { state: bytes.toString('base64') }, bytes);
    expect([created.status, created.text]).toEqual([201, expect.any(String)]);
    await unlock(server, workspace);
    const version = created.body.data.id as string;
    return { workspace, version, folder: join(server.runtime.settings.blobsFolder, 'state-versions', version) };
  };

  const expectAll = async ({ workspace, version }: { workspace: string; version: string }): Promise<void> => {
    const list = await server.get(`/api/v2/state-versions/${version}/outputs`);
    const valueOf = (name: string) => list.body.data.find((one: any) => one.attributes.name === name).attributes.value;
    expect([valueOf('number'), valueOf('text') === LARGE, valueOf('secret') === `${LARGE}hunter2`]).toEqual([
      1,
      true,
      true,
    ]);
    const open = await server.get(`/api/v2/workspaces/${workspace}/current-state-version-outputs`);
    expect(
      open.body.data.map(({ attributes }: any) => [attributes.name, attributes.value?.length ?? attributes.value]),
    ).toEqual([
      ['number', 1],
      ['secret', null],
      ['text', LARGE.length],
    ]);
    const { id } = open.body.data[1];
    expect((await server.get(`/api/v2/state-version-outputs/${id}`)).body.data.attributes.value).toBe(
      `${LARGE}hunter2`,
    );
    const document = await server.get(`/api/v2/state-versions/${version}`);
    expect(document.body.data.attributes.resources).toMatchObject([{ name: 'it', count: 2 }]);
    const resources = await server.get(`/api/v2/workspaces/${workspace}/resources`);
    expect(resources.body.data.map(({ attributes }: any) => attributes.address)).toEqual([
      'null_resource.it[0]',
      'null_resource.it[1]',
    ]);
  };

  it('are read from files beside the state, even if the state itself is missing', async () => {
    const version = await current(OUTPUTS);
    await rm(join(version.folder, 'state'));
    await expectAll(version);
  });

  it('are listed by blocks in the document of a version, and on a page of versions only if the list is short', async () => {
    const workspace = await createLockedWorkspace(server);
    const provider = 'provider["terraform.io/builtin/terraform"]';
    const resources = Array.from({ length: 400 }, (_, n) => ({
      module: 'module.net',
      mode: 'data',
      type: 'terraform_remote_state',
      name: `block-${n}`,
      provider,
      instances: [{}],
    }));
    const bytes = Buffer.from(JSON.stringify({ ...JSON.parse(createStateFile().toString()), resources }));
    const created = await postState(server, workspace, { state: bytes.toString('base64') }, bytes);
    const blocks = created.body.data.attributes.resources;
    expect([created.status, blocks.length, blocks[7]]).toEqual([
      201,
      400,
      { name: 'block-7', type: 'data.terraform_remote_state', count: 1, module: 'module.net', provider },
    ]);
    await unlock(server, workspace);
    const resourcesOf = async (path: string) => (await server.get(path)).body.data.attributes.resources;
    expect(await resourcesOf(`/api/v2/workspaces/${workspace}/current-state-version`)).toEqual(blocks);
    const page = await server.get(`/api/v2/workspaces/${workspace}/state-versions`);
    expect(page.body.data.map(({ attributes }: any) => attributes.resources)).toEqual([null]);
  });

  it('are stored encrypted', async () => {
    const { folder } = await current(OUTPUTS);
    for (const name of ['outputs', 'resources', 'blocks']) {
      const stored = await readFile(join(folder, name));
      expect([stored.includes('xxxx'), stored.includes('null_resource'), stored.includes('hunter2')]).toEqual([
        false,
        false,
        false,
      ]);
    }
  });

  it('are extracted on the first read of an old version, once for simultaneous reads', async () => {
    const version = await current(OUTPUTS);
    await rm(join(version.folder, 'outputs'));
    await rm(join(version.folder, 'resources'));
    await rm(join(version.folder, 'blocks'));
    await Promise.all(Array.from({ length: 5 }, () => expectAll(version)));
    await rm(join(version.folder, 'state'));
    await expectAll(version);
  });

  it('are not extracted again for a version whose data is being deleted', async () => {
    const version = await current(OUTPUTS);
    await rm(join(version.folder, 'outputs'));
    // Simulates a permanent deletion after the request has passed its checks.
    await server.database.rows(
      sql`update views.state_versions set status = 'backing_data_permanently_deleted' where id = ${version.version}`,
    );
    const list = await server.get(`/api/v2/workspaces/${version.workspace}/current-state-version-outputs`);
    expect([200, 404]).toContain(list.status);
    await expect(readFile(join(version.folder, 'outputs'))).rejects.toThrow(/ENOENT/);
  });

  it('have smaller pages if their values are large, with the same page boundaries for page numbers and `next` links', async () => {
    const workspace = await createLockedWorkspace(server);
    const value = 'y'.repeat(1_500_000);
    const outputs = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`o${n}`, { value, type: 'string' }]));
    const bytes = createStateFile({ outputs });
    const { id, attributes } = (await postState(server, workspace, {}, bytes)).body.data;
    const link = new URL(attributes['hosted-state-upload-url'] as string);
    expect((await server.put(link.pathname, bytes)).status).toBe(200);
    const names: string[] = [];
    const path = `/api/v2/state-versions/${id as string}/outputs?page[size]=100`;
    for (let next: string | null = path; next !== null;) {
      const { body } = await server.get(next);
      expect(body.meta.pagination).toMatchObject({ 'page-size': 2, 'total-count': 5, 'total-pages': 3 });
      names.push(...body.data.map((one: any) => one.attributes.name as string));
      next = body.links.next as string | null;
    }
    expect(names).toEqual(['o0', 'o1', 'o2', 'o3', 'o4']);
    // A client that counts pages always requests the same size.
    const second = await server.get(`${path}&page[number]=2`);
    expect(second.body.data.map((one: any) => one.attributes.name)).toEqual(['o2', 'o3']);
    const included = await server.get(`/api/v2/state-versions/${id as string}?include=outputs`);
    expect(included.body.included.map(({ attributes }: any) => attributes.value === value)).toEqual(
      Array<boolean>(5).fill(true),
    );
  });

  it('keep numbers that JavaScript cannot represent', async () => {
    const workspace = await createLockedWorkspace(server);
    const bytes = Buffer.from(
      '{"version":4,"serial":1,"lineage":"l","outputs":{"n":{"value":{"a": 9007199254740993},"type":["object",{"a":"number"}]}}}',
    );
    await postState(server, workspace, { lineage: 'l', state: bytes.toString('base64') }, bytes);
    await unlock(server, workspace);
    const { text } = await server.get(`/api/v2/workspaces/${workspace}/current-state-version-outputs`);
    expect(text).toContain('{"a":9007199254740993}');
  });

  it('are refused with an error that names the upload URL if the state exceeds the limit of a request', async () => {
    const workspace = await createLockedWorkspace(server);
    const bytes = createStateFile({ outputs: { big: { value: 'z'.repeat(1_100_000), type: 'string' } } });
    const large = await postState(server, workspace, { state: bytes.toString('base64') }, bytes);
    expect([large.status, large.body.errors[0]]).toMatchObject([
      413,
      {
        detail: expect.stringMatching(/1 MiB.*hosted-state-upload-url/),
        source: { pointer: '/data/attributes/state' },
      },
    ]);
    const huge = await server.post(`/api/v2/workspaces/${workspace}/state-versions`, Buffer.alloc(8_000_000, '['));
    expect([huge.status, huge.body.errors[0].detail]).toEqual([
      413,
      expect.stringContaining('hosted-state-upload-url'),
    ]);
    const stranger = await server.post('/api/v2/workspaces/ws-none/state-versions', Buffer.alloc(8_000_000, '['));
    expect(stranger.status).toBe(404);
    const link = new URL(
      (await postState(server, workspace, {}, bytes)).body.data.attributes['hosted-state-upload-url'] as string,
    );
    expect((await server.put(link.pathname, bytes)).status).toBe(200);
  });
});
