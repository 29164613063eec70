import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rebuildView, verifyView } from '#storage/event-store';
import { foldInSql, foldName, sql } from '#platform/kernel';
import { ORGANIZATION_NAMES, PROJECT_NAMES, listSimilarNames, WORKSPACE_NAMES } from '#api/access';
import { views } from '../../apps/modules.js';
import { logLength } from '../support/event-log.js';
import {
  allowSimilarNames,
  expectStatus,
  makeOrganization,
  makeMember,
  makeProject,
  makeTeam,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { listProblems } from '../support/responses.js';
import { workloadIdentityBody } from '../support/workload-identities.js';
import { startTestServer, type ApiResponse, type ApiTestClient, type TestServer } from '../support/server.js';

const TAKEN_NAME_PROBLEM = [['/data/attributes/name', 'Name has already been taken']];

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'MyCompany');
  await makeWorkspace(server, 'MyCompany', 'Demo');
  await makeProject(server, 'MyCompany', 'Blue Team');
});
afterAll(() => server.close());

const nameOf = ({ body }: ApiResponse): string => body.data.attributes.name as string;
const namesOf = ({ body }: ApiResponse): string[] =>
  body.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name);
const get = async (path: string) => expectStatus(await server.get(`/api/v2/${path}`), 200);

describe('a name in another case', () => {
  it.each(['MyCompany', 'mycompany', 'MYCOMPANY'])(
    'finds the organization at %s, which keeps its name',
    async (name) => {
      const { body } = await get(`organizations/${name}`);
      expect([body.data.id, body.data.links.self]).toEqual(['MyCompany', '/api/v2/organizations/MyCompany']);
    },
  );

  // Every route with an organization in its path, apart from those that change it.
  it('finds the organization in paths of all modules', async () => {
    const paths = [
      'entitlement-set',
      'subscription',
      'workspaces',
      'projects',
      'teams',
      'tags',
      'runs',
      'varsets',
      'agent-pools',
      'ssh-keys',
      'reserved-tag-keys',
      'registry-providers',
      'organization-memberships',
      'team-workspaces',
      'notification-configurations',
      'token-ttl-policies',
      'audit-trail',
      'audit-trail/settings',
      'saved-views',
      'tasks',
      'policies',
      'policy-sets',
      'cidr-range-lists',
      'authentication-token',
      'data-retention-policy',
    ];
    const statuses = async (name: string) =>
      Promise.all(
        paths.map(async (path) => [path, (await server.get(`/api/v2/organizations/${name}/${path}`)).status] as const),
      );
    expect(await statuses('mycompany')).toEqual(await statuses('MyCompany'));
  });

  it.each(['Demo', 'demo', 'DEMO'])('finds the workspace at %s, which keeps its name', async (name) => {
    const response = await get(`organizations/mycompany/workspaces/${name}`);
    expect(nameOf(response)).toBe('Demo');
    expect(response.body.data.links.self).toBe('/api/v2/organizations/MyCompany/workspaces/Demo');
  });

  it('changes and deletes the workspace', async () => {
    await makeWorkspace(server, 'mycompany', 'Short-Lived');
    const path = '/api/v2/organizations/MYCOMPANY/workspaces/SHORT-LIVED';
    const changed = expectStatus(await server.patch(path, resource('workspaces', { description: 'found' })), 200);
    expect(changed.body.data.attributes).toMatchObject({ name: 'Short-Lived', description: 'found' });
    expectStatus(await server.delete(path), 204);
    expectStatus(await server.get(path), 404);
  });

  it('is accepted by filters', async () => {
    expect(namesOf(await get('organizations/mycompany/projects?filter[names]=BLUE%20team'))).toEqual(['Blue Team']);
    await makeTeam(server, 'MyCompany', 'Readers');
    expect(namesOf(await get('organizations/mycompany/teams?filter[names]=READERS'))).toEqual(['Readers']);
    expect(namesOf(await get('organizations/mycompany/workspaces?search[wildcard-name]=d*O'))).toEqual(['Demo']);
    expect((await get('vars?filter[organization][name]=mycompany&filter[workspace][name]=demo')).body.data).toEqual([]);
    expect(
      (await get('state-versions?filter[organization][name]=mycompany&filter[workspace][name]=demo')).body.data,
    ).toEqual([]);
  });

  it('finds a past workspace by its name at that time', async () => {
    const { body } = expectStatus(
      await server.post('/api/v2/organizations/MyCompany/workspaces', resource('workspaces', { name: 'Before' })),
      201,
    );
    const then = body.data.attributes['created-at'] as string;
    const path = '/api/v2/organizations/mycompany/workspaces';
    expectStatus(await server.patch(`${path}/before`, resource('workspaces', { name: 'After' })), 200);
    expect(nameOf(expectStatus(await server.get(`${path}/BEFORE?as-of=${then}`), 200))).toBe('Before');
    expectStatus(await server.get(`${path}/AFTER?as-of=${then}`), 404);
  });

  it.each([
    ['workspaces', 'workspaces', 'Shared'],
    ['projects', 'projects', 'Shared Name'],
    ['teams', 'teams', 'Shared Name'],
    ['agent-pools', 'agent-pools', 'Shared'],
    ['varsets', 'varsets', 'Shared Name'],
  ])('is refused for another one of the %s', async (path, type, name) => {
    const create = (written: string) =>
      server.post(`/api/v2/organizations/mycompany/${path}`, resource(type, { name: written }));
    const { body } = expectStatus(await create(name), 201);
    const length = await logLength(server.store);
    for (const written of [name, name.toLowerCase(), name.toUpperCase()]) {
      expect(listProblems(expectStatus(await create(written), 422))).toEqual(TAKEN_NAME_PROBLEM);
    }
    expect(await logLength(server.store)).toBe(length);
    const own = `/api/v2/${path}/${body.data.id}`;
    const renamed = expectStatus(await server.patch(own, resource(type, { name: name.toUpperCase() })), 200);
    expect(nameOf(renamed)).toBe(name.toUpperCase());
    expectStatus(await server.delete(own), 204);
    expectStatus(await create(name.toLowerCase()), 201);
  });

  it('is refused for another saved view of the person, and for another identity of the team', async () => {
    const team = await makeTeam(server, 'MyCompany', 'deployers');
    const member = await makeMember(server, 'MyCompany', 'vera', [team]);
    const save = (api: ApiTestClient, name: string) =>
      api.post('/api/v2/organizations/MyCompany/saved-views', resource('saved-views', { name, query: 'a=b' }));
    expectStatus(await save(member, 'Mine'), 201);
    expect(listProblems(expectStatus(await save(member, 'mine'), 422))).toEqual(TAKEN_NAME_PROBLEM);
    expectStatus(await save(server, 'mine'), 201);
    const identify = (name: string) =>
      server.post(`/api/v2/teams/${team}/workload-identities`, workloadIdentityBody(name));
    expectStatus(await identify('Build'), 201);
    expect(listProblems(expectStatus(await identify('BUILD'), 422))).toEqual(TAKEN_NAME_PROBLEM);
  });

  it('folds the letters A to Z only', async () => {
    const create = (name: string) =>
      server.post('/api/v2/organizations/MyCompany/varsets', resource('varsets', { name }));
    // A capital I with a dot, a sharp s, and the Kelvin sign, each with the result of other foldings.
    for (const name of ['\u0130', 'i\u0307', '\u00DF', '\u1E9E', 'SS', '\u212A', 'k', '\u00C9', '\u00E9'])
      expectStatus(await create(name), 201);
    for (const name of ['ss', 'K'])
      expect(listProblems(expectStatus(await create(name), 422))).toEqual(TAKEN_NAME_PROBLEM);
    const texts = ['\u0130', '\u00DF', '\u1E9E', '\u212A', '\u00C9', 'AZ az', 'aZ[`@{'];
    expect(
      await server.database.rows(
        sql`select ${foldInSql(sql`text`)} as folded from unnest(${texts}::text[]) with ordinality as list (text, n) order by n`,
      ),
    ).toEqual(texts.map((text) => ({ folded: foldName(text) })));
  });

  it('is refused for a rename, except for the resource that has the name', async () => {
    await makeWorkspace(server, 'MyCompany', 'renamed');
    const rename = (from: string, name: string) =>
      server.patch(`/api/v2/organizations/MyCompany/workspaces/${from}`, resource('workspaces', { name }));
    expect(listProblems(expectStatus(await rename('renamed', 'DEMO'), 422))).toEqual(TAKEN_NAME_PROBLEM);
    expect(nameOf(expectStatus(await rename('renamed', 'Renamed'), 200))).toBe('Renamed');
    // The name of another organization is free.
    await makeOrganization(server, 'elsewhere');
    await makeWorkspace(server, 'elsewhere', 'demo');
  });

  it('goes to one request only if several requests create it at the same time', async () => {
    for (const name of ['raced-one', 'raced-two', 'raced-three']) {
      const spellings = [name, name.toUpperCase(), `R${name.slice(1)}`, name.replace('-', '-').replace('d-', 'D-')];
      const answers = await Promise.all(
        spellings.map((one) =>
          server.post('/api/v2/organizations/MyCompany/workspaces', resource('workspaces', { name: one })),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422]);
    }
  });
});

describe('names that differ only in case, from earlier versions', () => {
  const path = '/api/v2/organizations/twins/workspaces';

  beforeAll(async () => {
    await makeOrganization(server, 'twins');
    await makeWorkspace(server, 'twins', 'Prod');
    await makeProject(server, 'twins', 'Blue');
    await allowSimilarNames(server.database, async () => {
      await makeWorkspace(server, 'twins', 'prod');
      await makeProject(server, 'twins', 'blue');
    });
  });

  it('are reported with their organization, the oldest first', async () => {
    expect(await listSimilarNames(server.database, WORKSPACE_NAMES)).toEqual([
      { names: ['Prod', 'prod'], organization: 'twins' },
    ]);
    expect(await listSimilarNames(server.database, PROJECT_NAMES)).toEqual([
      { names: ['Blue', 'blue'], organization: 'twins' },
    ]);
    expect(await listSimilarNames(server.database, ORGANIZATION_NAMES)).toEqual([]);
  });

  it('find exactly the resource with the spelling, and the oldest for any other spelling', async () => {
    for (const [name, expected] of [
      ['Prod', 'Prod'],
      ['prod', 'prod'],
      ['PROD', 'Prod'],
    ]) {
      expect(nameOf(expectStatus(await server.get(`${path}/${name}`), 200))).toBe(expected);
    }
    const findProjects = async (names: string) =>
      namesOf(await get(`organizations/twins/projects?filter[names]=${names}`));
    expect([
      await findProjects('blue'),
      await findProjects('Blue'),
      await findProjects('BLUE'),
      await findProjects('BLUE,blue'),
    ]).toEqual([['blue'], ['Blue'], ['Blue'], ['Blue', 'blue']]);
  });

  it('stay as they are in a rebuild', async () => {
    for (const view of views.filter(({ tables }) =>
      tables.some((table) => ['workspaces', 'projects'].includes(table)),
    )) {
      await rebuildView(server.store, view, { now: new Date() });
      expect([view.name, await verifyView(server.store, view, new Date())]).toEqual([view.name, []]);
    }
    expectStatus(await server.get(`${path}/prod`), 200);
  });

  it('can be changed, renamed and deleted, and cannot be created again', async () => {
    const rename = (from: string, attributes: object) =>
      server.patch(`${path}/${from}`, resource('workspaces', attributes));
    for (const name of ['Prod', 'prod']) expectStatus(await rename(name, { description: name }), 200);
    expect(listProblems(expectStatus(await rename('prod', { name: 'PROD' }), 422))).toEqual(TAKEN_NAME_PROBLEM);
    expectStatus(await rename('Prod', { name: 'production' }), 200);
    expect(nameOf(expectStatus(await server.get(`${path}/PROD`), 200))).toBe('prod');
    expectStatus(await rename('prod', { name: 'Prod' }), 200);
    expectStatus(await server.delete(`${path}/PROD`), 204);
    await makeWorkspace(server, 'twins', 'PROD');
    expect(await listSimilarNames(server.database, WORKSPACE_NAMES)).toEqual([]);
  });
});
