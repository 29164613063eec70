import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeProject,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import type { TestHistoryResource } from '../spec.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const did = async (answer: Promise<ApiResponse>, status: number): Promise<ApiResponse> =>
  expectStatus(await answer, status);

const historyOf = async (id: string, query = '', api: ApiTestClient = server): Promise<TestHistoryResource[]> =>
  expectStatus(await api.get(`/api/v2/workspaces/${id}/history?${query}`), 200).body.data as TestHistoryResource[];

const totalOf = async (id: string, query = '', api: ApiTestClient = server): Promise<number> =>
  expectStatus(await api.get(`/api/v2/workspaces/${id}/history?${query}`), 200).body.meta.pagination[
    'total-count'
  ] as number;

const patch = (id: string, attributes: object, relationships?: object): Promise<ApiResponse> =>
  did(server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes, relationships)), 200);

const addVariable = async (id: string, key: string): Promise<string> => {
  const body = resource('vars', { key, value: 'v', category: 'terraform' });
  return (await did(server.post(`/api/v2/workspaces/${id}/vars`, body), 201)).body.data.id as string;
};

let teams = 0;
const teamOn = async (workspace: string, access: string): Promise<string> => {
  const team = await makeTeam(server, 'acme', `team-${(teams += 1)}`);
  await grantWorkspaceAccess(server, team, workspace, access);
  return team;
};

const CUSTOM = { runs: 'read', 'sentinel-mocks': 'none', 'state-versions': 'none', 'workspace-locking': false };

describe('reading the past', () => {
  let id: string;
  let reader: SeededMember;
  let early: string;

  beforeAll(async () => {
    id = await makeWorkspace(server, 'acme', 'guarded');
    early = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes[
      'updated-at'
    ] as string;
    const team = await makeTeam(server, 'acme', 'readers');
    const body = resource(
      'team-workspaces',
      { access: 'custom', variables: 'none', ...CUSTOM },
      { team: { data: { type: 'teams', id: team } }, workspace: { data: { type: 'workspaces', id } } },
    );
    await did(server.post('/api/v2/team-workspaces', body), 201);
    reader = await makeMember(server, 'acme', 'reader', [team]);
    await addVariable(id, 'region');
    await patch(id, { 'auto-apply': true });
    await did(
      server.post(`/api/v2/workspaces/${id}/relationships/remote-state-consumers`, {
        data: [{ type: 'workspaces', id: await makeWorkspace(server, 'acme', 'unseen') }],
      }),
      204,
    );
  });

  it('hides what the caller may not read in the present: variables, and other workspaces', async () => {
    const events = (entries: readonly TestHistoryResource[]) => entries.map(({ attributes }) => attributes.event);
    expect(events(await historyOf(id))).toEqual([
      'RemoteStateConsumersAdded',
      'WorkspaceUpdated',
      'VariableCreated',
      'WorkspaceCreated',
    ]);
    const visible = await historyOf(id, '', reader);
    expect(events(visible)).toEqual(['WorkspaceUpdated', 'WorkspaceCreated']);
    expect(await totalOf(id, '', reader)).toBe(2);
    expect(await totalOf(id, 'filter[field]=vars', reader)).toBe(0);
    expect(JSON.stringify(visible)).not.toMatch(/"vars"|remote-state-consumers|var-/);
    const present = expectStatus(await reader.get(`/api/v2/workspaces/${id}?as-of=2100-01-01`), 200).body.data;
    expect(present.relationships.vars.data).toEqual([]);
    expect(present).toEqual(expectStatus(await reader.get(`/api/v2/workspaces/${id}`), 200).body.data);
  });

  it("uses the caller's present permissions, also for the time before they were granted", async () => {
    const then = expectStatus(await reader.get(`/api/v2/workspaces/${id}?as-of=${early}`), 200).body.data;
    expect(then.attributes['auto-apply']).toBe(false);
    expect(then.attributes.permissions['can-update']).toBe(false);
    const list = await reader.get(`/api/v2/organizations/acme/workspaces?as-of=${early}`);
    expect(list.body.data).toEqual([then]);
    expect(list.body.meta.pagination['total-count']).toBe(1);
  });

  it('uses the present project of a workspace: its readers can read the past, readers of the former project cannot', async () => {
    const [from, to] = [await makeProject(server, 'acme', 'from'), await makeProject(server, 'acme', 'to')];
    const workspace = await makeWorkspace(
      server,
      'acme',
      'moved',
      {},
      { project: { data: { type: 'projects', id: from } } },
    );
    const before = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data.attributes[
      'updated-at'
    ];
    await patch(workspace, {}, { project: { data: { type: 'projects', id: to } } });
    const [was, is] = [await makeTeam(server, 'acme', 'was'), await makeTeam(server, 'acme', 'is')];
    await grantProjectAccess(server, was, from, 'read');
    await grantProjectAccess(server, is, to, 'read');
    const [former, present] = [
      await makeMember(server, 'acme', 'former', [was]),
      await makeMember(server, 'acme', 'present', [is]),
    ];
    const paths = [
      `/api/v2/workspaces/${workspace}?as-of=${before}`,
      `/api/v2/workspaces/${workspace}/history`,
      `/api/v2/workspaces/${workspace}/lock-history`,
    ];
    for (const path of paths) {
      expect([path, (await present.get(path)).status, (await former.get(path)).status]).toEqual([path, 200, 404]);
    }
    const listed = async (api: ApiTestClient): Promise<string[]> =>
      expectStatus(await api.get(`/api/v2/organizations/acme/workspaces?as-of=${before}`), 200).body.data.map(
        ({ id: one }: TestHistoryResource) => one,
      );
    expect(await listed(present)).toEqual([workspace]);
    expect(await listed(former)).toEqual([]);
    const then = expectStatus(await present.get(paths[0] ?? ''), 200).body.data;
    expect(then.relationships.project.data.id).toBe(from);
  });

  it('is denied to tokens of runs, for their own workspace and for workspaces that share state with it', async () => {
    const own = await makeWorkspace(server, 'acme', 'run-in');
    const lender = await makeWorkspace(server, 'acme', 'lender', { 'global-remote-state': true });
    await makeConfigurationVersion(server, own);
    const agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'past')));
    const run = await makeRun(server, own, { 'plan-only': true });
    const api = server.as(await makeToken(agents, `/api/v2/runs/${run}/authentication-tokens`));
    const pasts = ['?as-of=2100-01-01', '/history', '/lock-history'];
    for (const id of [own, lender]) {
      const statuses: number[] = [];
      for (const past of ['', ...pasts]) statuses.push((await api.get(`/api/v2/workspaces/${id}${past}`)).status);
      expect(statuses).toEqual([200, 404, 404, 404]);
    }
    expect((await api.get('/api/v2/organizations/acme/workspaces/lender?as-of=2100-01-01')).status).toBe(404);
  });

  it('returns the past of a deleted workspace only to readers of all workspaces of the organization', async () => {
    const doomed = await makeWorkspace(server, 'acme', 'doomed');
    const before = expectStatus(await server.get(`/api/v2/workspaces/${doomed}`), 200).body.data.attributes[
      'updated-at'
    ];
    const eve = await makeMember(server, 'acme', 'eve', [await teamOn(doomed, 'admin')]);
    const all = await makeTeam(server, 'acme', 'all', { 'organization-access': { 'read-workspaces': true } });
    const ann = await makeMember(server, 'acme', 'ann', [all]);
    await did(server.delete(`/api/v2/workspaces/${doomed}`), 204);
    for (const path of [`?as-of=${before}`, '/history', '/lock-history']) {
      expect([path, (await eve.get(`/api/v2/workspaces/${doomed}${path}`)).status]).toEqual([path, 404]);
      expect([path, (await ann.get(`/api/v2/workspaces/${doomed}${path}`)).status]).toEqual([path, 200]);
    }
  });

  it.each(['/history', '/lock-history', '?as-of=2026-01-01'])(
    'returns 404 if the workspace never existed: %s',
    async (rest) => {
      expect((await server.get(`/api/v2/workspaces/ws-xxxxxxxxxxxxxxxx${rest}`)).status).toBe(404);
      const project = await makeProject(server, 'acme', `project-${(teams += 1)}`);
      expect((await server.get(`/api/v2/workspaces/${project}${rest}`)).status).toBe(404);
    },
  );
});

describe('the as-of parameter', () => {
  it.each(['yesterday', '2026-02-30', '2026-11-21T25:00:00Z', '1763719200'])(
    'refuses %s, which is no time',
    async (text) => {
      for (const path of ['organizations/acme/workspaces', 'organizations/acme/workspaces/one']) {
        const { status, body } = await server.get(`/api/v2/${path}?as-of=${text}`);
        expect([status, body.errors[0].source]).toEqual([400, { parameter: 'as-of' }]);
      }
    },
  );

  it.each([
    'locked_by',
    'current_run',
    'current_run.plan',
    'latest_run',
    'current_configuration_version',
    'vars',
    'agent_pool',
  ])('cannot be combined with include=%s, and the error names what can', async (include) => {
    const { status, body } = await server.get(
      `/api/v2/organizations/acme/workspaces?as-of=2026-01-01&include=project,${include}`,
    );
    expect([status, body.errors[0].source]).toEqual([400, { parameter: 'include' }]);
    expect(body.errors[0].detail).toMatch(
      new RegExp(
        `^include: ${include} cannot be combined with as-of, .* Accepted are .*effective_tag_bindings, .*project`,
      ),
    );
  });

  it('returns the present for a future time, and 404 for a time before the first event', async () => {
    const id = await makeWorkspace(server, 'acme', 'timeless');
    const present = await server.get(`/api/v2/workspaces/${id}`);
    for (const future of ['2100-01-01', '9999-12-31T23:59:59-12:00']) {
      expect((await server.get(`/api/v2/workspaces/${id}?as-of=${future}`)).body).toEqual(present.body);
    }
    for (const past of ['0000-01-01', '1970-01-01', '2000-01-01T00:00:00Z']) {
      expect((await server.get(`/api/v2/workspaces/${id}?as-of=${past}`)).status).toBe(404);
    }
    expect((await server.get(`/api/v2/workspaces/${id}?as-of=`)).body).toEqual(present.body);
  });
});
