import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  flatTags,
  idOfTag,
  makeAgentPool,
  makeConfigurationVersion,
  makeMember,
  makeProject,
  makeReservedTagKey,
  makeTeam,
  makeToken,
  makeWorkspace,
  related,
  resource,
  runBody,
} from '../support/seeds.js';
import type { ApiResponse, ApiTestClient, TestServer } from '../support/server.js';
import { newSshKey, newVariable, type MatrixWorld } from './shared-world.js';
import { getTarget } from './targets.js';
import { startMatrixWorld } from './world.js';

let server: TestServer;
let world: MatrixWorld;
/** Ids of resources of the other organization, which nobody in acme may see. */
let foreign: Readonly<Record<string, string>>;

beforeAll(async () => {
  world = await startMatrixWorld();
  ({ server } = world);
  const project = await makeProject(server, 'rival', 'hidden');
  const workspace = await makeWorkspace(
    server,
    'rival',
    'hidden',
    {},
    { ...toOne('project', 'projects', project), tags: flatTags('hidden') },
  );
  const team = await makeTeam(server, 'rival', 'hidden', { visibility: 'organization' });
  const key = expectStatus(await server.post('/api/v2/organizations/rival/ssh-keys', newSshKey('hidden')), 201);
  const variable = expectStatus(await server.post(`/api/v2/workspaces/${workspace}/vars`, newVariable('hidden')), 201);
  foreign = {
    project,
    workspace,
    team,
    pool: await makeAgentPool(server, 'rival', 'hidden'),
    configuration: await makeConfigurationVersion(server, workspace),
    sshKey: key.body.data.id as string,
    reservedTagKey: await makeReservedTagKey(server, 'rival', 'hidden'),
    variable: variable.body.data.id as string,
    tag: await idOfTag(server, 'rival', 'hidden'),
  };
});

afterAll(() => server.close());

const toOne = (name: string, type: string, id: string): object => ({ [name]: { data: { type, id } } });
const toMany = (name: string, type: string, id: string): object => ({ [name]: { data: [{ type, id }] } });

const as = (name: string): ApiTestClient => getTarget(world.callers, name).api;

const absent = (id: string): string => id.replace(/-.*/, `-${'x'.repeat(16)}`);

const comparable = ({ status, text }: ApiResponse, id: string): unknown => ({ status, text: text.replaceAll(id, '…') });

describe('an id of another organization, or of a hidden resource, gets the same response as an unknown id', () => {
  type LeakRequest = (api: ApiTestClient, id: string, name: string) => Promise<ApiResponse>;

  /** The caller has the permission for the request itself. */
  const REQUESTS: readonly (readonly [string, of: string, who: string, LeakRequest])[] = [
    [
      'as the project of a new workspace',
      'project',
      'owner',
      (api, id, name) =>
        api.post(
          '/api/v2/organizations/acme/workspaces',
          resource('workspaces', { name }, toOne('project', 'projects', id)),
        ),
    ],
    [
      'as the project that a workspace moves to',
      'project',
      'admin on the project',
      (api, id) =>
        api.patch(`/api/v2/workspaces/${world.one}`, resource('workspaces', {}, toOne('project', 'projects', id))),
    ],
    [
      'as a workspace that moves to a project',
      'workspace',
      'owner',
      (api, id) =>
        api.post(`/api/v2/projects/${world.land}/relationships/workspaces`, { data: [{ type: 'workspaces', id }] }),
    ],
    [
      'as a consumer of the state of a workspace',
      'workspace',
      'admin on the workspace',
      (api, id) =>
        api.post(`/api/v2/workspaces/${world.one}/relationships/remote-state-consumers`, related('workspaces', id)),
    ],
    [
      'as the team that gets access to a workspace',
      'team',
      'admin on the workspace',
      (api, id) =>
        api.post(
          '/api/v2/team-workspaces',
          resource(
            'team-workspaces',
            { access: 'read' },
            { ...toOne('team', 'teams', id), ...toOne('workspace', 'workspaces', world.one) },
          ),
        ),
    ],
    [
      'as the team that gets access to a project',
      'team',
      'owner',
      (api, id) =>
        api.post(
          '/api/v2/team-projects',
          resource(
            'team-projects',
            { access: 'read' },
            { ...toOne('team', 'teams', id), ...toOne('project', 'projects', world.land) },
          ),
        ),
    ],
    [
      'as the team of an invited user',
      'team',
      'owner',
      (api, id, name) =>
        api.post(
          '/api/v2/organizations/acme/organization-memberships',
          resource('organization-memberships', { email: `${name}@people.test` }, toMany('teams', 'teams', id)),
        ),
    ],
    [
      'as the agent pool of a workspace',
      'pool',
      'owner',
      (api, id) =>
        api.patch(
          `/api/v2/workspaces/${world.one}`,
          resource('workspaces', { 'execution-mode': 'agent', 'agent-pool-id': id }),
        ),
    ],
    [
      'as the agent pool of an organization',
      'pool',
      'owner',
      (api, id) =>
        api.patch(
          '/api/v2/organizations/acme',
          resource(
            'organizations',
            { 'default-execution-mode': 'agent' },
            toOne('default-agent-pool', 'agent-pools', id),
          ),
        ),
    ],
    [
      'as the SSH key of a workspace',
      'sshKey',
      'owner',
      (api, id) => api.patch(`/api/v2/workspaces/${world.one}/relationships/ssh-key`, resource('workspaces', { id })),
    ],
    [
      'as an allowed workspace of an agent pool',
      'workspace',
      'owner',
      (api, id) =>
        api.patch(
          `/api/v2/agent-pools/${world.pool}`,
          resource('agent-pools', {}, toMany('allowed-workspaces', 'workspaces', id)),
        ),
    ],
    [
      'as a workspace that a set is applied to',
      'workspace',
      'owner',
      (api, id) =>
        api.post(`/api/v2/varsets/${world.resources.openSet}/relationships/workspaces`, {
          data: [{ type: 'workspaces', id }],
        }),
    ],
    [
      'as a project that a set is applied to',
      'project',
      'owner',
      (api, id) =>
        api.post(`/api/v2/varsets/${world.resources.openSet}/relationships/projects`, {
          data: [{ type: 'projects', id }],
        }),
    ],
    [
      'as the project that a set belongs to',
      'project',
      'owner',
      (api, id, name) =>
        api.post('/api/v2/organizations/acme/varsets', resource('varsets', { name }, toOne('parent', 'projects', id))),
    ],
    [
      'as the configuration of a run',
      'configuration',
      'owner',
      (api, id) =>
        api.post(
          '/api/v2/runs',
          runBody(world.one, { 'plan-only': true }, toOne('configuration-version', 'configuration-versions', id)),
        ),
    ],
    [
      'as the workspace of a run',
      'workspace',
      'owner',
      (api, id) => api.post('/api/v2/runs', runBody(id, { 'plan-only': true })),
    ],
    [
      'as a variable of a workspace',
      'variable',
      'owner',
      (api, id) => api.get(`/api/v2/workspaces/${world.one}/vars/${id}`),
    ],
    [
      'as the filter of a list',
      'project',
      'owner',
      (api, id) => api.get(`/api/v2/organizations/acme/workspaces?filter[project][id]=${id}`),
    ],
    [
      'as the workspace of a list of team access',
      'workspace',
      'owner',
      (api, id) => api.get(`/api/v2/team-workspaces?filter[workspace][id]=${id}`),
    ],
    [
      'as the reserved tag key of a preview',
      'reservedTagKey',
      'owner',
      (api, id) =>
        api.post('/api/v2/organizations/acme/reserved-tag-keys/actions/preview', {
          data: { type: 'reserved-tag-keys', id, attributes: { key: 'hidden' } },
        }),
    ],
    [
      'as the project of a compliance report',
      'project',
      'owner',
      (api, id) => api.get(`/api/v2/organizations/acme/tag-compliance?filter[project][id]=${id}`),
    ],
    [
      'as the project of the access of teams',
      'project',
      'owner',
      (api, id) => api.get(`/api/v2/organizations/acme/access-rows?filter[project][id]=${id}`),
    ],
    [
      'as the team of the access of teams',
      'team',
      'owner',
      (api, id) => api.get(`/api/v2/organizations/acme/access-rows?filter[team][id]=${id}`),
    ],
    [
      'as the workspace of an explanation of access',
      'workspace',
      'owner',
      (api, id) =>
        api.get(
          `/api/v2/organizations/acme/access-explanations?filter[user]=${getTarget(world.callers, 'owner').id}&filter[permission]=apply-run&filter[workspace]=${id}`,
        ),
    ],
    [
      'as a tag of a new workspace',
      'tag',
      'owner',
      (api, id, name) =>
        api.post('/api/v2/organizations/acme/workspaces', resource('workspaces', { name }, toMany('tags', 'tags', id))),
    ],
    [
      'as a tag that a workspace gets',
      'tag',
      'admin on the workspace',
      (api, id) => api.post(`/api/v2/workspaces/${world.one}/relationships/tags`, related('tags', id)),
    ],
    [
      'as a tag that is deleted from all workspaces',
      'tag',
      'owner',
      (api, id) => api.delete('/api/v2/organizations/acme/tags', related('tags', id)),
    ],
    [
      'as the tag that workspaces get',
      'tag',
      'admin on the workspace',
      (api, id) => api.post(`/api/v2/tags/${id}/relationships/workspaces`, related('workspaces', world.one)),
    ],
    [
      'as a workspace that gets a tag',
      'workspace',
      'owner',
      (api, id) => api.post(`/api/v2/tags/${world.resources.tag}/relationships/workspaces`, related('workspaces', id)),
    ],
    [
      'as the workspace whose tags a list excludes',
      'workspace',
      'owner',
      (api, id) => api.get(`/api/v2/organizations/acme/tags?filter[exclude][taggable][id]=${id}`),
    ],
  ];

  it.each(REQUESTS)('%s', async (_, of, callerName, request) => {
    const there = foreign[of] ?? '';
    const notThere = absent(there);
    const name = world.unique('requested');
    const expected = await request(as(callerName), notThere, name);
    expect(comparable(await request(as(callerName), there, name), there)).toEqual(comparable(expected, notThere));
  });

  it('if it is a secret team of their own organization', async () => {
    const grant = (id: string): Promise<ApiResponse> =>
      as('admin on the workspace').post(
        '/api/v2/team-workspaces',
        resource(
          'team-workspaces',
          { access: 'read' },
          { ...toOne('team', 'teams', id), ...toOne('workspace', 'workspaces', world.one) },
        ),
      );
    const { secretTeam } = world;
    expect(comparable(await grant(secretTeam), secretTeam)).toEqual(
      comparable(await grant(absent(secretTeam)), absent(secretTeam)),
    );
  });

  it('if it is a project of their own organization that they cannot move workspaces to', async () => {
    const move = (id: string): Promise<ApiResponse> =>
      as('admin on the project').patch(
        `/api/v2/workspaces/${world.one}`,
        resource('workspaces', {}, toOne('project', 'projects', id)),
      );
    const { elsewhere } = world;
    expect(comparable(await move(elsewhere), elsewhere)).toEqual(
      comparable(await move(absent(elsewhere)), absent(elsewhere)),
    );
  });

  it('if names replace the ids', async () => {
    const of = (organization: string, workspace: string): string =>
      `/api/v2/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${workspace}`;
    const answers = await Promise.all(
      [of('rival', 'hidden'), of('rival', 'nothing'), of('nothing', 'hidden'), of('acme', 'nothing')].map((path) =>
        as('owner').get(path),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  });
});

type Listed = { readonly names: readonly string[]; readonly total: number };

const listed = ({ status, body }: ApiResponse): Listed => {
  expect(status).toBe(200);
  return {
    names: body.data.map(({ attributes }: any) => attributes.name as string).toSorted(),
    total: body.meta.pagination['total-count'] as number,
  };
};

describe('a list shows, counts and pages only what the caller may see', () => {
  const WORKSPACES = '/api/v2/organizations/acme/workspaces';

  it.each([
    ['read on the workspace', ['one']],
    ['read on the project', ['beside', 'one']],
    ['custom on the workspace, runs read', ['one']],
    ['readWorkspaces in the organization', ['beside', 'far', 'one']],
    ['member of a team without access', []],
    ['manageTeams in the organization', []],
    ['accessSecretTeams in the organization', []],
  ])('workspaces for %s', async (callerName, names) => {
    const { api } = getTarget(world.callers, callerName);
    const all = { names, total: names.length };
    // All workspaces have the tag and the binding.
    for (const query of ['', '?search[name]=', '?search[tags]=flat', '?filter[tagged][0][key]=env', '?sort=-name']) {
      expect(listed(await api.get(`${WORKSPACES}${query}`))).toEqual(all);
    }
    expect(listed(await api.get(`${WORKSPACES}?page[size]=1&page[number]=1`)).total).toBe(names.length);
    for (const unseen of ['one', 'beside', 'far'].filter((name) => !names.includes(name))) {
      expect(listed(await api.get(`${WORKSPACES}?search[name]=${unseen}`))).toEqual({ names: [], total: 0 });
      expect(listed(await api.get(`${WORKSPACES}?search[wildcard-name]=${unseen}*`))).toEqual({ names: [], total: 0 });
    }
    const elsewhere = listed(await api.get(`${WORKSPACES}?filter[project][id]=${world.elsewhere}`));
    expect(elsewhere.names).toEqual(names.filter((name) => name === 'far'));
  });

  it.each([
    ['read on the workspace', ['land']],
    ['read on the project', ['land']],
    ['readProjects in the organization', ['Default Project', 'elsewhere', 'land']],
    ['member of a team without access', []],
  ])('projects for %s', async (callerName, names) => {
    const { api } = getTarget(world.callers, callerName);
    const path = '/api/v2/organizations/acme/projects';
    expect(listed(await api.get(path))).toEqual({ names, total: names.length });
    expect(listed(await api.get(`${path}?q=elsewhere`)).total).toBe(names.includes('elsewhere') ? 1 : 0);
    expect(listed(await api.get(`${path}?filter[names]=elsewhere,land`)).names).toEqual(
      names.filter((name) => name !== 'Default Project'),
    );
  });

  it.each([
    ['owner', 2],
    ['readWorkspaces in the organization', 2],
    ['read on the project', 2],
    ['read on the workspace', 1],
    ['custom on the workspace, runs read', 1],
    ['custom on the project, variables write', 2],
    ['readProjects in the organization', 2],
  ])('the workspace-count of a project for %s', async (callerName, count) => {
    const { api } = getTarget(world.callers, callerName);
    const path = `/api/v2/projects/${world.land}`;
    const document = expectStatus(await api.get(path), 200).body.data;
    const projects = expectStatus(await api.get('/api/v2/organizations/acme/projects?q=land'), 200).body.data;
    const { included } = expectStatus(await api.get(`/api/v2/workspaces/${world.one}?include=project`), 200).body;
    const counts = [document, ...projects, ...included].map(
      ({ attributes }) => attributes['workspace-count'] as number,
    );
    expect(counts).toEqual([count, count, count]);
  });
});

describe('an include returns only what the caller may see', () => {
  const typesIn = ({ body }: ApiResponse): string[] =>
    [...new Set((body.included ?? []).map(({ type }: any) => type as string))].toSorted() as string[];

  it.each([
    ['admin on the workspace', true],
    ['custom on the workspace, stateVersions read-outputs', true],
    ['custom on the workspace, runs read', false],
    ['custom on the project, variables write', false],
  ])('of a workspace: %s', async (callerName, seesOutputs) => {
    const includes = 'organization,project,outputs,current_run,current_configuration_version,locked_by';
    for (const path of [`workspaces/${world.one}`, 'organizations/acme/workspaces']) {
      const answer = await as(callerName).get(`/api/v2/${path}?include=${includes}`);
      const types = ['configuration-versions', 'organizations', 'projects', 'workspace-outputs'];
      expect([answer.status, typesIn(answer)]).toEqual([
        200,
        types.filter((type) => seesOutputs || type !== 'workspace-outputs'),
      ]);
      expect(answer.text).not.toContain(world.elsewhere);
    }
  });

  it('of an organization: its default project only with read access to it', async () => {
    const path = '/api/v2/organizations/acme?include=default_project';
    expect(typesIn(await as('member of a team without access').get(path))).toEqual([]);
    expect(typesIn(await as('read on the project').get(path))).toEqual([]);
    expect(typesIn(await as('readProjects in the organization').get(path))).toEqual(['projects']);
  });

  it('of a list of organizations: nothing of an organization without membership', async () => {
    const { body } = await as('owner of another organization').get(
      '/api/v2/organizations?include=default_project,entitlement_set',
    );
    expect(JSON.stringify(body)).not.toContain('acme');
  });

  it('of a membership: no teams that are secret to the caller', async () => {
    const { membership, team } = getTarget(world.callers, 'read on the workspace');
    const path = `/api/v2/organization-memberships/${membership}?include=teams`;
    expect(JSON.stringify((await as('plan on the workspace').get(path)).body)).not.toContain(team);
    expect(JSON.stringify((await as('read on the workspace').get(path)).body)).toContain(team);
  });
});

describe('the trail of an invitation', () => {
  type Entry = {
    readonly id: string;
    readonly auth: object;
    readonly request: object;
    readonly resource: Record<string, unknown>;
  };

  const ACME = '/api/v2/organizations/acme/organization-memberships';
  const MEMBERSHIPS = '/api/v2/organization-memberships';

  const twoTeams = async (): Promise<readonly [string, string]> => [
    await makeTeam(server, 'acme', world.unique('team')),
    await makeTeam(server, 'acme', world.unique('team')),
  ];

  /**
   * Invites an address to a team, adds the person to another team and removes them again. Returns a client of the
   * person.
   */
  const invite = async (email: string, teams: readonly [string, string]) => {
    const body = resource('organization-memberships', { email }, toMany('teams', 'teams', teams[0]));
    const membership = expectStatus(await as('owner').post(ACME, body), 201).body.data.id as string;
    const into = { data: [{ type: 'users', id: email }] };
    expectStatus(await as('owner').post(`/api/v2/teams/${teams[1]}/relationships/users`, into), 204);
    expectStatus(await as('owner').delete(`/api/v2/teams/${teams[1]}/relationships/users`, into), 204);
    const { id } = expectStatus(await server.get(`${MEMBERSHIPS}/${membership}`), 200).body.data.relationships.user
      .data;
    const person = server.as(await makeToken(server, `/api/v2/users/${id}/authentication-tokens`));
    return { membership, id: id as string, person };
  };

  /** Returns the newest entries about memberships and teams, oldest first. */
  const entries = async (): Promise<Entry[]> => {
    const path = '/api/v2/organization/audit-trail?page[size]=100&filter[resource-type]=organization_user,team';
    return (expectStatus(await as('token for the audit trail').get(path), 200).body.data as Entry[]).toReversed();
  };

  const entriesSince = async (before: readonly Entry[]): Promise<Entry[]> =>
    (await entries()).filter(({ id }) => !before.some((entry) => entry.id === id));

  it('is the same for an address with an account and one without, even if the person declines', async () => {
    const teams = await twoTeams();
    const existingUser = await makeMember(server, 'rival', world.unique('known'));
    const username = world.unique('secretive');
    expectStatus(
      await server.as(existingUser.token).patch('/api/v2/account/update', resource('users', { username })),
      200,
    );
    const trails: unknown[] = [];
    for (const email of [existingUser.email, `${world.unique('fresh')}@people.test`]) {
      const before = await entries();
      const { membership, id, person } = await invite(email, teams);
      expectStatus(await person.delete(`${MEMBERSHIPS}/${membership}`), 204);
      const newEntries = await entriesSince(before);
      const placeholderId = membership.replace(/^ou-/, 'user-');
      expect(newEntries.map(({ resource: { action, meta } }) => [action, meta])).toEqual([
        ['create', { user: email, user_id: placeholderId }],
        ['add_member', { user: email }],
        ['add_member', { user: email }],
        ['remove_member', { user: email }],
        ['destroy', { user: email, user_id: placeholderId }],
        ['remove_member', { user: email }],
      ]);
      for (const { auth, request } of newEntries.slice(-2)) {
        expect(auth).toMatchObject({ accessor_id: placeholderId, description: placeholderId, type: 'Client' });
        expect(request).toMatchObject({ address: null, user_agent: null });
      }
      const text = JSON.stringify(newEntries.map(({ auth, resource: about }) => ({ auth, about })));
      for (const secret of [id, username]) expect(text).not.toContain(secret);
      trails.push(text.replaceAll(email, 'email').replaceAll(membership, 'ou').replaceAll(placeholderId, 'user'));
    }
    expect(trails[0]).toEqual(trails[1]);
  });

  it('names the person after the acceptance', async () => {
    const teams = await twoTeams();
    const before = await entries();
    const email = `${world.unique('welcome')}@people.test`;
    const { membership, id, person } = await invite(email, teams);
    const { username } = expectStatus(await person.get('/api/v2/account/details'), 200).body.data.attributes;
    expectStatus(await person.post(`${MEMBERSHIPS}/${membership}/actions/accept`), 200);
    expectStatus(await as('owner').delete(`${MEMBERSHIPS}/${membership}`), 204);
    const newEntries = await entriesSince(before);
    expect(newEntries.slice(-3).map(({ resource: { action, meta } }) => [action, meta])).toEqual([
      ['update', { user: username, user_id: id }],
      ['destroy', { user: username, user_id: id }],
      ['remove_member', { user: username }],
    ]);
    expect(newEntries.at(-3)?.auth).toMatchObject({ accessor_id: id, description: username });
  });
});
