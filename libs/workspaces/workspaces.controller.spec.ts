import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestServer, type TestServer } from '../../test/support/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await server.post('/api/v2/organizations', {
    data: { type: 'organizations', attributes: { name: 'acme', email: 'ops@acme.test' } },
  });
});

afterAll(() => server.close());

const createWorkspace = async (name: string, attributes: object = {}): Promise<string> => {
  const answer = await server.post('/api/v2/organizations/acme/workspaces', {
    data: { type: 'workspaces', attributes: { name, ...attributes } },
  });
  expect(answer.status).toBe(201);
  return answer.body.data.id as string;
};

describe('a workspace over HTTP', () => {
  it('is created, and shown by id and by names as the same document', async () => {
    const id = await createWorkspace('one', { 'auto-apply': true });
    const byId = await server.get(`/api/v2/workspaces/${id}`);
    const byName = await server.get('/api/v2/organizations/acme/workspaces/one');
    const list = await server.get('/api/v2/organizations/acme/workspaces?search%5Bname%5D=one');
    expect(byId.status).toBe(200);
    expect(byName.body).toEqual(byId.body);
    expect(list.body.data).toEqual([byId.body.data]);
    expect(byId.body.data.attributes['auto-apply']).toBe(true);
  });

  it('is locked by one of two, and the other is told who holds it', async () => {
    const id = await createWorkspace('two');
    const first = await server.post(`/api/v2/workspaces/${id}/actions/lock`, { reason: 'mine' });
    const second = await server.post(`/api/v2/workspaces/${id}/actions/lock`);
    expect(first.status).toBe(200);
    expect(first.body.data.attributes).toMatchObject({ locked: true, 'locked-reason': 'mine' });
    expect(second.status).toBe(409);
  });
});

describe('the list of workspaces', () => {
  beforeAll(async () => {
    await server.post('/api/v2/organizations', {
      data: { type: 'organizations', attributes: { name: 'listed', email: 'ops@listed.test' } },
    });
    for (const [name, flat, env] of [
      ['alpha', ['red', 'blue'], 'prod'],
      ['beta', ['red'], 'test'],
      ['gamma', [], ''],
    ] as const) {
      const tags = flat.map((tag) => ({ type: 'tags', attributes: { name: tag } }));
      const bindings = env ? [{ type: 'tag-bindings', attributes: { key: 'env', value: env } }] : [];
      const answer = await server.post('/api/v2/organizations/listed/workspaces', {
        data: {
          type: 'workspaces',
          attributes: { name },
          relationships: { tags: { data: tags }, 'tag-bindings': { data: bindings } },
        },
      });
      if (answer.status !== 201) throw new Error(answer.text);
    }
  });

  const names = async (query: string): Promise<string[]> => {
    const { status, body } = await server.get(`/api/v2/organizations/listed/workspaces?${query}`);
    expect(status).toBe(200);
    return body.data.map((workspace: { attributes: { name: string } }) => workspace.attributes.name);
  };

  it.each([
    ['', ['alpha', 'beta', 'gamma']],
    ['sort=-name', ['gamma', 'beta', 'alpha']],
    ['sort=-latest-change-at', ['gamma', 'beta', 'alpha']],
    ['search[name]=ET', ['beta']],
    ['search[wildcard-name]=*a', ['alpha', 'beta', 'gamma']],
    ['search[wildcard-name]=g*', ['gamma']],
    ['search[wildcard-name]=%25', []],
    ['search[tags]=red', ['alpha', 'beta']],
    ['search[tags]=red,blue', ['alpha']],
    ['search[exclude-tags]=blue,env', ['gamma']],
    ['filter[tagged][0][key]=env&filter[tagged][0][value]=', ['alpha', 'beta']],
    ['filter[tagged][0][key]=env&filter[tagged][0][value]=prod&filter[tagged][7][key]=red', ['alpha']],
    ['filter[current-run][status]=applied', []],
    ['filter[project][id]=prj-nowhere', []],
    ['unheard-of=1', ['alpha', 'beta', 'gamma']],
  ])('answers %s', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  it('pages, and counts all of them', async () => {
    const { body } = await server.get('/api/v2/organizations/listed/workspaces?page[size]=2&page[number]=2');
    expect(body.data).toHaveLength(1);
    expect(body.meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 2,
      'prev-page': 1,
      'next-page': null,
      'total-pages': 2,
      'total-count': 3,
    });
  });

  it('is empty past the end, with the true count', async () => {
    const { body } = await server.get('/api/v2/organizations/listed/workspaces?page[number]=9');
    expect(body.data).toEqual([]);
    expect(body.meta.pagination).toMatchObject({ 'current-page': 9, 'total-count': 3 });
  });

  it('counts what a filter leaves', async () => {
    const { body } = await server.get('/api/v2/organizations/listed/workspaces?search[tags]=red&page[size]=1');
    expect(body.meta.pagination).toMatchObject({ 'total-count': 2, 'total-pages': 2 });
  });

  it('refuses an order it does not know', async () => {
    const { status, body } = await server.get('/api/v2/organizations/listed/workspaces?sort=colour');
    expect(status).toBe(400);
    expect(body.errors[0].source.parameter).toBe('sort');
  });

  it('is not there for another organization’s token, nor are its workspaces', async () => {
    const issued = await server.post('/api/v2/organizations/acme/authentication-token');
    const acme = server.as(issued.body.data.attributes.token);
    const { body } = await server.get('/api/v2/organizations/listed/workspaces/alpha');
    expect((await acme.get('/api/v2/organizations/listed/workspaces')).status).toBe(404);
    expect((await acme.get(`/api/v2/workspaces/${body.data.id}`)).status).toBe(404);
    expect((await acme.post(`/api/v2/workspaces/${body.data.id}/actions/lock`)).status).toBe(404);
    expect((await acme.delete(`/api/v2/workspaces/${body.data.id}`)).status).toBe(404);
  });
});

describe('tags of a workspace', () => {
  it('are added and removed by name and by id, and adding twice is fine', async () => {
    const id = await createWorkspace('tagged');
    const tags = `/api/v2/workspaces/${id}/relationships/tags`;
    const named = (...all: string[]) => ({ data: all.map((name) => ({ type: 'tags', attributes: { name } })) });
    expect((await server.post(tags, named('one', 'two'))).status).toBe(204);
    expect((await server.post(tags, named('one'))).status).toBe(204);
    const listed = await server.get(tags);
    expect(listed.body.data.map((tag: { attributes: { name: string } }) => tag.attributes.name)).toEqual([
      'one',
      'two',
    ]);
    expect((await server.delete(tags, { data: [{ type: 'tags', id: listed.body.data[0].id }] })).status).toBe(204);
    expect((await server.delete(tags, { data: [{ type: 'tags', id: 'tag-unknown' }] })).status).toBe(404);
    expect((await server.delete(tags, named('never-there'))).status).toBe(204);
    const { body } = await server.get(`/api/v2/workspaces/${id}`);
    expect(body.data.attributes['tag-names']).toEqual(['two']);
  });

  it('show flat tags as bindings with an empty value, and answer a PATCH with what was sent, in that order', async () => {
    const id = await createWorkspace('bound');
    await server.post(`/api/v2/workspaces/${id}/relationships/tags`, {
      data: [{ type: 'tags', attributes: { name: 'flat' } }],
    });
    const sent = [
      { type: 'tag-bindings', attributes: { key: 'b', value: '2' } },
      { type: 'tag-bindings', attributes: { key: 'a', value: '1' } },
    ];
    const patched = await server.patch(`/api/v2/workspaces/${id}/tag-bindings`, { data: sent });
    expect(patched.status).toBe(200);
    expect(patched.body.data).toMatchObject(sent);
    const listed = await server.get(`/api/v2/workspaces/${id}/tag-bindings`);
    expect(listed.body.data).toMatchObject([{ attributes: { key: 'flat', value: '' } }, ...sent]);
  });

  it('refuse a name that no tag may have, and change nothing', async () => {
    const id = await createWorkspace('untagged');
    const answer = await server.post(`/api/v2/workspaces/${id}/relationships/tags`, {
      data: [
        { type: 'tags', attributes: { name: 'good' } },
        { type: 'tags', attributes: { name: 'not good' } },
      ],
    });
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0].source.pointer).toBe('/data/1/attributes/name');
    expect((await server.get(`/api/v2/workspaces/${id}`)).body.data.attributes['tag-names']).toEqual([]);
  });
});
