import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { organizationsDefinition } from '#organizations/organizations';
import { workspacesDefinition } from '#workspaces/workspaces';
import { costOf } from '../../../../test/support/cost.js';
import { logLength } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  bindTags,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeTeam,
  makeToken,
  makeWorkspace,
  refusalOf,
  related,
  resource,
  tagBindings,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { tagsDefinition } from '../index.js';

let server: TestServer;
let admin: { readonly type: string; readonly id: string; readonly name: string };
let reader: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
  const { id } = expectStatus(await server.get('/api/v2/account/details'), 200).body.data;
  admin = { type: 'users', id: id as string, name: 'admin' };
  reader = server.as(await makeOrganizationToken(server, 'acme'));
});

afterAll(() => server.close());

let count = 0;
const unique = (name: string): string => `${name}-${(count += 1)}`;

type Owner = {
  readonly type: string;
  readonly make: (relationships?: object) => Promise<string>;
  readonly updated: string;
};

const OWNERS: readonly Owner[] = [
  {
    type: 'workspaces',
    make: (relationships) => makeWorkspace(server, 'acme', unique('workspace'), {}, relationships),
    updated: 'workspace',
  },
  {
    type: 'projects',
    make: async (relationships) => {
      const body = resource('projects', { name: unique('project') }, relationships);
      return expectStatus(await server.post('/api/v2/organizations/acme/projects', body), 201).body.data.id as string;
    },
    updated: 'project',
  },
];

const pairsIn = ({ body }: ApiResponse): (readonly [key: string, value: string])[] =>
  body.data.map(({ attributes: { key, value } }: any) => [key, value]);

describe.each(OWNERS)('tag bindings of $type', ({ type, make, updated }) => {
  const path = (id: string, rest = ''): string => `/api/v2/${type}/${id}${rest}`;
  const list = async (id: string): Promise<ApiResponse> =>
    expectStatus(await server.get(path(id, '/tag-bindings')), 200);
  const bound = async (id: string) => pairsIn(await list(id));
  const patch = (id: string, relationships?: object): Promise<ApiResponse> =>
    server.patch(path(id), resource(type, {}, relationships));
  const withTags = (tags: Readonly<Record<string, string>>) => ({ 'tag-bindings': tagBindings(tags) });

  it('are created with their owner, and listed in order of insertion', async () => {
    const id = await make(withTags({ team: 'Core ', env: '' }));
    expect((await list(id)).body).toEqual({
      data: ['team', 'env'].map((key) => ({
        id: expect.stringMatching(/^tb-\w{16}$/),
        type: 'tag-bindings',
        attributes: {
          key,
          value: key === 'team' ? 'Core ' : '',
          'set-at': expect.stringMatching(/Z$/),
          'set-by': admin,
          'forbidden-by': null,
        },
      })),
    });
    expect((await server.get(path(id, '/relationships/tag-bindings'))).body).toEqual((await list(id)).body);
  });

  it('are added or replaced by key, and the response contains each sent binding once, in the order of the request', async () => {
    const id = await make(withTags({ a: '1', b: '1' }));
    const sent = { data: [...tagBindings({ c: '1', a: '2' }).data, { attributes: { key: 'c', value: null } }] };
    const answer = expectStatus(await server.patch(path(id, '/tag-bindings'), sent), 200);
    expect(pairsIn(answer)).toEqual([
      ['c', ''],
      ['a', '2'],
    ]);
    const all = (await list(id)).body.data;
    expect(answer.body.data).toEqual([all[2], all[0]]);
    expect(await bound(id)).toEqual([
      ['a', '2'],
      ['b', '1'],
      ['c', ''],
    ]);
  });

  it('are replaced by the list in a PATCH of the owner, cleared by an empty list, and unchanged without a list', async () => {
    const id = await make(withTags({ a: '1', b: '1' }));
    expectStatus(await patch(id), 200);
    // A client sends back the document that it has read.
    expectStatus(await patch(id, { 'tag-bindings': { links: { related: path(id, '/tag-bindings') } } }), 200);
    expect(await bound(id)).toHaveLength(2);
    expectStatus(await patch(id, withTags({ c: '1', b: '2' })), 200);
    expect(await bound(id)).toEqual([
      ['b', '2'],
      ['c', '1'],
    ]);
    expectStatus(await patch(id, withTags({})), 200);
    expect(await bound(id)).toEqual([]);
    await bindTags(server, `${type}/${id}`, { a: '1' });
    expectStatus(await patch(id, { 'tag-bindings': { data: null } }), 200);
    expect(await bound(id)).toEqual([]);
  });

  it('are also a relationship: PATCH replaces them, POST adds to them, and the response is empty', async () => {
    const id = await make(withTags({ a: '1', b: '1' }));
    const related = path(id, '/relationships/tag-bindings');
    expect(expectStatus(await server.patch(related, tagBindings({ c: '1', b: '2' })), 204).text).toBe('');
    expect(await bound(id)).toEqual([
      ['b', '2'],
      ['c', '1'],
    ]);
    expect(expectStatus(await server.post(related, tagBindings({ a: '3', c: '3' })), 204).text).toBe('');
    expect(await bound(id)).toEqual([
      ['b', '2'],
      ['c', '3'],
      ['a', '3'],
    ]);
    expectStatus(await server.patch(related, tagBindings({})), 204);
    expect(await bound(id)).toEqual([]);
  });

  it('are removed by key with a DELETE of the relationship; a value must be the present one', async () => {
    const id = await make(withTags({ a: '1', b: '1', c: '1', d: '' }));
    const related = path(id, '/relationships/tag-bindings');
    const remove = async (body: object) => {
      expect(expectStatus(await server.delete(related, body), 204).text).toBe('');
      return (await bound(id)).map(([key]) => key);
    };
    expect(await remove(tagBindings({ a: '1', b: '2', none: '1' }))).toEqual(['b', 'c', 'd']);
    expect(await remove({ data: ['b', 'd'].map((key) => ({ type: 'tag-bindings', attributes: { key } })) })).toEqual([
      'c',
    ]);
    const length = await logLength(server.store);
    expect(await remove(tagBindings({ a: '1' }))).toEqual(['c']);
    expect(await logLength(server.store)).toBe(length);
    expectStatus(await server.delete(related, tagBindings({ '': '1' })), 422);
    expectStatus(await server.delete(related), 422);
  });

  it('show who set the value, and when', async () => {
    const id = await make(withTags({ a: '1', b: '1' }));
    const team = await makeTeam(server, 'acme', unique('team'));
    if (type === 'projects') await grantProjectAccess(server, team, id, 'admin');
    else await grantWorkspaceAccess(server, team, id, 'admin');
    const member = await makeMember(server, 'acme', unique('member'), [team]);
    const [first, second] = (await list(id)).body.data;
    expectStatus(await member.patch(path(id, '/tag-bindings'), tagBindings({ a: '2', b: '1', c: '1' })), 200);
    const [changed, same, added] = (await list(id)).body.data;
    expect(same).toEqual(second);
    const by = { type: 'users', id: member.id, name: member.username };
    for (const { attributes } of [changed, added]) expect(attributes['set-by']).toEqual(by);
    expect(changed.attributes['set-at']).toBe(added.attributes['set-at']);
    expect(Date.parse(changed.attributes['set-at'])).toBeGreaterThan(Date.parse(first.attributes['set-at']));
    expect(changed.id).toBe(first.id);
  });

  it('are recorded in the audit trail one by one, with the values before and after', async () => {
    const id = await make(withTags({ a: '1' }));
    expectStatus(await server.patch(path(id, '/tag-bindings'), tagBindings({ a: '2', b: '' })), 200);
    expectStatus(await patch(id, withTags({ b: '' })), 200);
    const trail = expectStatus(await reader.get('/api/v2/organization/audit-trail?page[size]=3'), 200).body.data;
    const entries = trail.map(({ resource: { id: about, type: kind, action, meta } }: any) => [
      about,
      kind,
      action,
      meta,
    ]);
    expect(entries).toEqual([
      [id, updated, 'update', { change: 'tag_bindings', key: 'a', from: '2', to: null }],
      [id, updated, 'update', { change: 'tag_bindings', key: 'b', from: null, to: '' }],
      [id, updated, 'update', { change: 'tag_bindings', key: 'a', from: '1', to: '2' }],
    ]);
  });

  it.each<[object, string, string]>([
    [{ key: '', value: 'x' }, "Key can't be blank", 'key'],
    [{ key: '  ' }, "Key can't be blank", 'key'],
    [{ key: 'no/slash' }, 'Key is invalid', 'key'],
    [{ key: 'ünïcode' }, 'Key is invalid', 'key'],
    [{ key: 'x'.repeat(129), value: 'x' }, 'Key is invalid', 'key'],
    [{ key: 'x'.repeat(256) }, 'Key is invalid', 'key'],
    [{ key: 'x', value: 'x'.repeat(257) }, 'Value is too long (at most 256 characters)', 'value'],
    [{ value: 'x' }, "Key can't be blank", 'key'],
    [{ key: 'x', value: 1 }, 'Value must be a string', 'value'],
  ])('refuse %j on every path', async (attributes, detail, member) => {
    const id = await make(withTags({ a: '1' }));
    const data = [...tagBindings({ b: '1' }).data, { type: 'tag-bindings', attributes }];
    const at = (list: string): readonly [string, string] => [`${list}/1/attributes/${member}`, detail];
    expect(refusalOf(await server.patch(path(id, '/tag-bindings'), { data }))).toEqual(at('/data'));
    expect(refusalOf(await server.patch(path(id, '/relationships/tag-bindings'), { data }))).toEqual(at('/data'));
    const own = '/data/relationships/tag-bindings/data';
    expect(refusalOf(await patch(id, { 'tag-bindings': { data } }))).toEqual(at(own));
    const newOwner = resource(type, { name: unique('unborn') }, { 'tag-bindings': { data } });
    expect(refusalOf(await server.post(`/api/v2/organizations/acme/${type}`, newOwner))).toEqual(at(own));
    expect(await bound(id)).toEqual([['a', '1']]);
  });

  it('accept the longest key and value, with all allowed characters', async () => {
    const key = 'aZ09_.=+-@: '.repeat(10).padEnd(128, 'x');
    const value = 'ünïcode / and "all"'.padEnd(256, 'x');
    const id = await make(withTags({ [key]: value }));
    expect(await bound(id)).toEqual([[key, value]]);
  });

  it('are limited to ten', async () => {
    const numbered = (n: number) =>
      tagBindings(Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 'v'])));
    const id = await make({ 'tag-bindings': numbered(9) });
    const detail = 'cannot exceed 10 bindings per resource';
    const [adding, whole] = [path(id, '/tag-bindings'), path(id)];
    expect(refusalOf(await server.patch(adding, tagBindings({ x: 'v', y: 'v' })))).toEqual(['/data', detail]);
    expect(refusalOf(await server.patch(adding, numbered(11)))).toEqual(['/data', detail]);
    const own = '/data/relationships/tag-bindings/data';
    expect(refusalOf(await server.patch(whole, resource(type, {}, { 'tag-bindings': numbered(11) })))).toEqual([
      own,
      detail,
    ]);
    expect(await bound(id)).toHaveLength(9);
    expectStatus(await server.patch(adding, tagBindings({ x: 'v', k0: 'y' })), 200);
    expect(await bound(id)).toHaveLength(10);
    const valueless = await server.patch(adding, tagBindings({ y: '' }));
    expect(valueless.status).toBe(type === 'workspaces' ? 200 : 422);
  });

  it('are limited to ten in a request to their endpoints, with or without values', async () => {
    const id = await make(withTags({ there: '' }));
    const keys = (n: number) => tagBindings(Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, ''])));
    const related = path(id, '/relationships/tag-bindings');
    for (const send of [
      () => server.patch(path(id, '/tag-bindings'), keys(26)),
      () => server.post(related, keys(11)),
      () => server.patch(related, keys(11)),
      () => server.delete(related, keys(11)),
    ])
      expect(refusalOf(await send())).toEqual(['/data', 'cannot exceed 10 bindings per resource']);
    expect(await bound(id)).toEqual([['there', '']]);
    if (type !== 'workspaces') return;
    // terraform-provider-tfe names all tags of a workspace, also those that it has had before.
    for (const n of [10, 26])
      expectStatus(await server.patch(path(id), resource(type, {}, { 'tag-bindings': keys(n) })), 200);
    expect(await bound(id)).toHaveLength(26);
  });

  it('require a body that lists bindings', async () => {
    const id = await make();
    expectStatus(await server.patch(path(id, '/tag-bindings')), 422);
    expectStatus(await server.patch(path(id, '/tag-bindings'), { data: [{ type: 'tag-bindings' }] }), 422);
    const flatTagBody = { data: [{ type: 'tags', attributes: { key: 'a', value: '1' } }] };
    expectStatus(await server.patch(path(id, '/tag-bindings'), flatTagBody), 422);
    expectStatus(await server.patch(path('prj-none', '/tag-bindings'), tagBindings({ a: '1' })), 404);
    expect(expectStatus(await server.patch(path(id, '/tag-bindings'), tagBindings({})), 200).body).toEqual({
      data: [],
    });
  });

  it('are all added if several requests arrive at once', async () => {
    const id = await make();
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(keys.map((key) => bindTags(server, `${type}/${id}`, { [key]: key })));
    expect((await bound(id)).toSorted()).toEqual(keys.map((key) => [key, key]));
  });

  it('are deleted with their owner', async () => {
    const id = await make(withTags({ a: '1' }));
    expectStatus(await server.delete(path(id)), 204);
    expect((await server.get(path(id, '/tag-bindings'))).status).toBe(404);
    expect((await server.patch(path(id, '/tag-bindings'), tagBindings({ a: '2' }))).status).toBe(404);
  });
});

describe('tag bindings of a workspace with flat tags', () => {
  const tag = (...names: readonly string[]) => ({
    data: names.map((name) => ({ type: 'tags', attributes: { name } })),
  });
  const namesOf = async (id: string): Promise<readonly string[]> =>
    expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes['tag-names'] as string[];

  it('are among its tag names, in order of insertion', async () => {
    const id = await makeWorkspace(
      server,
      'acme',
      unique('mixed'),
      {},
      { tags: tag('z'), 'tag-bindings': tagBindings({ y: '1' }) },
    );
    expectStatus(await server.post(`/api/v2/workspaces/${id}/relationships/tags`, tag('x')), 204);
    await bindTags(server, `workspaces/${id}`, { w: '1', y: '2' });
    expect(await namesOf(id)).toEqual(['z', 'y', 'x', 'w']);
  });

  const withBindings = (...bindings: readonly (readonly [key: string, value?: string])[]) => ({
    'tag-bindings': {
      data: bindings.map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
    },
  });

  it('are removed together with a flat tag of the same key', async () => {
    const id = await makeWorkspace(server, 'acme', unique('removed'), {}, { tags: tag('app', 'fav') });
    const related = `/api/v2/workspaces/${id}/relationships/tag-bindings`;
    expectStatus(await server.delete(related, tagBindings({ app: 'prod' })), 204);
    expect(await namesOf(id)).toEqual(['app', 'fav']);
    expectStatus(await server.delete(related, tagBindings({ app: '' })), 204);
    expect(await namesOf(id)).toEqual(['fav']);
  });

  it('are counted and replaced separately from flat tags', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `t${n}`);
    const relationships = { tags: tag(...names), 'tag-bindings': tagBindings({ y: '1' }) };
    const id = await makeWorkspace(server, 'acme', unique('flat'), {}, relationships);
    const replace = async (...bindings: readonly (readonly [key: string, value?: string])[]) => {
      const body = resource('workspaces', {}, withBindings(...bindings));
      expectStatus(await server.patch(`/api/v2/workspaces/${id}`, body), 200);
      return namesOf(id);
    };
    expect(await replace(['z', '1'])).toEqual([...names, 'z']);
    expect(await replace()).toEqual(names);
    // A client that names flat tags as bindings manages them as bindings.
    const remaining = names.slice(1).map((name) => [name] as const);
    expect(await replace(...remaining, ['z', '1'])).toEqual([...names.slice(1), 'z']);
  });

  const readTags = async (id: string) => {
    const path = `/api/v2/workspaces/${id}`;
    const [flat, own, effective] = await Promise.all(
      ['relationships/tags', 'tag-bindings', 'effective-tag-bindings'].map(async (rest) =>
        expectStatus(await server.get(`${path}/${rest}`), 200),
      ),
    );
    return {
      names: await namesOf(id),
      flat: (flat as ApiResponse).body.data.map(({ attributes }: any) => attributes.name),
      own: pairsIn(own as ApiResponse),
      effective: pairsIn(effective as ApiResponse),
    };
  };
  const onlyFlat = (...names: readonly string[]) => ({
    names,
    flat: names,
    own: names.map((name) => [name, '']),
    effective: [],
  });

  it('do not change flat tags in the requests that the Terraform provider sends', async () => {
    const id = await makeWorkspace(server, 'acme', unique('provider'), {}, { tags: tag('app', 'fav') });
    const path = `/api/v2/workspaces/${id}`;
    // With each update, the provider sends every tag that it has read from an older server into `tags`, without a
    // value.
    const update = async (...names: readonly string[]): Promise<void> => {
      const bindings = withBindings(...names.map((name) => [name] as const));
      expectStatus(await server.patch(path, resource('workspaces', { description: unique('text') }, bindings)), 200);
    };
    await update('app', 'fav');
    expect(await readTags(id)).toEqual(onlyFlat('app', 'fav'));
    expectStatus(await server.post(`${path}/relationships/tags`, tag('prod')), 204);
    expectStatus(await server.delete(`${path}/relationships/tags`, tag('fav')), 204);
    expect(await readTags(id)).toEqual(onlyFlat('app', 'prod'));
    await update('app', 'prod');
    expectStatus(await server.delete(`${path}/relationships/tags`, tag('app')), 204);
    expect(await readTags(id)).toEqual(onlyFlat('prod'));
    await update();
    expect(await readTags(id)).toEqual(onlyFlat('prod'));
    const all = expectStatus(await server.get('/api/v2/organizations/acme/tags?page[size]=100&q=prod'), 200).body.data;
    expect(all).toMatchObject([{ attributes: { name: 'prod', 'instance-count': 1 } }]);
    expect((await server.store.log.stream(id)).map(({ type }) => type).slice(1)).toEqual([
      'WorkspaceUpdated',
      'WorkspaceTagAdded',
      'WorkspaceTagRemoved',
      'WorkspaceUpdated',
      'WorkspaceTagRemoved',
      'WorkspaceUpdated',
    ]);
  });

  it('are read into `tags` by the Terraform provider, and flat tags remain when the bindings are removed', async () => {
    const relationships = { tags: tag('fav', 'app'), ...withBindings(['k1', 'v1'], ['k2', ''], ['k3', 'v3']) };
    const id = await makeWorkspace(server, 'acme', unique('both'), {}, relationships);
    const path = `/api/v2/workspaces/${id}`;
    const read = async () => {
      const { data, included } = expectStatus(await server.get(`${path}?include=effective_tag_bindings`), 200).body;
      expect(data.relationships['effective-tag-bindings'].data).toHaveLength(included.length);
      return included.map(({ attributes: { key, value } }: any) => [key, value]);
    };
    const update = async (...bindings: readonly (readonly [key: string, value?: string])[]): Promise<void> => {
      expectStatus(await server.patch(path, resource('workspaces', {}, withBindings(...bindings))), 200);
    };
    const all = [
      ['k1', 'v1'],
      ['k2', ''],
      ['k3', 'v3'],
    ];
    expect(await read()).toEqual(all);
    const flat = ['fav', 'app'].map((name) => [name, '']);
    expect(await readTags(id)).toEqual({
      names: ['fav', 'app', 'k1', 'k2', 'k3'],
      flat: ['fav', 'app', 'k2'],
      own: [...flat, ...all],
      effective: all,
    });
    // The provider omits empty values.
    await update(['k1', 'v1'], ['k2']);
    expect(await read()).toEqual(all.slice(0, 2));
    await update(['k1', 'v1']);
    expect(await read()).toEqual(all.slice(0, 1));
    await update();
    expect(await read()).toEqual([]);
    expect(await readTags(id)).toEqual(onlyFlat('fav', 'app'));
    expectStatus(await server.delete(`${path}/relationships/tags`, tag('fav')), 204);
    expect(await readTags(id)).toEqual(onlyFlat('app'));
  });

  it.each([[{}], [{ value: null }], [{ value: '' }]])('accept %j as a missing value, on every path', async (value) => {
    const valueless = (...keys: readonly string[]) => ({
      data: keys.map((key) => ({ type: 'tag-bindings', attributes: { key, ...value } })),
    });
    const bare = (...keys: readonly string[]) => {
      const pairs = keys.map((key) => [key, '']);
      return { names: keys, flat: keys, own: pairs, effective: pairs };
    };
    const name = 'x'.repeat(255);
    const id = await makeWorkspace(server, 'acme', unique('bare'), {}, { 'tag-bindings': valueless('a b', name) });
    const path = `/api/v2/workspaces/${id}`;
    expect(await readTags(id)).toEqual(bare('a b', name));
    const sent = expectStatus(await server.patch(`${path}/tag-bindings`, valueless('c', name)), 200);
    expect(pairsIn(sent)).toEqual([
      ['c', ''],
      [name, ''],
    ]);
    expectStatus(await server.post(`${path}/relationships/tag-bindings`, valueless('d')), 204);
    const count = expectStatus(await server.get(`/api/v2/organizations/acme/tags?q=${name}`), 200).body.data;
    expect(count).toMatchObject([{ attributes: { name, 'instance-count': 1 } }]);
    expectStatus(await server.delete(`${path}/relationships/tags`, tag('a b', 'c')), 204);
    expect(await readTags(id)).toEqual(bare(name, 'd'));
    await bindTags(server, `workspaces/${id}`, { d: '1' });
    expect((await readTags(id)).flat).toEqual([name]);
    expectStatus(await server.patch(`${path}/tag-bindings`, valueless('d')), 200);
    expect(await readTags(id)).toEqual(bare(name, 'd'));
    expectStatus(await server.patch(`${path}/relationships/tag-bindings`, valueless('d')), 204);
    expect(await readTags(id)).toEqual(bare('d'));
    expectStatus(await server.delete('/api/v2/organizations/acme/tags', related('tags', await tagIdOf(id))), 204);
    expect(await readTags(id)).toEqual(bare());
  });

  const tagIdOf = async (id: string): Promise<string> =>
    expectStatus(await server.get(`/api/v2/workspaces/${id}/relationships/tags`), 200).body.data[0].id as string;

  it('have no value in old logs that contain empty values', async () => {
    const id = await makeWorkspace(server, 'acme', unique('former'), {}, { tags: tag('app') });
    const organization = (await server.get('/api/v2/organizations/acme')).body.data.attributes['external-id'] as string;
    const events = [{ type: 'WorkspaceTagBound', data: { key: 'app', from: null, to: '' } }];
    await server.store.append([{ stream: id, organization, expected: 'any', events }], {
      accessor: { type: 'users', id: admin.id, name: 'admin' },
      auth: 'Client',
      impersonator: null,
      request: { id: null, address: null, userAgent: null },
      correlation: 'former',
      causation: null,
    });
    expect(await readTags(id)).toEqual({ ...onlyFlat('app'), effective: [['app', '']] });
    expectStatus(await server.delete(`/api/v2/workspaces/${id}/relationships/tags`, tag('app')), 204);
    expect(await readTags(id)).toEqual(onlyFlat());
  });
});

describe('a secret team that sets tags', () => {
  it('is named only to callers that may see the team', async () => {
    const project = await makeProject(server, 'acme', unique('project'));
    await bindTags(server, `projects/${project}`, { env: 'dev', cost: '42' });
    const home = { project: { data: { type: 'projects', id: project } } };
    const id = await makeWorkspace(server, 'acme', unique('workspace'), {}, home);
    const secret = await makeTeam(server, 'acme', 'moonlight', { 'organization-access': { 'manage-projects': true } });
    const visible = await makeTeam(server, 'acme', 'daylight', { visibility: 'organization' });
    await grantProjectAccess(server, visible, project, 'admin');
    const member = await makeMember(server, 'acme', 'ada', [visible]);
    const team = server.as(await makeToken(server, `/api/v2/teams/${secret}/authentication-token`));
    await bindTags(team, `projects/${project}`, { cost: '43' });
    await bindTags(team, `workspaces/${id}`, { env: 'prod' });
    const at = encodeURIComponent(new Date().toISOString());
    const workspace = `/api/v2/workspaces/${id}`;
    const preview = resource('reserved-tag-keys', { key: 'env', 'disable-overrides': true });
    const sendRequests = (api: ApiTestClient): Promise<ApiResponse>[] => [
      api.get(`${workspace}/tag-bindings`),
      api.get(`${workspace}/effective-tag-bindings`),
      api.get(`${workspace}/tag-bindings?as-of=${at}`),
      api.get(`${workspace}/effective-tag-bindings?as-of=${at}`),
      api.get(`${workspace}?include=tag_bindings`),
      api.get(`${workspace}?include=effective_tag_bindings`),
      api.get(`${workspace}?include=tag_bindings&as-of=${at}`),
      api.patch(`${workspace}/tag-bindings`, tagBindings({ env: 'prod' })),
      api.get(`/api/v2/projects/${project}/tag-bindings`),
      api.get(`/api/v2/projects/${project}/tag-bindings?as-of=${at}`),
      api.get(`/api/v2/projects/${project}?include=effective_tag_bindings`),
      api.patch(`/api/v2/projects/${project}/tag-bindings`, tagBindings({ cost: '43' })),
      api.post('/api/v2/organizations/acme/reserved-tag-keys/actions/preview', preview),
      api.get(`${workspace}/history`),
      api.get(`${workspace}/history?filter[actor]=${secret}`),
    ];
    for (const pending of sendRequests(server)) expect(expectStatus(await pending, 200).text).toContain('moonlight');
    for (const pending of sendRequests(member)) {
      const { text } = expectStatus(await pending, 200);
      expect(text).not.toContain('moonlight');
      expect(text).toContain(secret);
    }
    const byName = async (api: ApiTestClient): Promise<number> =>
      expectStatus(await api.get(`${workspace}/history?filter[actor]=moonlight`), 200).body.data.length as number;
    expect([await byName(server), await byName(member)]).toEqual([1, 0]);
  });
});

describe('events of tag bindings', () => {
  it('are recorded for each change, and not if nothing changes', async () => {
    const id = await makeWorkspace(server, 'acme', unique('facts'));
    await bindTags(server, `workspaces/${id}`, { a: '1', b: '1' });
    await bindTags(server, `workspaces/${id}`, { a: '1', b: '1' });
    const events = await server.store.log.stream(id);
    expect(events.map(({ type, data }) => [type, data]).slice(1)).toEqual([
      ['WorkspaceTagBound', { key: 'a', from: null, to: '1' }],
      ['WorkspaceTagBound', { key: 'b', from: null, to: '1' }],
    ]);
  });

  it('write one row for a project, however many workspaces inherit the binding', async () => {
    const project = await makeProject(server, 'acme', unique('wide'));
    const into = { project: { data: { type: 'projects', id: project } } };
    await Promise.all([1, 2, 3].map(() => makeWorkspace(server, 'acme', unique('inside'), {}, into)));
    const rows = () =>
      server.database.row(sql`
        select (select count(*) from workspace_tags) as workspaces, (select count(*) from project_tags) as projects,
               (select count(*) from event_store.events) as events`);
    const before = (await rows()) as Record<string, number>;
    await bindTags(server, `projects/${project}`, { env: 'prod' });
    expect(await rows()).toEqual({
      workspaces: before['workspaces'],
      projects: Number(before['projects']) + 1,
      events: Number(before['events']) + 1,
    });
  });

  it('end with the organization, and its bindings are deleted', async () => {
    const { id: organization } = await makeOrganization(server, 'fleeting');
    const project = await makeProject(server, 'fleeting', 'land');
    await makeWorkspace(server, 'fleeting', 'one', {}, { 'tag-bindings': tagBindings({ a: '1' }) });
    await bindTags(server, `projects/${project}`, { env: 'prod' });
    expectStatus(await server.delete('/api/v2/organizations/fleeting'), 204);
    const remaining = await server.database.rows(sql`
      select key from workspace_tags where organization = ${organization}
      union all select key from project_tags where organization = ${organization}`);
    expect(remaining).toEqual([]);
    expectStatus(await server.patch(`/api/v2/projects/${project}/tag-bindings`, tagBindings({ a: '2' })), 404);
  });

  it('match the views', async () => {
    await expectViewsMatchLog(server, [tagsDefinition, workspacesDefinition, organizationsDefinition]);
  });

  it.each(OWNERS)('of $type cost two round trips, by each way', async ({ type, make }) => {
    const id = await make();
    const own = (tags: Readonly<Record<string, string>>) => resource(type, {}, { 'tag-bindings': tagBindings(tags) });
    for (const send of [
      () => server.patch(`/api/v2/${type}/${id}/tag-bindings`, tagBindings({ a: '1', b: '1', c: '1' })),
      () => server.patch(`/api/v2/${type}/${id}`, own({ d: '1', e: '1' })),
      () => server.patch(`/api/v2/${type}/${id}/relationships/tag-bindings`, tagBindings({ f: '1' })),
    ]) {
      const { status, roundTrips } = await costOf(server, send);
      expect(status).toBeLessThan(300);
      expect(roundTrips).toBe(2);
    }
  });
});
