import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

const PATH = '/api/v2/team-projects';
const byId = (id: string): string => `${PATH}/${id}`;
const listOf = (project: string, query = ''): string =>
  `${PATH}?filter%5Bproject%5D%5Bid%5D=${project}${query && `&${query}`}`;

const access = (team: string, project: string, attributes: object = { access: 'read' }): object =>
  resource('team-projects', attributes, {
    team: { data: { type: 'teams', id: team } },
    project: { data: { type: 'projects', id: project } },
  });

const give = async (team: string, project: string, attributes: object = { access: 'read' }): Promise<ApiResponse> =>
  expectStatus(await server.post(PATH, access(team, project, attributes)), 201);

const idOf = ({ body }: ApiResponse): string => body.data.id as string;
const teamsIn = ({ body }: ApiResponse): string[] =>
  body.data.map(({ relationships }: any) => relationships.team.data.id as string);

let count = 0;
const makeFixture = async (): Promise<{ team: string; project: string; name: string }> => {
  count += 1;
  const name = `core-${count}`;
  return {
    name,
    team: await makeTeam(server, 'acme', name),
    project: await makeProject(server, 'acme', `project-${count}`),
  };
};

const READS = {
  runs: 'read',
  variables: 'read',
  'state-versions': 'read',
  'sentinel-mocks': 'none',
  'run-tasks': false,
  'policy-overrides': false,
  create: false,
  locking: false,
  delete: false,
  move: false,
};
const WRITES = {
  ...READS,
  runs: 'apply',
  variables: 'write',
  'state-versions': 'write',
  'sentinel-mocks': 'read',
  locking: true,
};
const ALL = { ...WRITES, 'run-tasks': true, create: true, delete: true, move: true };
const LEAST = { ...READS, variables: 'none', 'state-versions': 'none' };
const READER = { settings: 'read', teams: 'none', 'variable-sets': 'none' };
const ADMIN = { settings: 'delete', teams: 'manage', 'variable-sets': 'write' };

describe('team access to a project', () => {
  it.each([
    ['read', READER, READS],
    ['write', READER, WRITES],
    ['maintain', { ...READER, 'variable-sets': 'write' }, { ...ALL, move: false }],
    ['admin', ADMIN, ALL],
    ['custom', READER, LEAST],
  ])('has the level %s, and every response shows its fields', async (level, ofIt, inEach) => {
    const { team, project } = await makeFixture();
    // Clients send both groups, empty.
    const { body } = await give(team, project, { access: level, 'project-access': {}, 'workspace-access': {} });
    expect(body.data).toEqual({
      id: expect.stringMatching(/^tprj-\w{16}$/),
      type: 'team-projects',
      attributes: { access: level, 'project-access': ofIt, 'workspace-access': inEach },
      relationships: {
        team: { data: { type: 'teams', id: team }, links: { related: `/api/v2/teams/${team}` } },
        project: { data: { type: 'projects', id: project }, links: { related: `/api/v2/projects/${project}` } },
      },
      links: { self: byId(body.data.id) },
    });
    expect(expectStatus(await server.get(byId(body.data.id)), 200).body).toEqual(body);
    expect(expectStatus(await server.get(listOf(project)), 200).body.data).toEqual([body.data]);
  });

  it('changes the named fields of either group, and switches to custom from the fields of the level', async () => {
    const { team, project } = await makeFixture();
    const id = idOf(await give(team, project, { access: 'write' }));
    const patched = async (attributes: object): Promise<object> => {
      const { data } = expectStatus(await server.patch(byId(id), resource('team-projects', attributes)), 200).body;
      expect((await server.get(byId(id))).body.data).toEqual(data);
      return data.attributes as object;
    };
    const custom = { access: 'custom', 'project-access': { ...READER, teams: 'read' }, 'workspace-access': WRITES };
    expect(await patched({ access: 'custom', 'project-access': { teams: 'read' } })).toEqual(custom);
    expect(
      await patched({
        'workspace-access': { create: true, 'policy-overrides': true, runs: null },
        'project-access': null,
      }),
    ).toEqual({
      ...custom,
      'workspace-access': { ...WRITES, create: true, 'policy-overrides': true },
    });
    expect(await patched({ access: 'admin', 'project-access': {}, 'workspace-access': {} })).toEqual({
      access: 'admin',
      'project-access': ADMIN,
      'workspace-access': ALL,
    });
  });

  it('is created once even if several requests arrive at once, and can be removed', async () => {
    const { team, project } = await makeFixture();
    const answers = await Promise.all(Array.from({ length: 5 }, () => server.post(PATH, access(team, project))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422]);
    const refused = answers.find(({ status }) => status === 422);
    expect(refused?.body.errors[0].detail).toBe('Team has already been added');
    const [{ id }] = (await server.get(listOf(project))).body.data;
    // The type that pytfe sends.
    expectStatus(await server.patch(byId(id), resource('team-project-access', { access: 'maintain' })), 200);
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.get(byId(id)), 404);
    expectStatus(await server.patch(byId(id), resource('team-projects', { access: 'write' })), 404);
    expectStatus(await server.delete(byId(id)), 404);
    await give(team, project);
  });
});

describe('an invalid request for project access', () => {
  const ATTRIBUTES = '/data/attributes';
  it.each<[string, object, string, string | RegExp]>([
    ['no level', {}, `${ATTRIBUTES}/access`, /^Access must be one of read, write, maintain/],
    ['a level of workspaces', { access: 'plan' }, `${ATTRIBUTES}/access`, /^Access must be one of/],
    [
      'a field beside a level',
      { access: 'maintain', 'workspace-access': { 'state-versions': 'write' } },
      `${ATTRIBUTES}/workspace-access/state-versions`,
      "State versions is read-only when access level is 'maintain'; use the 'custom' access level to set this attribute.",
    ],
    [
      'a field of the project beside a level',
      { access: 'read', 'project-access': { 'variable-sets': 'read' } },
      `${ATTRIBUTES}/project-access/variable-sets`,
      "Variable sets is read-only when access level is 'read'; use the 'custom' access level to set this attribute.",
    ],
    [
      'an unknown value',
      { access: 'custom', 'project-access': { settings: 'none' } },
      `${ATTRIBUTES}/project-access/settings`,
      /^Settings must be one of read, update, delete/,
    ],
    [
      'a group that is a string',
      { access: 'custom', 'workspace-access': 'all' },
      `${ATTRIBUTES}/workspace-access`,
      'Workspace access must be an object',
    ],
  ])('returns 422 with %s', async (_, attributes, pointer, detail) => {
    const { team, project } = await makeFixture();
    const { errors } = expectStatus(await server.post(PATH, access(team, project, attributes)), 422).body;
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ source: { pointer } });
    expect(errors[0].detail).toMatch(detail);
  });

  it('is refused for the owners team and for teams of other organizations, and returns 404 for an unknown project', async () => {
    const { team, project } = await makeFixture();
    await makeOrganization(server, 'elsewhere');
    const foreign = await makeTeam(server, 'elsewhere', 'core');
    const detailFor = async (teamId: string): Promise<string> =>
      expectStatus(await server.post(PATH, access(teamId, project)), 422).body.errors[0].detail as string;
    expect(await detailFor(acme.ownersTeam)).toBe('The owners team has access to every project already');
    expect(await detailFor(foreign)).toBe('Team does not exist');
    expect(await detailFor('team-nowhere')).toBe('Team does not exist');
    expectStatus(await server.post(PATH, access(team, 'prj-nowhere')), 404);
    expectStatus(await server.get(listOf('prj-nowhere')), 404);
    expect(expectStatus(await server.get(PATH), 400).body.errors[0].source.parameter).toBe('filter[project][id]');
  });
});

describe('the list of a project’s teams', () => {
  it('is sorted by team name and paged', async () => {
    const { team: last, project } = await makeFixture();
    const first = await makeTeam(server, 'acme', 'a-team');
    for (const team of [last, first]) await give(team, project);
    const page = expectStatus(await server.get(listOf(project, 'page%5Bsize%5D=1')), 200);
    expect(teamsIn(page)).toEqual([first]);
    expect(page.body.meta.pagination).toMatchObject({ 'total-count': 2, 'total-pages': 2 });
    expect(teamsIn(await server.get(page.body.links.next as string))).toEqual([last]);
  });
});

describe('the permission on project access', () => {
  let project: string;
  let hidden: string;
  let ids: Readonly<Record<'reader' | 'maintainer' | 'viewer' | 'manager', string>>;
  let people: Readonly<Record<keyof typeof ids, SeededMember>>;

  beforeAll(async () => {
    project = await makeProject(server, 'acme', 'Guarded');
    hidden = await makeTeam(server, 'acme', 'hidden', { visibility: 'secret' });
    await give(hidden, project);
    const join = async (name: string, attributes: object): Promise<readonly [string, SeededMember]> => {
      const team = await makeTeam(server, 'acme', name, { visibility: 'organization' });
      return [idOf(await give(team, project, attributes)), await makeMember(server, 'acme', name, [team])];
    };
    const custom = (teams: string): object => ({ access: 'custom', 'project-access': { teams } });
    const [reader, maintainer, viewer, manager] = [
      await join('reader', { access: 'read' }),
      await join('maintainer', { access: 'maintain' }),
      await join('viewer', custom('read')),
      await join('manager', custom('manage')),
    ];
    ids = { reader: reader[0], maintainer: maintainer[0], viewer: viewer[0], manager: manager[0] };
    people = { reader: reader[1], maintainer: maintainer[1], viewer: viewer[1], manager: manager[1] };
  });

  it('shows visible teams to callers that may read project access, and all teams to callers that manage it', async () => {
    for (const name of ['reader', 'maintainer'] as const) {
      expectStatus(await people[name].get(listOf(project)), 404);
      expectStatus(await people[name].get(byId(ids[name])), 404);
    }
    expect(teamsIn(expectStatus(await people.viewer.get(listOf(project)), 200))).toHaveLength(4);
    const all = teamsIn(expectStatus(await people.manager.get(listOf(project)), 200));
    expect(all).toHaveLength(5);
    expect(all).toContain(hidden);
  });

  it('lets only callers that manage project access change it', async () => {
    const other = await makeTeam(server, 'acme', 'other', { visibility: 'organization' });
    const write = resource('team-projects', { access: 'write' });
    for (const name of ['reader', 'maintainer', 'viewer'] as const) {
      expectStatus(await people[name].post(PATH, access(other, project)), 404);
      expectStatus(await people[name].patch(byId(ids[name]), write), 404);
      expectStatus(await people[name].delete(byId(ids[name])), 404);
    }
    const id = idOf(expectStatus(await people.manager.post(PATH, access(other, project)), 201));
    expectStatus(await people.manager.patch(byId(id), write), 200);
    expectStatus(await people.manager.delete(byId(id)), 204);
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    const createdByToken = idOf(expectStatus(await token.post(PATH, access(other, project)), 201));
    expect((await token.delete(byId(createdByToken))).status).toBe(204);
  });
});

describe('granted project access', () => {
  it('opens every workspace in the project, and ends on every gateway with the next request after its removal', async () => {
    const second = await startAnotherGateway(server);
    try {
      const { team, project } = await makeFixture();
      const inside = { project: { data: { type: 'projects', id: project } } };
      const workspace = await makeWorkspace(server, 'acme', 'inside', {}, inside);
      const member = await makeMember(server, 'acme', 'mover', [team]);
      const statuses = async (): Promise<number[]> => {
        const gateways: readonly ApiTestClient[] = [member, second.as(member.token)];
        const paths = [`/api/v2/projects/${project}`, `/api/v2/workspaces/${workspace}`];
        const answers = await Promise.all(gateways.flatMap((api) => paths.map((path) => api.get(path))));
        return answers.map(({ status }) => status);
      };
      expect(await statuses()).toEqual([404, 404, 404, 404]);
      const id = idOf(await give(team, project));
      expect(await statuses()).toEqual([200, 200, 200, 200]);
      expectStatus(await second.delete(byId(id)), 204);
      expect(await statuses()).toEqual([404, 404, 404, 404]);
    } finally {
      await second.close();
    }
  });

  it('is deleted with the team, the project or the organization, and the views match the log', async () => {
    const doomed = await makeOrganization(server, 'doomed');
    const ofTeam = await makeFixture();
    const ofProject = await makeFixture();
    const ids = [
      idOf(await give(ofTeam.team, ofTeam.project)),
      idOf(await give(ofProject.team, ofProject.project)),
      idOf(await give(await makeTeam(server, doomed.name, 'core'), doomed.defaultProject)),
    ];
    expectStatus(await server.delete(`/api/v2/teams/${ofTeam.team}`), 204);
    expectStatus(await server.delete(`/api/v2/projects/${ofProject.project}`), 204);
    expectStatus(await server.delete(`/api/v2/organizations/${doomed.name}`), 204);
    for (const id of ids) expectStatus(await server.get(byId(id)), 404);
    await expectViewsMatchLog(server, [peopleDefinition]);
  });

  it('is recorded in the audit trail of the project', async () => {
    const { team, project, name } = await makeFixture();
    const id = idOf(await give(team, project, { access: 'maintain' }));
    const custom = resource('team-projects', { access: 'custom', 'workspace-access': { runs: 'plan' } });
    expectStatus(await server.patch(byId(id), custom), 200);
    expectStatus(await server.delete(byId(id)), 204);
    const auditor = server.as(await makeOrganizationToken(server, 'acme'));
    const { data } = expectStatus(await auditor.get('/api/v2/organization/audit-trail'), 200).body;
    const entries = data.filter((entry: any) => entry.resource.id === project && /team/.test(entry.resource.action));
    expect(entries.map(({ resource: { type, action, meta } }: any) => [type, action, meta]).toReversed()).toEqual([
      ['project', 'add_team', { team: name, permissions: 'maintain' }],
      ['project', 'update_team_permissions', { team: name, permissions: 'custom' }],
      ['project', 'remove_team', { team: name }],
    ]);
  });
});
