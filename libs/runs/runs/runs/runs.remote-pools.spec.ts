import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifyView, listViews } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { agentsDefinition } from '#organizations/agents';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { FixedClock } from '../../../../test/support/clocks.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeAgentPool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeProject,
  makeRemotePool,
  makeRun,
  makeTeam,
  makeWorkspace,
  related,
  resource,
} from '../../../../test/support/seeds.js';
import { createWaitingRemoteRunsJob } from '../queue/waiting-remote-runs.job.js';

let server: TestServer;
/** A member whose team has `manage-agent-pools` and no other permission. */
let manager: ApiTestClient;
let managers: string;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
  managers = await makeTeam(server, 'acme', 'pools', { 'organization-access': { 'manage-agent-pools': true } });
  manager = await makeMember(server, 'acme', 'mallory', [managers]);
});

afterAll(() => server.close());

let names = 0;
const unique = (of: string): string => `${of}-${(names += 1)}`;

/** Creates a plan-only run. It needs no lock, so it waits for an executor at once. */
const waitingRun = async (workspace: string): Promise<string> => {
  await makeConfigurationVersion(server, workspace);
  return makeRun(server, workspace, { 'plan-only': true });
};

const remoteRun = async (): Promise<string> => waitingRun(await makeWorkspace(server, 'acme', unique('ws')));

const patchPool = (
  api: ApiTestClient,
  pool: string,
  attributes: object,
  relationships?: object,
): Promise<ApiResponse> => api.patch(`/api/v2/agent-pools/${pool}`, resource('agent-pools', attributes, relationships));

const enabled = (on: boolean): object => ({ 'remote-runs-enabled': on });

const takeToken = (api: ApiTestClient, run: string): Promise<ApiResponse> =>
  api.post(`/api/v2/runs/${run}/authentication-tokens`);

const waitingReason = async (run: string): Promise<string | null> =>
  expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data.attributes['waiting-reason'];

const runsOf = async (agents: ApiTestClient, pool: string): Promise<string[]> =>
  expectStatus(await agents.get(`/api/v2/agent-pools/${pool}/runs?page[size]=100`), 200).body.data.map(
    ({ id }: { id: string }) => id,
  );

const refusal = ({ body }: ApiResponse): string => body.errors[0].detail as string;

const ONLY_OWNERS = /^Only owners of the organization may manage an agent pool that executes runs in remote mode/;

describe('a pool that is created by a member who may only manage agent pools', () => {
  it('executes no run in remote mode, whatever its scope', async () => {
    const run = await remoteRun();
    const pool = await makeAgentPool(manager, 'acme', unique('pool'));
    const agents = manager.as(await makeAgentToken(manager, pool));
    const { relationships } = expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data;
    const workspace = relationships.workspace.data.id as string;
    for (const [attributes, relations] of [
      [{ 'organization-scoped': true }, undefined],
      [{ 'organization-scoped': false }, { 'allowed-workspaces': related('workspaces', workspace) }],
    ] as const) {
      expectStatus(await patchPool(manager, pool, attributes, relations), 200);
      expect(await runsOf(agents, pool)).toEqual([]);
      expectStatus(await takeToken(agents, run), 404);
      const progress = resource('run-progress', { status: 'planning' });
      expectStatus(await agents.post(`/api/v2/runs/${run}/progress`, progress), 404);
    }
  });

  it('cannot be enabled for remote mode by that member: only owners set and change it', async () => {
    const pool = await makeAgentPool(manager, 'acme', unique('pool'));
    expect(refusal(expectStatus(await patchPool(manager, pool, enabled(true)), 403))).toMatch(ONLY_OWNERS);
    const requestBody = resource('agent-pools', { name: unique('pool'), ...enabled(true) });
    const path = '/api/v2/organizations/acme/agent-pools';
    expect(refusal(expectStatus(await manager.post(path, requestBody), 403))).toMatch(ONLY_OWNERS);
    expectStatus(await patchPool(manager, pool, enabled(false)), 200);
    expectStatus(await patchPool(server, pool, enabled(true)), 200);
    for (const answer of [
      await patchPool(manager, pool, { name: unique('mine') }),
      await patchPool(manager, pool, { 'organization-scoped': false }),
      await patchPool(manager, pool, enabled(false)),
      await manager.delete(`/api/v2/agent-pools/${pool}`),
      await manager.get(`/api/v2/agent-pools/${pool}/authentication-tokens`),
      await manager.post(
        `/api/v2/agent-pools/${pool}/authentication-tokens`,
        resource('authentication-tokens', { description: 'mine' }),
      ),
    ]) {
      expect(refusal(expectStatus(answer, 403))).toMatch(ONLY_OWNERS);
    }
    expect(expectStatus(await manager.get(`/api/v2/agent-pools/${pool}`), 200).body.data.attributes).toMatchObject(
      enabled(true),
    );
  });

  it('loses its tokens when an owner enables it for remote runs, and gets new ones from owners only', async () => {
    const run = await remoteRun();
    const pool = await makeAgentPool(manager, 'acme', unique('pool'));
    const before = manager.as(await makeAgentToken(manager, pool));
    expect(await runsOf(before, pool)).toEqual([]);
    const enabledPool = expectStatus(await patchPool(server, pool, enabled(true)), 200).body.data;
    expect(enabledPool.attributes).toMatchObject(enabled(true));
    expectStatus(await before.get(`/api/v2/agent-pools/${pool}/runs`), 401);
    const after = server.as(await makeAgentToken(server, pool));
    expect(await runsOf(after, pool)).toContain(run);
    expectStatus(await takeToken(after, run), 201);
    // Nothing changes, so the tokens stay.
    expectStatus(await patchPool(server, pool, enabled(true)), 200);
    expect(await runsOf(after, pool)).toContain(run);
    expectStatus(await patchPool(server, pool, enabled(false)), 200);
    expectStatus(await takeToken(after, run), 404);
  });

  it('keeps no token that is created while an owner enables it for remote runs', async () => {
    for (let round = 0; round < 10; round += 1) {
      const pool = await makeAgentPool(manager, 'acme', unique('raced'));
      const body = resource('authentication-tokens', { description: 'raced' });
      const [createdToken, chosen] = await Promise.all([
        manager.post(`/api/v2/agent-pools/${pool}/authentication-tokens`, body),
        patchPool(server, pool, enabled(true)),
      ]);
      expectStatus(chosen, 200);
      expect([201, 403]).toContain(createdToken.status);
      if (createdToken.status === 403) continue;
      const agents = server.as(createdToken.body.data.attributes.token as string);
      expectStatus(await agents.get(`/api/v2/agent-pools/${pool}/runs`), 401);
    }
  });

  it('executes runs of a workspace in agent mode once an admin of the workspace chooses it', async () => {
    const pool = await makeAgentPool(manager, 'acme', unique('pool'));
    const agents = manager.as(await makeAgentToken(manager, pool));
    const workspace = await makeWorkspace(server, 'acme', unique('ws'));
    const choice = resource('workspaces', { 'execution-mode': 'agent', 'agent-pool-id': pool });
    expectStatus(await manager.patch(`/api/v2/workspaces/${workspace}`, choice), 404);
    await grantWorkspaceAccess(server, managers, workspace, 'write');
    expectStatus(await manager.patch(`/api/v2/workspaces/${workspace}`, choice), 404);
    expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, choice), 200);
    const run = await waitingRun(workspace);
    expect(await runsOf(agents, pool)).toEqual([run]);
    expectStatus(await takeToken(agents, run), 201);
  });

  it('is not chosen for a project by someone without admin access to its workspaces', async () => {
    const project = await makeProject(server, 'acme', unique('project'));
    const team = await makeTeam(server, 'acme', unique('team'), {
      'organization-access': { 'manage-agent-pools': true },
    });
    await grantProjectAccess(server, team, project, 'custom', { 'project-access': { settings: 'update' } });
    const editor = await makeMember(server, 'acme', unique('editor'), [team]);
    const pool = await makeAgentPool(editor, 'acme', unique('pool'));
    const path = `/api/v2/projects/${project}`;
    const settings = { 'default-execution-mode': 'agent', 'default-agent-pool-id': pool };
    const refused = expectStatus(await editor.patch(path, resource('projects', settings)), 403);
    expect(refusal(refused)).toMatch(/needs admin access to its workspaces$/);
    // A setting that is sent with its present value is not a change: clients send all settings.
    const same = { description: 'told', 'setting-overwrites': { 'default-execution-mode': false } };
    expectStatus(await editor.patch(path, resource('projects', same)), 200);
    expectStatus(await server.patch(path, resource('projects', settings)), 200);
    expectStatus(await editor.patch(path, resource('projects', { description: 'again', ...settings })), 200);
  });
});

describe('a run that waits for an executor', () => {
  it('shows in its document why no agent takes it', async () => {
    await makeOrganization(server, 'waiting');
    const workspace = await makeWorkspace(server, 'waiting', 'one');
    const run = await waitingRun(workspace);
    expect(await waitingReason(run)).toMatch(
      /^No agent pool executes runs in remote mode for this workspace: an owner/,
    );
    const pool = await makeRemotePool(server, 'waiting', 'runners');
    expect(await waitingReason(run)).toBeNull();
    const without = { 'excluded-workspaces': related('workspaces', workspace) };
    expectStatus(await patchPool(server, pool, {}, without), 200);
    expect(await waitingReason(run)).toMatch(/^No agent pool executes runs in remote mode for this workspace/);
    expectStatus(await patchPool(server, pool, {}, { 'excluded-workspaces': related('workspaces') }), 200);
    const own = resource('workspaces', { 'execution-mode': 'agent', 'agent-pool-id': pool });
    expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, own), 200);
    expect(await waitingReason(run)).toBeNull();
    expectStatus(await patchPool(server, pool, { 'organization-scoped': false }), 200);
    expect(await waitingReason(run)).toBe(
      `Agent pool ${pool} does not include this workspace in its scope: choose another pool, or change organization-scoped, allowed-workspaces or excluded-workspaces`,
    );
  });

  it('shows no waiting reason after it has ended', async () => {
    await makeOrganization(server, 'ended');
    const run = await waitingRun(await makeWorkspace(server, 'ended', 'one'));
    expectStatus(await server.post(`/api/v2/runs/${run}/actions/cancel`), 202);
    expect(await waitingReason(run)).toBeNull();
  });
});

describe('the server’s log output about waiting runs', () => {
  type Line = readonly [level: string, fields: object, text: string];

  const logging = (database: Pick<Database, 'row'>) => {
    const lines: Line[] = [];
    const at =
      (level: string) =>
      (fields: object, text: string): void =>
        void lines.push([level, fields, text]);
    const clock = new FixedClock();
    const logger = { debug: at('debug'), info: at('info'), warn: at('warn') };
    const job = createWaitingRemoteRunsJob(database as Database, clock, logger);
    const round = async (): Promise<readonly Line[]> => {
      await runJobOnce(job);
      return lines.splice(0);
    };
    return { clock, round };
  };

  it('counts runs that wait for a pool for remote runs, and stops when there is such a pool', async () => {
    const runsInLog = async (): Promise<number> => {
      const [line] = await logging(server.database).round();
      return (line?.[1] as { runs?: number } | undefined)?.runs ?? 0;
    };
    await makeOrganization(server, 'logged');
    const before = await runsInLog();
    await waitingRun(await makeWorkspace(server, 'logged', 'one'));
    expect(await runsInLog()).toBe(before + 1);
    await makeRemotePool(server, 'logged', 'runners');
    expect(await runsInLog()).toBe(before);
  });

  it('reports once that runs wait, then once an hour, and once when no run waits any more', async () => {
    let waiting = { runs: 2, organizations: 1, example: 'acme' };
    const { clock, round } = logging({ row: () => Promise.resolve(waiting as never) });
    const warning = [
      ['warn', { runs: 2, organizations: 1, organization: 'acme' }, expect.stringMatching(/remote-runs-enabled/)],
    ];
    expect(await round()).toEqual(warning);
    clock.pass({ minutes: 59 });
    expect(await round()).toEqual([]);
    clock.pass({ minutes: 1 });
    expect(await round()).toEqual(warning);
    waiting = { runs: 0, organizations: 0, example: '' };
    expect(await round()).toEqual([['info', {}, expect.stringMatching(/^no run waits/)]]);
    expect(await round()).toEqual([]);
  });
});

describe('the views of agent pools', () => {
  it('match the log', async () => {
    for (const view of listViews([agentsDefinition])) {
      expect([view.name, await verifyView(server.store, view, new Date())]).toEqual([view.name, []]);
    }
  });
});
