import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { costOf } from '../../../../test/support/cost.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  related,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';

let server: TestServer;
/** Ids of workspaces by their name. */
let workspaces: Readonly<Record<string, string>>;

const pathOf = (name: string): string =>
  `/api/v2/workspaces/${workspaces[name] ?? name}/relationships/remote-state-sources`;

const name = async (source: string, ...consumers: readonly string[]): Promise<void> => {
  const path = `/api/v2/workspaces/${workspaces[source] ?? ''}/relationships/remote-state-consumers`;
  expectStatus(await server.post(path, related('workspaces', ...consumers.map((one) => workspaces[one] ?? ''))), 204);
};

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'other');
  const [here, there] = [await makeProject(server, 'acme', 'here'), await makeProject(server, 'acme', 'there')];
  const create = (title: string, project: string, attributes: object = {}) =>
    makeWorkspace(server, 'acme', title, attributes, { project: { data: { type: 'projects', id: project } } });
  workspaces = {
    reader: await create('reader', here),
    dns: await create('dns', there),
    network: await create('network', there),
    shared: await create('shared', there, { 'global-remote-state': true }),
    near: await create('near', here, { 'project-remote-state': true }),
    far: await create('far', there, { 'project-remote-state': true }),
    private: await create('private', here),
  };
  await makeWorkspace(server, 'other', 'foreign', { 'global-remote-state': true });
  await name('network', 'reader', 'private');
  await name('dns', 'reader');
  // The setting is on, so the name does not count.
  await name('far', 'reader');
});

afterAll(() => server.close());

const listSourcesOf = async (reader: string, query = '', api: ApiTestClient = server) => {
  const { data, meta } = expectStatus(await api.get(`${pathOf(reader)}${query}`), 200).body;
  const total = meta.pagination['total-count'] as number;
  return { names: data.map(({ attributes }: any) => attributes.name as string), total };
};

describe('the list of sources', () => {
  it('has the workspaces whose state is shared with the workspace by name, project or organization', async () => {
    expect(await listSourcesOf('reader')).toEqual({ names: ['dns', 'near', 'network', 'shared'], total: 4 });
    expect(await listSourcesOf('private')).toEqual({ names: ['near', 'network', 'shared'], total: 3 });
    expect(await listSourcesOf('near')).toEqual({ names: ['shared'], total: 1 });
  });

  it('has on request only the workspaces that name the workspace', async () => {
    const query = '?show_only_configured=true';
    expect(await listSourcesOf('reader', query)).toEqual({ names: ['dns', 'network'], total: 2 });
    expect(await listSourcesOf('near', query)).toEqual({ names: [], total: 0 });
  });

  it('is paged, with one statement for each page', async () => {
    expect(await listSourcesOf('reader', '?page[number]=2&page[size]=3')).toEqual({ names: ['shared'], total: 4 });
    expect(await listSourcesOf('reader', '?page[number]=9&page[size]=3')).toEqual({ names: [], total: 4 });
    const { status, statements } = await costOf(server, () => server.get(pathOf('reader')));
    expect([status, statements]).toEqual([200, 1]);
  });

  it('has the documents of the workspaces’ own endpoints', async () => {
    const workspace = expectStatus(await server.get(`/api/v2/workspaces/${workspaces['dns'] ?? ''}`), 200).body.data;
    expect(expectStatus(await server.get(pathOf('reader')), 200).body.data[0]).toEqual(workspace);
  });

  it('shows and counts only workspaces that the caller may read', async () => {
    const team = await makeTeam(server, 'acme', 'team');
    for (const one of ['reader', 'dns', 'shared', 'private'])
      await grantWorkspaceAccess(server, team, workspaces[one] ?? '', 'read');
    const member = await makeMember(server, 'acme', 'mia', [team]);
    expect(await listSourcesOf('reader', '', member)).toEqual({ names: ['dns', 'shared'], total: 2 });
    expectStatus(await member.get(pathOf('network')), 404);
  });

  it('does not exist for a workspace that does not exist, and for people of other organizations', async () => {
    expectStatus(await server.get(pathOf('ws-none')), 404);
    const stranger = await makeMember(server, 'other', 'sam');
    expectStatus(await stranger.get(pathOf('reader')), 404);
  });
});
