import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createStateFile, createLockedWorkspace, createStateRequests, unlock } from '../spec.js';

const md5Of = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
const { postState } = createStateRequests(md5Of);

let server: TestServer;
let workspace: string;
let version: string;

const OBJECT = ['object', { name: 'string', list: ['tuple', ['string', 'number']] }];

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  workspace = await createLockedWorkspace(server, 'outputs');
  const many = Array.from({ length: 30 }, (_, n) => [`n${String(n).padStart(2, '0')}`, { value: n, type: 'number' }]);
  const outputs = {
    ...Object.fromEntries(many),
    object: { value: { name: 'x', list: ['y', 2] }, type: OBJECT },
    secret: { value: ['hunter2'], type: ['list', 'string'], sensitive: true },
  };
  const bytes = createStateFile({ outputs });
  version = (await postState(server, workspace, { state: bytes.toString('base64') }, bytes)).body.data.id as string;
  await unlock(server, workspace);
});

afterAll(() => server.close());

describe('the outputs of a state version', () => {
  it('have their real values and pages', async () => {
    const { body } = await server.get(`/api/v2/state-versions/${version}/outputs?page[number]=2`);
    expect(body.data).toHaveLength(12);
    expect(body.meta.pagination).toMatchObject({ 'current-page': 2, 'total-count': 32, 'total-pages': 2 });
    expect(body.data.at(-1)).toEqual({
      id: expect.stringMatching(/^wsout-[A-Za-z0-9]{16}$/),
      type: 'state-version-outputs',
      attributes: {
        name: 'secret',
        sensitive: true,
        type: 'array',
        value: ['hunter2'],
        'detailed-type': ['list', 'string'],
      },
      links: { self: `/api/v2/state-version-outputs/${body.data.at(-1).id as string}` },
    });
    const past = await server.get(`/api/v2/state-versions/${version}/outputs?page[number]=9`);
    expect([past.status, past.body.data, past.body.meta.pagination['total-count']]).toEqual([200, [], 32]);
  });

  it('are all on one page for the current version, without values of sensitive outputs', async () => {
    const { body } = await server.get(`/api/v2/workspaces/${workspace}/current-state-version-outputs`);
    expect(body.data).toHaveLength(32);
    expect(body.links.next).toBeNull();
    const byName = new Map(body.data.map((output: any) => [output.attributes.name, output.attributes]));
    expect(byName.get('n07')).toMatchObject({ value: 7, type: 'number', 'detailed-type': 'number' });
    expect(byName.get('object')).toMatchObject({ type: 'object', value: { name: 'x', list: ['y', 2] } });
    expect(byName.get('object')).toMatchObject({ 'detailed-type': OBJECT });
    expect(byName.get('secret')).toMatchObject({ value: null, sensitive: true, 'detailed-type': ['list', 'string'] });
  });

  it('are shown one by one with their real value', async () => {
    const { body } = await server.get(`/api/v2/workspaces/${workspace}/current-state-version-outputs`);
    const { id } = body.data.find((output: any) => output.attributes.name === 'secret');
    const one = await server.get(`/api/v2/state-version-outputs/${id as string}`);
    expect([one.status, one.body.data.attributes.value]).toEqual([200, ['hunter2']]);
    expect((await server.get('/api/v2/state-version-outputs/wsout-none')).status).toBe(404);
    expect((await server.as(null).get(`/api/v2/state-version-outputs/${id as string}`)).status).toBe(401);
  });

  it('are listed in the document of the workspace', async () => {
    const { body } = await server.get(`/api/v2/workspaces/${workspace}`);
    expect(body.data.relationships.outputs.data).toHaveLength(32);
  });

  it('are empty if there is no state or it is not uploaded yet', async () => {
    const empty = await createLockedWorkspace(server, 'no-outputs');
    const none = await server.get(`/api/v2/workspaces/${empty}/current-state-version-outputs`);
    expect([none.status, none.body.data]).toEqual([200, []]);
    const pending = (await postState(server, empty, {}, createStateFile())).body.data.id as string;
    const list = await server.get(`/api/v2/state-versions/${pending}/outputs`);
    expect([list.status, list.body.data]).toEqual([200, []]);
    expect((await server.get('/api/v2/state-versions/sv-none/outputs')).status).toBe(404);
  });
});

describe('the resources of a workspace', () => {
  it('are those of the current state, with pages and stable ids', async () => {
    const path = `/api/v2/workspaces/${workspace}/resources`;
    const { body } = await server.get(path);
    expect(body.meta.pagination['total-count']).toBe(2);
    expect(body.data[1]).toEqual({
      id: expect.stringMatching(/^wsr-/),
      type: 'resources',
      attributes: {
        address: 'null_resource.it[1]',
        name: 'it',
        'created-at': expect.stringMatching(/Z$/),
        'updated-at': expect.stringMatching(/Z$/),
        module: 'root',
        provider: 'hashicorp/null',
        'provider-type': 'null_resource',
        'modified-by-state-version-id': version,
        'name-index': '1',
      },
    });
    const second = await server.get(`${path}?page[size]=1&page[number]=2`);
    expect(second.body.data).toEqual([body.data[1]]);
    const past = await server.get(`${path}?page[number]=5`);
    expect([past.status, past.body.data, past.body.meta.pagination['total-count']]).toEqual([200, [], 2]);
  });

  it('have a module and an address without the prefix `module.`', async () => {
    const inModule = await createLockedWorkspace(server, 'in-module');
    const bytes = createStateFile({ module: 'module.media_bucket' });
    await postState(server, inModule, { state: bytes.toString('base64') }, bytes);
    await unlock(server, inModule);
    const { body } = await server.get(`/api/v2/workspaces/${inModule}/resources`);
    expect(body.data.map(({ attributes: { module, address } }: any) => [module, address])).toEqual([
      ['media_bucket', 'media_bucket.null_resource.it[0]'],
      ['media_bucket', 'media_bucket.null_resource.it[1]'],
    ]);
  });

  it('are empty without a state', async () => {
    const empty = await createLockedWorkspace(server, 'no-resources');
    const none = await server.get(`/api/v2/workspaces/${empty}/resources`);
    expect([none.status, none.body.data, none.body.meta.pagination['total-pages']]).toEqual([200, [], 0]);
    expect((await server.get('/api/v2/workspaces/ws-none/resources')).status).toBe(404);
  });
});
