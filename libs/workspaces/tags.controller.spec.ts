import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  answered,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeToken,
  makeWorkspace,
  resource,
  type Member,
} from '../../test/support/seeds.js';
import { startTestServer, type Answer, type Api, type TestServer } from '../../test/support/server.js';

const PATH = '/api/v2/organizations/acme/tags';

let server: TestServer;
let member: Member;
let one: string;

const tagged = (...names: readonly string[]) => ({
  tags: { data: names.map((name) => ({ type: 'tags', attributes: { name } })) },
});

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'other');
  one = await makeWorkspace(
    server,
    'acme',
    'one',
    {},
    {
      ...tagged('app', 'Prod'),
      'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] },
    },
  );
  await makeWorkspace(server, 'acme', 'two', {}, tagged('app', 'env'));
  await makeWorkspace(server, 'other', 'three', {}, tagged('app', 'elsewhere'));
  member = await makeMember(server, 'acme', 'member');
});

afterAll(() => server.close());

const list = async (query = '', api: Api = server): Promise<Answer> => answered(await api.get(`${PATH}?${query}`), 200);
const namesIn = ({ body }: Answer): string[] =>
  body.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name);

describe('the tags of an organization', () => {
  it('are the flat ones of all its workspaces, each with how many carry it', async () => {
    const { body } = await list();
    expect(body.data).toMatchObject([
      { type: 'tags', attributes: { name: 'Prod', 'instance-count': 1 } },
      { type: 'tags', attributes: { name: 'app', 'instance-count': 2 } },
      // As a binding it is another thing.
      { type: 'tags', attributes: { name: 'env', 'instance-count': 1 } },
    ]);
    expect(body.data[0]).toMatchObject({
      id: expect.stringMatching(/^tag-\w{16}$/),
      attributes: { 'created-at': expect.stringMatching(/Z$/) },
      relationships: { organization: { data: { type: 'organizations', id: 'acme' } } },
    });
    expect(body.meta.pagination['total-count']).toBe(3);
  });

  it('are the same as on a workspace', async () => {
    const ofOne = answered(await server.get(`/api/v2/workspaces/${one}/relationships/tags`), 200).body.data;
    const all = (await list()).body.data as { id: string }[];
    expect(all).toEqual(expect.arrayContaining(ofOne as object[]));
    expect(ofOne).toHaveLength(2);
  });

  it.each([
    ['name=AP', ['app']],
    ['name=none', []],
    ['name=', ['app', 'Prod']],
  ])('are searched there too: %s', async (query, names) => {
    const answer = answered(await server.get(`/api/v2/workspaces/${one}/relationships/tags?${query}`), 200);
    expect(namesIn(answer)).toEqual(names);
    expect(answer.body.meta.pagination['total-count']).toBe(names.length);
  });

  it.each([
    ['q=P', ['Prod', 'app']],
    ['q=PROD', ['Prod']],
    ['q=%25', []],
    ['filter[exclude][taggable][id]=ws-none', ['Prod', 'app', 'env']],
    ['unheard-of=1', ['Prod', 'app', 'env']],
  ])('are searched: %s', async (query, names) => {
    const answer = await list(query);
    expect(namesIn(answer)).toEqual(names);
    expect(answer.body.meta.pagination['total-count']).toBe(names.length);
  });

  it('come without those of a workspace, for who sees it', async () => {
    const query = `filter[exclude][taggable][id]=${one}`;
    // It carries `env` as a binding, which takes the place of the tag.
    expect(namesIn(await list(query))).toEqual([]);
    expect(namesIn(await list(query, member))).toEqual(['Prod', 'app', 'env']);
  });

  it('come page by page, with one statement each', async () => {
    const first = await list('page[size]=2');
    expect(namesIn(first)).toEqual(['Prod', 'app']);
    expect(first.body.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2, 'next-page': 2 });
    const before = server.database.count.statements;
    const next = answered(await server.get(first.body.links.next as string), 200);
    expect(server.database.count.statements - before).toBe(1);
    expect(namesIn(next)).toEqual(['env']);
    expect((await list('page[number]=9')).body).toMatchObject({ data: [], meta: { pagination: { 'total-count': 3 } } });
  });

  it('are for everybody in it, and for nobody else', async () => {
    expect(namesIn(await list('', member))).toEqual(['Prod', 'app', 'env']);
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    expect(namesIn(await list('', token))).toEqual(['Prod', 'app', 'env']);
    const stranger = await makeMember(server, 'other', 'stranger');
    const audit = '/api/v2/organizations/acme/authentication-token?token=audit-trails';
    for (const caller of [stranger, server.as(await makeToken(server, audit))]) {
      answered(await caller.get(PATH), 404);
    }
    answered(await server.get('/api/v2/organizations/nowhere/tags'), 404);
  });

  it('are gone with the last workspace that carries them, and renamed with their organization', async () => {
    const last = await makeWorkspace(server, 'other', 'last', {}, tagged('fleeting'));
    const names = async (organization: string) =>
      namesIn(answered(await server.get(`/api/v2/organizations/${organization}/tags`), 200));
    expect(await names('other')).toEqual(['app', 'elsewhere', 'fleeting']);
    answered(await server.delete(`/api/v2/workspaces/${last}`), 204);
    expect(await names('other')).toEqual(['app', 'elsewhere']);
    answered(await server.patch('/api/v2/organizations/other', resource('organizations', { name: 'renamed' })), 200);
    expect(await names('renamed')).toEqual(['app', 'elsewhere']);
    answered(await server.get('/api/v2/organizations/other/tags'), 404);
  });
});
