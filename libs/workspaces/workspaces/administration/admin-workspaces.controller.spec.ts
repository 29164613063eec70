import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getDetail } from '../../../../test/support/responses.js';
import { makeOauthClient, openTestGitHost, REACHES_GIT_HOSTS } from '../../../../test/support/git-host.js';
import {
  expectStatus,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRun,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';

const PATH = '/api/v2/admin/workspaces';

let server: TestServer;
let owner: ApiTestClient;
const ids: Record<string, string> = {};
const runs: Record<string, string> = {};

const addRun = async (workspace: string): Promise<void> => {
  const id = ids[workspace] ?? '';
  await makeConfigurationVersion(server, id);
  runs[workspace] = await makeRun(server, id);
};

const lock = async (id: string): Promise<void> =>
  void expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/lock`), 200);

beforeAll(async () => {
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  const acme = await makeOrganization(server, 'acme');
  await makeOrganization(server, 'globex');
  owner = server.as((await makeMember(server, 'acme', 'olga', [acme.ownersTeam])).token);
  const { token } = await makeOauthClient(server, 'acme', await openTestGitHost());
  const repository = { 'vcs-repo': { identifier: 'acme/network', 'oauth-token-id': token } };
  ids['Network'] = await makeWorkspace(server, 'acme', 'Network', repository);
  ids['billing'] = await makeWorkspace(server, 'acme', 'billing');
  ids['app'] = await makeWorkspace(server, 'globex', 'app');
  for (const workspace of ['app', 'Network']) await addRun(workspace);
  expectStatus(await server.post(`/api/v2/runs/${runs['Network']}/actions/cancel`), 202);
  await lock(ids['billing']);
});

afterAll(() => server.close());

const list = async (query = '') => expectStatus(await server.get(`${PATH}?${query}`), 200).body;
const namesOf = ({ data }: { data: { attributes: { name: string } }[] }) =>
  data.map(({ attributes: { name } }) => name);

describe('the workspaces of the site', () => {
  it('are of all organizations, by name, in pages', async () => {
    const page = await list('page[size]=2');
    expect(namesOf(page)).toEqual(['app', 'billing']);
    expect(page.meta.pagination['total-count']).toBe(3);
    expect(namesOf(await list('page[size]=2&page[number]=2'))).toEqual(['Network']);
    expect((await list('page[number]=999')).meta.pagination).toMatchObject({ 'current-page': 999, 'total-count': 3 });
  });

  it.each([
    ['q=NET', ['Network']],
    ['q=Globex', ['app']],
    ['q=NE', ['Network']],
    ['q=gl', ['app']],
    ['q=%25', []],
    ['q=acme&sort=-current-run.created-at', ['Network', 'billing']],
    ['sort=-current-run.created-at&page[size]=2&page[number]=2', ['billing']],
    ['q=nonexisting', []],
    ['filter[current_run][status]=plan_queued', ['app']],
    ['filter[current_run][status]=applied,canceled,plan_queued&q=acme', ['Network']],
    ['sort=-name', ['Network', 'billing', 'app']],
    ['sort=current-run.created-at', ['app', 'Network', 'billing']],
    ['sort=-current-run.created-at', ['Network', 'app', 'billing']],
  ])('are filtered and sorted by %s', async (query, expected) => {
    expect(namesOf(await list(query))).toEqual(expected);
  });

  it('are found by id', async () => {
    expect(namesOf(await list(`q=${ids['billing']}`))).toEqual(['billing']);
  });

  it('show lock, repository, organization and current run', async () => {
    const { data } = await list();
    expect(data.map(({ attributes }: { attributes: object }) => attributes)).toEqual([
      { name: 'app', locked: true, 'vcs-repo': null },
      { name: 'billing', locked: true, 'vcs-repo': null },
      { name: 'Network', locked: false, 'vcs-repo': { identifier: 'acme/network' } },
    ]);
    expect(data[0].relationships).toMatchObject({
      organization: { data: { type: 'organizations', id: 'globex' } },
      'current-run': { data: { type: 'runs', id: runs['app'] } },
    });
    expect(data[1].relationships['current-run'].data).toBeNull();
  });

  it.each([
    ['organization', ['organizations acme', 'organizations globex']],
    ['organization.owners', ['organizations acme', 'organizations globex']],
    ['current_run', ['runs Network', 'runs app']],
    ['organization,current_run', ['organizations acme', 'organizations globex', 'runs Network', 'runs app']],
  ])('include %s', async (include, expected) => {
    const { included } = await list(`include=${include}`);
    const nameOf = (id: string) => Object.keys(runs).find((workspace) => runs[workspace] === id) ?? id;
    const names = included.map(({ type, id }: { type: string; id: string }) => `${type} ${nameOf(id)}`);
    expect(names.sort()).toEqual(expected);
  });

  it.each(['sort=moon', 'include=moon', 'filter[moon]=x'])('are refused for %s', async (query) => {
    expectStatus(await server.get(`${PATH}?${query}`), 400);
  });

  it('are hidden from owners of organizations', async () => {
    expectStatus(await owner.get(PATH), 404);
    expectStatus(await owner.get(`${PATH}/${ids['billing']}`), 404);
  });
});

describe('a workspace of the site', () => {
  it('is the same as in the list', async () => {
    const [app] = (await list('q=app')).data;
    const { data } = expectStatus(await server.get(`${PATH}/${ids['app']}?include=current_run`), 200).body;
    expect(data).toEqual(app);
    expect(expectStatus(await server.get(data.links.self), 200).body.data).toEqual(app);
  });

  it('is unknown without its id', async () => {
    for (const id of ['ws-none', 'app']) {
      expectStatus(await server.get(`${PATH}/${id}`), 404);
      expectStatus(await server.delete(`${PATH}/${id}`), 404);
    }
  });
});

describe('a workspace that a site administrator deletes', () => {
  it('disappears with lock and state, can be recovered, and is in the audit trail', async () => {
    const id = await makeWorkspace(server, 'acme', 'stuck');
    await lock(id);
    const state = newStateVersion(stateFile({ names: ['a'] }), { inline: true });
    expectStatus(await server.post(`/api/v2/workspaces/${id}/state-versions`, state), 201);
    expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/safe-delete`), 409);

    expectStatus(await server.delete(`${PATH}/${id}`), 204);
    for (const path of [`${PATH}/${id}`, `/api/v2/workspaces/${id}`]) expectStatus(await server.get(path), 404);
    expectStatus(await server.delete(`${PATH}/${id}`), 404);
    expect(namesOf(await list())).not.toContain('stuck');
    const trail = '/api/v2/organizations/acme/audit-trail?filter[action]=destroy&filter[resource-type]=workspace';
    expect(expectStatus(await owner.get(trail), 200).body.data).toMatchObject([
      { resource: { id, type: 'workspace', action: 'destroy', meta: { name: 'stuck', forced: true } } },
    ]);

    const recovery = `/api/v2/recoverable-items/${id}/actions/recover`;
    expectStatus(await owner.post(recovery, resource('recoverable-items', {})), 200);
    const { locked } = expectStatus(await server.get(`${PATH}/${id}`), 200).body.data.attributes;
    expect(locked).toBe(false);
    expectStatus(await server.get(`/api/v2/workspaces/${id}/current-state-version`), 200);
  });

  it('is not deleted for owners, who have a route of their own', async () => {
    const answer = await owner.delete(`${PATH}/${ids['billing']}`);
    expect(getDetail(answer)).toBe(getDetail(await owner.delete(`${PATH}/ws-none`)));
    expectStatus(answer, 404);
    expectStatus(await server.get(`${PATH}/${ids['billing']}`), 200);
  });
});
