import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RandomIds } from '#platform/host';
import type { TickingClock } from '../../../../test/support/clocks.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { getDetail } from '../../../../test/support/responses.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeAgentPool,
  makeAgentToken,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeRun,
  makeTeam,
  resource,
} from '../../../../test/support/seeds.js';
import type { ApiResponse, ApiTestClient, TestServer } from '../../../../test/support/server.js';
import { insertChunks } from '../logs/run-logs.queries.js';
import { RunFiles } from '../run-files/run.files.js';
import { endLease } from '../runs/run-leases.queries.js';
import { createLostExecutorsJob } from './lost-executors.job.js';

let server: TestServer;
let clock: TickingClock;
let api: ApiTestClient;

beforeAll(async () => {
  ({ server, clock } = await startRunSite());
});

afterAll(() => server.close());

const { aWorkspace, show, statusOf, act, report, holderOf, differences } = runRequests(() => ({ server, agents: api }));

let names = 0;
const unique = (name: string): string => `${name}-${(names += 1)}`;

/** An agent of a pool of its own, and the workspaces that use the pool. */
const makeExecutor = async () => {
  const pool = await makeAgentPool(server, 'acme', unique('pool'));
  api = server.as(await makeAgentToken(server, pool));
  const register = async (): Promise<string> =>
    expectStatus(await api.post(`/api/v2/agent-pools/${pool}/agents`, resource('agents', { name: 'builder' })), 201)
      .body.data.id as string;
  const aRun = async (attributes: object = {}): Promise<string> =>
    makeRun(server, await aWorkspace({ 'execution-mode': 'agent', 'agent-pool-id': pool }), attributes);
  return { pool, register, agent: await register(), aRun };
};

const claim = (agent: string, attributes: object = {}): Promise<ApiResponse> =>
  api.post(`/api/v2/agents/${agent}/actions/claim`, resource('agents', attributes));
const claimed = async (agent: string, attributes: object = {}) =>
  expectStatus(await claim(agent, attributes), 200).body;
const renew = (run: string, attributes: object): Promise<ApiResponse> =>
  api.post(`/api/v2/runs/${run}/actions/renew-lease`, resource('run-leases', attributes));
const endLeases = (): Promise<number> => {
  clock.pass({ seconds: 61 });
  return runJobOnce(createLostExecutorsJob(server.store, clock, new RandomIds(), 0));
};

describe('a claim', () => {
  it('gives an agent the plan and then the apply of a run, with a lease for each', async () => {
    const { agent, pool, aRun } = await makeExecutor();
    expect((await claimed(agent)).data).toBeNull();
    const run = await aRun();
    const plan = await claimed(agent);
    expect(plan.data).toEqual({
      id: run,
      type: 'run-leases',
      attributes: {
        'canceled-at': null,
        'expires-at': expect.any(String),
        fence: 1,
        'organization-name': 'acme',
        phase: 'plan',
        'workspace-name': expect.any(String),
      },
      relationships: {
        agent: { data: { type: 'agents', id: agent }, links: { related: `/api/v2/agents/${agent}` } },
        run: { data: { type: 'runs', id: run }, links: { related: `/api/v2/runs/${run}` } },
        workspace: expect.anything(),
      },
    });
    expect(plan.included).toMatchObject([{ id: run, type: 'runs', attributes: { status: 'planning' } }]);
    const leases = async () => expectStatus(await server.get(`/api/v2/agent-pools/${pool}/run-leases`), 200).body;
    expect((await leases()).data).toEqual([plan.data]);
    const details = { mode: 'agent', 'agent-id': agent, 'agent-name': 'builder', 'agent-pool-id': pool };
    const phase = async (name: string) =>
      expectStatus(await server.get(`/api/v2/runs/${run}/${name}`), 200).body.data.attributes;
    expect(await phase('plan')).toMatchObject({ status: 'running', 'execution-details': details });
    expect(await phase('apply')).toMatchObject({ 'execution-details': { mode: 'agent', 'agent-pool-id': pool } });
    expectStatus(await report(run, 'planned', { fence: 1, 'resource-additions': 1 }), 200);
    expectStatus(await renew(run, { fence: 1 }), 409);
    expect((await claimed(agent)).data).toBeNull();
    expectStatus(await act(run, 'apply'), 202);
    expect((await claimed(agent)).data.attributes).toMatchObject({ fence: 2, phase: 'apply' });
    expect(await phase('apply')).toMatchObject({ status: 'running', 'execution-details': details });
    expectStatus(await report(run, 'applied', { fence: 2 }), 200);
    expect(await statusOf(run)).toBe('applied');
    expect(await leases()).toMatchObject({ data: [], meta: { pagination: { 'total-count': 0 } } });
  });

  it('is listed for people who may read the run and its pool', async () => {
    const { agent, pool, aRun } = await makeExecutor();
    const run = await aRun();
    await claimed(agent);
    const path = `/api/v2/agent-pools/${pool}/run-leases`;
    const readers = await makeTeam(server, 'acme', unique('readers'));
    const member = await makeMember(server, 'acme', unique('rita'), [readers]);
    expect(expectStatus(await member.get(path), 200).body.data).toEqual([]);
    const { workspace } = (await show(run)).relationships;
    await grantWorkspaceAccess(server, readers, workspace.data.id, 'read');
    expect(expectStatus(await member.get(path), 200).body.data).toMatchObject([{ id: run }]);
    const other = unique('other');
    await makeOrganization(server, other);
    const stranger = await makeMember(server, other, unique('sven'));
    expectStatus(await stranger.get(path), 404);
  });

  it('takes applies before plans, plans that may be applied before others, and the oldest of them', async () => {
    const { agent, aRun } = await makeExecutor();
    const applied = await aRun({ 'auto-apply': true });
    await claimed(agent);
    const speculative = await aRun({ 'plan-only': true });
    const [first, second] = [await aRun(), await aRun()];
    expectStatus(await report(applied, 'planned', { fence: 1, 'has-changes': true }), 200);
    const order = [];
    for (let n = 0; n < 4; n += 1) order.push((await claimed(agent)).data.id);
    expect(order).toEqual([applied, first, second, speculative]);
  });

  it('takes only the phases that the agent accepts', async () => {
    const { agent, aRun } = await makeExecutor();
    const run = await aRun();
    expect((await claimed(agent, { phases: ['apply'] })).data).toBeNull();
    expect((await claimed(agent, { phases: ['plan'] })).data.id).toBe(run);
  });

  it('gives each run to one of many agents that ask at once', async () => {
    const { register, aRun } = await makeExecutor();
    const agents = await Promise.all(Array.from({ length: 6 }, () => register()));
    const runs = [await aRun(), await aRun(), await aRun()];
    const answers = await Promise.all(agents.map((agent) => claim(agent)));
    const received = answers.map((answer) => expectStatus(answer, 200).body.data?.id as string | undefined);
    expect(received.filter((id) => id !== undefined).toSorted()).toEqual(runs.toSorted());
  });

  it('waits for a run', async () => {
    const { agent, aRun } = await makeExecutor();
    const waiting = claim(agent, { 'wait-seconds': 30 });
    const run = await aRun();
    expect(expectStatus(await waiting, 200).body.data.id).toBe(run);
  });

  it('shows the agent as busy while it has a lease', async () => {
    const { agent, aRun } = await makeExecutor();
    const status = async () =>
      expectStatus(await server.get(`/api/v2/agents/${agent}`), 200).body.data.attributes.status as string;
    const run = await aRun({ 'plan-only': true });
    await claimed(agent);
    expect(await status()).toBe('busy');
    expectStatus(await report(run, 'planned', { fence: 1 }), 200);
    expect((await claimed(agent)).data).toBeNull();
    expect(await status()).toBe('idle');
  });

  it('is refused to other pools and with attributes that are not valid', async () => {
    const { agent } = await makeExecutor();
    expectStatus(await claim(agent, { 'wait-seconds': 31 }), 422);
    expectStatus(await claim(agent, { phases: ['assessment'] }), 422);
    const own = api;
    await makeExecutor();
    expectStatus(await claim(agent), 404);
    expectStatus(await own.post(`/api/v2/agents/agent-none/actions/claim`), 404);
  });
});

describe('a lease', () => {
  it('is renewed with its fence, by its pool', async () => {
    const { agent, aRun } = await makeExecutor();
    const run = await aRun();
    const before = (await claimed(agent)).data.attributes['expires-at'] as string;
    clock.pass({ seconds: 30 });
    const after = expectStatus(await renew(run, { fence: 1 }), 200).body.data.attributes['expires-at'] as string;
    expect(Date.parse(after)).toBeGreaterThan(Date.parse(before));
    const refused = expectStatus(await renew(run, { fence: 2 }), 409);
    expect(getDetail(refused)).toBe('The lease with the fence 2 has ended');
    await makeExecutor();
    expectStatus(await renew(run, { fence: 1 }), 404);
  });

  it('answers a waiting executor at once when a user cancels the run', async () => {
    const { agent, aRun } = await makeExecutor();
    const run = await aRun();
    await claimed(agent);
    const waiting = renew(run, { fence: 1, 'wait-seconds': 30 });
    expectStatus(await act(run, 'cancel'), 202);
    expect(expectStatus(await waiting, 200).body.data.attributes['canceled-at']).toEqual(expect.any(String));
    expectStatus(await report(run, 'canceled', { fence: 1 }), 200);
  });

  it('ends during a plan: another agent plans again, and the first can change nothing any more', async () => {
    const { agent, register, aRun } = await makeExecutor();
    const run = await aRun();
    await claimed(agent);
    const token = expectStatus(await api.post(`/api/v2/runs/${run}/authentication-tokens`), 201).body.data.attributes
      .token;
    expect(await runJobOnce(createLostExecutorsJob(server.store, clock, new RandomIds(), 0))).toBe(0);
    expect(await endLeases()).toBeGreaterThan(0);
    expect(await show(run)).toMatchObject({ attributes: { status: 'plan_queued' } });
    const plan = expectStatus(await server.get(`/api/v2/runs/${run}/plan`), 200).body.data.attributes;
    expect(plan).toMatchObject({ status: 'queued' });
    expectStatus(await server.as(token as string).get(`/api/v2/runs/${run}`), 401);
    expect((await claimed(await register())).data.attributes.fence).toBe(2);
    expectStatus(await renew(run, { fence: 1 }), 409);
    expectStatus(await report(run, 'planned', { fence: 1 }), 409);
    expectStatus(await report(run, 'planned'), 409);
    expectStatus(await report(run, 'planned', { fence: 2 }), 200);
  });

  it('keeps the agent busy without pings', async () => {
    const { agent, aRun } = await makeExecutor();
    const run = await aRun();
    await claimed(agent);
    for (let n = 0; n < 5; n += 1) {
      clock.pass({ seconds: 50 });
      expectStatus(await renew(run, { fence: 1 }), 200);
    }
    const { attributes } = expectStatus(await server.get(`/api/v2/agents/${agent}`), 200).body.data;
    expect(attributes.status).toBe('busy');
  });

  it('continues if it is renewed after its expiry and before the job has ended it', async () => {
    const { agent, aRun } = await makeExecutor();
    const run = await aRun();
    await claimed(agent);
    clock.pass({ seconds: 61 });
    const expired = clock.now();
    expectStatus(await renew(run, { fence: 1 }), 200);
    expect(await endLease(server.database, run, expired)).toBe(false);
    clock.pass({ seconds: 61 });
    expect(await endLease(server.database, run, clock.now())).toBe(true);
    expectStatus(await renew(run, { fence: 1 }), 409);
  });

  it('ends during an apply: the run fails, says why, and frees the workspace', async () => {
    const { agent, aRun } = await makeExecutor();
    const run = await aRun({ 'auto-apply': true });
    await claimed(agent);
    expectStatus(await report(run, 'planned', { fence: 1, 'has-changes': true }), 200);
    await claimed(agent);
    const workspace = (await show(run)).relationships.workspace.data.id as string;
    expect(await holderOf(workspace)).not.toBeNull();
    expect(await endLeases()).toBeGreaterThan(0);
    expect(await statusOf(run)).toBe('errored');
    expect(await holderOf(workspace)).toBeNull();
    const events = expectStatus(await server.get(`/api/v2/runs/${run}/run-events`), 200).body.data as readonly {
      readonly attributes: { readonly description: string | null };
    }[];
    expect(events.map(({ attributes }) => attributes.description)).toContainEqual(
      expect.stringMatching(/^The executor builder stopped answering while it applied\./),
    );
    expectStatus(await report(run, 'applied', { fence: 2 }), 409);
    await waitForFollowers(server.store, 'audit_trail');
    const trail = server.as(await makeOrganizationToken(server, 'acme'));
    const { body } = await trail.get('/api/v2/organization/audit-trail?filter[action]=lose_executor');
    const entries = body.data as readonly { readonly resource: { readonly id: string } }[];
    expect(entries.filter(({ resource: { id } }) => id === run)).toMatchObject([
      { auth: { accessor_id: 'system' }, resource: { type: 'run', meta: { phase: 'apply', agent_id: agent } } },
    ]);
  });
});

describe('an upload', () => {
  const planOf = (run: string): string => run.replace('run-', 'plan-');
  const sendLog = (run: string, query: string, output: string): Promise<ApiResponse> =>
    api.put(`/api/v2/plans/${planOf(run)}/log?${query}`, output);
  const sendDocument = (run: string, query: string, kind: string, document: object): Promise<ApiResponse> =>
    api.put(`/api/v2/plans/${planOf(run)}/${kind}${query}`, document);
  const readLog = async (path: string): Promise<string> => {
    const { attributes } = expectStatus(await server.get(`/api/v2/${path}`), 200).body.data;
    return (await server.as(null).get(`${new URL(attributes['log-read-url'] as string).pathname}?offset=0`)).text;
  };
  const readSchemas = async (run: string): Promise<unknown> => {
    const { headers } = expectStatus(await server.get(`/api/v2/plans/${planOf(run)}/json-schema`), 307);
    return expectStatus(await server.as(null).get(headers.get('location') ?? ''), 200).body;
  };
  const schemas = (version: number) => ({
    format_version: '1.0',
    provider_schemas: { 'example.org/a/b': { resource_schemas: { b_thing: { version, block: {} } } } },
  });
  const listFiles = async (run: string): Promise<readonly string[]> => {
    const keys = [];
    for await (const { key } of server.runtime.blobs.list(`runs/${run}`)) keys.push(key);
    return keys;
  };

  it('needs the fence of the newest claim, and a plan that is queued again continues its log and begins its documents again', async () => {
    const { agent, aRun } = await makeExecutor();
    const run = await aRun();
    await claimed(agent);
    expectStatus(await sendLog(run, 'offset=0&fence=1', 'one'), 200);
    expectStatus(await sendDocument(run, '?fence=1', 'json-schema', schemas(1)), 204);
    await endLeases();
    expect(await readLog(`plans/${planOf(run)}`)).toBe('\u0002one');
    await waitForFollowers(server.store, 'run_file_sweeper');
    expect(await listFiles(run)).toEqual([]);
    expectStatus(await sendLog(run, 'offset=3&fence=1', 'more'), 409);
    await claimed(agent);
    for (const query of ['offset=0&fence=1', 'offset=0', 'offset=0&fence=3']) {
      expect(getDetail(expectStatus(await sendLog(run, query, 'one'), 409))).toMatch(/its executor has the fence 2/);
    }
    expect(expectStatus(await sendLog(run, 'offset=0&fence=2', 'two'), 200).body).toMatchObject({ offset: 3 });
    expectStatus(await sendLog(run, 'offset=0&fence=1', 'two'), 409);
    const gap = expectStatus(await sendLog(run, 'offset=5&fence=2', 'more'), 409);
    expect(gap.body.errors[0].meta).toEqual({ offset: 3 });
    expect(expectStatus(await sendLog(run, 'offset=1&fence=2', 'wo and more'), 200).body.offset).toBe(12);
    for (const query of ['?fence=1', '']) {
      expectStatus(await sendDocument(run, query, 'json-schema', schemas(1)), 409);
      expectStatus(await sendDocument(run, query, 'json-output', { format_version: '1.2' }), 409);
    }
    expectStatus(await sendDocument(run, '?fence=2', 'json-schema', schemas(2)), 204);
    expectStatus(await report(run, 'planned', { fence: 2 }), 200);
    expect(await readLog(`plans/${planOf(run)}`)).toBe(
      '\u0002one\nThe executor was lost. Another one begins again.\ntwo and more\u0003',
    );
    expect(await readSchemas(run)).toEqual(schemas(2));
  });

  it('ends with its phase if the executor of an apply is lost', async () => {
    const { agent, aRun } = await makeExecutor();
    const run = await aRun({ 'auto-apply': true });
    await claimed(agent);
    expectStatus(await report(run, 'planned', { fence: 1, 'has-changes': true }), 200);
    await claimed(agent);
    const apply = run.replace('run-', 'apply-');
    expectStatus(await api.put(`/api/v2/applies/${apply}/log?offset=0&fence=2`, 'half'), 200);
    await endLeases();
    expect(await readLog(`applies/${apply}`)).toBe('\u0002half\u0003');
  });

  it('stores nothing if the executor loses its claim meanwhile', async () => {
    const { agent, aRun } = await makeExecutor();
    const run = await aRun();
    await claimed(agent);
    const put = jest.spyOn(RunFiles.prototype, 'put').mockImplementationOnce(async function (this: RunFiles, ...args) {
      await endLeases();
      await waitForFollowers(server.store, 'run_file_sweeper');
      await claimed(agent);
      return this.put(...args);
    });
    expectStatus(await sendDocument(run, '?fence=1', 'json-schema', schemas(1)), 409);
    put.mockRestore();
    expect(await listFiles(run)).toEqual([]);
    const end = { content: Buffer.from('x'), isJson: false, endsLine: false, isCut: false };
    const chunk = { start: 0, base: 0, fence: 2, number: 0, ...end };
    const target = { run, phase: planOf(run), name: 'plan' } as const;
    const store = (fence: number) =>
      insertChunks(server.database, target, fence, [{ ...chunk, encrypted: Buffer.from('x') }]);
    expect(await store(1)).toBe(false);
    expect(await store(2)).toBe(true);
  });

  it('is refused with a fence that is no number, or that nobody has', async () => {
    const { aRun } = await makeExecutor();
    const run = await aRun();
    expectStatus(await sendLog(run, 'offset=0&fence=0', 'x'), 400);
    expectStatus(await sendDocument(run, '?fence=one', 'json-schema', schemas(1)), 400);
    expectStatus(await report(run, 'planning'), 200);
    expectStatus(await sendLog(run, 'offset=0&fence=1', 'x'), 409);
    expectStatus(await sendLog(run, 'offset=0', 'x'), 200);
  });
});

it('the views of claimed runs match the log', async () => {
  expect(await differences()).toEqual([]);
});
