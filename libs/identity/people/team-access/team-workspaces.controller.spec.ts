import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { costOf } from '../../../../test/support/cost.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeTeam,
  makeWorkspace,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { peopleDefinition } from '../people.module.js';

let server: TestServer;
let acme: SeededOrganization;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  acme = await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const PATH = '/api/v2/team-workspaces';
const byId = (id: string): string => `${PATH}/${id}`;
const listOf = (workspace: string, query = ''): string =>
  `${PATH}?filter%5Bworkspace%5D%5Bid%5D=${workspace}${query && `&${query}`}`;

const access = (team: string, workspace: string, attributes: object = { access: 'read' }): object =>
  resource('team-workspaces', attributes, {
    team: { data: { type: 'teams', id: team } },
    workspace: { data: { type: 'workspaces', id: workspace } },
  });

const give = async (team: string, workspace: string, attributes: object = { access: 'read' }): Promise<ApiResponse> =>
  expectStatus(await server.post(PATH, access(team, workspace, attributes)), 201);

const idOf = ({ body }: ApiResponse): string => body.data.id as string;
const teamsIn = ({ body }: ApiResponse): string[] =>
  body.data.map(({ relationships }: any) => relationships.team.data.id as string);

let count = 0;
const makeFixture = async (attributes: object = {}): Promise<{ team: string; workspace: string; name: string }> => {
  count += 1;
  const name = `core-${count}`;
  return {
    name,
    team: await makeTeam(server, 'acme', name, attributes),
    workspace: await makeWorkspace(server, 'acme', `workspace-${count}`),
  };
};

const READ = {
  runs: 'read',
  variables: 'read',
  'state-versions': 'read',
  'sentinel-mocks': 'none',
  'workspace-locking': false,
  'run-tasks': false,
};
const WRITE = {
  runs: 'apply',
  variables: 'write',
  'state-versions': 'write',
  'sentinel-mocks': 'read',
  'workspace-locking': true,
  'run-tasks': false,
};
const LEAST = { ...READ, variables: 'none', 'state-versions': 'none' };

describe('team access to a workspace', () => {
  it.each([
    ['read', READ],
    ['plan', { ...READ, runs: 'plan' }],
    ['write', WRITE],
    ['admin', { ...WRITE, 'run-tasks': true }],
    ['custom', LEAST],
  ])('has the level %s, and every response shows its fields', async (level, fields) => {
    const { team, workspace } = await makeFixture();
    const { body } = await give(team, workspace, { access: level });
    expect(body.data).toEqual({
      id: expect.stringMatching(/^tws-\w{16}$/),
      type: 'team-workspaces',
      attributes: { access: level, ...fields, 'policy-overrides': false },
      relationships: {
        team: { data: { type: 'teams', id: team }, links: { related: `/api/v2/teams/${team}` } },
        workspace: {
          data: { type: 'workspaces', id: workspace },
          links: { related: `/api/v2/workspaces/${workspace}` },
        },
      },
      links: { self: byId(body.data.id) },
    });
    expect(expectStatus(await server.get(byId(body.data.id)), 200).body).toEqual(body);
    expect(expectStatus(await server.get(listOf(workspace)), 200).body.data).toEqual([body.data]);
  });

  it('has the fields of the request if the level is custom', async () => {
    const { team, workspace } = await makeFixture();
    const fields = {
      runs: 'apply',
      'state-versions': 'read-outputs',
      'workspace-locking': true,
      'policy-overrides': true,
    };
    const { body } = await give(team, workspace, { access: 'custom', ...fields, variables: null });
    expect(body.data.attributes).toEqual({ access: 'custom', ...LEAST, ...fields });
    expect(expectStatus(await server.get(byId(body.data.id)), 200).body).toEqual(body);
  });

  it('changes the named fields, and switches to custom from the fields of the level', async () => {
    const { team, workspace } = await makeFixture();
    const id = idOf(await give(team, workspace, { access: 'write' }));
    const patched = async (attributes?: object): Promise<object> => {
      const body = { data: { type: 'team-workspaces', ...(attributes ? { attributes } : {}) } };
      const { data } = expectStatus(await server.patch(byId(id), body), 200).body;
      expect((await server.get(byId(id))).body.data).toEqual(data);
      return data.attributes as object;
    };
    const rest = { 'policy-overrides': false };
    expect(await patched()).toEqual({ access: 'write', ...WRITE, ...rest });
    const custom = { access: 'custom', ...WRITE, variables: 'none', ...rest };
    expect(await patched({ access: 'custom', variables: 'none' })).toEqual(custom);
    expect(await patched({ 'run-tasks': true, access: null })).toEqual({ ...custom, 'run-tasks': true });
    expect(await patched({ access: 'read' })).toEqual({ access: 'read', ...READ, ...rest });
  });

  it('is removed, and can be created again', async () => {
    const { team, workspace } = await makeFixture();
    const id = idOf(await give(team, workspace));
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.get(byId(id)), 404);
    expectStatus(await server.patch(byId(id), resource('team-workspaces', { access: 'plan' })), 404);
    expectStatus(await server.delete(byId(id)), 404);
    expect((await server.get(listOf(workspace))).body.data).toEqual([]);
    await give(team, workspace);
  });

  it('is created once, even if several requests arrive at once', async () => {
    const { team, workspace } = await makeFixture();
    const answers = await Promise.all(Array.from({ length: 5 }, () => server.post(PATH, access(team, workspace))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422]);
    const second = expectStatus(await server.post(PATH, access(team, workspace, { access: 'admin' })), 422);
    expect(second.body.errors).toEqual([
      {
        status: '422',
        title: 'invalid attribute',
        detail: 'Team has already been added',
        source: { pointer: '/data/relationships/team/data/id' },
      },
    ]);
  });
});

describe('an invalid request for workspace access', () => {
  let team: string;
  let workspace: string;
  let id: string;
  beforeAll(async () => {
    ({ team, workspace } = await makeFixture());
    id = idOf(await give(team, workspace));
  });

  const ATTRIBUTES = '/data/attributes';
  it.each<[string, object, string, string | RegExp]>([
    ['no level', {}, `${ATTRIBUTES}/access`, /^Access must be one of read, plan/],
    ['an unknown level', { access: 'root' }, `${ATTRIBUTES}/access`, /^Access must be one of read, plan/],
    [
      'a field beside a level',
      { access: 'read', runs: 'apply' },
      `${ATTRIBUTES}/runs`,
      "Runs is read-only when access level is 'read'; use the 'custom' access level to set this attribute.",
    ],
    [
      'a flag beside a level',
      { access: 'admin', 'workspace-locking': false },
      `${ATTRIBUTES}/workspace-locking`,
      "Workspace locking is read-only when access level is 'admin'; use the 'custom' access level to set this attribute.",
    ],
    ['an unknown value', { access: 'custom', runs: 'all' }, `${ATTRIBUTES}/runs`, /^Runs must be one of/],
    [
      'a flag that is a string',
      { access: 'custom', 'run-tasks': 'yes' },
      `${ATTRIBUTES}/run-tasks`,
      'Run tasks must be true or false',
    ],
  ])('returns 422 with %s', async (_, attributes, pointer, detail) => {
    const freshTeam = await makeTeam(server, 'acme', `wrong-${(count += 1)}`);
    const { errors } = expectStatus(await server.post(PATH, access(freshTeam, workspace, attributes)), 422).body;
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ source: { pointer } });
    expect(errors[0].detail).toMatch(detail);
  });

  it('is refused with the present level if it sets a field of a fixed level', async () => {
    const { errors } = expectStatus(
      await server.patch(byId(id), resource('team-workspaces', { runs: 'plan' })),
      422,
    ).body;
    expect(errors[0].detail).toContain("read-only when access level is 'read'");
  });

  it.each([
    ['no team', { workspace: { data: { id: 'ws-1' } } }, '/data/relationships/team'],
    ['no workspace', { team: { data: { id: 'team-1' } } }, '/data/relationships/workspace'],
    ['neither', undefined, '/data/relationships'],
  ])('returns 422 if it names %s', async (_, relationships, pointer) => {
    const body = resource('team-workspaces', { access: 'read' }, relationships);
    expect(expectStatus(await server.post(PATH, body), 422).body.errors[0].source.pointer).toBe(pointer);
  });

  it('is refused with another type, but not without a type', async () => {
    const attributes = { access: 'read' };
    expectStatus(await server.patch(byId(id), resource('team-projects', attributes)), 422);
    expect((await server.patch(byId(id), resource('', attributes))).status).toBe(200);
  });

  it('is refused for the owners team, which has every permission', async () => {
    const { errors } = expectStatus(await server.post(PATH, access(acme.ownersTeam, workspace)), 422).body;
    expect(errors[0]).toMatchObject({
      detail: 'The owners team has access to every workspace already',
      source: { pointer: '/data/relationships/team/data/id' },
    });
  });

  it('is refused for an unknown or foreign team, and returns 404 for an unknown workspace', async () => {
    await makeOrganization(server, 'elsewhere');
    for (const other of [await makeTeam(server, 'elsewhere', 'core'), 'team-nowhere']) {
      const { errors } = expectStatus(await server.post(PATH, access(other, workspace)), 422).body;
      expect(errors[0].detail).toBe('Team does not exist');
    }
    expectStatus(await server.post(PATH, access(team, 'ws-nowhere')), 404);
    expectStatus(await server.get(byId('tws-nowhere')), 404);
  });

  it('returns 400 for a list without a workspace, and 404 for an unknown workspace', async () => {
    for (const query of ['', '?filter%5Bworkspace%5D%5Bid%5D=']) {
      const { errors } = expectStatus(await server.get(`${PATH}${query}`), 400).body;
      expect(errors[0].source.parameter).toBe('filter[workspace][id]');
    }
    expectStatus(await server.get(listOf('ws-nowhere')), 404);
  });
});

describe('the list of a workspace’s teams', () => {
  let workspace: string;
  let teams: readonly string[];
  beforeAll(async () => {
    workspace = await makeWorkspace(server, 'acme', 'listed');
    teams = await Promise.all(['list-c', 'list-a', 'list-b'].map((name) => makeTeam(server, 'acme', name)));
    for (const team of teams) await give(team, workspace);
  });

  it('is sorted by team name and paged', async () => {
    const [c, a, b] = teams;
    const first = expectStatus(await server.get(listOf(workspace, 'page%5Bsize%5D=2')), 200);
    expect(teamsIn(first)).toEqual([a, b]);
    expect(first.body.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2, 'next-page': 2 });
    expect(teamsIn(await server.get(first.body.links.next as string))).toEqual([c]);
    expect((await server.get(listOf(workspace, 'page%5Bnumber%5D=9'))).body).toMatchObject({
      data: [],
      meta: { pagination: { 'total-count': 3 } },
    });
  });

  it('costs one round trip, and a change two', async () => {
    const team = await makeTeam(server, 'acme', 'counted');
    const listed = await costOf(server, () => server.get(listOf(workspace)));
    expect(listed).toMatchObject({ status: 200, roundTrips: 1 });
    const added = await costOf(server, () => server.post(PATH, access(team, workspace)));
    expect(added).toMatchObject({ status: 201, roundTrips: 2 });
  });
});

describe('the permission on workspace access', () => {
  let workspace: string;
  let readers: string;
  let admins: string;
  let hidden: string;
  let reader: SeededMember;
  let admin: SeededMember;
  let insider: SeededMember;
  let outsider: SeededMember;
  let ids: { readonly readers: string; readonly hidden: string };

  beforeAll(async () => {
    workspace = await makeWorkspace(server, 'acme', 'guarded');
    readers = await makeTeam(server, 'acme', 'readers', { visibility: 'organization' });
    admins = await makeTeam(server, 'acme', 'admins', { visibility: 'organization' });
    hidden = await makeTeam(server, 'acme', 'hidden', { visibility: 'secret' });
    await give(admins, workspace, { access: 'admin' });
    ids = { readers: idOf(await give(readers, workspace)), hidden: idOf(await give(hidden, workspace)) };
    reader = await makeMember(server, 'acme', 'reader', [readers]);
    admin = await makeMember(server, 'acme', 'admin-of-it', [admins]);
    insider = await makeMember(server, 'acme', 'insider', [hidden]);
    outsider = await makeMember(server, 'acme', 'outsider', [await makeTeam(server, 'acme', 'outsiders')]);
  });

  it('shows visible teams to callers that may read the workspace', async () => {
    expect(teamsIn(expectStatus(await reader.get(listOf(workspace)), 200))).toEqual([admins, readers]);
    expect(teamsIn(expectStatus(await insider.get(listOf(workspace)), 200))).toEqual([admins, hidden, readers]);
    expectStatus(await reader.get(byId(ids.readers)), 200);
    expectStatus(await reader.get(byId(ids.hidden)), 404);
    expectStatus(await insider.get(byId(ids.hidden)), 200);
  });

  it('lets workspace administrators see all teams and change their access', async () => {
    expect(teamsIn(expectStatus(await admin.get(listOf(workspace)), 200))).toEqual([admins, hidden, readers]);
    const plan = resource('team-workspaces', { access: 'plan' });
    expectStatus(await admin.patch(byId(ids.hidden), plan), 200);
    expectStatus(await admin.patch(byId(ids.readers), plan), 200);
  });

  it('lets workspace administrators grant access only to teams that they see', async () => {
    const visible = await makeTeam(server, 'acme', 'known', { visibility: 'organization' });
    const id = idOf(expectStatus(await admin.post(PATH, access(visible, workspace)), 201));
    expectStatus(await admin.delete(byId(id)), 204);
    const hiddenTeam = await makeTeam(server, 'acme', 'unknown', { visibility: 'secret' });
    const refused = expectStatus(await admin.post(PATH, access(hiddenTeam, workspace)), 422);
    expect(refused.body.errors[0].detail).toBe('Team does not exist');
  });

  it('does not let readers change access', async () => {
    for (const api of [reader, insider]) {
      expectStatus(await api.post(PATH, access(readers, workspace)), 404);
      expectStatus(await api.patch(byId(ids.readers), resource('team-workspaces', { access: 'admin' })), 404);
      expect((await api.delete(byId(ids.readers))).status).toBe(404);
    }
  });

  it('returns 404 to other callers, even for invalid requests', async () => {
    const audit = await server.post('/api/v2/organizations/acme/authentication-token?token=audit-trails');
    const auditor = server.as(expectStatus(audit, 201).body.data.attributes.token as string);
    const stranger = await makeMember(server, (await makeOrganization(server, 'strange')).name, 'stranger');
    for (const api of [outsider, auditor, stranger] satisfies ApiTestClient[]) {
      expectStatus(await api.get(listOf(workspace)), 404);
      expectStatus(await api.get(byId(ids.readers)), 404);
      expectStatus(await api.post(PATH, access('team-nowhere', workspace)), 404);
      expectStatus(await api.patch(byId(ids.readers), resource('team-workspaces', { runs: 'apply' })), 404);
      expectStatus(await api.delete(byId(ids.readers)), 404);
    }
    expect((await server.as(null).get(listOf(workspace))).status).toBe(401);
  });

  it('lets the organization token manage access', async () => {
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    const { team, workspace: other } = await makeFixture({ visibility: 'secret' });
    const id = idOf(expectStatus(await token.post(PATH, access(team, other)), 201));
    expectStatus(await token.get(byId(id)), 200);
    expect((await token.delete(byId(id))).status).toBe(204);
  });
});

describe('granted workspace access', () => {
  it('opens the workspace at once, and ends on every gateway with the next request after its removal', async () => {
    const second = await startAnotherGateway(server);
    try {
      const { team, workspace } = await makeFixture();
      const member = await makeMember(server, 'acme', 'mover', [team]);
      const gateways = [member, second.as(member.token)];
      const path = `/api/v2/workspaces/${workspace}`;
      const statuses = async (send: (api: ApiTestClient) => Promise<ApiResponse>): Promise<number[]> => {
        const all: number[] = [];
        for (const api of gateways) all.push((await send(api)).status);
        return all;
      };
      const read = () => statuses((api) => api.get(path));
      const lockAndUnlock = async (api: ApiTestClient): Promise<ApiResponse> => {
        const locked = await api.post(`${path}/actions/lock`);
        return locked.status === 200 ? api.post(`${path}/actions/unlock`) : locked;
      };
      expect(await read()).toEqual([404, 404]);
      const id = idOf(await give(team, workspace));
      expect(await read()).toEqual([200, 200]);
      expect(await statuses(lockAndUnlock)).toEqual([404, 404]);
      expectStatus(await second.patch(byId(id), resource('team-workspaces', { access: 'write' })), 200);
      expect(await statuses(lockAndUnlock)).toEqual([200, 200]);
      expectStatus(
        await server.patch(byId(id), resource('team-workspaces', { access: 'custom', 'workspace-locking': false })),
        200,
      );
      expect(await statuses(lockAndUnlock)).toEqual([404, 404]);
      expectStatus(await second.delete(byId(id)), 204);
      expect(await read()).toEqual([404, 404]);
    } finally {
      await second.close();
    }
  });

  it('is deleted with the team, the workspace or the organization, and the views match the log', async () => {
    const doomed = await makeOrganization(server, 'doomed');
    const ofTeam = await makeFixture();
    const ofWorkspace = await makeFixture();
    const team = await makeTeam(server, doomed.name, 'core');
    const ids = [
      idOf(await give(ofTeam.team, ofTeam.workspace)),
      idOf(await give(ofWorkspace.team, ofWorkspace.workspace)),
      idOf(await give(team, await makeWorkspace(server, doomed.name, 'inside'))),
    ];
    expectStatus(await server.delete(`/api/v2/teams/${ofTeam.team}`), 204);
    expectStatus(await server.delete(`/api/v2/workspaces/${ofWorkspace.workspace}`), 204);
    expectStatus(await server.delete(`/api/v2/organizations/${doomed.name}`), 204);
    for (const id of ids) expectStatus(await server.get(byId(id)), 404);
    expect((await server.get(listOf(ofTeam.workspace))).body.data).toEqual([]);
    await expectViewsMatchLog(server, [peopleDefinition]);
  });

  it('is recorded in the audit trail of the workspace with the team’s name at that time', async () => {
    const { team, workspace, name } = await makeFixture();
    const id = idOf(await give(team, workspace, { access: 'plan' }));
    expectStatus(await server.patch(`/api/v2/teams/${team}`, resource('teams', { name: `${name}-renamed` })), 200);
    expectStatus(await server.patch(byId(id), resource('team-workspaces', { access: 'admin' })), 200);
    expectStatus(await server.delete(byId(id)), 204);
    const auditor = server.as(await makeOrganizationToken(server, 'acme'));
    const { data } = expectStatus(await auditor.get('/api/v2/organization/audit-trail'), 200).body;
    const entries = data.filter((entry: any) => entry.resource.id === workspace && /team/.test(entry.resource.action));
    expect(entries.map(({ resource: { type, action, meta } }: any) => [type, action, meta]).toReversed()).toEqual([
      ['workspace', 'add_team', { team: name, permissions: 'plan' }],
      ['workspace', 'update_team_permissions', { team: `${name}-renamed`, permissions: 'admin' }],
      ['workspace', 'remove_team', { team: `${name}-renamed` }],
    ]);
    const types = (await readWholeLog(server.store)).filter(({ stream }) => stream === id).map(({ type }) => type);
    expect(types).toEqual(['TeamWorkspaceAdded', 'TeamWorkspaceUpdated', 'TeamWorkspaceRemoved']);
  });

  it('through a project lets a team with maintain access grant access to other teams', async () => {
    const project = await makeProject(server, 'acme', 'Administered');
    const team = await makeTeam(server, 'acme', 'maintainers');
    const other = await makeTeam(server, 'acme', 'helped', { visibility: 'organization' });
    const inside = await makeWorkspace(
      server,
      'acme',
      'administered',
      {},
      { project: { data: { type: 'projects', id: project } } },
    );
    const body = resource(
      'team-projects',
      { access: 'maintain' },
      {
        team: { data: { type: 'teams', id: team } },
        project: { data: { type: 'projects', id: project } },
      },
    );
    expectStatus(await server.post('/api/v2/team-projects', body), 201);
    const maintainer = await makeMember(server, 'acme', 'maintainer', [team]);
    expect((await maintainer.post(PATH, access(other, inside))).status).toBe(201);
  });
});
