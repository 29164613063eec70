import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import {
  expectStatus,
  makeAgentPool,
  makeAgentToken,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeTeam,
  makeToken,
  makeWorkspace,
  related,
  resource,
} from '../../../../test/support/seeds.js';
import { listNames, listProblems } from '../../../../test/support/responses.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { agentsDefinition } from '../index.js';

const PATH = '/api/v2/organizations/acme/agent-pools';

let server: TestServer;
let workspace: string;
let project: string;
let elsewhere: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  project = await makeProject(server, 'acme', 'Platform');
  workspace = await makeWorkspace(server, 'acme', 'net');
  elsewhere = await makeWorkspace(server, 'neighbour', 'theirs');
});

afterAll(() => server.close());

const pool = (attributes: object = {}, relationships?: object) => resource('agent-pools', attributes, relationships);
const byId = (id: string): string => `/api/v2/agent-pools/${id}`;
const allowing = (...ids: readonly string[]) => ({ 'allowed-workspaces': related('workspaces', ...ids) });
const usingPool = (id: string) => ({ 'execution-mode': 'agent', 'agent-pool-id': id });

describe('an agent pool', () => {
  it('is created, and has the same document by id and in the list', async () => {
    const relationships = {
      ...allowing(workspace),
      'allowed-projects': related('projects', project),
      'excluded-workspaces': { data: [] },
    };
    const created = await server.post(PATH, pool({ name: 'edge', 'organization-scoped': false }, relationships));
    const { body } = expectStatus(created, 201);
    const self = byId(body.data.id);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^apool-\w{16}$/),
      type: 'agent-pools',
      attributes: {
        name: 'edge',
        'organization-scoped': false,
        'remote-runs-enabled': false,
        'agent-count': 0,
        'created-at': expect.stringMatching(/Z$/),
      },
      relationships: {
        organization: { data: { type: 'organizations', id: 'acme' }, links: { related: '/api/v2/organizations/acme' } },
        agents: { links: { related: `${self}/agents` } },
        'authentication-tokens': { links: { related: `${self}/authentication-tokens` } },
        workspaces: { data: [] },
        ...relationships,
      },
      links: { self },
    });
    expect((await server.get(self)).body).toEqual(body);
    expect((await server.get(`${PATH}?q=edge`)).body.data).toEqual([body.data]);
  });

  it('is for the whole organization by default', async () => {
    const id = await makeAgentPool(server, 'acme', 'open');
    expect((await server.get(byId(id))).body.data).toMatchObject({
      attributes: { 'organization-scoped': true },
      relationships: { 'allowed-workspaces': { data: [] }, 'allowed-projects': { data: [] } },
    });
  });

  it('changes only the named attributes, replaces lists, and clears a list that is empty', async () => {
    const id = await makeAgentPool(server, 'acme', 'changing', { 'organization-scoped': false }, allowing(workspace));
    const renamed = expectStatus(await server.patch(byId(id), pool({ name: 'changed' })), 200).body.data;
    expect(renamed.attributes).toMatchObject({ name: 'changed', 'organization-scoped': false });
    expect(renamed.relationships).toMatchObject(allowing(workspace));
    const other = await makeWorkspace(server, 'acme', 'other');
    const replaced = expectStatus(await server.patch(byId(id), pool({}, allowing(other))), 200).body.data;
    expect(replaced.relationships).toMatchObject(allowing(other));
    const body = { data: { type: 'agent-pools', relationships: { 'allowed-workspaces': { data: [] } } } };
    const cleared = expectStatus(await server.patch(byId(id), body), 200).body.data;
    expect(cleared.relationships['allowed-workspaces']).toEqual({ data: [] });
    const none = await server.patch(byId(id), pool({}, { 'allowed-workspaces': { data: null } }));
    expect(expectStatus(none, 200).body.data).toEqual(cleared);
    expect((await server.get(byId(id))).body.data).toEqual(cleared);
  });

  it('has a unique name in its organization', async () => {
    await makeAgentPool(server, 'acme', 'taken');
    const free = await makeAgentPool(server, 'acme', 'free');
    for (const answer of [
      await server.post(PATH, pool({ name: 'taken' })),
      await server.patch(byId(free), pool({ name: 'taken' })),
    ]) {
      expect(listProblems(expectStatus(answer, 422))).toEqual([
        ['/data/attributes/name', 'Name has already been taken'],
      ]);
    }
    await makeAgentPool(server, 'neighbour', 'taken');
  });

  it.each([
    [{}, '/data/attributes/name', "Name can't be blank"],
    [{ name: 'a b' }, '/data/attributes/name', /^Name may only contain/],
    [{ name: 'x', 'organization-scoped': 'yes' }, '/data/attributes/organization-scoped', /must be true or false/],
  ])('is not created with %j', async (attributes, pointer, detail) => {
    expect(listProblems(expectStatus(await server.post(PATH, pool(attributes)), 422))).toEqual([
      [pointer, expect.stringMatching(detail)],
    ]);
  });

  it('refuses ids of other organizations in its lists, each with its own error', async () => {
    const id = await makeAgentPool(server, 'acme', 'strict');
    const relationships = {
      'allowed-workspaces': related('workspaces', workspace, elsewhere),
      'allowed-projects': related('projects', workspace),
      'excluded-workspaces': related('workspaces', 'ws-none'),
    };
    const expected = [
      ['/data/relationships/allowed-workspaces/data/1/id', `Workspace ${elsewhere} does not exist`],
      ['/data/relationships/allowed-projects/data/0/id', `Project ${workspace} does not exist`],
      ['/data/relationships/excluded-workspaces/data/0/id', 'Workspace ws-none does not exist'],
    ];
    expect(listProblems(expectStatus(await server.patch(byId(id), pool({}, relationships)), 422))).toEqual(expected);
    expect(listProblems(expectStatus(await server.post(PATH, pool({ name: 'not' }, relationships)), 422))).toEqual(
      expected,
    );
  });

  it.each([
    ['a list that is an object', { data: { type: 'workspaces', id: 'ws-1' } }],
    ['a list of another type', related('projects', 'prj-1')],
    ['a list of numbers', { data: [{ type: 'workspaces', id: 1 }] }],
    ['a list that is too long', related('workspaces', ...Array.from({ length: 501 }, (_, n) => `ws-${n}`))],
  ])('refuses %s', async (_, list) => {
    const { status } = await server.post(PATH, pool({ name: 'odd' }, { 'allowed-workspaces': list }));
    expect(status).toBe(422);
  });

  it('removes deleted workspaces and projects from its lists', async () => {
    const doomed = await makeWorkspace(server, 'acme', 'doomed');
    const closing = await makeProject(server, 'acme', 'Closing');
    const id = await makeAgentPool(
      server,
      'acme',
      'forgetful',
      {},
      { ...allowing(doomed), 'allowed-projects': related('projects', closing) },
    );
    expectStatus(await server.delete(`/api/v2/workspaces/${doomed}`), 204);
    expectStatus(await server.delete(`/api/v2/projects/${closing}`), 204);
    expect((await server.get(byId(id))).body.data.relationships).toMatchObject({
      'allowed-workspaces': { data: [] },
      'allowed-projects': { data: [] },
    });
  });
});

describe('the workspaces of an agent pool', () => {
  it('are the workspaces that use it, and are included on request', async () => {
    const id = await makeAgentPool(server, 'acme', 'used');
    const user = await makeWorkspace(server, 'acme', 'user', usingPool(id));
    const { body } = expectStatus(await server.get(`${byId(id)}?include=workspaces`), 200);
    expect(body.data.relationships.workspaces).toEqual(related('workspaces', user));
    expect(body.included).toEqual([(await server.get(`/api/v2/workspaces/${user}`)).body.data]);
    expect((await server.get(`${PATH}?q=used&include=workspaces`)).body.included).toEqual(body.included);
    expect((await server.get(byId(id))).body.included).toBeUndefined();
    expectStatus(await server.get(`${byId(id)}?include=hyok-configurations`), 200);
    expectStatus(await server.get(`${byId(id)}?include=agents`), 400);
    expectStatus(await server.get('/api/v2/admin/agent-pools?include=agents'), 400);
  });

  it('leave the pool if they change to another mode', async () => {
    const id = await makeAgentPool(server, 'acme', 'left');
    const leaver = await makeWorkspace(server, 'acme', 'leaver', usingPool(id));
    const remote = resource('workspaces', { 'execution-mode': 'remote' });
    const updated = expectStatus(await server.patch(`/api/v2/workspaces/${leaver}`, remote), 200).body.data;
    expect(updated.relationships['agent-pool']).toEqual({ data: null });
    expectStatus(await server.delete(byId(id)), 204);
    const back = await server.patch(
      `/api/v2/workspaces/${leaver}`,
      resource('workspaces', { 'execution-mode': 'agent' }),
    );
    expect(expectStatus(back, 422).body.errors[0].detail).toMatch(
      /must be specified when using 'agent' execution mode/,
    );
  });
});

describe('the pool of a workspace', () => {
  const refused = [
    ['/data/attributes/agent-pool-id', 'Agent pool does not exist, or is not allowed for this workspace'],
  ];
  const create = (name: string, id: string, relationships?: object) =>
    server.post(
      '/api/v2/organizations/acme/workspaces',
      resource('workspaces', { name, ...usingPool(id) }, relationships),
    );
  const choose = (of: string, id: string) =>
    server.patch(`/api/v2/workspaces/${of}`, resource('workspaces', usingPool(id)));

  it('must belong to the organization', async () => {
    const theirs = await makeAgentPool(server, 'neighbour', 'theirs');
    expect(listProblems(expectStatus(await create('lost', theirs), 422))).toEqual(refused);
    expect(listProblems(expectStatus(await create('lost', 'apool-none'), 422))).toEqual(refused);
    expect(listProblems(expectStatus(await choose(workspace, theirs), 422))).toEqual(refused);
  });

  it('must be allowed for the workspace or its project', async () => {
    const scoped = { 'organization-scoped': false };
    const own = await makeAgentPool(server, 'acme', 'own', scoped, allowing(workspace));
    expectStatus(await choose(workspace, own), 200);
    expect(listProblems(expectStatus(await create('stranger', own), 422))).toEqual(refused);

    const common = await makeAgentPool(server, 'acme', 'common', scoped, {
      'allowed-projects': related('projects', project),
    });
    expect(listProblems(expectStatus(await choose(workspace, common), 422))).toEqual(refused);
    expect(listProblems(expectStatus(await create('outside', common), 422))).toEqual(refused);
    const inside = expectStatus(
      await create('inside', common, { project: { data: { type: 'projects', id: project } } }),
      201,
    );
    expect(inside.body.data.relationships['agent-pool'].data).toEqual({ type: 'agent-pools', id: common });
    // A request that moves the workspace into the project may use the project's pool.
    const move = resource('workspaces', usingPool(common), { project: { data: { type: 'projects', id: project } } });
    expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, move), 200);
  });

  it('must not exclude the workspace', async () => {
    const excluded = await makeWorkspace(server, 'acme', 'excluded');
    const most = await makeAgentPool(
      server,
      'acme',
      'most',
      {},
      {
        'excluded-workspaces': related('workspaces', excluded),
      },
    );
    expect(listProblems(expectStatus(await choose(excluded, most), 422))).toEqual(refused);
    expectStatus(await create('another', most), 201);
  });

  it('is refused without the agent mode, before the pool itself is checked', async () => {
    const attributes = { name: 'neither', 'agent-pool-id': 'apool-none' };
    const answer = await server.post('/api/v2/organizations/acme/workspaces', resource('workspaces', attributes));
    expect(listProblems(expectStatus(answer, 422))).toEqual([
      ['/data/attributes/agent-pool-id', expect.stringMatching(/must not be specified unless using 'agent' execution/)],
    ]);
  });
});

describe('the list of agent pools', () => {
  let net: string;

  beforeAll(async () => {
    await makeOrganization(server, 'listed');
    const inner = await makeProject(server, 'listed', 'Inner');
    const inside = { project: { data: { type: 'projects', id: inner } } };
    net = await makeWorkspace(server, 'listed', 'net', {}, inside);
    await makeWorkspace(server, 'listed', 'dns');
    await makeAgentPool(server, 'listed', 'alpha');
    await makeAgentPool(server, 'listed', 'Beta', { 'organization-scoped': false }, allowing(net));
    const within = { 'allowed-projects': related('projects', inner) };
    await makeAgentPool(server, 'listed', 'gamma', { 'organization-scoped': false }, within);
    await makeAgentPool(server, 'listed', 'delta', {}, { 'excluded-workspaces': related('workspaces', net) });
  });

  const list = async (query: string) =>
    expectStatus(await server.get(`/api/v2/organizations/listed/agent-pools?${query}`), 200);

  it.each([
    ['sort=created-at', ['alpha', 'Beta', 'gamma', 'delta']],
    ['sort=-created-at', ['delta', 'gamma', 'Beta', 'alpha']],
    ['q=TA&sort=created-at', ['Beta', 'delta']],
    ['q=%25', []],
    ['filter[allowed_workspaces][name]=net&sort=created-at', ['alpha', 'Beta', 'gamma']],
    ['filter[allowed_workspaces][name]=dns&sort=created-at', ['alpha', 'delta']],
    ['filter[allowed_workspaces][name]=none', []],
    ['filter[allowed_projects][name]=Inner&sort=created-at', ['alpha', 'gamma', 'delta']],
    ['filter[allowed_projects][name]=Inner&q=gamma', ['gamma']],
    ['unheard-of=1&sort=created-at', ['alpha', 'Beta', 'gamma', 'delta']],
  ])('is filtered and sorted with the query "%s"', async (query, expected) => {
    const answer = await list(query);
    expect(listNames(answer)).toEqual(expected);
    expect(answer.body.meta.pagination['total-count']).toBe(expected.length);
  });

  it('is sorted by name by default, and in both directions', async () => {
    const names = listNames(await list(''));
    expect(names.toSorted()).toEqual(['Beta', 'alpha', 'delta', 'gamma']);
    expect(listNames(await list('sort=name'))).toEqual(names);
    expect(listNames(await list('sort=-name'))).toEqual(names.toReversed());
    expectStatus(await server.get(`${PATH}?sort=size`), 400);
  });

  it('is paged after filtering', async () => {
    const { body } = await list('q=ta&page[size]=1&sort=created-at');
    expect(body.meta.pagination).toMatchObject({ 'total-count': 2, 'total-pages': 2, 'next-page': 2 });
    expect(listNames(expectStatus(await server.get(body.links.next as string), 200))).toEqual(['delta']);
    expect((await list('page[number]=9')).body).toMatchObject({ data: [], meta: { pagination: { 'total-count': 4 } } });
  });
});

describe('a deleted agent pool', () => {
  it('is deleted with its tokens and agents', async () => {
    const id = await makeAgentPool(server, 'acme', 'going');
    const agent = server.as(await makeAgentToken(server, id));
    const registered = expectStatus(await agent.post(`${byId(id)}/agents`), 201).body.data.id as string;
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.get(byId(id)), 404);
    expectStatus(await server.delete(byId(id)), 404);
    expectStatus(await server.get(`/api/v2/agents/${registered}`), 404);
    expectStatus(await agent.post(`${byId(id)}/agents`), 401);
    const [token] = await server.database.rows<{ stream: string }>(
      sql`select stream from event_store.events where type = 'AuthenticationTokenCreated' and data ->> 'owner' = ${id}`,
    );
    const events = await server.store.log.stream(token?.stream ?? '');
    expect(events.map(({ type }) => type)).toEqual(['AuthenticationTokenCreated', 'AuthenticationTokenDestroyed']);
    const remaining = await server.database.rows(sql`select 1 from agents.pings where pool = ${id}`);
    expect(remaining).toEqual([]);
  });

  it('cannot be deleted while a workspace uses it', async () => {
    const id = await makeAgentPool(server, 'acme', 'kept');
    const user = await makeWorkspace(server, 'acme', 'keeper', usingPool(id));
    expect(listProblems(expectStatus(await server.delete(byId(id)), 422))).toEqual([
      [undefined, expect.stringContaining('Agent pool is used by 1 workspace;')],
    ]);
    expectStatus(await server.get(byId(id)), 200);
    expectStatus(await server.delete(`/api/v2/workspaces/${user}`), 204);
    expectStatus(await server.delete(byId(id)), 204);
  });

  it('cannot be deleted while it is a default', async () => {
    const id = await makeAgentPool(server, 'acme', 'default');
    const choice = { 'default-agent-pool': { data: { type: 'agent-pools', id } } };
    const mode = { 'default-execution-mode': 'agent' };
    const owners = [
      ['organizations', '/api/v2/organizations/acme', 'the organization'],
      ['projects', `/api/v2/projects/${project}`, '1 project'],
    ] as const;
    for (const [type, path, user] of owners) {
      expectStatus(await server.patch(path, resource(type, mode, choice)), 200);
      expect(listProblems(expectStatus(await server.delete(byId(id)), 422))).toEqual([
        [undefined, expect.stringContaining(`Agent pool is used by ${user};`)],
      ]);
      const none = { 'default-agent-pool': { data: null } };
      expectStatus(await server.patch(path, resource(type, { 'default-execution-mode': 'remote' }, none)), 200);
    }
    expectStatus(await server.delete(byId(id)), 204);
  });

  it('is deleted before a workspace chooses it, or chosen before its deletion, even if the requests compete', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await makeAgentPool(server, 'acme', `raced-${round}`);
      const body = resource('workspaces', { name: `racer-${round}`, ...usingPool(id) });
      const [deleted, chosen] = await Promise.all([
        server.delete(byId(id)),
        server.post('/api/v2/organizations/acme/workspaces', body),
      ]);
      expect([`${deleted.status} ${chosen.status}`]).toEqual([expect.stringMatching(/^(?:204 422|422 201)$/)]);
    }
  });

  it('contains no workspace that is deleted for good while it is added to a list', async () => {
    const id = await makeAgentPool(server, 'acme', 'listing');
    for (let round = 0; round < 10; round += 1) {
      const doomed = await makeWorkspace(server, 'acme', `listed-${round}`);
      const [listed] = await Promise.all([
        server.patch(byId(id), pool({}, allowing(doomed))),
        server.delete(`/api/v2/workspaces/${doomed}`),
      ]);
      expect([200, 422]).toContain(listed.status);
      expectStatus(await server.delete(`/api/v2/recoverable-items/${doomed}`), 204);
    }
    expect(await server.database.rows(sql`select 1 from agent_pool_scopes where pool = ${id}`)).toEqual([]);
  });
});

describe('permissions on agent pools', () => {
  it('let members read pools without hidden workspaces, and managers of pools change and see everything in them', async () => {
    const secret = await makeWorkspace(server, 'acme', 'secret');
    const visible = await makeWorkspace(server, 'acme', 'shown');
    const id = await makeAgentPool(server, 'acme', 'seen', {}, allowing(secret, visible));
    expectStatus(await server.patch(`/api/v2/workspaces/${secret}`, resource('workspaces', usingPool(id))), 200);
    const readers = await makeTeam(server, 'acme', 'readers');
    const access = {
      team: { data: { type: 'teams', id: readers } },
      workspace: { data: { type: 'workspaces', id: visible } },
    };
    expectStatus(
      await server.post('/api/v2/team-workspaces', resource('team-workspaces', { access: 'read' }, access)),
      201,
    );
    const managers = await makeTeam(server, 'acme', 'managers', {
      'organization-access': { 'manage-agent-pools': true },
    });
    const reader = await makeMember(server, 'acme', 'reader', [readers]);
    const manager = await makeMember(server, 'acme', 'manager', [managers]);

    const read = expectStatus(await reader.get(`${byId(id)}?include=workspaces`), 200).body;
    expect(read.data.relationships).toMatchObject({ ...allowing(visible), workspaces: { data: [] } });
    expect(read.included).toEqual([]);
    const filter = 'q=seen&filter[allowed_workspaces][name]';
    expect(listNames(await reader.get(`${PATH}?${filter}=shown`))).toEqual(['seen']);
    expect(listNames(await reader.get(`${PATH}?${filter}=secret`))).toEqual([]);
    const writes = [
      await reader.post(PATH, pool({ name: 'mine' })),
      await reader.patch(byId(id), pool({ name: 'mine' })),
      await reader.delete(byId(id)),
    ];
    expect(writes.map(({ status }) => status)).toEqual([404, 404, 404]);

    const managed = expectStatus(await manager.patch(byId(id), pool({ name: 'managed' })), 200).body.data;
    expect(managed.relationships).toMatchObject({
      ...allowing(...[secret, visible].toSorted()),
      workspaces: related('workspaces', secret),
    });
  });

  it('include the organization token, but no other token', async () => {
    const id = await makeAgentPool(server, 'acme', 'guarded');
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    expectStatus(await token.patch(byId(id), pool({ name: 'well-guarded' })), 200);
    const audit = await makeToken(server, '/api/v2/organizations/acme/authentication-token?token=audit-trails');
    const agent = await makeAgentToken(server, id);
    const stranger = await makeOrganizationToken(server, 'neighbour');
    for (const other of [audit, agent, stranger].map((secret) => server.as(secret))) {
      const answers = [
        await other.get(PATH),
        await other.post(PATH, pool({ name: 'mine' })),
        await other.get(byId(id)),
        await other.patch(byId(id), pool({ name: 'mine' })),
        await other.delete(byId(id)),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    }
    expectStatus(await server.as(null).get(byId(id)), 401);
    expectStatus(await server.get('/api/v2/organizations/nowhere/agent-pools'), 404);
  });
});

describe('views and snapshots of pools and agents', () => {
  it('match the log', async () => {
    await makeOrganization(server, 'ended');
    const id = await makeAgentPool(server, 'ended', 'last');
    expectStatus(await server.as(await makeAgentToken(server, id)).post(`${byId(id)}/agents`), 201);
    expectStatus(await server.delete('/api/v2/organizations/ended'), 204);
    expect(await server.database.rows(sql`select 1 from agents.pings where pool = ${id}`)).toEqual([]);
    await expectViewsMatchLog(server, [agentsDefinition]);
  });
});
