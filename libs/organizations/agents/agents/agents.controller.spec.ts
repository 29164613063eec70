import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { FixedClock } from '../../../../test/support/clocks.js';
import { logLength } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  makeAgentPool,
  makeAgentToken,
  makeOrganization,
  makeOrganizationToken,
  resource,
} from '../../../../test/support/seeds.js';
import { runBetween } from '../../../../test/support/interleaving.js';
import { listNames } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';

const clock = new FixedClock();
let server: TestServer;
let pool: string;
let worker: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  await makeOrganization(server, 'acme');
  pool = await makeAgentPool(server, 'acme', 'edge');
  worker = server.as(await makeAgentToken(server, pool));
});

afterAll(() => server.close());

const inPool = (id: string): string => `/api/v2/agent-pools/${id}/agents`;
const byId = (id: string): string => `/api/v2/agents/${id}`;
const register = async (name?: string, api = worker, of = pool): Promise<string> =>
  expectStatus(await api.post(inPool(of), resource('agents', { name })), 201).body.data.id as string;
const ping = (id: string, status: string, api = worker): Promise<ApiResponse> =>
  api.post(`${byId(id)}/actions/ping`, resource('agents', { status }));
const attributesOf = async (id: string) => expectStatus(await server.get(byId(id)), 200).body.data.attributes;
const countIn = async (id: string): Promise<number> =>
  (await server.get(`/api/v2/agent-pools/${id}`)).body.data.attributes['agent-count'] as number;

describe('an agent', () => {
  it('registers with its pool’s token, and has the same document by id and in the list', async () => {
    const { body } = expectStatus(await worker.post(inPool(pool), resource('agents', { name: 'one' })), 201);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^agent-\w{16}$/),
      type: 'agents',
      attributes: {
        name: 'one',
        'ip-address': '127.0.0.1',
        version: null,
        capacity: null,
        phases: null,
        status: 'idle',
        'last-ping-at': '2026-11-21T12:00:00.000Z',
        'created-at': '2026-11-21T12:00:00.000Z',
      },
      relationships: {
        'agent-pool': {
          data: { type: 'agent-pools', id: pool },
          links: { related: `/api/v2/agent-pools/${pool}` },
        },
      },
      links: { self: byId(body.data.id) },
    });
    expect((await server.get(byId(body.data.id))).body).toEqual(body);
    expect((await server.get(inPool(pool))).body.data).toEqual([body.data]);
  });

  it('needs neither a name nor a body to register', async () => {
    expect(expectStatus(await worker.post(inPool(pool)), 201).body.data.attributes.name).toBeNull();
    expectStatus(await worker.post(inPool(pool), resource('agents', { name: 7 })), 422);
  });

  it('registers as an executor in the pool of its token, if the server speaks its protocol', async () => {
    const attributes = { name: 'two', 'protocol-version': '1.0' };
    const { id, relationships } = expectStatus(await worker.post('/api/v2/agents', resource('agents', attributes)), 201)
      .body.data;
    expect(relationships['agent-pool'].data.id).toBe(pool);
    expectStatus(await ping(id, 'exited'), 200);
    expectStatus(await worker.post('/api/v2/agents', resource('agents', { name: 'no version' })), 201);
    for (const version of ['2.0', '1', 'latest', '']) {
      const body = resource('agents', { ...attributes, 'protocol-version': version });
      expectStatus(await worker.post('/api/v2/agents', body), 422);
    }
    expectStatus(await server.post('/api/v2/agents', resource('agents', attributes)), 404);
  });

  it('describes itself to people when it registers as an executor', async () => {
    const facts = { version: '0.3.0', capacity: 4, phases: ['plan', 'apply'] };
    const post = (attributes: object) => worker.post('/api/v2/agents', resource('agents', attributes));
    const { id, attributes } = expectStatus(await post({ name: 'three', ...facts }), 201).body.data;
    expect(attributes).toMatchObject(facts);
    expect(await attributesOf(id)).toMatchObject(facts);
    const partly = expectStatus(await post({ name: 'four', version: '0.3.0' }), 201).body.data.attributes;
    expect(partly).toMatchObject({ version: null, capacity: null, phases: null });
    for (const wrong of [
      { capacity: 0 },
      { capacity: 1.5 },
      { phases: [] },
      { phases: ['eat'] },
      { version: 'x'.repeat(51) },
    ]) {
      expectStatus(await post({ ...facts, ...wrong }), 422);
    }
  });

  it('reports its status without an event', async () => {
    const id = await register('busy');
    const before = await logLength(server.store);
    clock.pass({ minutes: 1 });
    const { body } = expectStatus(await ping(id, 'busy'), 200);
    expect(body.data.attributes).toMatchObject({ status: 'busy', 'last-ping-at': clock.now().toISOString() });
    expect((await server.get(byId(id))).body).toEqual(body);
    expect(await logLength(server.store)).toBe(before);
    expectStatus(await ping(id, 'tired'), 422);
    expectStatus(await worker.post(`${byId(id)}/actions/ping`), 422);
  });

  it('is unknown after minutes without a ping, and errored after two hours', async () => {
    const id = await register('silent');
    clock.pass({ minutes: 3 });
    expect(await attributesOf(id)).toMatchObject({ status: 'idle' });
    clock.pass({ minutes: 1 });
    expect(await attributesOf(id)).toMatchObject({ status: 'unknown' });
    clock.pass({ minutes: 120 });
    expect(await attributesOf(id)).toMatchObject({ status: 'errored' });
    expectStatus(await ping(id, 'idle'), 200);
    expect(await attributesOf(id)).toMatchObject({ status: 'idle' });
  });

  it('can be deleted if it is no longer working', async () => {
    const id = await register('leaver');
    const refused = expectStatus(await server.delete(byId(id)), 412);
    expect(refused.body.errors[0]).toMatchObject({
      status: '412',
      detail: 'Agent is idle. Only agents that are unknown, errored or exited can be deleted',
    });
    expectStatus(await ping(id, 'exited'), 200);
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.get(byId(id)), 404);
    expectStatus(await server.delete(byId(id)), 404);
    expectStatus(await ping(id, 'idle'), 404);
    expect(await server.database.rows(sql`select 1 from agents.pings where agent = ${id}`)).toEqual([]);
  });

  it('is deleted with its pool, or not registered, if it registers while the pool is deleted', async () => {
    for (let round = 0; round < 10; round += 1) {
      const doomed = await makeAgentPool(server, 'acme', `doomed-${round}`);
      const api = server.as(await makeAgentToken(server, doomed));
      const [registered, deleted] = await Promise.all([
        api.post(inPool(doomed)),
        server.delete(`/api/v2/agent-pools/${doomed}`),
      ]);
      expectStatus(deleted, 204);
      expect([201, 401, 404]).toContain(registered.status);
      expect(await server.database.rows(sql`select 1 from agents where pool = ${doomed}`)).toEqual([]);
      expect(await server.database.rows(sql`select 1 from agents.pings where pool = ${doomed}`)).toEqual([]);
    }
  });

  it('is not registered if its organization is deleted at the same time', async () => {
    const { id } = await makeOrganization(server, 'ending');
    const doomed = await makeAgentPool(server, 'ending', 'doomed');
    const api = server.as(await makeAgentToken(server, doomed));
    runBetween(server.store, () => server.delete('/api/v2/organizations/ending'));
    expectStatus(await api.post(inPool(doomed)), 401);
    expect(await server.database.rows(sql`select 1 from agents where organization = ${id}`)).toEqual([]);
    expect(await server.database.rows(sql`select 1 from agents.pings where organization = ${id}`)).toEqual([]);
  });

  it('is counted in its pool while it is alive', async () => {
    const other = await makeAgentPool(server, 'acme', 'counted');
    const token = server.as(await makeAgentToken(server, other));
    const [first] = [await register('a', token, other), await register('b', token, other)];
    expect(await countIn(other)).toBe(2);
    expectStatus(await ping(first, 'exited', token), 200);
    expect(await countIn(other)).toBe(1);
    clock.pass({ minutes: 121 });
    expect(await countIn(other)).toBe(0);
  });
});

describe('the list of agents', () => {
  let listed: string;

  beforeAll(async () => {
    listed = await makeAgentPool(server, 'acme', 'listed');
    const token = server.as(await makeAgentToken(server, listed));
    clock.time = Date.parse('2026-11-22T08:00:00.000Z');
    for (const name of ['a', 'b', 'c']) {
      await register(name, token, listed);
      clock.pass({ minutes: 60 });
    }
  });

  it.each([
    ['', ['c', 'b', 'a']],
    ['filter[last-ping-since]=2026-11-22T09:00:00Z', ['c', 'b']],
    ['filter[last-ping-since]=2026-11-22T10:30:00%2B01:00', ['c']],
    ['filter[last-ping-since]=2026-11-22T10:00:00', ['c']],
    ['filter[last-ping-since]=2026-11-22T10:00Z', ['c']],
    ['filter[last-ping-since]=20261122T100000Z', ['c']],
    ['filter[last-ping-since]=2026-11-22', ['c', 'b', 'a']],
    ['filter[last-ping-since]=2026-11-23', []],
    ['filter[last-ping-since]=', ['c', 'b', 'a']],
  ])('is filtered with the query "%s"', async (query, expected) => {
    const answer = expectStatus(await server.get(`${inPool(listed)}?${query}`), 200);
    expect(listNames(answer)).toEqual(expected);
    expect(answer.body.meta.pagination['total-count']).toBe(expected.length);
  });

  it('is paged', async () => {
    const { body } = expectStatus(await server.get(`${inPool(listed)}?page[size]=2`), 200);
    expect(body.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2 });
    expect(listNames(expectStatus(await server.get(body.links.next as string), 200))).toEqual(['a']);
  });

  it('returns 400 for an invalid time, and 404 for an unknown pool', async () => {
    const { status, body } = await server.get(`${inPool(listed)}?filter[last-ping-since]=yesterday`);
    expect([status, body.errors[0].source]).toEqual([400, { parameter: 'filter[last-ping-since]' }]);
    expect((await server.get(inPool('apool-none'))).status).toBe(404);
  });
});

describe('permissions on agents', () => {
  it('let only the pool’s token register and ping, and nothing else', async () => {
    const id = await register('own');
    const neighbours = await makeAgentPool(server, 'acme', 'neighbours');
    const other = server.as(await makeAgentToken(server, neighbours));
    const people = [server, server.as(await makeOrganizationToken(server, 'acme')), other];
    for (const api of people) {
      expectStatus(await api.post(inPool(pool), resource('agents', { name: 'x' })), 404);
      expectStatus(await ping(id, 'exited', api), 404);
    }
    expectStatus(await worker.get(inPool(pool)), 404);
    expectStatus(await worker.get(byId(id)), 404);
    expectStatus(await worker.delete(byId(id)), 404);
    expect(await attributesOf(id)).toMatchObject({ status: 'idle' });
  });

  it('let the organization read, and callers that manage pools delete', async () => {
    const id = await register('guarded');
    expectStatus(await ping(id, 'exited'), 200);
    await makeOrganization(server, 'neighbour');
    const stranger = server.as(await makeOrganizationToken(server, 'neighbour'));
    const answers = [await stranger.get(inPool(pool)), await stranger.get(byId(id)), await stranger.delete(byId(id))];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    const member = server.as(await makeOrganizationToken(server, 'acme'));
    expectStatus(await member.get(byId(id)), 200);
    expectStatus(await member.delete(byId(id)), 204);
  });
});

describe('the audit trail of agents', () => {
  it('records registered and deleted agents, and pools', async () => {
    await makeOrganization(server, 'audited');
    const of = await makeAgentPool(server, 'audited', 'told');
    const token = server.as(await makeAgentToken(server, of));
    const id = await register('fox', token, of);
    expectStatus(await ping(id, 'exited', token), 200);
    expectStatus(await server.delete(byId(id)), 204);
    const renamed = resource('agent-pools', { name: 'retold' });
    expectStatus(await server.patch(`/api/v2/agent-pools/${of}`, renamed), 200);
    expectStatus(await server.delete(`/api/v2/agent-pools/${of}`), 204);
    const reader = server.as(await makeOrganizationToken(server, 'audited'));
    const { body } = expectStatus(await reader.get('/api/v2/organization/audit-trail?page[size]=100'), 200);
    type Entry = { resource: { type: string; action: string; meta: object | null } };
    const resources = (body.data as Entry[])
      .map((entry) => entry.resource)
      .filter(({ type }) => type.startsWith('agent'));
    expect(resources.map(({ type, action, meta }) => [type, action, meta])).toEqual([
      ['agent_pool', 'destroy', { name: 'retold' }],
      ['agent_pool', 'update', { attributes: ['name'] }],
      ['agent', 'destroy', { name: 'fox', agent_pool_id: of }],
      ['agent', 'create', { name: 'fox', agent_pool_id: of }],
      ['agent_pool', 'create', { name: 'told' }],
    ]);
    expect((body.data as Entry[]).map(({ resource: { type, action } }) => `${type} ${action}`)).toContain(
      'authentication_token destroy',
    );
  });
});
