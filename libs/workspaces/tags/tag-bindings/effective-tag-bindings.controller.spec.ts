import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { costOf } from '../../../../test/support/cost.js';
import {
  expectStatus,
  bindTags,
  makeOrganization,
  makeProject,
  makeReservedTagKey,
  makeWorkspace,
  related,
  resource,
  tagBindings,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

let count = 0;
const unique = (name: string): string => `${name}-${(count += 1)}`;

type Tags = Readonly<Record<string, string>>;

const projectWith = async (tags: Tags): Promise<string> => {
  const id = await makeProject(server, 'acme', unique('project'));
  await bindTags(server, `projects/${id}`, tags);
  return id;
};

const inProject = (id: string) => ({ project: { data: { type: 'projects', id } } });

const workspaceIn = (project: string, tags: Tags = {}, name = unique('workspace')): Promise<string> =>
  makeWorkspace(server, 'acme', name, {}, { ...inProject(project), 'tag-bindings': tagBindings(tags) });

const get = async (path: string): Promise<ApiResponse> => expectStatus(await server.get(`/api/v2/${path}`), 200);

const effective = async (owner: string): Promise<any[]> => (await get(`${owner}/effective-tag-bindings`)).body.data;

/** Returns the effective bindings, with their project if they are inherited. */
const readEffective = async (workspace: string): Promise<string[]> =>
  (await effective(`workspaces/${workspace}`)).map(({ attributes: { key, value }, links }) =>
    links ? `${key}=${value} of ${links['inherited-from'].replace('/api/v2/projects/', '')}` : `${key}=${value}`,
  );

describe('the effective tag bindings of a workspace', () => {
  it('are its own and the inherited bindings; only the inherited ones have links', async () => {
    const project = await projectWith({ env: 'prod', team: 'core' });
    const workspace = await workspaceIn(project, { zone: 'a', env: 'test' });
    const [zone, env, team, ...none] = await effective(`workspaces/${workspace}`);
    expect(none).toEqual([]);
    const own = (await get(`workspaces/${workspace}/tag-bindings`)).body.data;
    const of = (await get(`projects/${project}/tag-bindings`)).body.data;
    const type = 'effective-tag-bindings';
    expect([zone, env]).toEqual(own.map((binding: object) => ({ ...binding, type })));
    expect(team).toEqual({ ...of[1], type, links: { 'inherited-from': `/api/v2/projects/${project}` } });
  });

  it('follow the bindings of the project at once', async () => {
    const project = await projectWith({ env: 'prod' });
    const workspace = await workspaceIn(project);
    await bindTags(server, `projects/${project}`, { env: 'test', team: 'core' });
    expect(await readEffective(workspace)).toEqual([`env=test of ${project}`, `team=core of ${project}`]);
    await bindTags(server, `workspaces/${workspace}`, { env: 'mine' });
    expect(await readEffective(workspace)).toEqual(['env=mine', `team=core of ${project}`]);
    const clear = (type: string, id: string) =>
      server.patch(`/api/v2/${type}/${id}`, resource(type, {}, { 'tag-bindings': tagBindings({}) }));
    expectStatus(await clear('workspaces', workspace), 200);
    expect(await readEffective(workspace)).toEqual([`env=test of ${project}`, `team=core of ${project}`]);
    expectStatus(await clear('projects', project), 200);
    expect(await readEffective(workspace)).toEqual([]);
  });

  it('exclude a binding of the project if the workspace has a flat tag with the same name', async () => {
    const project = await projectWith({ env: 'prod' });
    const workspace = await workspaceIn(project);
    const tag = { data: [{ type: 'tags', attributes: { name: 'env' } }] };
    const other = { data: [{ type: 'tags', attributes: { name: 'other' } }] };
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/relationships/tags`, tag), 204);
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/relationships/tags`, other), 204);
    expect(await readEffective(workspace)).toEqual(['env=']);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}/relationships/tags`, tag), 204);
    expect(await readEffective(workspace)).toEqual([`env=prod of ${project}`]);
  });

  it('come from the new project after a move, by each way of moving', async () => {
    const [from, to] = [await projectWith({ env: 'prod' }), await projectWith({ team: 'core' })];
    const [one, other] = [await workspaceIn(from), await workspaceIn(from)];
    expectStatus(await server.patch(`/api/v2/workspaces/${one}`, resource('workspaces', {}, inProject(to))), 200);
    expectStatus(
      await server.post(`/api/v2/projects/${to}/relationships/workspaces`, related('workspaces', other)),
      204,
    );
    for (const workspace of [one, other]) expect(await readEffective(workspace)).toEqual([`team=core of ${to}`]);
  });

  it('can be ten own and ten inherited bindings', async () => {
    const ten = (prefix: string): Tags =>
      Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`${prefix}${n}`, '']));
    const workspace = await workspaceIn(await projectWith(ten('theirs')), ten('mine'));
    expect(await readEffective(workspace)).toHaveLength(20);
  });

  it('are not among its tag names if they are inherited', async () => {
    const workspace = await workspaceIn(await projectWith({ env: 'prod' }), { zone: 'a' });
    expect((await get(`workspaces/${workspace}`)).body.data.attributes['tag-names']).toEqual(['zone']);
  });
});

describe('the effective tag bindings of a project', () => {
  it('are its own bindings', async () => {
    const project = await projectWith({ env: 'prod', team: '' });
    const own = (await get(`projects/${project}/tag-bindings`)).body.data;
    expect(await effective(`projects/${project}`)).toEqual(
      own.map((binding: object) => ({ ...binding, type: 'effective-tag-bindings' })),
    );
  });
});

describe('included effective tag bindings', () => {
  const identified = (resources: readonly { type: string; id: string }[]) =>
    resources.map(({ type, id }) => ({ type, id }));

  it('of a workspace are the same as at their own endpoint, and the document names them', async () => {
    const project = await projectWith({ env: 'prod', team: 'core', tier: '1' });
    const workspace = await workspaceIn(project, { zone: 'a', env: 'test' });
    const flat = { data: ['tier', 'fav'].map((name) => ({ type: 'tags', attributes: { name } })) };
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/relationships/tags`, flat), 204);
    expect(await readEffective(workspace)).toEqual(['zone=a', 'env=test', 'tier=', `team=core of ${project}`]);
    for (const type of ['tag-bindings', 'effective-tag-bindings']) {
      const { data, included } = (await get(`workspaces/${workspace}?include=${type}`)).body;
      expect(included).toEqual((await get(`workspaces/${workspace}/${type}`)).body.data);
      const links = { related: `/api/v2/workspaces/${workspace}/${type}` };
      expect(data.relationships[type]).toEqual({ data: identified(included), links });
    }
  });

  it('of a list appear once, even if several workspaces inherit them', async () => {
    const project = await projectWith({ env: 'prod', team: 'core' });
    const [one, two] = [
      await workspaceIn(project, { env: 'test' }, 'listed-1'),
      await workspaceIn(project, {}, 'listed-2'),
    ];
    const list = 'organizations/acme/workspaces?search[name]=listed-&include=effective_tag_bindings';
    const { data, included } = (await get(list)).body;
    const identifiers = data.map(({ relationships }: any) => relationships['effective-tag-bindings'].data);
    const [ofOne, ofTwo] = [await effective(`workspaces/${one}`), await effective(`workspaces/${two}`)];
    expect(identifiers).toEqual([identified(ofOne), identified(ofTwo)]);
    const byId = new Map([...ofOne, ...ofTwo].map((binding) => [binding.id, binding]));
    expect(included).toHaveLength(3);
    expect(new Map(included.map((binding: any) => [binding.id, binding]))).toEqual(byId);
  });

  it('of projects are the same as at their own endpoint', async () => {
    const [one, two] = [await projectWith({ env: 'prod' }), await projectWith({ env: 'test', team: 'core' })];
    const bindings = [...(await effective(`projects/${one}`)), ...(await effective(`projects/${two}`))];
    const single = (await get(`projects/${two}?include=effective-tag-bindings`)).body;
    expect(single.included).toEqual(bindings.slice(1));
    const links = { related: `/api/v2/projects/${two}/effective-tag-bindings` };
    expect(single.data.relationships['effective-tag-bindings']).toEqual({ data: identified(bindings.slice(1)), links });
    const { name } = single.data.attributes;
    const listed = (await get(`organizations/acme/projects?filter[names]=${name}&include=effective_tag_bindings`)).body;
    expect(listed.data).toEqual([single.data]);
    expect(listed.included).toEqual(single.included);
    const plain = (await get(`projects/${two}`)).body;
    expect(plain).not.toHaveProperty('included');
    expect(plain.data.relationships['effective-tag-bindings']).toEqual({ links });
  });

  it('cost one more statement', async () => {
    const project = await projectWith({ env: 'prod' });
    const workspace = await workspaceIn(project, { zone: 'a' });
    for (const path of [
      `workspaces/${workspace}`,
      `projects/${project}`,
      'organizations/acme/workspaces',
      'organizations/acme/projects',
    ]) {
      const { statements } = await costOf(server, () => get(`${path}?include=effective_tag_bindings`));
      expect([path, statements]).toEqual([path, 2]);
    }
  });
});

describe('a list of projects filtered by tags', () => {
  it('contains the projects with all of the tags', async () => {
    await makeOrganization(server, 'filtered');
    const make = async (name: string, tags: Tags) =>
      bindTags(server, `projects/${await makeProject(server, 'filtered', name)}`, tags);
    await make('one', { env: 'prod', team: 'core' });
    await make('two', { env: 'prod' });
    await make('three', { env: 'Prod', team: '' });
    const by = async (query: string) => {
      const { data, meta } = (await get(`organizations/filtered/projects?${query}`)).body;
      expect(meta.pagination['total-count']).toBe(data.length);
      return data.map(({ attributes }: any) => attributes.name as string).toSorted();
    };
    expect(await by('filter[tagged][0][key]=env')).toEqual(['one', 'three', 'two']);
    expect(await by('filter[tagged][0][key]=env&filter[tagged][0][value]=')).toEqual(['one', 'three', 'two']);
    expect(await by('filter[tagged][0][key]=env&filter[tagged][0][value]=prod')).toEqual(['one', 'two']);
    const both = 'filter[tagged][3][key]=env&filter[tagged][3][value]=prod&filter[tagged][7][key]=team';
    expect(await by(both)).toEqual(['one']);
    expect(await by(`${both}&q=two`)).toEqual([]);
    expect(await by('filter[tagged][0][key]=ENV')).toEqual([]);
    expect(await by('filter[tagged][0][value]=prod')).toEqual(['one', 'two']);
  });
});

describe('an override that is no longer allowed', () => {
  it('stays, and names the reserved key that forbids it', async () => {
    const project = await projectWith({ env: 'prod' });
    const workspace = await workspaceIn(project, { env: 'test', zone: 'a' });
    const key = await makeReservedTagKey(server, 'acme', 'env', { 'disable-overrides': true });
    const forbidden = async (path: string): Promise<unknown[]> =>
      (await get(path)).body.data.map(({ attributes }: any) => attributes['forbidden-by']);
    expect(await forbidden(`workspaces/${workspace}/tag-bindings`)).toEqual([key, null]);
    expect(await forbidden(`workspaces/${workspace}/effective-tag-bindings`)).toEqual([key, null]);
    expect(await forbidden(`projects/${project}/tag-bindings`)).toEqual([null]);
    // Binding the same value again changes nothing, and the response equals the endpoint's.
    const path = `/api/v2/workspaces/${workspace}/tag-bindings`;
    const { body } = expectStatus(await server.patch(path, tagBindings({ env: 'test' })), 200);
    expect(body.data).toEqual([(await get(`workspaces/${workspace}/tag-bindings`)).body.data[0]]);
  });
});
