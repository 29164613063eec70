import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { costOf } from '../../../../test/support/cost.js';
import { logLength } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  bindTags,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeReservedTagKey,
  makeTeam,
  makeWorkspace,
  refusalOf,
  resource,
  tagBindings,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';

const PATH = '/api/v2/organizations/acme/reserved-tag-keys/actions/preview';

let server: TestServer;
/** Projects `shop` and `bank` bind `env` and `team`. A third project binds neither. */
let shop: string;
let bank: string;
let workspaces: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  shop = await makeProject(server, 'acme', 'shop');
  bank = await makeProject(server, 'acme', 'bank');
  const lab = await makeProject(server, 'acme', 'lab');
  await bindTags(server, `projects/${shop}`, { env: 'prod', team: 'sales' });
  await bindTags(server, `projects/${bank}`, { env: 'prod', team: 'money' });
  const make = (name: string, project: string, relationships: object = {}): Promise<string> => {
    const home = { project: { data: { type: 'projects', id: project } } };
    return makeWorkspace(server, 'acme', name, {}, { ...home, ...relationships });
  };
  const own = (tags: Readonly<Record<string, string>>) => ({ 'tag-bindings': tagBindings(tags) });
  workspaces = {
    quiet: await make('quiet', shop),
    other: await make('other', shop, own({ owner: 'ada' })),
    testing: await make('testing', shop, own({ env: 'test', owner: 'ada' })),
    // The same value is an override as well: it does not change with the project.
    agreeing: await make('agreeing', shop, own({ env: 'prod' })),
    flat: await make('flat', bank, { tags: { data: [{ type: 'tags', attributes: { name: 'env' } }] } }),
    free: await make('free', lab, own({ env: 'test' })),
  };
  const theirs = await makeProject(server, 'neighbour', 'theirs');
  await bindTags(server, `projects/${theirs}`, { env: 'prod' });
  const there = { project: { data: { type: 'projects', id: theirs } }, ...own({ env: 'test' }) };
  await makeWorkspace(server, 'neighbour', 'theirs', {}, there);
});

afterAll(() => server.close());

const preview = (
  attributes: object,
  { id, query = '', api = server }: { id?: string; query?: string; api?: ApiTestClient } = {},
) => api.post(`${PATH}?${query}`, { data: { type: 'reserved-tag-keys', ...(id ? { id } : {}), attributes } });
const namesIn = ({ body }: ApiResponse): string[] =>
  body.data.map(({ attributes }: any) => attributes['workspace-name'] as string);
const none = { projects: 0, workspaces: 0 };

describe('a preview of a reserved tag key', () => {
  it('shows the workspaces that override it, with both values, the author and the time', async () => {
    const answer = expectStatus(await preview({ key: 'env', 'disable-overrides': true }), 200);
    expect(namesIn(answer)).toEqual(['agreeing', 'flat', 'testing']);
    const [, , testing] = answer.body.data;
    expect(testing).toEqual({
      id: expect.stringMatching(/^tb-\w{16}$/),
      type: 'tag-overrides',
      attributes: {
        'workspace-name': 'testing',
        'project-name': 'shop',
        key: 'env',
        value: 'test',
        'project-value': 'prod',
        'set-at': expect.stringMatching(/Z$/),
        'set-by': expect.objectContaining({ type: 'users', name: 'admin' }),
      },
      relationships: {
        workspace: {
          data: { type: 'workspaces', id: workspaces['testing'] },
          links: { related: `/api/v2/workspaces/${workspaces['testing']}` },
        },
        project: { data: { type: 'projects', id: shop }, links: { related: `/api/v2/projects/${shop}` } },
      },
    });
    const bindings = await server.get(`/api/v2/workspaces/${workspaces['testing']}/tag-bindings`);
    expect(bindings.body.data.map(({ id }: { id: string }) => id)).toContain(testing.id);
    expect(answer.body.data[1].attributes).toMatchObject({
      value: '',
      'project-value': 'prod',
      'project-name': 'bank',
    });
  });

  it('shows the number of overrides, and where the key would be refused', async () => {
    const { meta } = expectStatus(await preview({ key: 'env', 'disable-overrides': true }), 200).body;
    expect(meta).toMatchObject({
      pagination: { 'total-count': 3 },
      preview: {
        'reserved-tag-key': null,
        before: null,
        after: {
          key: 'env',
          'disable-overrides': true,
          'override-count': 3,
          'refused-in': { projects: 2, workspaces: 5 },
        },
      },
    });
    // Nothing is refused while overrides are enabled, which is the default.
    for (const attributes of [{ key: 'env' }, { key: 'env', 'disable-overrides': false }]) {
      const { after } = expectStatus(await preview(attributes), 200).body.meta.preview;
      expect(after).toEqual({ key: 'env', 'disable-overrides': false, 'override-count': 3, 'refused-in': none });
    }
  });

  it('shows no override if projects or workspaces do not bind the key', async () => {
    for (const [key, projects, inThem] of [
      ['owner', 0, 0],
      ['unheard-of', 0, 0],
      ['team', 2, 5],
    ] as const) {
      const { body } = expectStatus(await preview({ key, 'disable-overrides': true }), 200);
      expect([key, body.data, body.meta.pagination['total-count']]).toEqual([key, [], 0]);
      expect(body.meta.preview.after['refused-in']).toEqual({ projects, workspaces: inThem });
    }
  });

  it('changes nothing', async () => {
    const before = await logLength(server.store);
    expectStatus(await preview({ key: 'env', 'disable-overrides': true }), 200);
    expect(await logLength(server.store)).toBe(before);
    expect((await server.get('/api/v2/organizations/acme/reserved-tag-keys')).body.data).toEqual([]);
  });

  it('is listed page by page, with one statement for each page', async () => {
    const last = () => preview({ key: 'env' }, { query: 'page[size]=2&page[number]=2' });
    expect(await costOf(server, last)).toMatchObject({ status: 200, statements: 1 });
    const second = await last();
    expect(namesIn(second)).toEqual(['testing']);
    expect(second.body.links).toMatchObject({ next: null, prev: expect.stringContaining('actions/preview?page') });
    const beyond = expectStatus(await preview({ key: 'env' }, { query: 'page[number]=9' }), 200).body;
    expect(beyond).toMatchObject({ data: [], meta: { pagination: { 'total-count': 3 } } });
    expectStatus(await preview({ key: 'env' }, { query: 'page[size]=none' }), 400);
  });

  it('shows the rule before and after a change of an existing key', async () => {
    const id = await makeReservedTagKey(server, 'acme', 'env', { 'disable-overrides': true });
    const strict = { 'disable-overrides': true, 'override-count': 3, 'refused-in': { projects: 2, workspaces: 5 } };
    const readPreview = async (attributes: object, by?: string) => {
      const { meta } = expectStatus(await preview(attributes, by === undefined ? {} : { id: by }), 200).body;
      return meta.preview;
    };
    // Without an id, the preview finds the reserved tag key by its key.
    for (const by of [id, undefined]) {
      expect(await readPreview({ key: 'env' }, by)).toEqual({
        'reserved-tag-key': id,
        before: { key: 'env', ...strict },
        after: { key: 'env', ...strict },
      });
    }
    expect(await readPreview({ key: 'env', 'disable-overrides': false })).toMatchObject({
      before: { key: 'env', ...strict },
      after: { key: 'env', 'disable-overrides': false, 'override-count': 3, 'refused-in': none },
    });
    expect(await readPreview({ key: 'team' }, id)).toEqual({
      'reserved-tag-key': id,
      before: { key: 'env', ...strict },
      after: { key: 'team', ...strict, 'override-count': 0 },
    });
    expectStatus(await server.delete(`/api/v2/reserved-tags/${id}`), 204);
  });

  it('is refused like the change itself', async () => {
    const id = await makeReservedTagKey(server, 'acme', 'one');
    await makeReservedTagKey(server, 'acme', 'two');
    const foreign = await makeReservedTagKey(server, 'neighbour', 'one');
    const key = '/data/attributes/key';
    expect(refusalOf(await preview({ key: 'two' }, { id }))).toEqual([key, 'Key has already been taken']);
    expect(refusalOf(await preview({ key: 'a/b' }))).toEqual([key, 'Key is invalid']);
    expect(refusalOf(await preview({}))).toEqual([key, "Key can't be blank"]);
    expect(refusalOf(await preview({ key: null }))).toEqual([key, "Key can't be blank"]);
    expect(refusalOf(await preview({ key: 'x', 'disable-overrides': 1 }))).toEqual([
      '/data/attributes/disable-overrides',
      'Disable overrides must be true or false',
    ]);
    for (const unknown of [foreign, 'rtk-nowhere']) {
      expect(refusalOf(await preview({ key: 'x' }, { id: unknown }))).toEqual([
        '/data/id',
        'Reserved tag key does not exist',
      ]);
    }
    expect(refusalOf(await server.post(PATH, resource('tags', { key: 'x' })))).toEqual([
      '/data/type',
      'Type must be reserved-tag-keys',
    ]);
    expectStatus(await server.post(PATH.replace('acme', 'nowhere'), resource('reserved-tag-keys', { key: 'x' })), 404);
  });

  it('shows and counts only workspaces that the caller sees', async () => {
    const inShop = await makeTeam(server, 'acme', 'in-shop');
    await grantProjectAccess(server, inShop, shop, 'read');
    const ofOne = await makeTeam(server, 'acme', 'of-one');
    await grantWorkspaceAccess(server, ofOne, workspaces['flat'] ?? '', 'read');
    for (const [name, teams, names, refusedIn] of [
      ['shopper', [inShop], ['agreeing', 'testing'], { projects: 1, workspaces: 4 }],
      ['single', [ofOne], ['flat'], { projects: 1, workspaces: 1 }],
      ['both', [inShop, ofOne], ['agreeing', 'flat', 'testing'], { projects: 2, workspaces: 5 }],
      ['nobody', [], [], none],
    ] as const) {
      const api = await makeMember(server, 'acme', name, teams);
      const answer = expectStatus(await preview({ key: 'env', 'disable-overrides': true }, { api }), 200);
      expect([name, namesIn(answer)]).toEqual([name, names]);
      expect(answer.body.meta).toMatchObject({
        pagination: { 'total-count': names.length },
        preview: { after: { 'override-count': names.length, 'refused-in': refusedIn } },
      });
    }
    const stranger = await makeMember(server, 'neighbour', 'stranger');
    expectStatus(await preview({ key: 'env' }, { api: stranger }), 404);
  });
});
