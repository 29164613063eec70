import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  grantProjectAccess,
  makeAgentPool,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeWorkspace,
} from '../../../../test/support/seeds.js';
import { makeOauthClient, openTestGitHost, REACHES_GIT_HOSTS } from '../../../../test/support/git-host.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { workspacesDefinition } from '../index.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ env: REACHES_GIT_HOSTS });
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
  it('is created, and the endpoints by id and by names return the same document', async () => {
    const id = await createWorkspace('one', { 'auto-apply': true });
    const byId = await server.get(`/api/v2/workspaces/${id}`);
    const byName = await server.get('/api/v2/organizations/acme/workspaces/one');
    const list = await server.get('/api/v2/organizations/acme/workspaces?search%5Bname%5D=one');
    expect(byId.status).toBe(200);
    expect(byName.body).toEqual(byId.body);
    expect(list.body.data).toEqual([byId.body.data]);
    expect(byId.body.data.attributes['auto-apply']).toBe(true);
  });

  it('is locked by one of two callers, and the other gets the holder’s name', async () => {
    const id = await createWorkspace('two');
    const first = await server.post(`/api/v2/workspaces/${id}/actions/lock`, { reason: 'mine' });
    const second = await server.post(`/api/v2/workspaces/${id}/actions/lock`);
    expect(first.status).toBe(200);
    expect(first.body.data.attributes).toMatchObject({ locked: true, 'locked-reason': 'mine' });
    expect(second.status).toBe(409);
  });
});

describe('a text that is too long for a workspace', () => {
  const long = (length: number): string => 'x'.repeat(length);

  it.each([
    ['name', long(91)],
    ['description', long(10_001)],
    ['source-name', long(256)],
    ['source-url', long(2_001)],
    ['working-directory', long(1_001)],
    ['terraform-version', long(256)],
    ['agent-pool-id', long(256)],
    ['auto-destroy-activity-duration', long(256)],
    ['trigger-patterns', Array.from({ length: 201 }, () => 'a')],
    ['trigger-prefixes', Array.from({ length: 41 }, () => 'a'.repeat(490))],
    ['trigger-prefixes/0', [long(501)]],
    ['vcs-repo/branch', { identifier: 'a/b', 'oauth-token-id': 'ot-1', branch: long(501) }],
  ])('is refused in %s', async (path, value) => {
    const attributes = { name: 'long', [path.split('/')[0] ?? '']: value };
    const answer = await server.post('/api/v2/organizations/acme/workspaces', { data: { attributes } });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toMatchObject([
      { detail: expect.stringContaining('at most'), source: { pointer: `/data/attributes/${path}` } },
    ]);
  });

  it('is refused as the reason of a lock', async () => {
    const id = await createWorkspace('reasoned');
    const path = `/api/v2/workspaces/${id}/actions/lock`;
    const outer = await server.post(path, { reason: long(10_001) });
    const inner = await server.post(path, { data: { attributes: { reason: long(10_001) } } });
    expect([outer.status, outer.body.errors[0].source.pointer]).toEqual([422, '/reason']);
    expect([inner.status, inner.body.errors[0].source.pointer]).toEqual([422, '/data/attributes/reason']);
    expect((await server.post(path, { reason: long(10_000) })).status).toBe(200);
  });
});

describe('an update of a workspace', () => {
  const patch = (id: string, attributes: object) =>
    server.patch(`/api/v2/workspaces/${id}`, { data: { type: 'workspaces', attributes } });

  it('merges the setting overwrites with the present ones', async () => {
    const pool = await makeAgentPool(server, 'acme', 'overwriting');
    const id = await createWorkspace('overwriting', { 'execution-mode': 'agent', 'agent-pool-id': pool });
    const { body } = await patch(id, { 'setting-overwrites': { 'agent-pool': false } });
    expect(body.data.attributes).toMatchObject({
      'execution-mode': 'agent',
      'setting-overwrites': { 'execution-mode': true, 'agent-pool': false },
    });
    const refused = await patch(id, { 'agent-pool-id': null });
    expect([refused.status, refused.body.errors[0].source.pointer]).toEqual([422, '/data/attributes/agent-pool-id']);
  });

  it('accepts the agent pool as a relationship too, and removes it if it is blank', async () => {
    const pool = await makeAgentPool(server, 'acme', 'related');
    const related = { 'agent-pool': { data: { type: 'agent-pools', id: pool } } };
    const attributes = { name: 'related', 'execution-mode': 'agent' };
    const created = await server.post('/api/v2/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes, relationships: related },
    });
    expect(created.body.data.relationships['agent-pool'].data).toEqual({ type: 'agent-pools', id: pool });
    const { id } = created.body.data;
    const withoutPool = await patch(id, { 'execution-mode': 'remote', 'agent-pool-id': '' });
    expect(withoutPool.body.data.relationships['agent-pool'].data).toBeNull();
    expect((await patch(id, { 'execution-mode': 'agent', 'agent-pool-id': '' })).status).toBe(422);
    const withRelationship = {
      data: { type: 'workspaces', attributes: { 'execution-mode': 'agent' }, relationships: related },
    };
    expect((await server.patch(`/api/v2/workspaces/${id}`, withRelationship)).body.data).toMatchObject({
      attributes: { 'execution-mode': 'agent' },
      relationships: related,
    });
  });

  it('refuses attributes of unsupported features by name, and accepts values that do not use the feature', async () => {
    const id = await createWorkspace('sealed', { 'source-name': 'made here' });
    const refused = expectStatus(await patch(id, { description: 'x', 'hyok-enabled': true }), 422);
    expect(refused.body.errors).toEqual([
      {
        status: '422',
        title: 'invalid attribute',
        detail: 'Hyok enabled is not supported: encryption with a key of yours is not built',
        source: { pointer: '/data/attributes/hyok-enabled' },
      },
    ]);
    const attributes = { 'hyok-enabled': false, 'migration-environment': '', 'source-name': 'elsewhere' };
    expect(expectStatus(await patch(id, attributes), 200).body.data.attributes).toMatchObject({
      description: null,
      'hyok-enabled': false,
      'source-name': 'made here',
    });
  });

  it('refuses the name and the tags of one request in one answer', async () => {
    const related = {
      tags: { data: [{ type: 'tags', attributes: { name: 'a b' } }] },
      'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: '', value: 'prod' } }] },
    };
    const pointersOf = (answer: Parameters<typeof expectStatus>[0]): string[] =>
      expectStatus(answer, 422).body.errors.map((error: any) => error.source.pointer);
    const created = await server.post('/api/v2/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'a b' }, relationships: related },
    });
    expect(pointersOf(created)).toEqual([
      '/data/relationships/tags/data/0/attributes/name',
      '/data/relationships/tag-bindings/data/0/attributes/key',
      '/data/attributes/name',
    ]);
    const id = await createWorkspace('both-refused');
    const changed = await server.patch(`/api/v2/workspaces/${id}`, {
      data: {
        type: 'workspaces',
        attributes: { name: 'a b' },
        relationships: { 'tag-bindings': related['tag-bindings'] },
      },
    });
    expect(pointersOf(changed)).toEqual([
      '/data/relationships/tag-bindings/data/0/attributes/key',
      '/data/attributes/name',
    ]);
  });

  it('changes the named attributes of the repository, and removes the repository by null', async () => {
    const { token } = await makeOauthClient(server, 'acme', await openTestGitHost());
    const repo = { identifier: 'acme/net', 'oauth-token-id': token, 'ingress-submodules': true };
    const id = await createWorkspace('versioned', { 'vcs-repo': repo });
    const changed = await patch(id, { 'vcs-repo': { branch: 'main' } });
    expect(changed.body.data.attributes['vcs-repo']).toMatchObject({ ...repo, branch: 'main' });
    expect((await patch(id, { 'vcs-repo': null })).body.data.attributes['vcs-repo']).toBeNull();
    expect((await patch(id, { 'vcs-repo': { branch: 'main' } })).status).toBe(422);
  });
});

describe('the resources included with a workspace', () => {
  it('are the outputs of its current state, without sensitive values', async () => {
    const id = await createWorkspace('outputs');
    await server.post(`/api/v2/workspaces/${id}/actions/lock`);
    const outputs = {
      open: { value: { a: [1] }, type: ['object', { a: ['list', 'number'] }] },
      secret: { value: 'hunter2', type: 'string', sensitive: true },
    };
    const bytes = Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'l', outputs, resources: [] }));
    const attributes = {
      serial: 1,
      lineage: 'l',
      md5: createHash('md5').update(bytes).digest('hex'),
      state: bytes.toString('base64'),
    };
    const body = { data: { type: 'state-versions', attributes } };
    expect((await server.post(`/api/v2/workspaces/${id}/state-versions`, body)).status).toBe(201);
    const early = await server.get(`/api/v2/workspaces/${id}?include=outputs`);
    expect(early.body.included).toEqual([]);
    await server.post(`/api/v2/workspaces/${id}/actions/unlock`);
    const withOutputs = await server.get(`/api/v2/workspaces/${id}?include=outputs`);
    expect(withOutputs.body.included).toMatchObject([
      {
        type: 'workspace-outputs',
        attributes: { name: 'open', sensitive: false, 'output-type': 'object', value: { a: [1] } },
      },
      {
        type: 'workspace-outputs',
        attributes: { name: 'secret', sensitive: true, 'output-type': 'string', value: null },
      },
    ]);
    const outputIdentifiers = withOutputs.body.data.relationships.outputs.data;
    expect(outputIdentifiers).toEqual(
      withOutputs.body.included.map(({ id, type }: { id: string; type: string }) => ({ id, type })),
    );
    expect(withOutputs.text).not.toContain('hunter2');
    const team = await makeTeam(server, 'acme', 'onlookers');
    await grantProjectAccess(server, team, withOutputs.body.data.relationships.project.data.id, 'custom');
    const onlooker = await makeMember(server, 'acme', 'onlooker', [team]);
    const { body: limited } = await onlooker.get(`/api/v2/workspaces/${id}?include=outputs,current-state-version`);
    expect([limited.data.relationships.outputs.data, limited.included]).toEqual([[], []]);
    const { body: complete } = await server.get(`/api/v2/workspaces/${id}?include=current-state-version`);
    const current = await server.get(`/api/v2/workspaces/${id}/current-state-version`);
    expect(complete.included).toEqual([current.body.data]);
  });

  it.each(['tag-bindings', 'effective-tag-bindings'])(
    'are its %s, whose identifiers stand beside the link',
    async (type) => {
      const id = await createWorkspace(`with-${type}`);
      const bindings = [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }];
      await server.patch(`/api/v2/workspaces/${id}/tag-bindings`, { data: bindings });
      const { body } = await server.get(`/api/v2/workspaces/${id}?include=${type.replaceAll('-', '_')}`);
      expect(body.included).toMatchObject([{ type, attributes: { key: 'env', value: 'prod' } }]);
      const links = { related: `/api/v2/workspaces/${id}/${type}` };
      expect(body.data.relationships[type]).toEqual({ data: [{ type, id: body.included[0].id }], links });
      const plain = await server.get(`/api/v2/workspaces/${id}`);
      expect(plain.body.data.relationships[type]).toEqual({ links });
    },
  );

  it('appear once if many workspaces of a list share them', async () => {
    for (const name of ['twin-1', 'twin-2']) {
      const id = await createWorkspace(name);
      await server.post(`/api/v2/workspaces/${id}/actions/lock`);
    }
    const list = '/api/v2/organizations/acme/workspaces?search[name]=twin&include=locked_by,organization,project';
    const { body } = await server.get(list);
    expect(body.data).toHaveLength(2);
    expect(body.included.map(({ type }: { type: string }) => type).toSorted()).toEqual([
      'organizations',
      'projects',
      'users',
    ]);
  });
});

describe('workspaces of another organization', () => {
  it('are not found with an organization token', async () => {
    await makeOrganization(server, 'neighbour');
    const id = await makeWorkspace(server, 'neighbour', 'alpha');
    const acme = server.as(await makeOrganizationToken(server, 'acme'));
    expect((await acme.get('/api/v2/organizations/neighbour/workspaces')).status).toBe(404);
    expect((await acme.get(`/api/v2/workspaces/${id}`)).status).toBe(404);
    expect((await acme.post(`/api/v2/workspaces/${id}/actions/lock`)).status).toBe(404);
    expect((await acme.delete(`/api/v2/workspaces/${id}`)).status).toBe(404);
  });
});

describe('tags of a workspace', () => {
  it('are added and removed by name and by id, and may be added twice', async () => {
    const id = await createWorkspace('tagged');
    const tags = `/api/v2/workspaces/${id}/relationships/tags`;
    const namedTags = (...all: string[]) => ({ data: all.map((name) => ({ type: 'tags', attributes: { name } })) });
    expect((await server.post(tags, namedTags('one', 'two'))).status).toBe(204);
    expect((await server.post(tags, namedTags('one'))).status).toBe(204);
    const listed = await server.get(tags);
    expect(listed.body.data.map((tag: { attributes: { name: string } }) => tag.attributes.name)).toEqual([
      'one',
      'two',
    ]);
    expect((await server.delete(tags, { data: [{ type: 'tags', id: listed.body.data[0].id }] })).status).toBe(204);
    expect((await server.delete(tags, { data: [{ type: 'tags', id: 'tag-unknown' }] })).status).toBe(404);
    expect((await server.delete(tags, namedTags('never-there'))).status).toBe(204);
    const { body } = await server.get(`/api/v2/workspaces/${id}`);
    expect(body.data.attributes['tag-names']).toEqual(['two']);
  });

  it('keep the order of the request, also if it has ids', async () => {
    const tags = (id: string) => `/api/v2/workspaces/${id}/relationships/tags`;
    const of = await createWorkspace('knows-tags');
    const namedTag = (name: string) => ({ type: 'tags', attributes: { name } });
    expect((await server.post(tags(of), { data: [namedTag('known')] })).status).toBe(204);
    const [{ id: existing }] = (await server.get(tags(of))).body.data;
    const id = await createWorkspace('orders-tags');
    const data = [namedTag('first'), { type: 'tags', id: existing }, namedTag('last')];
    expect((await server.post(tags(id), { data })).status).toBe(204);
    const { body } = await server.get(`/api/v2/workspaces/${id}`);
    expect(body.data.attributes['tag-names']).toEqual(['first', 'known', 'last']);
  });

  it('include flat tags as bindings with an empty value, and a PATCH returns what was sent, in that order', async () => {
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

  it('are limited to five hundred in a request and in a workspace', async () => {
    const id = await createWorkspace('many-tags');
    const path = `/api/v2/workspaces/${id}/relationships/tags`;
    const names = (from: number, count: number) => ({
      data: Array.from({ length: count }, (_, n) => ({ type: 'tags', attributes: { name: `t${from + n}` } })),
    });
    const tooMany = await server.post(path, names(0, 501));
    expect([tooMany.status, tooMany.body.errors[0].detail, tooMany.body.errors[0].source.pointer]).toEqual([
      422,
      'cannot exceed 500 tags per request',
      '/data',
    ]);
    expect((await server.post(path, names(0, 500))).status).toBe(204);
    expect((await server.post(path, names(0, 500))).status).toBe(204);
    const oneMore = await server.post(path, names(500, 1));
    expect([oneMore.status, oneMore.body.errors[0].detail]).toEqual([422, 'cannot exceed 500 tags per workspace']);
    const { body } = await server.get(`/api/v2/workspaces/${id}`);
    expect(body.data.attributes['tag-names']).toEqual(Array.from({ length: 500 }, (_, n) => `t${n}`));
    await expectViewsMatchLog(server, [workspacesDefinition]);
  });

  it('refuse an invalid tag name, and change nothing', async () => {
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
