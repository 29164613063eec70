import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { costOf } from '../../../../test/support/cost.js';
import { listNames } from '../../../../test/support/responses.js';
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
  tagBindings,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';

const PATH = '/api/v2/organizations/acme/tag-compliance';

let server: TestServer;
let shop: string;
let lab: string;
let workspaces: Readonly<Record<string, string>>;

const own = (tags: Readonly<Record<string, string>>) => ({ 'tag-bindings': tagBindings(tags) });
const flat = (name: string) => ({ tags: { data: [{ type: 'tags', attributes: { name } }] } });

const make = (name: string, project: string, relationships: object = {}): Promise<string> =>
  makeWorkspace(server, 'acme', name, {}, { project: { data: { type: 'projects', id: project } }, ...relationships });

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  shop = await makeProject(server, 'acme', 'shop');
  lab = await makeProject(server, 'acme', 'lab');
  await bindTags(server, `projects/${shop}`, { env: 'prod', owner: '' });
  workspaces = {
    inheriting: await make('inheriting', shop),
    complete: await make('complete', shop, own({ owner: 'ada' })),
    emptied: await make('emptied', shop, own({ env: '', owner: 'ada' })),
    flattened: await make('flattened', shop, { ...own({ owner: 'ada' }), ...flat('env') }),
    alone: await make('alone', lab, own({ env: 'test', owner: 'grace' })),
    bare: await make('bare', lab),
  };
  // Workspaces of other organizations lack every key, but are no gaps of this one.
  await makeWorkspace(server, 'neighbour', 'theirs');
  await makeReservedTagKey(server, 'neighbour', 'theirs-alone');
});

afterAll(() => server.close());

const list = async (query = '', api: ApiTestClient = server): Promise<ApiResponse> =>
  expectStatus(await api.get(`${PATH}?${query}`), 200);
const gapsIn = ({ body }: ApiResponse): [string, string[]][] =>
  body.data.map(({ attributes }: any) => [attributes['workspace-name'], attributes['missing-keys']]);

describe('the list of compliance gaps', () => {
  it('is complete if no key is reserved', async () => {
    expect((await list()).body).toMatchObject({ data: [], meta: { pagination: { 'total-count': 0 } } });
  });

  it('lists each workspace that lacks a value, with the missing keys', async () => {
    await makeReservedTagKey(server, 'acme', 'owner');
    await makeReservedTagKey(server, 'acme', 'env');
    const answer = await list();
    expect(gapsIn(answer)).toEqual([
      ['bare', ['env', 'owner']],
      // The workspace's own tag takes precedence, even without a value.
      ['emptied', ['env']],
      ['flattened', ['env']],
      // The project's tag counts if it has a value.
      ['inheriting', ['owner']],
    ]);
    expect(answer.body.data[0]).toEqual({
      id: workspaces['bare'],
      type: 'tag-compliance-gaps',
      attributes: { 'workspace-name': 'bare', 'project-name': 'lab', 'missing-keys': ['env', 'owner'] },
      relationships: {
        workspace: {
          data: { type: 'workspaces', id: workspaces['bare'] },
          links: { related: `/api/v2/workspaces/${workspaces['bare']}` },
        },
        project: { data: { type: 'projects', id: lab }, links: { related: `/api/v2/projects/${lab}` } },
      },
    });
    expect(answer.body.meta.pagination['total-count']).toBe(4);
  });

  it.each([
    ['filter[key]=owner', ['bare', 'inheriting']],
    ['filter[key]=env', ['bare', 'emptied', 'flattened']],
    // Another organization reserves this key, and no workspace here has it.
    ['filter[key]=theirs-alone', []],
    ['filter[key]=', ['bare', 'emptied', 'flattened', 'inheriting']],
    ['unheard-of=1', ['bare', 'emptied', 'flattened', 'inheriting']],
    ['filter[project][id]=prj-nowhere', []],
  ])('is filtered with the query "%s"', async (query, names) => {
    const answer = await list(query);
    expect(gapsIn(answer).map(([name]) => name)).toEqual(names);
    expect(answer.body.meta.pagination['total-count']).toBe(names.length);
  });

  it('shows what would be a gap if another key were reserved', async () => {
    const answer = await list('filter[proposed-key]=team');
    expect(answer.body.meta.pagination['total-count']).toBe(6);
    expect(gapsIn(answer)[0]).toEqual(['alone', ['team']]);
    expect(gapsIn(answer)[1]).toEqual(['bare', ['env', 'owner', 'team']]);
    // A key that is reserved already has the gaps that it has.
    const names = (gaps: ApiResponse) => gapsIn(gaps).map(([name]) => name);
    expect(names(await list('filter[proposed-key]=owner'))).toEqual(names(await list('filter[key]=owner')));
    expect(gapsIn(await list(`filter[proposed-key]=team&filter[project][id]=${lab}`))).toEqual([
      ['alone', ['team']],
      ['bare', ['env', 'owner', 'team']],
    ]);
  });

  it('shows all missing keys of a workspace, whatever the filter', async () => {
    const [first] = (await list('filter[key]=owner')).body.data;
    expect(first).toEqual((await list()).body.data[0]);
  });

  it('is filtered by project, and by project and key together', async () => {
    const inShop = `filter[project][id]=${shop}`;
    expect(gapsIn(await list(inShop)).map(([name]) => name)).toEqual(['emptied', 'flattened', 'inheriting']);
    expect(gapsIn(await list(`filter[project][id]=${lab}`))).toEqual([['bare', ['env', 'owner']]]);
    expect(gapsIn(await list(`${inShop}&filter[key]=owner`))).toEqual([['inheriting', ['owner']]]);
  });

  it('is listed by name and page by page, with one statement for each page', async () => {
    const first = await list('page[size]=3');
    expect(gapsIn(first).map(([name]) => name)).toEqual(['bare', 'emptied', 'flattened']);
    const next = (): Promise<ApiResponse> => server.get(first.body.links.next as string);
    expect(await costOf(server, next)).toMatchObject({ status: 200, statements: 1 });
    const second = await next();
    expect(gapsIn(second)).toEqual([['inheriting', ['owner']]]);
    expect((await list('page[number]=9')).body).toMatchObject({ data: [], meta: { pagination: { 'total-count': 4 } } });
  });

  it('is listed for workspaces that the caller sees', async () => {
    const ofShop = await makeTeam(server, 'acme', 'of-shop');
    await grantProjectAccess(server, ofShop, shop, 'read');
    const ofBare = await makeTeam(server, 'acme', 'of-bare');
    await grantWorkspaceAccess(server, ofBare, workspaces['bare'] ?? '', 'read');
    for (const [name, teams, names] of [
      ['shopper', [ofShop], ['emptied', 'flattened', 'inheriting']],
      ['single', [ofBare], ['bare']],
      ['nobody', [], []],
    ] as const) {
      const answer = await list('', await makeMember(server, 'acme', name, teams));
      expect([name, gapsIn(answer).map(([workspace]) => workspace)]).toEqual([name, names]);
      expect(answer.body.meta.pagination['total-count']).toBe(names.length);
    }
    const stranger = await makeMember(server, 'neighbour', 'stranger');
    expectStatus(await stranger.get(PATH), 404);
    expectStatus(await server.get('/api/v2/organizations/nowhere/tag-compliance'), 404);
  });

  it('is counted by project for workspaces that the caller sees', async () => {
    const path = '/api/v2/organizations/acme/tag-compliance-statistics';
    const count = async (api: ApiTestClient = server) => expectStatus(await api.get(path), 200).body.data.attributes;
    expect(await count()).toEqual({
      'reserved-key-count': 2,
      'workspace-count': 6,
      'gap-count': 4,
      'project-count': 2,
      projects: [
        { id: shop, name: 'shop', 'workspace-count': 4, 'gap-count': 3 },
        { id: lab, name: 'lab', 'workspace-count': 2, 'gap-count': 1 },
      ],
    });
    const team = await makeTeam(server, 'acme', 'of-alone');
    await grantWorkspaceAccess(server, team, workspaces['alone'] ?? '', 'read');
    expect(await count(await makeMember(server, 'acme', 'loner', [team]))).toMatchObject({
      'workspace-count': 1,
      'gap-count': 0,
      projects: [{ name: 'lab', 'workspace-count': 1, 'gap-count': 0 }],
    });
    expect(await count(await makeMember(server, 'acme', 'unconcerned'))).toMatchObject({
      'workspace-count': 0,
      projects: [],
    });
    expectStatus(await (await makeMember(server, 'neighbour', 'outsider')).get(path), 404);
    expect(await costOf(server, () => server.get(path))).toMatchObject({ status: 200, statements: 1 });
  });

  it('has the same workspaces as the list of workspaces with filter[tag-gaps]', async () => {
    const listed = async () =>
      listNames(expectStatus(await server.get('/api/v2/organizations/acme/workspaces?filter[tag-gaps]=true'), 200));
    const before = await listed();
    expect(before).toEqual(gapsIn(await list()).map(([workspace]) => workspace));
    const key = await makeReservedTagKey(server, 'acme', 'tier');
    expect((await listed()).length).toBeGreaterThan(before.length);
    expectStatus(await server.delete(`/api/v2/reserved-tag-keys/${key}`), 204);
    expect(await listed()).toEqual(before);
  });

  it('changes at once with the bindings of workspaces and projects', async () => {
    await bindTags(server, `projects/${lab}`, { env: 'test' });
    expect(gapsIn(await list(`filter[project][id]=${lab}`))).toEqual([['bare', ['owner']]]);
    await bindTags(server, `workspaces/${workspaces['bare']}`, { owner: 'linus' });
    expect(gapsIn(await list(`filter[project][id]=${lab}`))).toEqual([]);
    await bindTags(server, `workspaces/${workspaces['emptied']}`, { env: 'dev' });
    await bindTags(server, `projects/${shop}`, { owner: 'sales' });
    expect(gapsIn(await list())).toEqual([['flattened', ['env']]]);
    const tags = `/api/v2/workspaces/${workspaces['flattened']}/relationships/tags`;
    expectStatus(await server.delete(tags, { data: [{ type: 'tags', attributes: { name: 'env' } }] }), 204);
    expect(gapsIn(await list())).toEqual([]);
  });
});
