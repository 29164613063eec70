import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  answered,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeWorkspace,
  resource,
} from '../../test/support/seeds.js';
import { startTestServer, type Answer, type TestServer } from '../../test/support/server.js';

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
const namesIn = ({ body }: Answer): string[] =>
  body.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name);

describe('a project', () => {
  it('is created, and shown by its id and in the list as the same document', async () => {
    const attributes = { name: 'Platform', description: 'of it all', 'auto-destroy-activity-duration': '14d' };
    const { body } = answered(await server.post(PATH, project(attributes)), 201);
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^prj-\w{16}$/),
      type: 'projects',
      attributes: {
        ...attributes,
        'default-execution-mode': null,
        'workspace-count': 0,
        'created-at': expect.stringMatching(/Z$/),
        permissions: { 'can-update': true, 'can-destroy': true, 'can-create-workspace': true },
      },
      relationships: { organization: { data: { type: 'organizations', id: 'acme' } } },
      links: { self: byId(body.data.id) },
    });
    expect((await server.get(byId(body.data.id))).body).toEqual(body);
    expect((await server.get(`${PATH}?filter[names]=Platform`)).body.data).toEqual([body.data]);
  });

  it('is updated: what is named changes, null clears', async () => {
    const id = await makeProject(server, 'acme', 'Changing');
    const changed = answered(
      await server.patch(byId(id), project({ description: 'new', 'default-execution-mode': 'local' })),
      200,
    ).body.data;
    expect(changed.attributes).toMatchObject({
      name: 'Changing',
      description: 'new',
      'default-execution-mode': 'local',
      'setting-overwrites': { 'default-execution-mode': true, 'default-agent-pool': false },
    });
    const cleared = answered(
      await server.patch(byId(id), project({ name: 'Changed', description: null, 'default-execution-mode': null })),
      200,
    ).body.data;
    expect(cleared.attributes).toMatchObject({ name: 'Changed', description: null, 'default-execution-mode': null });
    const same = answered(await server.patch(byId(id), { data: { type: 'projects' } }), 200).body.data;
    expect(same).toEqual(cleared);
    expect((await server.get(byId(id))).body.data).toEqual(cleared);
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
    answered(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expect(await count()).toBe(0);
  });

  it('has its name to itself, in its organization', async () => {
    const other = await makeProject(server, 'acme', 'Other');
    await makeProject(server, 'acme', 'Taken');
    for (const answer of [
      await server.post(PATH, project({ name: 'Taken' })),
      await server.patch(byId(other), project({ name: 'Taken' })),
    ]) {
      expect(answered(answer, 422).body.errors).toEqual([
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
    [{ name: 'x', 'auto-destroy-activity-duration': '3w' }, /^Auto destroy activity duration has an incorrect format/],
    [{ name: 'x', 'default-execution-mode': 'here' }, /^Default execution mode must be one of/],
  ])('is not made of %j', async (attributes, detail) => {
    const { body } = answered(await server.post(PATH, project(attributes)), 422);
    expect(body.errors[0].detail).toMatch(detail);
  });

  it('is deleted, and is gone', async () => {
    const id = await makeProject(server, 'acme', 'Doomed');
    answered(await server.delete(byId(id)), 204);
    answered(await server.get(byId(id)), 404);
    answered(await server.delete(byId(id)), 404);
    expect(namesIn(await server.get(`${PATH}?page[size]=100`))).not.toContain('Doomed');
  });

  it('is not deleted while it holds workspaces, nor ever where it is the default', async () => {
    const full = await makeProject(server, 'acme', 'Full');
    await makeWorkspace(server, 'acme', 'inside', {}, { project: { data: { type: 'projects', id: full } } });
    const held = answered(await server.delete(byId(full)), 422);
    expect(held.body.errors[0].detail).toContain('still holds 1 workspaces');
    const kept = answered(await server.delete(byId(defaultProject)), 422);
    expect(kept.body.errors[0].detail).toBe('The default project cannot be deleted');
    const { permissions } = (await server.get(byId(defaultProject))).body.data.attributes;
    expect(permissions).toMatchObject({ 'can-update': true, 'can-destroy': false });
    answered(await server.get(byId(full)), 200);
  });
});

describe('the list of projects', () => {
  beforeAll(async () => {
    await makeOrganization(server, 'listed');
    for (const name of ['alpha', 'Beta', 'beta-2']) await makeProject(server, 'listed', name);
  });

  const list = async (query: string) =>
    answered(await server.get(`/api/v2/organizations/listed/projects?${query}`), 200);

  it.each([
    ['', ['alpha', 'Beta', 'beta-2', 'Default Project']],
    ['filter[names]=alpha', ['alpha']],
    ['filter[names]=Default%20Project,alpha,nothing', ['alpha', 'Default Project']],
    ['filter[names]=ALPHA', []],
    ['filter[names]=', ['alpha', 'Beta', 'beta-2', 'Default Project']],
    ['q=BETA', ['Beta', 'beta-2']],
    ['q=%25', []],
    ['q=beta&filter[names]=alpha', []],
    ['unheard-of=1', ['alpha', 'Beta', 'beta-2', 'Default Project']],
  ])('answers %s', async (query, expected) => {
    const answer = await list(query);
    expect(namesIn(answer).toSorted()).toEqual(expected.toSorted());
    expect(answer.body.meta.pagination['total-count']).toBe(expected.length);
  });

  it('pages through what the filter leaves, and links to the rest of it', async () => {
    const { body } = await list('q=beta&page[size]=1');
    expect(body.data).toHaveLength(1);
    expect(body.meta.pagination).toMatchObject({ 'total-count': 2, 'total-pages': 2, 'next-page': 2 });
    const next = answered(await server.get(body.links.next as string), 200).body;
    expect(next.data).toHaveLength(1);
    expect(next.data[0].id).not.toBe(body.data[0].id);
    expect(next.links.next).toBeNull();
    expect((await list('page[number]=9')).body).toMatchObject({ data: [], meta: { pagination: { 'total-count': 4 } } });
  });

  it('costs one statement', async () => {
    const before = server.database.count.statements;
    await list('q=beta');
    expect(server.database.count.statements - before).toBe(1);
  });

  it('is for its organization: its token, but not its audit token, and nobody else', async () => {
    const token = server.as(await makeOrganizationToken(server, 'listed'));
    answered(await token.get('/api/v2/organizations/listed/projects'), 200);
    const audit = await server.post('/api/v2/organizations/listed/authentication-token?token=audit-trails');
    const auditor = server.as(answered(audit, 201).body.data.attributes.token as string);
    answered(await auditor.get('/api/v2/organizations/listed/projects'), 404);
    answered(await token.get(PATH), 404);
    expect((await server.get('/api/v2/organizations/nowhere/projects')).status).toBe(404);
  });
});
