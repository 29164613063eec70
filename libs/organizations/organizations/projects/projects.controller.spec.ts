import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { costOf } from '../../../../test/support/cost.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeAgentPool,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeTeam,
  makeWorkspace,
  related,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { listNames } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { organizationsDefinition } from '../index.js';

const PATH = '/api/v2/organizations/acme/projects';

let server: TestServer;
let defaultProject: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ defaultProject } = await makeOrganization(server, 'acme'));
});

afterAll(() => server.close());

const project = (attributes: object) => resource('projects', attributes);
const byId = (id: string): string => `/api/v2/projects/${id}`;

describe('a project', () => {
  it('is created, and has the same document by id and in the list', async () => {
    const attributes = { name: 'Platform', description: 'of it all', 'auto-destroy-activity-duration': '14d' };
    const { body } = expectStatus(await server.post(PATH, project(attributes)), 201);
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^prj-\w{16}$/),
      type: 'projects',
      attributes: {
        ...attributes,
        'default-execution-mode': 'remote',
        'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false },
        'workspace-count': 0,
        'team-count': 0,
        'created-at': expect.stringMatching(/Z$/),
        permissions: { 'can-update': true, 'can-destroy': true, 'can-create-workspace': true },
      },
      relationships: { organization: { data: { type: 'organizations', id: 'acme' } } },
      links: { self: byId(body.data.id) },
    });
    expect((await server.get(byId(body.data.id))).body).toEqual(body);
    expect((await server.get(`${PATH}?filter[names]=Platform`)).body.data).toEqual([body.data]);
  });

  it('changes only the named attributes in an update, and clears attributes that are null', async () => {
    const id = await makeProject(server, 'acme', 'Changing');
    const changed = expectStatus(
      await server.patch(byId(id), project({ description: 'new', 'default-execution-mode': 'local' })),
      200,
    ).body.data;
    expect(changed.attributes).toMatchObject({
      name: 'Changing',
      description: 'new',
      'default-execution-mode': 'local',
      'setting-overwrites': { 'default-execution-mode': true, 'default-agent-pool': true },
    });
    const cleared = expectStatus(
      await server.patch(byId(id), project({ name: 'Changed', description: null, 'default-execution-mode': null })),
      200,
    ).body.data;
    expect(cleared.attributes).toMatchObject({
      name: 'Changed',
      description: null,
      'default-execution-mode': 'remote',
      'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false },
    });
    const same = expectStatus(await server.patch(byId(id), { data: { type: 'projects' } }), 200).body.data;
    expect(same).toEqual(cleared);
    expect((await server.get(byId(id))).body.data).toEqual(cleared);
  });

  it('keeps the execution mode of stacks, which are not built', async () => {
    const id = await makeProject(server, 'acme', 'Stacked');
    for (const mode of ['agent', null]) {
      const answer = expectStatus(
        await server.patch(byId(id), project({ 'stacks-default-execution-mode': mode })),
        200,
      );
      expect(answer.body.data.attributes['stacks-default-execution-mode']).toBe(mode);
    }
  });

  it('counts its workspaces', async () => {
    const id = await makeProject(server, 'acme', 'Counting');
    const workspace = await makeWorkspace(
      server,
      'acme',
      'counted',
      {},
      { project: { data: { type: 'projects', id } } },
    );
    const count = async () => (await server.get(byId(id))).body.data.attributes['workspace-count'] as number;
    expect(await count()).toBe(1);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expect(await count()).toBe(0);
  });

  it('has a unique name in its organization', async () => {
    const other = await makeProject(server, 'acme', 'Other');
    await makeProject(server, 'acme', 'Taken');
    for (const answer of [
      await server.post(PATH, project({ name: 'Taken' })),
      await server.patch(byId(other), project({ name: 'Taken' })),
    ]) {
      expect(expectStatus(answer, 422).body.errors).toEqual([
        {
          status: '422',
          title: 'invalid attribute',
          detail: 'Name has already been taken',
          source: { pointer: '/data/attributes/name' },
        },
      ]);
    }
    await makeOrganization(server, 'neighbour');
    await makeProject(server, 'neighbour', 'Taken');
  });

  it.each([
    [{}, "Name can't be blank"],
    [{ name: 'a/b' }, /^Name may only contain/],
    [{ name: 'a ' }, /^Name may only contain/],
    [{ name: 'x', description: 'x'.repeat(10_001) }, /at most 10000/],
    [{ name: 'x', 'default-agent-pool-id': 'apool-1' }, /must not be specified unless using 'agent' execution mode/],
    [{ name: 'x', 'default-execution-mode': 'agent' }, /must be specified when using 'agent' execution mode/],
    [{ name: 'x', 'setting-overwrites': { 'execution-mode': true } }, /^Default execution mode must be given/],
    [{ name: 'x', 'setting-overwrites': { 'execution-mode': false, 'agent-pool': true } }, /^If agent-pool and/],
    [{ name: 'x', 'auto-destroy-activity-duration': '3w' }, /^Auto destroy activity duration has an incorrect format/],
    [{ name: 'x', 'default-execution-mode': 'here' }, /^Default execution mode must be one of/],
  ])('is not created with %j', async (attributes, detail) => {
    const { body } = expectStatus(await server.post(PATH, project(attributes)), 422);
    expect(body.errors[0].detail).toMatch(detail);
  });

  it('accepts null or missing flags in setting-overwrites', async () => {
    for (const flags of [
      { 'default-execution-mode': null, 'default-agent-pool': true },
      { 'default-execution-mode': false, 'default-agent-pool': null },
      { 'execution-mode': null },
    ]) {
      const { body } = expectStatus(
        await server.post(PATH, project({ name: 'open', 'setting-overwrites': flags })),
        201,
      );
      expect(body.data.attributes['setting-overwrites']['default-execution-mode']).toBe(false);
      expectStatus(await server.delete(`/api/v2/projects/${body.data.id}`), 204);
    }
  });

  it('is deleted, and returns 404 afterwards', async () => {
    const id = await makeProject(server, 'acme', 'Doomed');
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.get(byId(id)), 404);
    expectStatus(await server.delete(byId(id)), 404);
    expect(listNames(await server.get(`${PATH}?page[size]=100`))).not.toContain('Doomed');
  });

  it('is not deleted while it contains workspaces, nor if it is the default project', async () => {
    const full = await makeProject(server, 'acme', 'Full');
    await makeWorkspace(server, 'acme', 'inside', {}, { project: { data: { type: 'projects', id: full } } });
    const fullRefusal = expectStatus(await server.delete(byId(full)), 422);
    expect(fullRefusal.body.errors[0].detail).toContain('still holds 1 workspace:');
    const defaultRefusal = expectStatus(await server.delete(byId(defaultProject)), 422);
    expect(defaultRefusal.body.errors[0].detail).toBe('The default project cannot be deleted');
    const { permissions } = (await server.get(byId(defaultProject))).body.data.attributes;
    expect(permissions).toMatchObject({ 'can-update': true, 'can-destroy': false });
    expectStatus(await server.get(byId(full)), 200);
  });
});

describe('the default execution mode of a project', () => {
  const agents = (pool: string) => ({ 'default-execution-mode': 'agent', 'default-agent-pool-id': pool });
  const follow = { 'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false } };
  let pool: string;

  const readDefaults = async (id: string) => {
    const { attributes, relationships } = expectStatus(await server.get(byId(id)), 200).body.data;
    return {
      mode: attributes['default-execution-mode'],
      pool: relationships['default-agent-pool'].data?.id ?? null,
      own: attributes['setting-overwrites']['default-execution-mode'],
    };
  };
  /** Returns the resulting execution mode and pool of a workspace. */
  const readExecution = async (workspace: string) => {
    const { attributes, relationships } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body
      .data;
    return [attributes['execution-mode'], relationships['agent-pool'].data?.id ?? null];
  };
  const inProject = (id: string) => ({ project: { data: { type: 'projects', id } } });

  beforeAll(async () => {
    await makeOrganization(server, 'running');
    pool = await makeAgentPool(server, 'running', 'pool');
  });

  it('follows the organization or is its own, and workspaces follow it at once', async () => {
    const other = await makeAgentPool(server, 'running', 'other');
    const id = await makeProject(server, 'running', 'Following');
    const workspace = await makeWorkspace(server, 'running', 'follower', {}, inProject(id));
    const patch = async (attributes: object) => expectStatus(await server.patch(byId(id), project(attributes)), 200);
    const organization = async (attributes: object) =>
      expectStatus(await server.patch('/api/v2/organizations/running', resource('organizations', attributes)), 200);

    await organization(agents(pool));
    expect(await readDefaults(id)).toEqual({ mode: 'agent', pool, own: false });
    expect(await readExecution(workspace)).toEqual(['agent', pool]);

    // A project with its own mode does not use the organization's pool either.
    await patch({ 'default-execution-mode': 'local' });
    expect(await readDefaults(id)).toEqual({ mode: 'local', pool: null, own: true });
    expect(await readExecution(workspace)).toEqual(['local', null]);

    await patch({ ...agents(other), 'setting-overwrites': { 'execution-mode': true, 'agent-pool': true } });
    expect(await readDefaults(id)).toEqual({ mode: 'agent', pool: other, own: true });
    expect(await readExecution(workspace)).toEqual(['agent', other]);

    await patch(follow);
    expect(await readDefaults(id)).toEqual({ mode: 'agent', pool, own: false });
    expect(await readExecution(workspace)).toEqual(['agent', pool]);

    // A workspace with its own mode does not change until it follows again.
    expectStatus(
      await server.patch(`/api/v2/workspaces/${workspace}`, resource('workspaces', { 'execution-mode': 'local' })),
      200,
    );
    await organization({ 'default-execution-mode': 'remote' });
    expect(await readExecution(workspace)).toEqual(['local', null]);
    const followed = resource('workspaces', { 'setting-overwrites': { 'execution-mode': false, 'agent-pool': false } });
    expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, followed), 200);
    expect(await readExecution(workspace)).toEqual(['remote', null]);
    expect(await readDefaults(id)).toEqual({ mode: 'remote', pool: null, own: false });
    await expectViewsMatchLog(server, [organizationsDefinition]);
  });

  it('can name the pool in a relationship, and loses the pool with the mode', async () => {
    const body = resource(
      'projects',
      { name: 'Related', 'default-execution-mode': 'agent' },
      { 'default-agent-pool': { data: { type: 'agent-pools', id: pool } } },
    );
    const { id } = expectStatus(await server.post('/api/v2/organizations/running/projects', body), 201).body.data;
    expect(await readDefaults(id as string)).toEqual({ mode: 'agent', pool, own: true });
    expectStatus(await server.delete(`/api/v2/agent-pools/${pool}`), 422);
    // The Terraform provider sends an empty pool.
    const blank = { 'default-execution-mode': 'remote', 'default-agent-pool-id': '' };
    expectStatus(await server.patch(byId(id as string), project(blank)), 200);
    expect(await readDefaults(id as string)).toEqual({ mode: 'remote', pool: null, own: true });
  });

  it('follows the organization if the request both names a mode and follows', async () => {
    const attributes = { name: 'Sampled', 'default-execution-mode': 'local', ...follow };
    const { body } = expectStatus(
      await server.post('/api/v2/organizations/running/projects', project(attributes)),
      201,
    );
    expect(body.data.attributes['setting-overwrites']['default-execution-mode']).toBe(false);
  });

  it('is refused with a pool that the project may not use', async () => {
    const id = await makeProject(server, 'running', 'Choosing');
    const foreign = await makeAgentPool(server, 'acme', 'foreign');
    const scoped = await makeAgentPool(server, 'running', 'scoped', { 'organization-scoped': false });
    const allowed = await makeAgentPool(
      server,
      'running',
      'allowed',
      { 'organization-scoped': false },
      { 'allowed-projects': related('projects', id) },
    );
    for (const refused of [foreign, scoped, 'apool-none']) {
      const { body } = expectStatus(await server.patch(byId(id), project(agents(refused))), 422);
      expect(body.errors).toMatchObject([
        {
          detail: 'Agent pool does not exist, or is not allowed here',
          source: { pointer: '/data/attributes/default-agent-pool-id' },
        },
      ]);
    }
    expectStatus(await server.patch(byId(id), project(agents(allowed))), 200);
    expect(await readDefaults(id)).toEqual({ mode: 'agent', pool: allowed, own: true });
  });
});

describe('the members of teams with project access', () => {
  const PATH_OPEN = '/api/v2/organizations/open/projects';
  const LEVELS = ['read', 'write', 'maintain', 'admin'] as const;
  const ids: Record<string, string> = {};
  let member: SeededMember;
  let passing: SeededMember;

  beforeAll(async () => {
    await makeOrganization(server, 'open');
    const team = await makeTeam(server, 'open', 'core');
    for (const name of [...LEVELS, 'creates', 'updates', 'reads', 'closed']) {
      ids[name] = await makeProject(server, 'open', name);
    }
    for (const level of LEVELS) await grantProjectAccess(server, team, ids[level] ?? '', level);
    const custom = (name: string, attributes: object) =>
      grantProjectAccess(server, team, ids[name] ?? '', 'custom', attributes);
    await custom('creates', { 'workspace-access': { create: true } });
    await custom('updates', { 'project-access': { settings: 'update' } });
    await custom('reads', { 'project-access': { settings: 'read' } });
    member = await makeMember(server, 'open', 'member', [team]);

    const workspace = await makeWorkspace(
      server,
      'open',
      'one',
      {},
      { project: { data: { type: 'projects', id: ids['closed'] } } },
    );
    const workspaceTeam = await makeTeam(server, 'open', 'passage');
    await grantWorkspaceAccess(server, workspaceTeam, workspace, 'read');
    passing = await makeMember(server, 'open', 'passing', [workspaceTeam]);
  });

  const can = (data: { attributes: { permissions: Record<string, boolean> } }): Record<string, boolean> =>
    data.attributes.permissions;

  it('see the projects that they have access to, with their permissions', async () => {
    const { body } = expectStatus(await member.get(`${PATH_OPEN}?sort=name`), 200);
    const names = ['admin', 'creates', 'maintain', 'read', 'reads', 'updates', 'write'];
    expect(listNames({ body } as ApiResponse)).toEqual(names);
    const allowed = (key: string) =>
      body.data.filter((one: any) => can(one)[key]).map((one: any) => one.attributes.name as string);
    expect(allowed('can-read')).toEqual(names);
    expect(allowed('can-update')).toEqual(['admin', 'updates']);
    expect(allowed('can-update-defaults')).toEqual(['admin']);
    expect(allowed('can-destroy')).toEqual(['admin']);
    expect(allowed('can-create-workspace')).toEqual(['admin', 'creates', 'maintain']);
    expect(allowed('can-move-workspace')).toEqual(['admin']);
    expect(allowed('can-manage-teams')).toEqual(['admin']);
    expectStatus(await member.get(byId(ids['closed'] ?? '')), 404);
    for (const one of body.data) expect((await member.get(byId(one.id as string))).body.data).toEqual(one);
  });

  it('change the time after which resources are destroyed only as admins of the project', async () => {
    const id = await makeProject(server, 'open', 'Destroying');
    const team = await makeTeam(server, 'open', 'editors');
    await grantProjectAccess(server, team, id, 'custom', {
      'project-access': { settings: 'update' },
      'workspace-access': { runs: 'read' },
    });
    const editor = await makeMember(server, 'open', 'editor', [team]);
    const setDuration = (api: ApiTestClient, duration: string | null) =>
      api.patch(byId(id), project({ description: 'new', 'auto-destroy-activity-duration': duration }));
    for (const [present, other] of [
      [null, '1h'],
      ['2d', null],
    ] as const) {
      expectStatus(await setDuration(server, present), 200);
      const { body } = expectStatus(await setDuration(editor, other), 403);
      expect(body.errors[0].detail).toMatch(/automatic destroy of a project needs admin access to its workspaces$/);
      expect((await server.get(byId(id))).body.data.attributes['auto-destroy-activity-duration']).toBe(present);
      // A setting that is sent with its present value is no change: clients send all settings.
      expectStatus(await setDuration(editor, present), 200);
    }
    expectStatus(await server.delete(byId(id)), 204);
  });

  it('filter projects by permission, page by page', async () => {
    for (const [filter, expected] of [
      ['create-workspace', ['admin', 'creates', 'maintain']],
      ['update', ['admin', 'updates']],
    ] as const) {
      const { body } = expectStatus(
        await member.get(`${PATH_OPEN}?filter[permissions][${filter}]=true&page[size]=2`),
        200,
      );
      expect(listNames({ body } as ApiResponse)).toEqual(expected.slice(0, 2));
      expect(body.meta.pagination['total-count']).toBe(expected.length);
      const all = await server.get(`${PATH_OPEN}?filter[permissions][${filter}]=true`);
      expect(all.body.meta.pagination['total-count']).toBe(9);
    }
    const off = await member.get(`${PATH_OPEN}?filter[permissions][create-workspace]=false`);
    expect(off.body.meta.pagination['total-count']).toBe(7);
    expect(listNames(await passing.get(`${PATH_OPEN}?filter[permissions][create-workspace]`))).toEqual([]);
  });

  it('see the project of a workspace that they see', async () => {
    expect(listNames(await passing.get(PATH_OPEN))).toEqual(['closed']);
    const { body } = expectStatus(await passing.get(byId(ids['closed'] ?? '')), 200);
    expect(Object.entries(can(body.data)).filter(([, allowed]) => allowed)).toEqual([['can-read', true]]);
    expectStatus(await passing.patch(byId(ids['closed'] ?? ''), project({ name: 'mine' })), 404);
  });

  it('see the count of teams with access that are visible to them', async () => {
    const visible = await makeTeam(server, 'open', 'visible', { visibility: 'organization' });
    await grantProjectAccess(server, visible, ids['admin'] ?? '', 'read');
    const outsider = await makeMember(server, 'open', 'outsider', [visible]);
    const count = async (api: ApiTestClient, name: string) =>
      (await api.get(byId(ids[name] ?? ''))).body.data.attributes['team-count'] as number;
    expect([await count(server, 'admin'), await count(server, 'closed')]).toEqual([2, 0]);
    // The member is in the secret team, the outsider is not.
    expect([await count(member, 'admin'), await count(outsider, 'admin')]).toEqual([2, 1]);
    const listed = expectStatus(await outsider.get(`${PATH_OPEN}?filter[names]=admin`), 200).body.data;
    expect(listed.map((one: any) => one.attributes['team-count'])).toEqual([1]);
  });

  it('may do what their permissions allow, and get 404 otherwise', async () => {
    expectStatus(await member.patch(byId(ids['updates'] ?? ''), project({ description: 'theirs' })), 200);
    expectStatus(await member.delete(byId(ids['updates'] ?? '')), 404);
    expectStatus(await member.patch(byId(ids['write'] ?? ''), project({ description: 'theirs' })), 404);
    expectStatus(await member.post(PATH_OPEN, project({ name: 'more' })), 404);
    const into = (name: string) => ({ project: { data: { type: 'projects', id: ids[name] } } });
    expect(await makeWorkspace(member, 'open', 'created', {}, into('creates'))).toMatch(/^ws-/);
    const body = resource('workspaces', { name: 'refused' }, into('write'));
    expectStatus(await member.post('/api/v2/organizations/open/workspaces', body), 404);
    expectStatus(
      await member.post('/api/v2/organizations/open/workspaces', resource('workspaces', { name: 'x' })),
      404,
    );
    expectStatus(await member.delete(byId(ids['admin'] ?? '')), 204);
  });
});

describe('the list of projects', () => {
  beforeAll(async () => {
    await makeOrganization(server, 'listed');
    for (const name of ['alpha', 'Beta', 'beta-2']) await makeProject(server, 'listed', name);
  });

  const list = async (query: string) =>
    expectStatus(await server.get(`/api/v2/organizations/listed/projects?${query}`), 200);

  it.each([
    ['', ['alpha', 'Beta', 'beta-2', 'Default Project']],
    ['filter[names]=alpha', ['alpha']],
    ['filter[names]=Default%20Project,alpha,nothing', ['alpha', 'Default Project']],
    ['filter[names]=ALPHA', ['alpha']],
    ['filter[names]=', ['alpha', 'Beta', 'beta-2', 'Default Project']],
    ['q=BETA', ['Beta', 'beta-2']],
    ['q=%25', []],
    ['q=beta&filter[names]=alpha', []],
    ['unheard-of=1', ['alpha', 'Beta', 'beta-2', 'Default Project']],
    ['include=effective_tag_bindings', ['alpha', 'Beta', 'beta-2', 'Default Project']],
  ])('is filtered with the query "%s"', async (query, expected) => {
    const answer = await list(query);
    expect(listNames(answer)).toEqual(expected);
    expect(answer.body.meta.pagination['total-count']).toBe(expected.length);
  });

  it('is sorted by name in both directions, ignoring case', async () => {
    const names = listNames(await list('sort=name'));
    expect(names).toEqual(['alpha', 'Beta', 'beta-2', 'Default Project']);
    expect(listNames(await list('include=effective_tag_bindings'))).toEqual(names);
    expect(listNames(await list('sort=-name'))).toEqual(names.toReversed());
    expect(listNames(await list(''))).toEqual(names);
    const { body } = expectStatus(await server.get('/api/v2/organizations/listed/projects?sort=age'), 400);
    expect(body.errors[0].source).toEqual({ parameter: 'sort' });
  });

  it('includes effective tag bindings on request', async () => {
    expect((await list('include=effective_tag_bindings')).body.included).toEqual([]);
    const { body } = expectStatus(await server.get('/api/v2/organizations/listed/projects?include=moon'), 400);
    expect(body.errors[0].detail).toContain('include parameter');
    const id = (await list('filter[names]=alpha')).body.data[0].id as string;
    const one = expectStatus(await server.get(`${byId(id)}?include=effective_tag_bindings`), 200).body;
    expect(one).toMatchObject({
      included: [],
      data: { relationships: { 'tag-bindings': { links: { related: `${byId(id)}/tag-bindings` } } } },
    });
    expect(one.data.relationships['effective-tag-bindings'].data).toEqual([]);
  });

  it('is paged after filtering, with links to the next page', async () => {
    const { body } = await list('q=beta&page[size]=1');
    expect(body.data).toHaveLength(1);
    expect(body.meta.pagination).toMatchObject({ 'total-count': 2, 'total-pages': 2, 'next-page': 2 });
    const next = expectStatus(await server.get(body.links.next as string), 200).body;
    expect(next.data).toHaveLength(1);
    expect(next.data[0].id).not.toBe(body.data[0].id);
    expect(next.links.next).toBeNull();
    expect((await list('page[number]=9')).body).toMatchObject({ data: [], meta: { pagination: { 'total-count': 4 } } });
  });

  it('costs one statement', async () => {
    expect(await costOf(server, () => list('q=beta'))).toMatchObject({ status: 200, statements: 1 });
  });

  it('is visible to the organization token, but not to audit trail tokens and other organizations', async () => {
    const token = server.as(await makeOrganizationToken(server, 'listed'));
    expectStatus(await token.get('/api/v2/organizations/listed/projects'), 200);
    const audit = await server.post('/api/v2/organizations/listed/authentication-token?token=audit-trails');
    const auditor = server.as(expectStatus(audit, 201).body.data.attributes.token as string);
    expectStatus(await auditor.get('/api/v2/organizations/listed/projects'), 404);
    expectStatus(await token.get(PATH), 404);
    expect((await server.get('/api/v2/organizations/nowhere/projects')).status).toBe(404);
  });
});
