import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TickingClock } from '../../../../test/support/clocks.js';
import {
  expectStatus,
  makeAgentPool,
  makeAgentToken,
  makeConfigurationVersion,
  makeRun,
  makeToolVersion,
  makeWorkspace,
  related,
  resource,
} from '../../../../test/support/seeds.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import { getDetail } from '../../../../test/support/responses.js';
import type { ApiTestClient, TestServer } from '../../../../test/support/server.js';

let clock: TickingClock;
let server: TestServer;
/** An agent of a pool that serves all workspaces. */
let agents: ApiTestClient;
let pool: string;

beforeAll(async () => {
  ({ server, clock, agents, pool } = await startRunSite());
});

afterAll(() => server.close());

const { aWorkspace, show, statusOf, act, report, reported, holderOf, differences } = runRequests(() => ({
  server,
  agents,
}));

describe('an executor', () => {
  const waiting = async (api: ApiTestClient = agents, of = pool): Promise<string[]> =>
    (
      expectStatus(await api.get(`/api/v2/agent-pools/${of}/runs?page%5Bsize%5D=100`), 200).body.data as {
        id: string;
      }[]
    ).map(({ id }) => id);

  it('finds a run, plans it, waits for a user, and applies it', async () => {
    const run = await makeRun(server, await aWorkspace());
    expect(await waiting()).toContain(run);
    expectStatus(await report(run, 'planning'), 200);
    expect(await waiting()).not.toContain(run);
    const second = await report(run, 'planning');
    expect([second.status, getDetail(second)]).toEqual([409, 'Run is planning: it cannot become planning']);
    const plan = { 'resource-additions': 2, 'resource-changes': 1, 'resource-imports': 3 };
    const planned = expectStatus(await report(run, 'planned', plan), 200).body.data;
    expect(planned.attributes).toMatchObject({
      status: 'planned',
      'has-changes': true,
      actions: { 'is-confirmable': true, 'is-discardable': true, 'is-cancelable': false },
      // The token belongs to an agent, which has no permissions of users.
      permissions: { 'can-apply': false },
    });
    const suffix = run.slice(4);
    const { attributes } = expectStatus(await server.get(`/api/v2/plans/plan-${suffix}`), 200).body.data;
    expect(attributes).toMatchObject({
      ...plan,
      'has-changes': true,
      'resource-destructions': 0,
      'log-read-url': expect.stringContaining('/api/v2/logs/'),
      status: 'finished',
      'execution-details': { mode: 'remote' },
      'status-timestamps': { 'queued-at': expect.any(String), 'finished-at': expect.any(String) },
    });
    expect((await server.get(`/api/v2/plans/plan-${suffix}/json-output`)).status).toBe(404);
    expectStatus(await act(run, 'apply', { comment: 'Looks good' }), 202);
    expect((await show(run)).attributes.status).toBe('apply_queued');
    expect(await waiting()).toContain(run);
    await reported(run, 'applying');
    expectStatus(await report(run, 'applied', { 'resource-additions': 2 }), 200);
    const applied = expectStatus(await server.get(`/api/v2/applies/apply-${suffix}`), 200).body.data;
    expect(applied).toMatchObject({
      type: 'applies',
      attributes: { status: 'finished', 'resource-additions': 2, 'resource-changes': 0 },
    });
    expect(expectStatus(await server.get(`/api/v2/runs/${run}/apply`), 200).body.data).toEqual(applied);
  });

  it('continues without a confirmation if the run has auto-apply', async () => {
    const auto = await makeRun(server, await aWorkspace({ 'auto-apply': true }));
    await reported(auto, 'planning', 'planned');
    expect(await statusOf(auto)).toBe('apply_queued');
    const without = await makeRun(server, await aWorkspace({ 'auto-apply': true }));
    expectStatus(await report(without, 'planning'), 200);
    expectStatus(await report(without, 'planned'), 200);
    expect(await statusOf(without)).toBe('planned_and_finished');
    const withoutAutoApply = await makeRun(server, await aWorkspace({ 'auto-apply': true }), { 'auto-apply': false });
    await reported(withoutAutoApply, 'planning', 'planned');
    expect(await statusOf(withoutAutoApply)).toBe('planned');
  });

  it('gets a request to stop, and either answers or loses the run by force', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace);
    expectStatus(await report(run, 'planning'), 200);
    const early = await act(run, 'force-cancel');
    expect([early.status, getDetail(early)]).toEqual([409, expect.stringContaining('it must be canceled first')]);
    expectStatus(await act(run, 'cancel', { comment: 'stuck' }), 202);
    const { attributes } = await show(run);
    expect(attributes).toMatchObject({
      status: 'planning',
      'canceled-at': expect.any(String),
      actions: { 'is-cancelable': false, 'is-force-cancelable': false },
    });
    const available = Date.parse(attributes['force-cancel-available-at'] as string);
    expect(available - Date.parse(attributes['canceled-at'] as string)).toBeGreaterThanOrEqual(9_900);
    expect(await waiting()).toContain(run);
    expect((await act(run, 'cancel')).status).toBe(409);
    expect(getDetail(await act(run, 'force-cancel'))).toContain('not before');
    clock.pass({ seconds: 15 });
    expect((await show(run)).attributes.actions['is-force-cancelable']).toBe(true);
    expectStatus(await act(run, 'force-cancel'), 202);
    expect([await statusOf(run), await holderOf(workspace)]).toEqual(['force_canceled', null]);
    const late = await report(run, 'planned');
    expect([late.status, getDetail(late)]).toEqual([409, 'Run is force_canceled: it cannot become planned']);

    const polite = await makeRun(server, workspace);
    expectStatus(await report(polite, 'planning'), 200);
    expectStatus(await act(polite, 'cancel'), 202);
    expectStatus(await report(polite, 'canceled', { message: 'interrupted' }), 200);
    expect(await holderOf(workspace)).toBeNull();
    const plan = expectStatus(await server.get(`/api/v2/runs/${polite}/plan`), 200).body.data;
    expect(plan.attributes.status).toBe('canceled');
  });

  it('unlocks the workspace with an error report', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace);
    await reported(run, 'planning');
    expectStatus(await report(run, 'errored', { message: 'no provider' }), 200);
    expect([await statusOf(run), await holderOf(workspace)]).toEqual(['errored', null]);
    const { data } = expectStatus(await server.get(`/api/v2/runs/${run}/run-events`), 200).body;
    expect(data.at(-1).attributes).toMatchObject({ action: 'errored', description: 'no provider' });
  });

  it('sees only the runs that it executes', async () => {
    const own = await makeAgentPool(server, 'acme', 'own');
    const mine = server.as(await makeAgentToken(server, own));
    const workspace = await aWorkspace({ 'execution-mode': 'agent', 'agent-pool-id': own });
    const run = await makeRun(server, workspace);
    expect(await waiting(mine, own)).toContain(run);
    expect(await waiting()).not.toContain(run);
    expect((await report(run, 'planning')).status).toBe(404);
    expect((await mine.get(`/api/v2/agent-pools/${pool}/runs`)).status).toBe(404);
    expect((await server.get(`/api/v2/agent-pools/${pool}/runs`)).status).toBe(404);
    expectStatus(await report(run, 'planning', {}, mine), 200);
    const plan = expectStatus(await server.get(`/api/v2/runs/${run}/plan`), 200).body.data;
    expect(plan.attributes['execution-details']).toEqual({ mode: 'agent', 'agent-pool-id': own });
    // It executes runs, but may not read them.
    expect((await mine.get(`/api/v2/runs/${run}`)).status).toBe(404);
  });

  it('gets no runs of a workspace that its pool does not serve', async () => {
    const narrow = await makeAgentPool(server, 'acme', 'narrow', { 'organization-scoped': false });
    const run = await makeRun(server, await aWorkspace());
    const agent = server.as(await makeAgentToken(server, narrow));
    expect(await waiting(agent, narrow)).toEqual([]);
    expect((await report(run, 'planning', {}, agent)).status).toBe(404);
  });

  it('gets no runs of a workspace outside the scope of its pool, however the workspace chose the pool', async () => {
    const own = await makeAgentPool(server, 'acme', 'leaving-out');
    const agent = server.as(await makeAgentToken(server, own));
    const defaults = { name: 'Brought', 'default-execution-mode': 'agent', 'default-agent-pool-id': own };
    const response = await server.post('/api/v2/organizations/acme/projects', resource('projects', defaults));
    const project = { data: { type: 'projects', id: expectStatus(response, 201).body.data.id } };
    const brought = await makeWorkspace(server, 'acme', 'brought-by-default', {}, { project });
    await makeConfigurationVersion(server, brought);
    const chosen = await aWorkspace({ 'execution-mode': 'agent', 'agent-pool-id': own });
    const runs = [await makeRun(server, brought), await makeRun(server, chosen)];
    expect(await waiting(agent, own)).toEqual(expect.arrayContaining(runs));
    const without = resource('agent-pools', {}, { 'excluded-workspaces': related('workspaces', brought, chosen) });
    expectStatus(await server.patch(`/api/v2/agent-pools/${own}`, without), 200);
    const waitingRuns = await waiting(agent, own);
    for (const run of runs) {
      expect(waitingRuns).not.toContain(run);
      expectStatus(await report(run, 'planning', {}, agent), 404);
    }
  });

  it('cannot read comments', async () => {
    const run = await makeRun(server, await aWorkspace());
    expectStatus(await server.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'between us' })), 201);
    const path = `/api/v2/agent-pools/${pool}/runs?include=comments&page%5Bsize%5D=100`;
    expect(expectStatus(await agents.get(path), 200).body.included).toEqual([]);
  });

  it('gets links to logs that are relative, because it uses another address than the public one', async () => {
    await makeRun(server, await aWorkspace());
    const path = `/api/v2/agent-pools/${pool}/runs?include=plan&page%5Bsize%5D=1`;
    const [{ attributes }] = expectStatus(await agents.get(path), 200).body.included;
    expect(attributes['log-read-url']).toMatch(/^\/api\/v2\/logs\//);
    expectStatus(await server.as(null).get(attributes['log-read-url']), 200);
  });

  it.each([
    [{}, /Status/],
    [{ status: 'done' }, /Status must be one of/],
    [{ status: 'planned', 'resource-additions': -1 }, /Resource additions/],
    [{ status: 'planned', 'has-changes': 'yes' }, /Has changes must be/],
  ])('gets an error that names the fault of %j', async (attributes, detail) => {
    const answer = await agents.post('/api/v2/runs/run-0/progress', resource('run-progress', attributes));
    expect([answer.status, getDetail(answer)]).toEqual([422, expect.stringMatching(detail)]);
  });
});

it('leaves views that equal the views rebuilt from the log', async () => {
  expect(await differences()).toEqual([]);
});

it('a version of the tool stays while a run with it has not ended', async () => {
  const version = await makeToolVersion(server, '9.9.9-acme.1', {});
  const workspace = await makeWorkspace(server, 'acme', 'with-version', { 'terraform-version': '9.9.9-acme.1' });
  await makeConfigurationVersion(server, workspace);
  const run = await makeRun(server, workspace);
  const attributes = resource('workspaces', { 'terraform-version': '1.11.4' });
  expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, attributes), 200);
  const path = `/api/v2/admin/terraform-versions/${version}`;
  const refused = expectStatus(await server.delete(path), 422);
  expect(getDetail(refused)).toBe('9.9.9-acme.1 cannot be deleted: 1 run with it has not ended');
  expectStatus(await server.post(`/api/v2/runs/${run}/actions/cancel`), 202);
  expectStatus(await server.delete(path), 204);
});
