import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';

const PATH = '/api/v2/organizations/acme/access-rows';

let server: TestServer;
let shops: string;
let network: string;
let open: string;
let secret: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  await makeWorkspace(server, 'neighbour', 'theirs');
  shops = await makeProject(server, 'acme', 'Shops');
  const inShops = { project: { data: { type: 'projects', id: shops } } };
  network = await makeWorkspace(server, 'acme', 'network', {}, inShops);
  await makeWorkspace(server, 'acme', 'alone');
  open = await makeTeam(server, 'acme', 'open', { visibility: 'organization' });
  secret = await makeTeam(server, 'acme', 'secret');
  await grantProjectAccess(server, open, shops, 'maintain');
  await grantWorkspaceAccess(server, open, network, 'read');
  await grantWorkspaceAccess(server, secret, network, 'plan');
});

afterAll(() => server.close());

const list = async (query = '', api: ApiTestClient = server): Promise<ApiResponse> =>
  expectStatus(await api.get(`${PATH}?${query}`), 200);

const rowsIn = ({ body }: ApiResponse): string[] =>
  body.data.map(({ attributes: { kind, name } }: any) => `${kind} ${name}`);
const cellsOf = ({ body }: ApiResponse, name: string): string[] =>
  body.data
    .find(({ attributes }: any) => attributes.name === name)
    .attributes.accesses.map(({ team, on, level }: any) => `${team} ${on} ${level}`);

describe('the rows of the access of teams', () => {
  it('are the projects, each followed by its workspaces, with the access of every team', async () => {
    const answer = await list();
    expect(rowsIn(answer)).toEqual([
      'projects Default Project',
      'workspaces alone',
      'projects Shops',
      'workspaces network',
    ]);
    expect(answer.body.meta.pagination['total-count']).toBe(4);
    expect(cellsOf(answer, 'alone')).toEqual([]);
    expect(cellsOf(answer, 'Shops')).toEqual([`${open} project maintain`]);
    expect(cellsOf(answer, 'network')).toEqual([
      `${open} project maintain`,
      `${open} workspace read`,
      `${secret} workspace plan`,
    ]);
  });

  it('are filtered by name and by project', async () => {
    expect(rowsIn(await list('q=NET'))).toEqual(['workspaces network']);
    expect(rowsIn(await list(`filter[project][id]=${shops}`))).toEqual(['projects Shops', 'workspaces network']);
  });

  it('are filtered by a team that has access to them, not only to their project', async () => {
    expect(rowsIn(await list(`filter[team][id]=${open}`))).toEqual(['projects Shops', 'workspaces network']);
    expect(rowsIn(await list(`filter[team][id]=${secret}`))).toEqual(['workspaces network']);
    expect(rowsIn(await list('filter[team][id]=team-unknown'))).toEqual([]);
    const readers = await makeTeam(server, 'acme', 'seekers', { 'organization-access': { 'read-workspaces': true } });
    const reader = await makeMember(server, 'acme', 'sam', [readers]);
    expect(rowsIn(await list(`filter[team][id]=${open}`, reader))).toEqual(['projects Shops', 'workspaces network']);
    expect(rowsIn(await list(`filter[team][id]=${secret}`, reader))).toEqual([]);
  });

  it('are listed page by page, with one statement for each page', async () => {
    const next = (): Promise<ApiResponse> => list('page[size]=3&page[number]=2');
    expect(rowsIn(await next())).toEqual(['workspaces network']);
    expect(await costOf(server, next)).toMatchObject({ status: 200, statements: 1 });
  });

  it('hide secret teams from callers that cannot manage the access, and name what callers may change', async () => {
    const readers = await makeTeam(server, 'acme', 'readers', { 'organization-access': { 'read-workspaces': true } });
    const reader = await makeMember(server, 'acme', 'rita', [readers]);
    const answer = await list('', reader);
    expect(cellsOf(answer, 'network')).toEqual([`${open} project maintain`, `${open} workspace read`]);
    const row = answer.body.data.find(({ attributes }: any) => attributes.name === 'network');
    expect(row.attributes.permissions).toEqual({
      'can-manage-workspace-access': false,
      'can-manage-project-access': false,
    });
    await grantWorkspaceAccess(server, readers, network, 'admin');
    const [, , , admin] = (await list('', reader)).body.data;
    expect(admin.attributes.permissions['can-manage-workspace-access']).toBe(true);
  });

  it('are not for members without access to all workspaces', async () => {
    const member = await makeMember(server, 'acme', 'mia', [open]);
    expectStatus(await member.get(PATH), 404);
  });
});
