import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import {
  expectStatus,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { variablesDefinition } from '../index.js';
import {
  createVariableBody,
  patchVariableBody,
  customAccess,
  identifiers,
  idsIn,
  keysIn,
  makeSet,
  makeVariable,
  namesIn,
  secretsOf,
  teamWith,
  vaultOf,
} from '../../../../test/support/variables.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ followers: true, env: { CADASTRE_RECOVERABLE_DAYS: '0' } });
});

afterAll(() => server.close());

let count = 0;
/** Creates an organization for one test, because a global set applies to all workspaces of its organization. */
const makeFixture = async (): Promise<{
  organization: string;
  id: string;
  defaultProject: string;
  list: string;
  workspace: (name: string, project?: string) => Promise<string>;
}> => {
  count += 1;
  const organization = `acme-${count}`;
  const { id, defaultProject } = await makeOrganization(server, organization);
  const inProject = (project: string) => ({ project: { data: { type: 'projects', id: project } } });
  return {
    organization,
    id,
    defaultProject,
    list: `/api/v2/organizations/${organization}/varsets`,
    workspace: (name, project) => makeWorkspace(server, organization, name, {}, project ? inProject(project) : {}),
  };
};

const path = (set: { id: string }, rest = ''): string => `/api/v2/varsets/${set.id}${rest}`;
const vars = (set: { id: string }): string => path(set, '/relationships/vars');
const ownedBy = (project: string): object => ({ parent: { data: { type: 'projects', id: project } } });

const apply = async (set: { id: string }, type: 'workspaces' | 'projects', ...ids: string[]): Promise<void> => {
  expectStatus(await server.post(path(set, `/relationships/${type}`), identifiers(type, ...ids)), 204);
};

const relationshipsOf = async (set: { id: string }, api: ApiTestClient = server): Promise<any> =>
  expectStatus(await api.get(path(set)), 200).body.data.relationships;

const problems = ({ body }: { body: any }): [string, string][] =>
  body.errors.map(({ detail, source }: any) => [detail, source?.pointer]);

describe('a variable set', () => {
  it('has the same document in every response', async () => {
    const { organization, list } = await makeFixture();
    const body = resource('varsets', { name: 'Credentials', description: 'of the cloud', priority: true });
    const created = expectStatus(await server.post(list, body), 201).body;
    const owner = {
      data: { type: 'organizations', id: organization },
      links: { related: `/api/v2/organizations/${organization}` },
    };
    expect(created).toEqual({
      data: {
        id: expect.stringMatching(/^varset-[A-Za-z0-9]{16}$/),
        type: 'varsets',
        attributes: {
          name: 'Credentials',
          description: 'of the cloud',
          global: false,
          priority: true,
          'created-at': expect.stringMatching(/^\d{4}-.+\.\d{3}Z$/),
          'updated-at': expect.stringMatching(/^\d{4}-.+\.\d{3}Z$/),
          'var-count': 0,
          'workspace-count': 0,
          'project-count': 0,
        },
        relationships: {
          organization: owner,
          parent: owner,
          vars: { data: [] },
          workspaces: { data: [] },
          projects: { data: [] },
          stacks: { data: [] },
        },
        links: { self: path(created.data) },
      },
    });
    expect(expectStatus(await server.get(path(created.data)), 200).body).toEqual(created);
    expect(expectStatus(await server.get(list), 200).body.data).toEqual([created.data]);
    expect(expectStatus(await server.patch(path(created.data), { data: { type: 'varsets' } }), 200).body).toEqual(
      created,
    );
  });

  it('is created with variables, workspaces and projects, all or none', async () => {
    const { id, list, defaultProject, workspace } = await makeFixture();
    const one = await workspace('one');
    const related = (...variables: object[]): object =>
      resource(
        'varsets',
        { name: 'all' },
        {
          workspaces: identifiers('workspaces', one),
          projects: identifiers('projects', defaultProject),
          vars: { data: variables.map((attributes) => ({ type: 'vars', attributes })) },
        },
      );
    const secret = { key: 'token', value: 'hunter2', category: 'env', sensitive: true };
    const plain = { key: 'region', value: 'eu', category: 'terraform' };
    const refused = expectStatus(await server.post(list, related(plain, { ...secret, key: 'a b' })), 422);
    expect(problems(refused)).toEqual([
      [expect.stringContaining('Key is invalid'), '/data/relationships/vars/data/1/attributes/key'],
    ]);
    expectStatus(await server.post(list, related(plain, plain)), 422);
    expect(expectStatus(await server.get(list), 200).body.data).toEqual([]);
    const set = expectStatus(await server.post(list, related(plain, secret)), 201).body.data;
    expect(set.attributes).toMatchObject({ 'var-count': 2, 'workspace-count': 1, 'project-count': 1 });
    expect(idsIn(set.relationships.workspaces)).toEqual([one]);
    expect(idsIn(set.relationships.projects)).toEqual([defaultProject]);
    const listed = expectStatus(await server.get(vars(set)), 200);
    expect(keysIn(listed)).toEqual(['region', 'token']);
    expect(idsIn(set.relationships.vars)).toEqual(idsIn(listed.body));
    const [, sensitive] = idsIn(listed.body);
    expect(await secretsOf(server, id)).toEqual([sensitive]);
    expect(await vaultOf(server).open(sensitive as string)).toBe('hunter2');
  });

  it('changes only the named attributes, also with PUT', async () => {
    const { organization, workspace } = await makeFixture();
    const [one, two] = [await workspace('one'), await workspace('two')];
    const set = await makeSet(server, organization, 'first', { description: 'old' });
    const renamed = expectStatus(await server.put(path(set), resource('varsets', { name: 'second' })), 200).body.data;
    expect(renamed.attributes).toMatchObject({ name: 'second', description: 'old' });
    const change = resource(
      'varsets',
      { description: null, global: false },
      { workspaces: identifiers('workspaces', one, two) },
    );
    const updated = expectStatus(await server.patch(`${path(set)}?include=workspaces`, change), 200).body;
    expect(updated.data.attributes).toMatchObject({ name: 'second', description: null });
    expect(idsIn(updated.data.relationships.workspaces)).toEqual([one, two]);
    expect(updated.included.map(({ id, attributes }: any) => [id, attributes.name])).toEqual([
      [one, 'one'],
      [two, 'two'],
    ]);
    expectStatus(
      await server.patch(path(set), resource('varsets', {}, { workspaces: identifiers('workspaces', two) })),
      200,
    );
    expect(idsIn((await relationshipsOf(set)).workspaces)).toEqual([two]);
    // A client sends back the document that it has read: identifiers of variables create none.
    const variable = await makeVariable(server, vars(set));
    const back = resource(
      'varsets',
      {},
      { vars: { data: [{ type: 'vars', id: variable.id }] }, workspaces: { data: [] } },
    );
    const after = expectStatus(await server.patch(path(set), back), 200).body.data.relationships;
    expect([idsIn(after.vars), idsIn(after.workspaces)]).toEqual([[variable.id], []]);
    const added = resource(
      'varsets',
      {},
      { vars: { data: [{ type: 'vars', attributes: { key: 'b', category: 'env' } }] } },
    );
    expect(expectStatus(await server.patch(path(set), added), 200).body.data.attributes['var-count']).toBe(2);
  });

  it('has a unique name in its organization', async () => {
    const { organization, list } = await makeFixture();
    const other = await makeFixture();
    await makeSet(server, organization, 'taken');
    await makeSet(server, other.organization, 'taken');
    const rival = await makeSet(server, organization, 'free');
    const nameTaken = [['Name has already been taken', '/data/attributes/name']];
    expect(problems(expectStatus(await server.post(list, resource('varsets', { name: 'taken' })), 422))).toEqual(
      nameTaken,
    );
    expect(
      problems(expectStatus(await server.patch(path(rival), resource('varsets', { name: 'taken' })), 422)),
    ).toEqual(nameTaken);
  });

  it.each([
    ['no name', {}, {}, "Name can't be blank", '/data/attributes/name'],
    ['a blank name', { name: ' ' }, {}, "Name can't be blank", '/data/attributes/name'],
    [
      'a string for global',
      { name: 'a', global: 'yes' },
      {},
      'Global must be true or false',
      '/data/attributes/global',
    ],
    [
      'an unknown workspace',
      { name: 'a' },
      { workspaces: identifiers('workspaces', 'ws-nothing') },
      'Workspace ws-nothing does not exist',
      '/data/relationships/workspaces/data/0/id',
    ],
    [
      'an unknown project',
      { name: 'a' },
      { projects: identifiers('projects', 'prj-nothing') },
      'Project prj-nothing does not exist',
      '/data/relationships/projects/data/0/id',
    ],
    [
      'an unknown parent',
      { name: 'a' },
      ownedBy('prj-nothing'),
      'Project does not exist',
      '/data/relationships/parent/data/id',
    ],
  ])('is not created with %s', async (_, attributes, relationships, detail, pointer) => {
    const { list } = await makeFixture();
    const refused = expectStatus(await server.post(list, resource('varsets', attributes, relationships)), 422);
    expect(problems(refused)).toEqual([[detail, pointer]]);
    expect(expectStatus(await server.get(list), 200).body.meta.pagination['total-count']).toBe(0);
  });

  it('is deleted with its variables and their secrets', async () => {
    const { id, organization, workspace } = await makeFixture();
    const set = await makeSet(server, organization, 'going');
    const variable = await makeVariable(server, vars(set), { sensitive: true, value: 'hunter2' });
    await apply(set, 'workspaces', await workspace('one'));
    expect(await secretsOf(server, id)).toEqual([variable.id]);
    expect(expectStatus(await server.delete(path(set)), 204).text).toBe('');
    for (const url of [path(set), vars(set), `${vars(set)}/${variable.id}`]) expectStatus(await server.get(url), 404);
    expectStatus(await server.delete(path(set)), 404);
    expect(await secretsOf(server, id)).toEqual([]);
  });
});

describe('the variables of a set', () => {
  it('have the same attributes as variables of workspaces, and name their set', async () => {
    const { organization } = await makeFixture();
    const set = await makeSet(server, organization, 'shared');
    const variable = await makeVariable(server, vars(set));
    const owner = { data: { type: 'varsets', id: set.id }, links: { related: path(set) } };
    expect(variable).toMatchObject({
      type: 'vars',
      attributes: { key: 'region', value: 'eu' },
      links: { self: `${vars(set)}/${variable.id}` },
    });
    expect(variable.relationships).toEqual({ varset: owner });
    expect(expectStatus(await server.get(`${vars(set)}/${variable.id}`), 200).body.data).toEqual(variable);
    expect(expectStatus(await server.get(`${vars(set)}?page%5Bsize%5D=1`), 200).body).toMatchObject({
      data: [variable],
      meta: { pagination: { 'page-size': 1, 'total-count': 1 } },
    });
    const covered = expectStatus(
      await server.patch(`${vars(set)}/${variable.id}`, patchVariableBody({ sensitive: true })),
      200,
    );
    expect(covered.body.data.attributes).toMatchObject({ value: null, sensitive: true });
    expect(await vaultOf(server).open(variable.id)).toBe('eu');
    const refused = expectStatus(await server.post(vars(set), createVariableBody()), 422);
    expect(problems(refused)).toEqual([['Key has already been taken', '/data/attributes/key']]);
    expectStatus(await server.delete(`${vars(set)}/${variable.id}`), 204);
    expectStatus(await server.get(`${vars(set)}/${variable.id}`), 404);
    expect(await vaultOf(server).open(variable.id)).toBeUndefined();
  });

  it('return 404 under the path of another set', async () => {
    const { organization } = await makeFixture();
    const [one, other] = [await makeSet(server, organization, 'one'), await makeSet(server, organization, 'other')];
    const { id } = await makeVariable(server, vars(one));
    for (const at of [vars(other), '/api/v2/varsets/varset-nothing/relationships/vars']) {
      expectStatus(await server.get(`${at}/${id}`), 404);
      expectStatus(await server.patch(`${at}/${id}`, patchVariableBody({ value: 'x' })), 404);
      expectStatus(await server.delete(`${at}/${id}`), 404);
    }
    expect(idsIn(expectStatus(await server.get(vars(one)), 200).body)).toEqual([id]);
    expectStatus(await server.get('/api/v2/varsets/varset-nothing/relationships/vars'), 404);
    expectStatus(await server.post('/api/v2/varsets/varset-nothing/relationships/vars', createVariableBody()), 404);
  });

  it('have unique keys among all global sets', async () => {
    const { organization } = await makeFixture();
    const global = (name: string) => makeSet(server, organization, name, { global: true });
    const [one, two] = [await global('one'), await global('two')];
    const local = await makeSet(server, organization, 'local');
    await makeVariable(server, vars(one));
    await makeVariable(server, vars(local));
    const why = /taken by a variable of another global variable set/;
    expect(problems(expectStatus(await server.post(vars(two), createVariableBody()), 422))[0]?.[0]).toMatch(why);
    const rival = await makeVariable(server, vars(two), { category: 'env' });
    const refusedMove = await server.patch(`${vars(two)}/${rival.id}`, patchVariableBody({ category: 'terraform' }));
    expect(problems(expectStatus(refusedMove, 422))[0]?.[0]).toMatch(why);
    const turned = await server.patch(path(local), resource('varsets', { global: true }));
    expect(problems(expectStatus(turned, 422))[0]?.[0]).toMatch(why);
    expectStatus(await server.patch(path(one), resource('varsets', { global: false })), 200);
    expectStatus(await server.patch(path(local), resource('varsets', { global: true })), 200);
  });
});

describe('the targets of a set', () => {
  it('are added and removed, and repetition changes nothing', async () => {
    const { organization, defaultProject, workspace } = await makeFixture();
    const [one, two] = [await workspace('one'), await workspace('two')];
    const set = await makeSet(server, organization, 'spread');
    await apply(set, 'workspaces', one);
    await apply(set, 'workspaces', one, two);
    await apply(set, 'projects', defaultProject);
    const { workspaces, projects } = await relationshipsOf(set);
    expect([idsIn(workspaces), idsIn(projects)]).toEqual([[one, two], [defaultProject]]);
    const withdraw = (type: string, ...ids: string[]) =>
      server.delete(path(set, `/relationships/${type}`), identifiers(type, ...ids));
    expectStatus(await withdraw('workspaces', one, 'ws-nothing'), 204);
    expectStatus(await withdraw('projects', defaultProject), 204);
    const after = await relationshipsOf(set);
    expect([idsIn(after.workspaces), idsIn(after.projects)]).toEqual([[two], []]);
  });

  it('are refused if they are outside the organization', async () => {
    const [{ organization, workspace }, other] = [await makeFixture(), await makeFixture()];
    const set = await makeSet(server, organization, 'spread');
    const [mine, theirs] = [await workspace('one'), await other.workspace('one')];
    const refused = await server.post(path(set, '/relationships/workspaces'), identifiers('workspaces', mine, theirs));
    expect(problems(expectStatus(refused, 422))).toEqual([[`Workspace ${theirs} does not exist`, '/data/1/id']]);
    expect(idsIn((await relationshipsOf(set)).workspaces)).toEqual([]);
    expectStatus(
      await server.post(path(set, '/relationships/projects'), identifiers('projects', other.defaultProject)),
      422,
    );
    expectStatus(await server.post(path(set, '/relationships/projects'), identifiers('workspaces', mine)), 422);
    expectStatus(await server.post(path(set, '/relationships/workspaces'), {}), 422);
    expectStatus(
      await server.post('/api/v2/varsets/varset-nothing/relationships/workspaces', identifiers('workspaces', mine)),
      404,
    );
  });

  it('are refused for a global set', async () => {
    const { organization, workspace } = await makeFixture();
    const one = await workspace('one');
    const set = await makeSet(server, organization, 'everywhere', { global: true });
    const body = identifiers('workspaces', one);
    expectStatus(await server.post(path(set, '/relationships/workspaces'), body), 422);
    expectStatus(await server.delete(path(set, '/relationships/workspaces'), body), 422);
    expect(idsIn((await relationshipsOf(set)).workspaces)).toEqual([]);
  });

  it('must be in the project that owns the set', async () => {
    const { organization, defaultProject, workspace } = await makeFixture();
    const project = await makeProject(server, organization, 'mine');
    const [inside, outside] = [await workspace('inside', project), await workspace('outside')];
    const set = await makeSet(server, organization, 'of the project', {}, ownedBy(project));
    expect(set.relationships.parent).toEqual({
      data: { type: 'projects', id: project },
      links: { related: `/api/v2/projects/${project}` },
    });
    await apply(set, 'workspaces', inside);
    await apply(set, 'projects', project);
    for (const [type, id] of [
      ['workspaces', outside],
      ['projects', defaultProject],
      // Same text as for an existing target: a caller that only knows the project learns nothing about other targets.
      ['workspaces', 'ws-nothing'],
    ] as const) {
      const refused = await server.post(path(set, `/relationships/${type}`), identifiers(type, id));
      expect(problems(expectStatus(refused, 422))[0]?.[0]).toMatch('outside of the project that owns the variable set');
    }
    expect(problems(expectStatus(await server.patch(path(set), resource('varsets', { global: true })), 422))).toEqual([
      ['Global must be false if a project owns the variable set', '/data/attributes/global'],
    ]);
    // The workspace moves to another project: the set no longer applies to it.
    const movedBody = resource('workspaces', {}, { project: { data: { type: 'projects', id: defaultProject } } });
    expectStatus(await server.patch(`/api/v2/workspaces/${inside}`, movedBody), 200);
    expect(idsIn((await relationshipsOf(set)).workspaces)).toEqual([]);
    for (const name of ['varsets', 'applicable-varsets']) {
      expect(namesIn(expectStatus(await server.get(`/api/v2/workspaces/${inside}/${name}`), 200))).toEqual([]);
    }
  });

  it('are removed with the workspace or project, and a set is deleted with the project that owns it', async () => {
    const { id, organization, workspace } = await makeFixture();
    const project = await makeProject(server, organization, 'going');
    const one = await workspace('one');
    const set = await makeSet(server, organization, 'staying');
    const owned = await makeSet(server, organization, 'going too', {}, ownedBy(project));
    await makeVariable(server, vars(owned), { sensitive: true, value: 'hunter2' });
    await apply(set, 'workspaces', one);
    await apply(set, 'projects', project);
    await apply(owned, 'projects', project);
    expectStatus(await server.delete(`/api/v2/workspaces/${one}`), 204);
    expectStatus(await server.delete(`/api/v2/projects/${project}`), 204);
    const { workspaces, projects } = await relationshipsOf(set);
    expect([idsIn(workspaces), idsIn(projects)]).toEqual([[], []]);
    expectStatus(await server.get(path(owned)), 404);
    expect(await secretsOf(server, id)).toEqual([]);
    expectStatus(await server.delete(`/api/v2/organizations/${organization}`), 204);
    for (const table of ['variable_sets', 'variable_set_targets', 'variables']) {
      expect(await server.database.rows(sql.raw(`select 1 from ${table} where organization = '${id}'`))).toEqual([]);
    }
  });
});

describe('lists of variable sets', () => {
  it('are sorted by name, paged and searched', async () => {
    const { organization, list } = await makeFixture();
    for (const name of ['c prod', 'a prod', 'b test']) await makeSet(server, organization, name);
    expect(namesIn(expectStatus(await server.get(list), 200))).toEqual(['a prod', 'b test', 'c prod']);
    const second = expectStatus(await server.get(`${list}?page%5Bsize%5D=2&page%5Bnumber%5D=2`), 200);
    expect(namesIn(second)).toEqual(['c prod']);
    expect(second.body.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2, 'prev-page': 1 });
    const searched = expectStatus(await server.get(`${list}?q=PROD&page%5Bsize%5D=1`), 200);
    expect(namesIn(searched)).toEqual(['a prod']);
    expect(searched.body.meta.pagination).toMatchObject({ 'total-count': 2 });
    expect(expectStatus(await server.get(`${list}?page%5Bnumber%5D=9`), 200).body).toMatchObject({
      data: [],
      meta: { pagination: { 'total-count': 3 } },
    });
    expectStatus(await server.get('/api/v2/organizations/nothing/varsets'), 404);
  });

  it('contain the sets that apply to a workspace or a project', async () => {
    const { organization, defaultProject, workspace } = await makeFixture();
    const project = await makeProject(server, organization, 'mine');
    const [one, two] = [await workspace('one', project), await workspace('two')];
    await makeSet(server, organization, 'global', { global: true });
    await makeSet(server, organization, 'nowhere');
    const [onOne, onProject] = [
      await makeSet(server, organization, 'on one'),
      await makeSet(server, organization, 'on mine'),
    ];
    await makeSet(server, organization, 'owned', {}, ownedBy(project));
    await apply(onOne, 'workspaces', one);
    await apply(onProject, 'projects', project);
    const listSets = async (target: string): Promise<string[]> =>
      namesIn(expectStatus(await server.get(`/api/v2/${target}/varsets`), 200));
    expect(await listSets(`workspaces/${one}`)).toEqual(['global', 'on mine', 'on one']);
    expect(await listSets(`workspaces/${two}`)).toEqual(['global']);
    expect(await listSets(`projects/${project}`)).toEqual(['global', 'on mine', 'owned']);
    expect(await listSets(`projects/${defaultProject}`)).toEqual(['global']);
    const page = expectStatus(await server.get(`/api/v2/workspaces/${one}/varsets?page%5Bsize%5D=1&q=on`), 200);
    expect(namesIn(page)).toEqual(['on mine']);
    expect(page.body.meta.pagination).toMatchObject({ 'total-count': 2 });
    expectStatus(await server.get('/api/v2/workspaces/ws-nothing/varsets'), 404);
    expectStatus(await server.get('/api/v2/projects/prj-nothing/varsets'), 404);
  });

  it('include related resources on request', async () => {
    const { organization, defaultProject, list, workspace } = await makeFixture();
    const one = await workspace('one');
    const set = await makeSet(server, organization, 'full');
    const variable = await makeVariable(server, vars(set));
    await apply(set, 'workspaces', one);
    await apply(set, 'projects', defaultProject);
    for (const from of [
      path(set),
      list,
      `/api/v2/workspaces/${one}/varsets`,
      `/api/v2/projects/${defaultProject}/varsets`,
    ]) {
      const { body } = expectStatus(await server.get(`${from}?include=workspaces,projects,vars`), 200);
      expect(body.included.map(({ type, id }: any) => [type, id])).toEqual([
        ['workspaces', one],
        ['projects', defaultProject],
        ['vars', variable.id],
      ]);
      expect(body.included[2]).toEqual(variable);
    }
    // terraform-provider-tfe sends this include.
    expect(expectStatus(await server.get(`${path(set)}?include=workspaces,stacks`), 200).body.included).toHaveLength(1);
    expect(expectStatus(await server.get(`${path(set)}?include=stacks`), 200).body.included).toEqual([]);
    expect(problems(expectStatus(await server.get(`${path(set)}?include=runs`), 400))[0]?.[0]).toMatch(
      'include parameter',
    );
  });
});

describe('the effective variables of a workspace', () => {
  it('are the strongest for each key of its own variables and those of sets, sorted by key', async () => {
    const { organization, defaultProject, workspace } = await makeFixture();
    const one = await workspace('one');
    const all = `/api/v2/workspaces/${one}/all-vars`;
    const readEffective = async (): Promise<string[]> =>
      expectStatus(await server.get(all), 200).body.data.map(
        ({ attributes: { key, category, value } }: any) => `${category} ${key}=${value}`,
      );
    const set = async (name: string, value: string, attributes: object = {}): Promise<any> => {
      const created = await makeSet(server, organization, name, attributes);
      await makeVariable(server, vars(created), { value });
      return created;
    };
    const global = await set('global', 'everywhere', { global: true });
    await makeVariable(server, vars(global), { key: 'token', category: 'env', sensitive: true, value: 'hunter2' });
    expect(await readEffective()).toEqual(['terraform region=everywhere', 'env token=null']);
    await apply(await set('on the project', 'project'), 'projects', defaultProject);
    expect(await readEffective()).toContain('terraform region=project');
    await apply(await set('on the workspace', 'workspace'), 'workspaces', one);
    expect(await readEffective()).toContain('terraform region=workspace');
    const own = await makeVariable(server, `/api/v2/workspaces/${one}/vars`, { value: 'own' });
    expect(await readEffective()).toContain('terraform region=own');
    expect(expectStatus(await server.get(all), 200).body.data[0]).toEqual(own);
    const strict = await set('strict', 'priority', { priority: true });
    await apply(strict, 'workspaces', one);
    expect(await readEffective()).toEqual(['terraform region=priority', 'env token=null']);
    const page = expectStatus(await server.get(`${all}?page%5Bsize%5D=1&page%5Bnumber%5D=2`), 200).body;
    expect(page).toMatchObject({
      data: [{ attributes: { key: 'token' } }],
      meta: { pagination: { 'total-count': 2 } },
    });
    expectStatus(await server.get('/api/v2/workspaces/ws-nothing/all-vars'), 404);
    const everything = expectStatus(await server.get(`${all}?filter[overridden]=true`), 200).body.data;
    const values = everything.map(({ attributes: { key, value } }: any) => `${key}=${value}`);
    expect(values).toHaveLength(new Set(everything.map(({ id }: any) => id)).size);
    expect(values.slice(0, 2)).toEqual([expect.stringMatching(/^region=/), expect.stringMatching(/^region=/)]);
    expect(`terraform ${values[0]}`).toBe((await readEffective())[0]);
    expectStatus(await server.get(`${all}?filter[overridden]=yes`), 400);
  });
});

describe('a list with more than 4 MB of values', () => {
  type PageOf = { ids: string[]; bytes: number; next: string | null; pagination: Record<string, number | null> };

  const pageAt = async (url: string): Promise<PageOf> => {
    const { body, text } = expectStatus(await server.get(url), 200);
    const { links, meta } = body as { links: { next: string | null }; meta: { pagination: PageOf['pagination'] } };
    return { ids: idsIn(body), bytes: text.length, next: links.next, pagination: meta.pagination };
  };

  /** Follows the numbers of the next pages with the page size of the first request, as go-tfe does. */
  const byNumbers = async (url: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let number: number | null = 1; number !== null;) {
      const page: PageOf = await pageAt(`${url}page%5Bsize%5D=100&page%5Bnumber%5D=${number}`);
      ids.push(...page.ids);
      number = page.pagination['next-page'] ?? null;
    }
    return ids;
  };

  const byLinks = async (url: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let next: string | null = url; next !== null;) {
      const page: PageOf = await pageAt(next);
      ids.push(...page.ids);
      ({ next } = page);
    }
    return ids;
  };

  it('ends its pages early, and clients find each item once by links and by numbers', async () => {
    const { organization, list, workspace } = await makeFixture();
    const value = 'x'.repeat(250 * 1_024);
    const sets: string[] = [];
    const variables: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const data = Array.from({ length: 7 }, (_, n) => ({
        type: 'vars',
        attributes: { key: `${name}${n}`, value, category: 'terraform' },
      }));
      const body = resource('varsets', { name, global: true }, { vars: { data } });
      const created = expectStatus(await server.post(`/api/v2/organizations/${organization}/varsets`, body), 201).body
        .data;
      sets.push(created.id as string);
      variables.push(...(created.relationships.vars.data as { id: string }[]).map(({ id }) => id));
    }
    const one = await workspace('one');
    for (const [path, ids] of [
      [`${list}?include=vars&`, sets],
      [`/api/v2/workspaces/${one}/varsets?include=vars&`, sets],
      [`/api/v2/workspaces/${one}/all-vars?`, variables],
    ] as const) {
      const first = await pageAt(path);
      expect(first.bytes).toBeLessThan(5 * 1024 * 1024);
      expect(first.pagination).toMatchObject({
        'page-size': first.ids.length,
        'total-pages': Math.ceil(ids.length / first.ids.length),
        'total-count': ids.length,
      });
      expect(await byLinks(path)).toEqual(ids);
      expect(await byNumbers(path)).toEqual(ids);
    }
    // Without the variables, the list is short enough for one page.
    expect((await pageAt(list)).ids).toEqual(sets);
  });
});

describe('permissions on variable sets', () => {
  const collectStatuses = async (
    api: ApiTestClient,
    set: { id: string },
    organization: string,
    parent: object,
  ): Promise<number[]> => {
    const target = identifiers('workspaces');
    const answers = [
      await api.get(path(set)),
      await api.get(vars(set)),
      await api.post(`/api/v2/organizations/${organization}/varsets`, resource('varsets', { name: 'mine' }, parent)),
      await api.patch(path(set), resource('varsets', { description: 'x' })),
      await api.post(vars(set), createVariableBody({ key: 'mine' })),
      await api.post(path(set, '/relationships/workspaces'), target),
      await api.delete(path(set, '/relationships/workspaces'), target),
      await api.delete(path(set)),
    ];
    return answers.map(({ status }) => status);
  };
  const NOTHING = [404, 404, 404, 404, 404, 404, 404, 404];
  const READING = [200, 200, 404, 404, 404, 404, 404, 404];
  const EVERYTHING = [200, 200, 201, 200, 201, 204, 204, 204];

  it('allow everything to the organization token, and nothing to a token of another organization', async () => {
    const { organization } = await makeFixture();
    const set = await makeSet(server, organization, 'one');
    const other = await makeFixture();
    const stranger = server.as(await makeOrganizationToken(server, other.organization));
    expect(await collectStatuses(stranger, set, organization, {})).toEqual(NOTHING);
    expectStatus(await stranger.get(`/api/v2/organizations/${organization}/varsets`), 404);
    const token = server.as(await makeOrganizationToken(server, organization));
    expect(await collectStatuses(token, set, organization, {})).toEqual(EVERYTHING);
    expectStatus(await server.as(null).get(path(set)), 401);
  });

  it.each([
    ['none', NOTHING, []],
    ['read', READING, ['of the project']],
    ['write', EVERYTHING, ['of the project']],
  ])('follow the access "%s" to variable sets of the project that owns the set', async (level, statuses, listed) => {
    const { organization } = await makeFixture();
    const project = await makeProject(server, organization, 'theirs');
    const access = { access: 'custom', 'project-access': { settings: 'read', teams: 'none', 'variable-sets': level } };
    const team = await teamWith(server, organization, 'team', { project }, access);
    const set = await makeSet(server, organization, 'of the project', {}, ownedBy(project));
    const organizationSet = await makeSet(server, organization, 'of the organization');
    const list = `/api/v2/organizations/${organization}/varsets`;
    const listResponse = expectStatus(await team.get(list), 200);
    expect(namesIn(listResponse)).toEqual(listed);
    expect(listResponse.body.meta.pagination['total-count']).toBe(listed.length);
    expect((await team.get(`/api/v2/projects/${project}/varsets`)).status).toBe(level === 'none' ? 404 : 200);
    expect(await collectStatuses(team, organizationSet, organization, {})).toEqual(NOTHING);
    expect(await collectStatuses(team, set, organization, ownedBy(project))).toEqual(statuses);
  });

  it.each([
    ['none', 404],
    ['read', 200],
  ])(
    'with the access "%s" to variables of a workspace decide who sees the sets that apply to it',
    async (variables, status) => {
      const { organization, workspace } = await makeFixture();
      const [one, two] = [await workspace('one'), await workspace('two')];
      const team = await teamWith(server, organization, 'team', { workspace: one }, customAccess({ variables }));
      const set = await makeSet(server, organization, 'shared');
      await apply(set, 'workspaces', one, two);
      const answer = expectStatus(await team.get(`/api/v2/workspaces/${one}/varsets?include=workspaces`), status);
      expectStatus(await team.get(path(set)), 404);
      expectStatus(await team.get(`/api/v2/workspaces/${two}/varsets`), 404);
      if (status !== 200) return;
      // The members of the team cannot see the other workspace.
      expect(answer.body.data[0].attributes['workspace-count']).toBe(1);
      expect(idsIn(answer.body.data[0].relationships.workspaces)).toEqual([one]);
      expect(answer.body.included.map(({ id }: any) => id)).toEqual([one]);
    },
  );
});

describe('events of variable sets', () => {
  it('are recorded in the audit trail', async () => {
    const { organization, workspace } = await makeFixture();
    const token = server.as(await makeOrganizationToken(server, organization));
    const one = await workspace('one');
    const set = await makeSet(server, organization, 'told');
    expectStatus(await server.patch(path(set), resource('varsets', { priority: true })), 200);
    await apply(set, 'workspaces', one);
    expectStatus(await server.delete(path(set, '/relationships/workspaces'), identifiers('workspaces', one)), 204);
    expectStatus(await server.delete(path(set)), 204);
    const { data } = expectStatus(await token.get('/api/v2/organization/audit-trail'), 200).body;
    const entries = data.filter(({ resource: { type } }: any) => type === 'varset').map((entry: any) => entry.resource);
    expect(entries.map(({ id, action, meta }: any) => [id, action, meta])).toEqual([
      [set.id, 'destroy', { name: 'told' }],
      [set.id, 'update', { change: 'withdrawn', workspaces: [one], projects: [] }],
      [set.id, 'update', { change: 'applied', workspaces: [one], projects: [] }],
      [set.id, 'update', { change: 'settings', attributes: ['priority'] }],
      [set.id, 'create', { name: 'told' }],
    ]);
  });

  it('match the views and snapshots', async () => {
    await expectViewsMatchLog(server, [variablesDefinition]);
  });
});
