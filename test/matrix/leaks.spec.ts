import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MovedClock } from '../support/clocks.js';
import {
  answered,
  flatTags,
  idOfTag,
  makeAgentPool,
  makeConfigurationVersion,
  makeProject,
  makeReservedTagKey,
  makeTeam,
  makeWorkspace,
  related,
  resource,
  runBody,
} from '../support/seeds.js';
import { startTestServer, type Answer, type Api, type TestServer } from '../support/server.js';
import { newSshKey, newVariable, type World } from './land.js';
import { the } from './targets.js';
import { inhabit } from './world.js';

let server: TestServer;
let world: World;
/** Of the other organization: things that are there, and that nobody in acme is to know of. */
let foreign: Readonly<Record<string, string>>;

beforeAll(async () => {
  const clock = new MovedClock();
  server = await startTestServer({ clock });
  world = await inhabit(server, clock);
  const project = await makeProject(server, 'rival', 'hidden');
  const workspace = await makeWorkspace(
    server,
    'rival',
    'hidden',
    {},
    { ...toOne('project', 'projects', project), tags: flatTags('hidden') },
  );
  const team = await makeTeam(server, 'rival', 'hidden', { visibility: 'organization' });
  const key = answered(await server.post('/api/v2/organizations/rival/ssh-keys', newSshKey('hidden')), 201);
  const variable = answered(await server.post(`/api/v2/workspaces/${workspace}/vars`, newVariable('hidden')), 201);
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

const as = (name: string): Api => the(world.callers, name).api;

const absent = (id: string): string => id.replace(/-.*/, `-${'x'.repeat(16)}`);

const said = ({ status, text }: Answer, id: string): unknown => ({ status, text: text.replaceAll(id, '…') });

describe('an id of another organization, or of what the caller may not see, is as good as none', () => {
  type Question = (api: Api, id: string, name: string) => Promise<Answer>;

  /** Who asks may do what they ask for, with what is theirs. */
  const QUESTIONS: readonly (readonly [string, of: string, who: string, Question])[] = [
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
      'as the project that a workspace comes to',
      'project',
      'admin on the project',
      (api, id) =>
        api.patch(`/api/v2/workspaces/${world.one}`, resource('workspaces', {}, toOne('project', 'projects', id))),
    ],
    [
      'as a workspace that comes to a project',
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
      'as the team that is given a workspace',
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
      'as the team that is given a project',
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
      'as the team of somebody who is invited',
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
      'as a workspace that a pool lets in',
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
        api.post(`/api/v2/varsets/${world.things.openSet}/relationships/workspaces`, {
          data: [{ type: 'workspaces', id }],
        }),
    ],
    [
      'as a project that a set is applied to',
      'project',
      'owner',
      (api, id) =>
        api.post(`/api/v2/varsets/${world.things.openSet}/relationships/projects`, {
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
      'as what a list is filtered by',
      'project',
      'owner',
      (api, id) => api.get(`/api/v2/organizations/acme/workspaces?filter[project][id]=${id}`),
    ],
    [
      'as what a list of access is asked of',
      'workspace',
      'owner',
      (api, id) => api.get(`/api/v2/team-workspaces?filter[workspace][id]=${id}`),
    ],
    [
      'as the reserved tag key that a preview is asked of',
      'reservedTagKey',
      'owner',
      (api, id) =>
        api.post('/api/v2/organizations/acme/reserved-tag-keys/actions/preview', {
          data: { type: 'reserved-tag-keys', id, attributes: { key: 'hidden' } },
        }),
    ],
    [
      'as the project whose gaps are listed',
      'project',
      'owner',
      (api, id) => api.get(`/api/v2/organizations/acme/tag-compliance?filter[project][id]=${id}`),
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
      'as a tag that is taken from all workspaces',
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
      (api, id) => api.post(`/api/v2/tags/${world.things.tag}/relationships/workspaces`, related('workspaces', id)),
    ],
    [
      'as the workspace whose tags are left out',
      'workspace',
      'owner',
      (api, id) => api.get(`/api/v2/organizations/acme/tags?filter[exclude][taggable][id]=${id}`),
    ],
  ];

  it.each(QUESTIONS)('%s', async (_, of, who, question) => {
    const there = foreign[of] ?? '';
    const notThere = absent(there);
    const name = world.unique('asked');
    const told = await question(as(who), notThere, name);
    expect(said(await question(as(who), there, name), there)).toEqual(said(told, notThere));
  });

  it('also where it is a team of their own organization that is secret to them', async () => {
    const ask = (id: string): Promise<Answer> =>
      as('admin on the workspace').post(
        '/api/v2/team-workspaces',
        resource(
          'team-workspaces',
          { access: 'read' },
          { ...toOne('team', 'teams', id), ...toOne('workspace', 'workspaces', world.one) },
        ),
      );
    const { secretTeam } = world;
    expect(said(await ask(secretTeam), secretTeam)).toEqual(said(await ask(absent(secretTeam)), absent(secretTeam)));
  });

  it('also where it is a project of their own organization that they may not move to', async () => {
    const ask = (id: string): Promise<Answer> =>
      as('admin on the project').patch(
        `/api/v2/workspaces/${world.one}`,
        resource('workspaces', {}, toOne('project', 'projects', id)),
      );
    const { elsewhere } = world;
    expect(said(await ask(elsewhere), elsewhere)).toEqual(said(await ask(absent(elsewhere)), absent(elsewhere)));
  });

  it('also where names stand for ids', async () => {
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

const listed = ({ status, body }: Answer): Listed => {
  expect(status).toBe(200);
  return {
    names: body.data.map(({ attributes }: any) => attributes.name as string).toSorted(),
    total: body.meta.pagination['total-count'] as number,
  };
};

describe('lists show, count and page only what the caller may see', () => {
  const WORKSPACES = '/api/v2/organizations/acme/workspaces';

  it.each([
    ['read on the workspace', ['one']],
    ['read on the project', ['beside', 'one']],
    ['custom on the workspace, runs read', ['one']],
    ['readWorkspaces in the organization', ['beside', 'far', 'one']],
    ['member of a team without access', []],
    ['manageTeams in the organization', []],
    ['accessSecretTeams in the organization', []],
  ])('workspaces: %s', async (who, names) => {
    const { api } = the(world.callers, who);
    const all = { names, total: names.length };
    // All of them carry the tag and the binding.
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
  ])('projects: %s', async (who, names) => {
    const { api } = the(world.callers, who);
    const path = '/api/v2/organizations/acme/projects';
    expect(listed(await api.get(path))).toEqual({ names, total: names.length });
    expect(listed(await api.get(`${path}?q=elsewhere`)).total).toBe(names.includes('elsewhere') ? 1 : 0);
    expect(listed(await api.get(`${path}?filter[names]=elsewhere,land`)).names).toEqual(
      names.filter((name) => name !== 'Default Project'),
    );
  });
});

describe('includes bring along only what the caller may see', () => {
  const typesIn = ({ body }: Answer): string[] =>
    [...new Set((body.included ?? []).map(({ type }: any) => type as string))].toSorted() as string[];

  it.each([
    ['admin on the workspace', true],
    ['custom on the workspace, stateVersions read-outputs', true],
    ['custom on the workspace, runs read', false],
    ['custom on the project, variables write', false],
  ])('with a workspace: %s', async (who, seesOutputs) => {
    const includes = 'organization,project,outputs,current_run,current_configuration_version,locked_by';
    for (const path of [`workspaces/${world.one}`, 'organizations/acme/workspaces']) {
      const answer = await as(who).get(`/api/v2/${path}?include=${includes}`);
      const types = ['configuration-versions', 'organizations', 'projects', 'workspace-outputs'];
      expect([answer.status, typesIn(answer)]).toEqual([
        200,
        types.filter((type) => seesOutputs || type !== 'workspace-outputs'),
      ]);
      expect(answer.text).not.toContain(world.elsewhere);
    }
  });

  it('with an organization: its default project is not everybody’s to see', async () => {
    const path = '/api/v2/organizations/acme?include=default_project';
    expect(typesIn(await as('member of a team without access').get(path))).toEqual([]);
    expect(typesIn(await as('read on the project').get(path))).toEqual([]);
    expect(typesIn(await as('readProjects in the organization').get(path))).toEqual(['projects']);
  });

  it('with a list of organizations: nothing of one that they are no part of', async () => {
    const { body } = await as('owner of another organization').get(
      '/api/v2/organizations?include=default_project,entitlement_set',
    );
    expect(JSON.stringify(body)).not.toContain('acme');
  });

  it('with a membership: teams that are secret to the caller are left out', async () => {
    const { membership, team } = the(world.callers, 'read on the workspace');
    const path = `/api/v2/organization-memberships/${membership}?include=teams`;
    expect(JSON.stringify((await as('plan on the workspace').get(path)).body)).not.toContain(team);
    expect(JSON.stringify((await as('read on the workspace').get(path)).body)).toContain(team);
  });
});
