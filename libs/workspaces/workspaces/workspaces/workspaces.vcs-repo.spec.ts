import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeOauthClient, openTestGitHost, REACHES_GIT_HOSTS } from '../../../../test/support/git-host.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  refusalOf,
  related,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';

let server: TestServer;
/** Admin of workspaces, without a right on connections of the organization. */
let admin: SeededMember;
let admins: string;
let project: string;
let token: string;
/** Of a connection for `project` only. */
let limitedToken: string;
let foreignToken: string;

beforeAll(async () => {
  const host = await openTestGitHost();
  server = await startTestServer({ env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  admins = await makeTeam(server, 'acme', 'admins');
  admin = await makeMember(server, 'acme', 'ada', [admins]);
  project = await makeProject(server, 'acme', 'network');
  await grantProjectAccess(server, admins, project, 'admin');
  ({ token } = await makeOauthClient(server, 'acme', host));
  ({ token: foreignToken } = await makeOauthClient(server, 'neighbour', host));
  const limited = await makeOauthClient(server, 'acme', host);
  limitedToken = limited.token;
  const path = `/api/v2/oauth-clients/${limited.client}`;
  expectStatus(await server.post(`${path}/relationships/projects`, related('projects', project)), 204);
  expectStatus(await server.patch(path, resource('oauth-clients', { 'organization-scoped': false })), 200);
});

afterAll(() => server.close());

const inProject = (id: string): object => ({ project: { data: { type: 'projects', id } } });
const toRepo = (oauthToken: string, identifier = 'acme/network'): object => ({
  'vcs-repo': { identifier, 'oauth-token-id': oauthToken },
});
const update = (id: string, attributes: object, api: ApiTestClient = server, into?: object): Promise<ApiResponse> =>
  api.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes, into));

const expectRefusal = (answer: ApiResponse): void =>
  expect(refusalOf(expectStatus(answer, 422))).toEqual([
    '/data/attributes/vcs-repo/oauth-token-id',
    expect.stringMatching(/^OAuth token ot-\S+ cannot be used for this workspace/),
  ]);

describe('the connection of a workspace', () => {
  it('is refused for callers that may not read connections, also with another repository', async () => {
    const id = await makeWorkspace(server, 'acme', 'one');
    await grantWorkspaceAccess(server, admins, id, 'admin');
    expectRefusal(await update(id, toRepo(token), admin));
    expect((await server.get(`/api/v2/workspaces/${id}`)).body.data.attributes['vcs-repo']).toBeNull();
    expectStatus(await update(id, toRepo(token)), 200);
    expectRefusal(await update(id, { 'vcs-repo': { identifier: 'acme/secrets' } }, admin));
    expectRefusal(await update(id, toRepo(token, 'acme/secrets'), admin));
  });

  it('stays if callers that may not read connections send it unchanged, or change the branch', async () => {
    const id = await makeWorkspace(server, 'acme', 'kept', toRepo(token));
    await grantWorkspaceAccess(server, admins, id, 'admin');
    expectStatus(await update(id, toRepo(token), admin), 200);
    expectStatus(await update(id, { 'vcs-repo': { branch: 'next' } }, admin), 200);
    expectStatus(await update(id, { 'vcs-repo': null }, admin), 200);
    expectRefusal(await update(id, toRepo(token), admin));
  });

  it('is checked for new workspaces', async () => {
    const create = (api: ApiTestClient, oauthToken: string, into: object): Promise<ApiResponse> =>
      api.post(
        '/api/v2/organizations/acme/workspaces',
        resource('workspaces', { name: 'new', ...toRepo(oauthToken) }, into),
      );
    expectRefusal(await create(admin, token, inProject(project)));
    expectRefusal(await create(server, limitedToken, {}));
    expectStatus(await create(server, limitedToken, inProject(project)), 201);
  });

  it('must be for the project to which the same request moves the workspace', async () => {
    const id = await makeWorkspace(server, 'acme', 'moved');
    expectRefusal(await update(id, toRepo(limitedToken)));
    expectStatus(await update(id, toRepo(limitedToken), server, inProject(project)), 200);
  });

  it('is refused if the organization has none, and those of other organizations look the same', async () => {
    const id = await makeWorkspace(server, 'acme', 'unknown');
    await grantWorkspaceAccess(server, admins, id, 'admin');
    for (const api of [admin, server])
      for (const unknown of ['ot-unknown', foreignToken]) expectRefusal(await update(id, toRepo(unknown), api));
    const create = resource('workspaces', { name: 'with-unknown', ...toRepo('ot-unknown') });
    expectRefusal(await server.post('/api/v2/organizations/acme/workspaces', create));
  });

  it('can be sent unchanged after its connection was deleted', async () => {
    const { client, token: deleted } = await makeOauthClient(server, 'acme', await openTestGitHost());
    const id = await makeWorkspace(server, 'acme', 'disconnected', toRepo(deleted));
    expectStatus(await server.delete(`/api/v2/oauth-clients/${client}`), 204);
    expectStatus(await update(id, { 'vcs-repo': { branch: 'next' } }), 200);
    const { 'vcs-repo': repo } = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes;
    expectStatus(await update(id, { 'vcs-repo': repo }), 200);
  });
});
