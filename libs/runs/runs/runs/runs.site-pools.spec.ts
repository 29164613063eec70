import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { agentsDefinition } from '#organizations/agents';
import { listViews, verifyView } from '#storage/event-store';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import {
  expectStatus,
  makeAgentPool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeSitePool,
  makeToken,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';

let server: TestServer;
let pool: string;
/** An agent of the pool of the site. */
let agents: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  pool = await makeSitePool(server, 'site');
  agents = server.as(await makeAgentToken(server, pool));
});

afterAll(() => server.close());

let names = 0;
const unique = (of: string): string => `${of}-${(names += 1)}`;

/** Creates an organization with a plan-only run, which needs no lock, so that it waits for an executor at once. */
const waitingRun = async (settings: object = {}): Promise<{ organization: string; workspace: string; run: string }> => {
  const organization = unique('org');
  await makeOrganization(server, organization);
  const workspace = await makeWorkspace(server, organization, 'one', settings);
  await makeConfigurationVersion(server, workspace);
  return { organization, workspace, run: await makeRun(server, workspace, { 'plan-only': true }) };
};

const listRuns = async (): Promise<string[]> =>
  expectStatus(await agents.get(`/api/v2/agent-pools/${pool}/runs?page[size]=100`), 200).body.data.map(
    ({ id }: { id: string }) => id,
  );

const readWaitingReason = async (run: string): Promise<string | null> =>
  expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data.attributes['waiting-reason'];

const readOperations = async (organization: string): Promise<boolean> =>
  expectStatus(await server.get(`/api/v2/organizations/${organization}/entitlement-set`), 200).body.data.attributes
    .operations;

const optOut = async (organization: string): Promise<void> => {
  const body = resource('organizations', { 'site-executors-enabled': false });
  expectStatus(await server.patch(`/api/v2/organizations/${organization}`, body), 200);
};

const reportProgress = (run: string, status: string) =>
  agents.post(`/api/v2/runs/${run}/progress`, resource('run-progress', { status }));

const expectNotServed = async (run: string): Promise<void> => {
  expect(await listRuns()).not.toContain(run);
  expectStatus(await agents.post(`/api/v2/runs/${run}/authentication-tokens`), 404);
  expectStatus(await reportProgress(run, 'planning'), 404);
};

describe('a pool of the site', () => {
  it('executes runs in remote mode of every organization, and clients execute them remotely', async () => {
    const [first, second] = [await waitingRun(), await waitingRun()];
    expect(await listRuns()).toEqual(expect.arrayContaining([first.run, second.run]));
    expect(await readWaitingReason(first.run)).toBeNull();
    expect(await readOperations(first.organization)).toBe(true);
    expectStatus(await reportProgress(first.run, 'planning'), 200);
  });

  it('claims runs of all organizations, one after the other, and renews their leases', async () => {
    const expected = new Set([await waitingRun(), await waitingRun()].map(({ run }) => run));
    const register = await agents.post(`/api/v2/agent-pools/${pool}/agents`, resource('agents', { name: 'claims' }));
    const agent = expectStatus(register, 201).body.data.id as string;
    const claim = async (): Promise<{ id: string; attributes: { fence: number } } | null> =>
      expectStatus(await agents.post(`/api/v2/agents/${agent}/actions/claim`, resource('agents', {})), 200).body.data;
    for (let lease = await claim(); lease; lease = await claim()) {
      expected.delete(lease.id);
      const { fence } = lease.attributes;
      const renewal = await agents.post(
        `/api/v2/runs/${lease.id}/actions/renew-lease`,
        resource('run-leases', { fence }),
      );
      expectStatus(renewal, 200);
    }
    expect([...expected]).toEqual([]);
  });

  it('claims the oldest run of all organizations first if fair queuing is off', async () => {
    const changeFairness = async (isFair: boolean): Promise<void> => {
      const body = resource('general-settings', { 'fair-run-queuing-enabled': isFair });
      expectStatus(await server.patch('/api/v2/admin/general-settings', body), 200);
    };
    const another = async ({ workspace }: { workspace: string }) => {
      await makeConfigurationVersion(server, workspace);
      return makeRun(server, workspace, { 'plan-only': true });
    };
    const register = await agents.post(`/api/v2/agent-pools/${pool}/agents`, resource('agents', { name: 'order' }));
    const agent = expectStatus(register, 201).body.data.id as string;
    const claim = async (): Promise<string | undefined> =>
      expectStatus(await agents.post(`/api/v2/agents/${agent}/actions/claim`, resource('agents', {})), 200).body.data
        ?.id;
    while ((await claim()) !== undefined);
    const claimAll = async () => [await claim(), await claim(), await claim()];
    const [first, second] = [await waitingRun(), await waitingRun()];
    while ((await claim()) !== undefined);
    const inTurn = [await another(first), await another(first), await another(second)];
    // Their ids decide which organization comes first.
    const claimed = await claimAll();
    expect([claimed.slice(0, 2).toSorted(), claimed[2]]).toEqual([[inTurn[0], inTurn[2]].toSorted(), inTurn[1]]);
    await changeFairness(false);
    try {
      const byAge = [await another(first), await another(first), await another(second)];
      expect(await claimAll()).toEqual(byAge);
    } finally {
      await changeFairness(true);
    }
  });

  it('gets tokens of runs that reach only the workspace of the run', async () => {
    const { organization, workspace, run } = await waitingRun();
    const other = await waitingRun();
    const inRun = server.as(await makeToken(agents, `/api/v2/runs/${run}/authentication-tokens`));
    expectStatus(await inRun.get(`/api/v2/workspaces/${workspace}/all-vars`), 200);
    expectStatus(await inRun.get(`/api/v2/organizations/${organization}/entitlement-set`), 200);
    expectStatus(await inRun.get(`/api/v2/workspaces/${other.workspace}`), 404);
    expectStatus(await inRun.get(`/api/v2/organizations/${other.organization}/entitlement-set`), 404);
  });

  it('executes no run of an organization that has opted out', async () => {
    const { organization, run } = await waitingRun();
    await optOut(organization);
    await expectNotServed(run);
    expect(await readWaitingReason(run)).toMatch(/^No agent pool executes runs in remote mode/);
    expect(await readOperations(organization)).toBe(false);
  });

  it('executes no run of an organization with a pool for remote runs, even one that excludes the workspace', async () => {
    const { organization, run } = await waitingRun();
    const own = await makeRemotePool(server, organization, 'own');
    await expectNotServed(run);
    expect(await readWaitingReason(run)).toBeNull();
    expect(await readOperations(organization)).toBe(true);
    const scoped = resource('agent-pools', { 'organization-scoped': false });
    expectStatus(await server.patch(`/api/v2/agent-pools/${own}`, scoped), 200);
    await expectNotServed(run);
    expect(await readWaitingReason(run)).toMatch(/^No agent pool executes runs in remote mode/);
  });

  it('executes no run in agent mode', async () => {
    const { organization, workspace } = await waitingRun();
    const own = await makeAgentPool(server, organization, 'own');
    const settings = resource('workspaces', { 'execution-mode': 'agent', 'agent-pool-id': own });
    expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, settings), 200);
    await makeConfigurationVersion(server, workspace);
    await expectNotServed(await makeRun(server, workspace, { 'plan-only': true }));
  });

  it('cannot be chosen by a workspace, a project or an organization', async () => {
    const { organization, workspace } = await waitingRun();
    const choice = { 'execution-mode': 'agent', 'agent-pool-id': pool };
    expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, resource('workspaces', choice)), 422);
    const defaults = { 'default-execution-mode': 'agent', 'default-agent-pool-id': pool };
    const path = `/api/v2/organizations/${organization}`;
    expectStatus(await server.patch(path, resource('organizations', defaults)), 422);
  });

  it('is restricted by no IP allowlist of an organization, and neither are the tokens of its runs', async () => {
    const { organization, workspace, run } = await waitingRun();
    const lists = `/api/v2/organizations/${organization}/cidr-range-lists`;
    const list = resource('cidr-range-lists', { name: 'agents', 'enforcement-scope': 'all_agent_pools' });
    const { id } = expectStatus(await server.post(lists, list), 201).body.data;
    const range = resource('cidr-ranges', { range: '192.0.2.0/24' });
    expectStatus(await server.post(`/api/v2/cidr-range-lists/${id as string}/relationships/cidr-ranges`, range), 201);
    expect(await listRuns()).toContain(run);
    const inRun = server.as(await makeToken(agents, `/api/v2/runs/${run}/authentication-tokens`));
    expectStatus(await inRun.get(`/api/v2/workspaces/${workspace}/all-vars`), 200);
  });

  it('is managed by site administrators only, and has a name that no other pool of the site has', async () => {
    const { organization } = await waitingRun();
    const owner = await makeMember(server, organization, unique('owner'), []);
    for (const answer of [
      await owner.get('/api/v2/admin/agent-pools'),
      await owner.post('/api/v2/admin/agent-pools', resource('agent-pools', { name: 'mine' })),
      await owner.get(`/api/v2/agent-pools/${pool}`),
      await owner.get(`/api/v2/agent-pools/${pool}/authentication-tokens`),
      await owner.patch(`/api/v2/agent-pools/${pool}`, resource('agent-pools', { name: 'mine' })),
      await owner.delete(`/api/v2/agent-pools/${pool}`),
    ]) {
      expectStatus(answer, 404);
    }
    const refused = await server.post('/api/v2/admin/agent-pools', resource('agent-pools', { name: 'SITE' }));
    expect(expectStatus(refused, 422).body.errors[0].detail).toBe('Name has already been taken');
    // Organizations have names of their own.
    await makeAgentPool(server, organization, 'site');
    const listed = expectStatus(await server.get(`/api/v2/organizations/${organization}/agent-pools`), 200).body.data;
    expect(listed.map(({ attributes }: { attributes: { name: string } }) => attributes.name)).toEqual(['site']);
  });

  it('registers agents, which are shown without an organization, and loses everything with its deletion', async () => {
    const doomed = await makeSitePool(server, 'doomed');
    const doomedAgents = server.as(await makeAgentToken(server, doomed));
    const body = resource('agents', { name: 'one' });
    const { id } = expectStatus(await doomedAgents.post(`/api/v2/agent-pools/${doomed}/agents`, body), 201).body.data;
    const ping = resource('agents', { status: 'idle' });
    expectStatus(await doomedAgents.post(`/api/v2/agents/${id as string}/actions/ping`, ping), 200);
    expectStatus(await agents.post(`/api/v2/agents/${id as string}/actions/ping`, ping), 404);
    const { attributes, relationships } = expectStatus(await server.get(`/api/v2/agent-pools/${doomed}`), 200).body
      .data;
    expect(attributes).toMatchObject({ 'agent-count': 1, 'remote-runs-enabled': true });
    expect(relationships.organization).toEqual({ data: null });
    const listed = expectStatus(await server.get('/api/v2/admin/agent-pools?q=DOOM'), 200).body;
    expect(listed.data.map((item: { id: string }) => item.id)).toEqual([doomed]);
    expect(listed.meta.pagination['total-count']).toBe(1);
    expectStatus(await server.delete(`/api/v2/agent-pools/${doomed}`), 204);
    expectStatus(await doomedAgents.get(`/api/v2/agent-pools/${doomed}/runs`), 401);
    expectStatus(await server.get(`/api/v2/agents/${id as string}`), 404);
  });
});

describe('the views of agent pools', () => {
  it('match the log', async () => {
    for (const view of listViews([agentsDefinition])) {
      expect([view.name, await verifyView(server.store, view, new Date())]).toEqual([view.name, []]);
    }
  });
});
