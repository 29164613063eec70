import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { costOf } from '../../../../test/support/cost.js';
import {
  expectStatus,
  bindTags,
  flatTags,
  grantProjectAccess,
  grantWorkspaceAccess,
  idOfTag,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeReservedTagKey,
  makeTeam,
  makeToken,
  makeWorkspace,
  refusalOf,
  related,
  resource,
  tagBindings,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { listNames } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { deriveTagId } from '#organizations/tag-bindings';

const PATH = '/api/v2/organizations/acme/tags';

let server: TestServer;
let organization: string;
let land: string;
let one: string;
/** Member without access to workspaces. */
let member: SeededMember;
/** Member with write access to `two` only. */
let tagger: SeededMember;
let two: string;

const into = (project: string) => ({ project: { data: { type: 'projects', id: project } } });

beforeAll(async () => {
  server = await startTestServer();
  ({ id: organization } = await makeOrganization(server, 'acme'));
  await makeOrganization(server, 'other');
  land = await makeProject(server, 'acme', 'land');
  const bound = { 'tag-bindings': tagBindings({ env: 'prod' }) };
  one = await makeWorkspace(server, 'acme', 'one', {}, { tags: flatTags('app', 'Prod'), ...bound });
  two = await makeWorkspace(server, 'acme', 'two', {}, { tags: flatTags('app', 'env'), ...into(land) });
  await makeWorkspace(server, 'other', 'three', {}, { tags: flatTags('app', 'elsewhere') });
  member = await makeMember(server, 'acme', 'member');
  const team = await makeTeam(server, 'acme', 'taggers');
  await grantWorkspaceAccess(server, team, two, 'write');
  tagger = await makeMember(server, 'acme', 'tagger', [team]);
});

afterAll(() => server.close());

const ofOne = (id: string) => `/api/v2/workspaces/${id}/relationships/tags`;

const list = async (query = '', api: ApiTestClient = server): Promise<ApiResponse> =>
  expectStatus(await api.get(`${PATH}?${query}`), 200);
const listOf = async (id: string, query = '', api: ApiTestClient = server): Promise<ApiResponse> =>
  expectStatus(await api.get(`${ofOne(id)}?${query}`), 200);

type Entry = { readonly id: string; readonly attributes: { readonly name: string; readonly 'instance-count': number } };

const countsIn = ({ body }: ApiResponse): Record<string, number> =>
  Object.fromEntries(body.data.map(({ attributes }: Entry) => [attributes.name, attributes['instance-count']]));

const eventsOf = async (id: string): Promise<unknown[]> =>
  (await server.store.log.stream(id)).slice(1).map(({ type, data }) => ({ type, data }));

const added = (name: string) => ({ type: 'WorkspaceTagAdded', data: { name } });
const removed = (name: string) => ({ type: 'WorkspaceTagRemoved', data: { name } });

let workspaceCount = 0;
const makeNextWorkspace = (relationships: object = {}, name = 'acme'): Promise<string> =>
  makeWorkspace(server, name, `fresh-${(workspaceCount += 1)}`, {}, relationships);

describe('the tags of an organization', () => {
  it('are the flat tags of all its workspaces, each with the number of workspaces', async () => {
    const answer = await list();
    expect(countsIn(answer)).toEqual({ Prod: 1, app: 2, env: 1 });
    expect(answer.body.data[0]).toMatchObject({
      type: 'tags',
      id: deriveTagId(organization, 'Prod'),
      attributes: { name: 'Prod', 'created-at': expect.stringMatching(/Z$/), 'instance-count': 1 },
      relationships: { organization: { data: { type: 'organizations', id: 'acme' } } },
    });
    expect(answer.body.meta.pagination['total-count']).toBe(3);
  });

  it.each([
    ['q=P', ['Prod', 'app']],
    ['q=PROD', ['Prod']],
    ['q=%25', []],
    ['q=_', []],
    ['filter[exclude][taggable][id]=ws-none', ['Prod', 'app', 'env']],
    ['unheard-of=1', ['Prod', 'app', 'env']],
  ])('are searched with the query "%s"', async (query, names) => {
    const answer = await list(query);
    expect(listNames(answer)).toEqual(names);
    expect(answer.body.meta.pagination['total-count']).toBe(names.length);
  });

  it('exclude the tags of a workspace that the caller sees', async () => {
    // The workspace has `env` as a binding, which excludes the tag as well.
    expect(listNames(await list(`filter[exclude][taggable][id]=${one}`))).toEqual([]);
    expect(listNames(await list(`filter[exclude][taggable][id]=${one}`, tagger))).toEqual(['app', 'env']);
    expect(listNames(await list(`filter[exclude][taggable][id]=${two}`, tagger))).toEqual([]);
  });

  it('are listed page by page, with one statement for each page', async () => {
    const first = await list('page[size]=2');
    expect(listNames(first)).toEqual(['Prod', 'app']);
    expect(first.body.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2, 'next-page': 2 });
    const next = (): Promise<ApiResponse> => server.get(first.body.links.next as string);
    expect(await costOf(server, next)).toMatchObject({ status: 200, statements: 1 });
    expect(listNames(await next())).toEqual(['env']);
    expect((await list('page[number]=9')).body).toMatchObject({ data: [], meta: { pagination: { 'total-count': 3 } } });
  });

  it('are listed and counted only for workspaces that the caller may read', async () => {
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    expect(countsIn(await list('', token))).toEqual({ Prod: 1, app: 2, env: 1 });
    expect(countsIn(await list('', tagger))).toEqual({ app: 1, env: 1 });
    const none = await list('', member);
    expect([none.body.data, none.body.meta.pagination['total-count']]).toEqual([[], 0]);
    const team = await makeTeam(server, 'acme', 'of-the-land');
    await grantProjectAccess(server, team, land, 'read');
    expect(countsIn(await list('', await makeMember(server, 'acme', 'passer', [team])))).toEqual({ app: 1, env: 1 });
  });

  it('return 404 to callers outside the organization and to audit trail tokens', async () => {
    const stranger = await makeMember(server, 'other', 'stranger');
    const audit = '/api/v2/organizations/acme/authentication-token?token=audit-trails';
    for (const caller of [stranger, server.as(await makeToken(server, audit))]) {
      expect((await caller.get(PATH)).status).toBe(404);
    }
    expect((await server.get('/api/v2/organizations/nowhere/tags')).status).toBe(404);
  });

  it('disappear with the last workspace that has them, and follow the new name of their organization', async () => {
    const last = await makeWorkspace(server, 'other', 'last', {}, { tags: flatTags('fleeting') });
    const names = async (name: string) =>
      listNames(expectStatus(await server.get(`/api/v2/organizations/${name}/tags`), 200));
    expect(await names('other')).toEqual(['app', 'elsewhere', 'fleeting']);
    expectStatus(await server.delete(`/api/v2/workspaces/${last}`), 204);
    expect(await names('other')).toEqual(['app', 'elsewhere']);
    expectStatus(
      await server.patch('/api/v2/organizations/other', resource('organizations', { name: 'renamed' })),
      200,
    );
    expect(await names('renamed')).toEqual(['app', 'elsewhere']);
    expectStatus(await server.get('/api/v2/organizations/other/tags'), 404);
    expectStatus(
      await server.patch('/api/v2/organizations/renamed', resource('organizations', { name: 'other' })),
      200,
    );
  });
});

describe('the tags of a workspace', () => {
  it('have the same documents as in the organization, in order of insertion', async () => {
    expect(countsIn(await listOf(one))).toEqual({ app: 2, Prod: 1 });
    expect(listNames(await listOf(one))).toEqual(['app', 'Prod']);
    expect((await list('q=app')).body.data).toEqual((await listOf(one, 'name=app')).body.data);
  });

  it('are counted in workspaces that the caller sees', async () => {
    expect(countsIn(await listOf(two, '', tagger))).toEqual({ app: 1, env: 1 });
  });

  it.each([
    ['name=AP', ['app']],
    ['name=none', []],
    ['name=', ['app', 'Prod']],
    ['page[size]=1', ['app']],
    ['page[size]=1&page[number]=2', ['Prod']],
    ['page[number]=3', []],
  ])('are searched and paged with the query "%s"', async (query, names) => {
    const answer = await listOf(one, query);
    expect(listNames(answer)).toEqual(names);
    expect(answer.body.meta.pagination['total-count']).toBe(query.startsWith('name=') ? names.length : 2);
  });

  it('return 404 to callers that may not read the workspace', async () => {
    expect((await tagger.get(ofOne(one))).status).toBe(404);
    expect((await server.get(ofOne('ws-none'))).status).toBe(404);
  });
});

describe('adding flat tags', () => {
  it('records one event for each new tag, in the order of the request', async () => {
    const id = await makeNextWorkspace({ tags: flatTags('old') });
    expectStatus(await server.post(ofOne(id), flatTags('new:1', 'old', 'UPPER_case-2', 'new:1')), 204);
    expect(await eventsOf(id)).toEqual([added('new:1'), added('UPPER_case-2')]);
    expect(listNames(await listOf(id))).toEqual(['old', 'new:1', 'UPPER_case-2']);
    expectStatus(await server.post(ofOne(id), flatTags('old')), 204);
    expect(await eventsOf(id)).toHaveLength(2);
    const { attributes } = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data;
    expect(attributes['tag-names']).toEqual(['old', 'new:1', 'UPPER_case-2']);
  });

  it('accepts names and ids; the id counts in a tag with both', async () => {
    const id = await makeNextWorkspace();
    const app = await idOfTag(server, 'acme', 'app');
    const data = [
      { type: 'tags', attributes: { name: 'first' } },
      { type: 'tags', id: app, attributes: { name: 'whatever' } },
      { type: 'tags', id: '', attributes: { name: 'last' } },
    ];
    expectStatus(await server.post(ofOne(id), { data }), 204);
    expect(listNames(await listOf(id))).toEqual(['first', 'app', 'last']);
    const { attributes } = (await listOf(id, 'name=app')).body.data[0];
    expect([attributes.name, attributes['instance-count']]).toEqual(['app', 3]);
    await removeAll(id);
  });

  it('adds all tags or none', async () => {
    const id = await makeNextWorkspace();
    const bad = { data: [...flatTags('fine').data, { type: 'tags', id: 'tag-0123456789abcdef' }] };
    const { body } = expectStatus(await server.post(ofOne(id), bad), 404);
    expect(body.errors[0].detail).toBe('Tag tag-0123456789abcdef not found');
    expectStatus(await server.post(ofOne(id), flatTags('fine', 'not fine')), 422);
    expect(await eventsOf(id)).toEqual([]);
  });

  it('returns 404 for the id of a tag of another organization or of workspaces that the caller cannot see', async () => {
    const elsewhere = await idOfTag(server, 'other', 'elsewhere');
    expect((await server.post(ofOne(one), related('tags', elsewhere))).status).toBe(404);
    expect((await tagger.post(ofOne(two), related('tags', deriveTagId(organization, 'Prod')))).status).toBe(404);
    expect((await tagger.post(ofOne(two), related('tags', deriveTagId(organization, 'app')))).status).toBe(204);
  });

  it.each([
    ['x'.repeat(256), /at most 255/],
    ['', /can't be blank/],
    ['with space', /letters, numbers, colons, hyphens and underscores/],
    ['a/b', /letters, numbers, colons, hyphens and underscores/],
    ['größe', /letters, numbers, colons, hyphens and underscores/],
  ])('refuses the name "%s"', async (name, detail) => {
    const refusal = refusalOf(await server.post(ofOne(one), flatTags('fine', name)));
    expect(refusal).toEqual(['/data/1/attributes/name', expect.stringMatching(detail)]);
    expect(await eventsOf(one)).toEqual([]);
  });

  it('accepts a name of 255 characters', async () => {
    const id = await makeNextWorkspace();
    expectStatus(await server.post(ofOne(id), flatTags('x'.repeat(255))), 204);
    expect(await eventsOf(id)).toEqual([added('x'.repeat(255))]);
    await removeAll(id);
  });

  it('does not change a binding with the same key', async () => {
    const id = await makeNextWorkspace({ 'tag-bindings': tagBindings({ tier: '1' }) });
    expectStatus(await server.post(ofOne(id), flatTags('tier')), 204);
    expect(await eventsOf(id)).toEqual([]);
  });

  it('is refused if the project binds the key and overrides are disabled', async () => {
    const project = await makeProject(server, 'acme', 'fixed');
    await bindTags(server, `projects/${project}`, { owner: 'ops' });
    const id = await makeNextWorkspace(into(project));
    const key = await makeReservedTagKey(server, 'acme', 'owner', { 'disable-overrides': true });
    const [pointer, detail] = refusalOf(await server.post(ofOne(id), flatTags('fine', 'owner')));
    expect(pointer).toBe('/data/1');
    for (const part of ['owner', 'fixed', key]) expect(detail).toContain(part);
    expectStatus(await server.delete(`/api/v2/reserved-tag-keys/${key}`), 204);
    expectStatus(await server.post(ofOne(id), flatTags('owner')), 204);
    await removeAll(id);
  });

  it('works at the creation of a workspace, by name and by id', async () => {
    const tags = { data: [...related('tags', deriveTagId(organization, 'app')).data, ...flatTags('born').data] };
    const id = await makeNextWorkspace({ tags, 'tag-bindings': tagBindings({ tier: '1' }) });
    const { attributes } = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data;
    expect(attributes['tag-names']).toEqual(['app', 'born', 'tier']);
    await removeAll(id);
    const path = '/api/v2/organizations/acme/workspaces';
    const unknown = resource('workspaces', { name: 'unborn' }, { tags: related('tags', 'tag-none') });
    expect(refusalOf(await server.post(path, unknown))).toEqual([
      '/data/relationships/tags/data/0/id',
      'Tag tag-none does not exist',
    ]);
  });
});

const removeAll = async (id: string): Promise<void> => {
  expectStatus(await server.delete(ofOne(id), flatTags(...listNames(await listOf(id, 'page[size]=100')))), 204);
};

describe('removing flat tags', () => {
  it('ignores names that no tag can have, and null as an id', async () => {
    const id = await makeNextWorkspace({ tags: flatTags('kept', 'gone') });
    const data = [
      ...flatTags('never ever!', 'Cost Center', 'größe').data,
      { type: 'tags', id: null, attributes: { name: 'gone' } },
    ];
    expectStatus(await server.delete(ofOne(id), { data }), 204);
    expect(listNames(await listOf(id))).toEqual(['kept']);
    await removeAll(id);
  });

  it('records one event for each removed tag, by name or by id, and ignores unknown names', async () => {
    const id = await makeNextWorkspace({ tags: flatTags('a', 'b', 'c') });
    const data = [...flatTags('a', 'nowhere').data, { type: 'tags', id: deriveTagId(organization, 'c') }];
    expectStatus(await server.delete(ofOne(id), { data }), 204);
    expect(await eventsOf(id)).toEqual([removed('a'), removed('c')]);
    expect(listNames(await listOf(id))).toEqual(['b']);
    expectStatus(await server.delete(ofOne(id), flatTags('a')), 204);
    expect(await eventsOf(id)).toHaveLength(2);
    // That workspace was the last one with this tag.
    expect(listNames(await list('q=a'))).not.toContain('a');
    await removeAll(id);
  });

  it.each([
    [{}, '/data/0', 'Tag must have an id or a name'],
    [{ type: 'tags', id: null, attributes: { name: null } }, '/data/0', 'Tag must have an id or a name'],
    [{ attributes: { name: '' } }, '/data/0/attributes/name', "Name can't be blank"],
  ])('refuses the entry %j like adding does', async (entry, ...problem) => {
    const id = await makeNextWorkspace({ tags: flatTags('kept') });
    const body = { data: [entry, ...flatTags('kept').data] };
    expect(refusalOf(await server.delete(ofOne(id), body))).toEqual(problem);
    expect(refusalOf(await server.post(ofOne(id), body))).toEqual(problem);
    expect(listNames(await listOf(id))).toEqual(['kept']);
    await removeAll(id);
  });

  it('returns 404 for an unknown id and removes nothing', async () => {
    const id = await makeNextWorkspace({ tags: flatTags('kept') });
    const data = [...flatTags('kept').data, { type: 'tags', id: 'tag-none' }];
    expectStatus(await server.delete(ofOne(id), { data }), 404);
    expect(listNames(await listOf(id))).toEqual(['kept']);
    // A tag of another workspace is not an error.
    expectStatus(await server.delete(ofOne(id), related('tags', deriveTagId(organization, 'app'))), 204);
    await removeAll(id);
  });

  it('does not change a binding with the same key', async () => {
    expectStatus(await server.delete(ofOne(one), flatTags('env')), 204);
    expect(await eventsOf(one)).toEqual([]);
  });
});

describe('adding workspaces to a tag', () => {
  const toTag = (name: string, ...workspaces: readonly string[]) =>
    [
      `/api/v2/tags/${deriveTagId(organization, name)}/relationships/workspaces`,
      related('workspaces', ...workspaces),
    ] as const;

  it('records one event for each workspace that does not have the tag yet', async () => {
    const [first, second] = [await makeNextWorkspace({ tags: flatTags('shared') }), await makeNextWorkspace()];
    expectStatus(await server.post(...toTag('shared', second, first, second)), 204);
    expect([await eventsOf(first), await eventsOf(second)]).toEqual([[], [added('shared')]]);
    expect(countsIn(await list('q=shared'))).toEqual({ shared: 2 });
    expectStatus(await server.post(...toTag('shared', first, second)), 204);
    expect(await eventsOf(second)).toHaveLength(1);
    for (const id of [first, second]) await removeAll(id);
  });

  it('tags all workspaces or none', async () => {
    const id = await makeNextWorkspace();
    for (const other of ['ws-none', await makeNextWorkspace({}, 'other')]) {
      const { body } = expectStatus(await server.post(...toTag('app', id, other)), 404);
      expect(body.errors[0].detail).toBe(`Workspace ${other} not found`);
    }
    expectStatus(await tagger.post(...toTag('app', two, id)), 404);
    expect(await eventsOf(id)).toEqual([]);
    expectStatus(await tagger.post(...toTag('app', two)), 204);
  });

  it('requires a tag that the caller sees', async () => {
    expect((await server.post(...toTag('nowhere', one))).status).toBe(404);
    expect((await tagger.post(...toTag('Prod', two))).status).toBe(404);
    expect((await member.post(...toTag('app', one))).status).toBe(404);
  });

  it('names the first workspace whose project forbids the tag', async () => {
    const project = await makeProject(server, 'acme', 'closed');
    await bindTags(server, `projects/${project}`, { app: 'bound' });
    const [open, closed] = [await makeNextWorkspace(), await makeNextWorkspace(into(project))];
    const key = await makeReservedTagKey(server, 'acme', 'app', { 'disable-overrides': true });
    const [pointer, detail] = refusalOf(await server.post(...toTag('app', open, closed)));
    expect([pointer, detail.includes(key)]).toEqual(['/data/1', true]);
    expect(await eventsOf(open)).toEqual([]);
    expectStatus(await server.delete(`/api/v2/reserved-tag-keys/${key}`), 204);
  });
});

describe('the id of a tag', () => {
  it.each(['app', 'x'.repeat(255), 'A:b-c_9'])('is the same in Postgres and in the application: %s', async (name) => {
    const row = await server.database.row(sql`select views.tag_id(${organization}, ${name}) as id`);
    expect(row).toEqual({ id: deriveTagId(organization, name) });
  });

  it('is derived from any text', async () => {
    const name = String.raw`back\slash, \x00 and größe`;
    const row = await server.database.row(sql`select views.tag_id(${organization}, ${name}) as id`);
    expect(row).toEqual({ id: deriveTagId(organization, name) });
  });

  it('is found through an index', async () => {
    const session = await server.database.session();
    await session.run(sql`set enable_seqscan = off`);
    const plan = await session.run(sql`
      explain (format json) select key from workspace_tags t
       where t.value is null and views.tag_id(t.organization, t.key) = ${deriveTagId(organization, 'app')}`);
    await session.close();
    expect(JSON.stringify(plan)).toContain('workspace_tags_by_id');
  });
});
