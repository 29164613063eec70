import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { costOf } from '../../../../test/support/cost.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
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
import type { ExplanationStep } from './access-explanation.js';

const PATH = '/api/v2/organizations/acme/access-explanations';

let server: TestServer;
let project: string;
let workspace: string;
let ada: SeededMember;
let olga: SeededMember;
let core: string;
let crew: string;

beforeAll(async () => {
  server = await startTestServer();
  const { ownersTeam } = await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  project = await makeProject(server, 'acme', 'Shops');
  workspace = await makeWorkspace(
    server,
    'acme',
    'network',
    {},
    { project: { data: { type: 'projects', id: project } } },
  );
  core = await makeTeam(server, 'acme', 'core');
  crew = await makeTeam(server, 'acme', 'crew');
  ada = await makeMember(server, 'acme', 'ada', [core, crew]);
  olga = await makeMember(server, 'acme', 'olga', [ownersTeam]);
});

afterAll(() => server.close());

const request = (query: Readonly<Record<string, string>>, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.get(`${PATH}?${new URLSearchParams(query).toString()}`);

const explain = async (query: Readonly<Record<string, string>>, api?: ApiTestClient) =>
  expectStatus(await request(query, api), 200).body.data.attributes as {
    readonly scope: string;
    readonly 'is-permitted': boolean;
    readonly 'permitted-on': unknown;
    readonly steps: readonly ExplanationStep[];
    readonly 'sufficient-levels': readonly string[];
    readonly 'sufficient-roles': readonly string[];
  };

const about = (permission: string, more: Readonly<Record<string, string>> = { 'filter[workspace]': workspace }) => ({
  'filter[user]': ada.id,
  'filter[permission]': permission,
  ...more,
});

describe('the explanation of access', () => {
  it('names each place in which it looks, and the grant that gives the permission', async () => {
    await grantProjectAccess(server, core, project, 'write');
    await grantWorkspaceAccess(server, crew, workspace, 'read');
    const explanation = await explain(about('apply-run'));
    expect(explanation['is-permitted']).toBe(true);
    expect(explanation.steps.map(({ source, access, gives, detail }) => [source, access, gives, detail])).toEqual([
      ['membership', 'member', false, 'ada is a member of the organization, and members do not have this permission.'],
      ['organization-access', null, false, 'The team core has no access to the whole organization.'],
      [
        'project-access',
        'write',
        true,
        'The team core has write access to the project Shops, which includes this permission.',
      ],
      ['workspace-access', null, false, 'The team core has no access of its own to the workspace network.'],
      ['organization-access', null, false, 'The team crew has no access to the whole organization.'],
      ['project-access', null, false, 'The team crew has no access of its own to the project Shops.'],
      [
        'workspace-access',
        'read',
        false,
        'The team crew has read access to the workspace network, which does not include this permission.',
      ],
    ]);
    expect(explanation['sufficient-levels']).toEqual([
      'workspace write',
      'workspace admin',
      'project write',
      'project maintain',
      'project admin',
    ]);
  });

  it('of an owner names the owners team, and needs no resource', async () => {
    const query = { 'filter[user]': olga.id, 'filter[permission]': 'manage-teams' };
    const { steps, ...explanation } = await explain(query);
    expect(explanation['is-permitted']).toBe(true);
    expect(explanation['sufficient-roles']).toEqual(['owner', 'organization-token', 'manage-teams']);
    expect(steps.at(-1)).toMatchObject({
      access: 'owner',
      gives: true,
      detail: 'The team owners owns the organization.',
    });
  });

  it('without a workspace says on how many workspaces a person has the permission, and on which', async () => {
    const answer = async (user: string, permission: string) => {
      const explanation = await explain({ 'filter[user]': user, 'filter[permission]': permission });
      const { scope, 'is-permitted': isPermitted, 'permitted-on': on } = explanation;
      return { scope, isPermitted, on };
    };
    const scope = 'every-workspace';
    await makeWorkspace(server, 'acme', 'other');
    expect(await answer(ada.id, 'apply-run')).toEqual({
      scope,
      isPermitted: false,
      on: { total: 2, permitted: 1, examples: [{ id: workspace, name: 'network' }] },
    });
    expect(await answer(ada.id, 'delete-workspace')).toEqual({
      scope,
      isPermitted: false,
      on: { total: 2, permitted: 0, examples: [] },
    });
    expect(await answer(olga.id, 'apply-run')).toMatchObject({ isPermitted: true, on: { total: 2, permitted: 2 } });
    expect(await answer(ada.id, 'read-project')).toMatchObject({
      scope: 'every-project',
      isPermitted: false,
      on: { total: 2, permitted: 1, examples: [{ id: project, name: 'Shops' }] },
    });
    expect(await answer(olga.id, 'manage-teams')).toEqual({ scope: 'organization', isPermitted: true, on: null });
  });

  it('without a workspace includes implied access to projects and custom access, and excludes suspended accounts', async () => {
    const team = await makeTeam(server, 'acme', 'auditors');
    const eva = await makeMember(server, 'acme', 'eva', [team]);
    const relationships = {
      team: { data: { type: 'teams', id: team } },
      workspace: { data: { type: 'workspaces', id: workspace } },
    };
    const body = resource('team-workspaces', { access: 'custom', runs: 'apply' }, relationships);
    expectStatus(await server.post('/api/v2/team-workspaces', body), 201);
    const count = async (permission: string): Promise<unknown> =>
      (await explain({ 'filter[user]': eva.id, 'filter[permission]': permission }))['permitted-on'];
    expect(await count('apply-run')).toMatchObject({ permitted: 1 });
    expect(await count('read-state')).toMatchObject({ permitted: 0 });
    expect(await count('read-project')).toMatchObject({ permitted: 1 });
    expect(await count('update-project')).toMatchObject({ permitted: 0 });
    expectStatus(await server.post(`/api/v2/admin/users/${eva.id}/actions/suspend`), 200);
    expect(await count('apply-run')).toMatchObject({ permitted: 0 });
  });

  it('of a project names the read access that access to a workspace implies', async () => {
    const query = { 'filter[team]': crew, 'filter[permission]': 'read-project', 'filter[project]': project };
    const { steps, ...explanation } = await explain(query);
    expect(explanation['is-permitted']).toBe(true);
    expect(steps.find(({ gives }) => gives)?.detail).toBe(
      'The team crew can see a workspace in the project Shops, which implies reading the project, which includes this permission.',
    );
  });

  it('of a suspended account says that nothing counts', async () => {
    const { id } = await makeMember(server, 'acme', 'susi', [core]);
    expectStatus(await server.post(`/api/v2/admin/users/${id}/actions/suspend`), 200);
    const explanation = await explain({ ...about('apply-run'), 'filter[user]': id });
    expect(explanation['is-permitted']).toBe(false);
    expect(explanation.steps[0]).toMatchObject({ source: 'account', gives: false });
  });

  it('is one statement', async () => {
    expect(await costOf(server, () => request(about('apply-run')))).toMatchObject({ status: 200, statements: 1 });
  });

  it('is for owners, and for everybody about their own access to what they can read', async () => {
    expectStatus(await request(about('apply-run'), olga), 200);
    expectStatus(await request(about('apply-run'), ada), 200);
    const eve = await makeMember(server, 'acme', 'eve');
    expectStatus(await request(about('apply-run'), eve), 404);
    expectStatus(await request({ ...about('apply-run'), 'filter[user]': eve.id }, eve), 404);
    expectStatus(await request({ ...about('create-project', {}), 'filter[user]': eve.id }, eve), 200);
    const stranger = await makeMember(server, 'neighbour', 'stranger');
    expectStatus(await request({ ...about('create-project', {}), 'filter[user]': stranger.id }, stranger), 404);
  });

  it.each([
    ['without a person and a team', { 'filter[permission]': 'apply-run' }, 'filter[user] or filter[team] is required'],
    ['without a permission', { 'filter[user]': 'user-x' }, 'filter[permission] is required'],
    [
      'for a permission of the site',
      { 'filter[user]': 'user-x', 'filter[permission]': 'manage-site' },
      expect.stringMatching(/^filter\[permission\]: must be one of read-organization, .*, got "manage-site"$/),
    ],
    [
      'for a person and a team at once',
      { 'filter[user]': 'user-x', 'filter[team]': 'team-x', 'filter[permission]': 'apply-run' },
      'filter[team]: cannot be sent together with filter[user]',
    ],
    [
      'for a person who is no member',
      { 'filter[user]': 'user-x', 'filter[permission]': 'apply-run' },
      'filter[user]: must be the id of a member who has accepted the invitation, got "user-x"',
    ],
    [
      'for a resource of another kind',
      { 'filter[user]': 'user-x', 'filter[permission]': 'apply-run', 'filter[project]': 'prj-x' },
      'filter[project]: the permission apply-run is checked on the workspace, so send filter[workspace]',
    ],
  ])('is refused %s', async (_, query, detail) => {
    expect(expectStatus(await request(query), 400).body.errors[0]).toMatchObject({ detail });
  });
});

/** Permissions whose effect the documents of a workspace show. */
const FLAGS = {
  'can-update': 'update-workspace',
  'can-destroy': 'delete-workspace',
  'can-queue-run': 'queue-run',
  'can-read-run': 'read-runs',
  'can-read-variable': 'read-variables',
  'can-update-variable': 'update-variables',
  'can-read-state-versions': 'read-state',
  'can-read-state-outputs': 'read-state-outputs',
  'can-create-state-versions': 'create-state',
  'can-queue-apply': 'apply-run',
  'can-lock': 'lock-workspace',
  'can-force-unlock': 'force-unlock-workspace',
  'can-manage-tags': 'tag-workspace',
  'can-manage-run-tasks': 'manage-run-tasks',
} as const;

const PROJECT_FLAGS = {
  'can-update': 'update-project',
  'can-create-workspace': 'create-workspace',
  'can-read-teams': 'read-project-access',
  'can-manage-teams': 'manage-project-access',
} as const;

type TeamCase = {
  readonly flags: readonly string[];
  readonly onProject: string | null;
  readonly onWorkspace: string | null;
  readonly isMember: boolean;
};

const anyTeam: fc.Arbitrary<TeamCase> = fc.record({
  flags: fc.subarray(['manage-workspaces', 'manage-projects', 'read-workspaces', 'read-projects', 'manage-run-tasks'], {
    maxLength: 1,
  }),
  onProject: fc.constantFrom(null, 'read', 'write', 'maintain', 'admin'),
  onWorkspace: fc.constantFrom(null, 'read', 'plan', 'write', 'admin'),
  isMember: fc.boolean(),
});

describe('the verdict of an explanation', () => {
  let runs = 0;

  /** Makes a project, a workspace, the teams and a member of some of them. */
  const arrange = async (teams: readonly TeamCase[]) => {
    const name = `case-${(runs += 1)}`;
    const inProject = await makeProject(server, 'acme', name);
    const to = { project: { data: { type: 'projects', id: inProject } } };
    const at = await makeWorkspace(server, 'acme', name, {}, to);
    const ids: string[] = [];
    for (const [index, { flags, onProject, onWorkspace, isMember }] of teams.entries()) {
      const access = { 'organization-access': Object.fromEntries(flags.map((flag) => [flag, true])) };
      const team = await makeTeam(server, 'acme', `${name}-${index}`, access);
      if (onProject !== null) await grantProjectAccess(server, team, inProject, onProject);
      if (onWorkspace !== null) await grantWorkspaceAccess(server, team, at, onWorkspace);
      if (isMember) ids.push(team);
    }
    return { inProject, at, person: await makeMember(server, 'acme', name, ids) };
  };

  const readPermissions = async (
    api: ApiTestClient,
    path: string,
  ): Promise<Readonly<Record<string, boolean>> | null> => {
    const { status, body } = await api.get(path);
    return status === 404 ? null : (body.data.attributes.permissions as Readonly<Record<string, boolean>>);
  };

  it('is what the API decides for the person, whatever their teams may do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyTeam, { minLength: 1, maxLength: 3 }), async (teams) => {
        const { inProject, at, person } = await arrange(teams);
        for (const [path, flags, on] of [
          [`/api/v2/workspaces/${at}`, FLAGS, { 'filter[workspace]': at }],
          [`/api/v2/projects/${inProject}`, PROJECT_FLAGS, { 'filter[project]': inProject }],
        ] as const) {
          const decided = await readPermissions(person, path);
          for (const [flag, permission] of Object.entries(flags)) {
            const query = { 'filter[user]': person.id, 'filter[permission]': permission, ...on };
            const { steps, 'is-permitted': isPermitted } = await explain(query);
            expect([permission, isPermitted]).toEqual([permission, decided?.[flag] ?? false]);
            expect(steps.some(({ gives }) => gives)).toBe(isPermitted);
          }
        }
      }),
      { numRuns: 12, endOnFailure: true },
    );
  }, 120_000);

  it('of a project that belongs to another project gives nothing', async () => {
    const { at, person } = await arrange([{ flags: [], onProject: 'admin', onWorkspace: null, isMember: true }]);
    const body = resource('workspaces', {}, { project: { data: { type: 'projects', id: project } } });
    expectStatus(await server.patch(`/api/v2/workspaces/${at}`, body), 200);
    const query = { 'filter[user]': person.id, 'filter[permission]': 'read-workspace', 'filter[workspace]': at };
    expect((await explain(query))['is-permitted']).toBe(false);
  });
});
