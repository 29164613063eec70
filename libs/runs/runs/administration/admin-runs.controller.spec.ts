import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRun,
  makeWorkspace,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';

let server: TestServer;
const runs: Record<string, string> = {};

const makeRunIn = async (organization: string, workspace: string): Promise<string> => {
  const id = await makeWorkspace(server, organization, workspace);
  await makeConfigurationVersion(server, id);
  return makeRun(server, id);
};

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  for (const organization of ['acme', 'globex']) {
    await makeOrganization(server, organization);
    runs[organization] = await makeRunIn(organization, `shop-of-${organization}`);
  }
  runs['canceled'] = await makeRunIn('acme', 'billing');
  expectStatus(await server.post(`/api/v2/runs/${runs['canceled']}/actions/cancel`), 202);
});

afterAll(() => server.close());

const list = async (query = '') => expectStatus(await server.get(`/api/v2/admin/runs?${query}`), 200).body;

describe('the runs of the site', () => {
  it('are of all organizations, newest first, with counts by status', async () => {
    const { data, meta } = await list();
    expect(data.map(({ id }: { id: string }) => id)).toEqual([runs['canceled'], runs['globex'], runs['acme']]);
    expect(meta['status-counts']).toEqual({ plan_queued: 2, canceled: 1 });
    expect(meta.pagination['total-count']).toBe(3);
  });

  it('are counted by organization while they wait or an executor works on them, whatever the filters are', async () => {
    const waiting = { organization: 'acme', running: 0, waiting: 1, 'waiting-since': expect.stringMatching(/Z$/) };
    const expected = {
      running: 0,
      waiting: 2,
      organizations: [waiting, { ...waiting, organization: 'globex' }],
    };
    for (const query of ['', 'q=globex', 'filter[status]=applied']) {
      const work = (await list(query)).meta['executor-work'];
      // Organizations with equal numbers have no order that people see.
      work.organizations.sort((one: { organization: string }, other: { organization: string }) =>
        one.organization.localeCompare(other.organization),
      );
      expect(work).toEqual(expected);
    }
  });

  it.each([
    ['filter[status]=canceled', ['canceled']],
    ['filter[status]=canceled,plan_queued&q=ACME', ['canceled', 'acme']],
    ['q=shop', ['globex', 'acme']],
    ['filter[from]=2999-01-01T00:00:00Z', []],
    ['filter[to]=2999-01-01T00:00:00Z', ['canceled', 'globex', 'acme']],
  ])('are filtered by %s', async (query, expected) => {
    const { data } = await list(query);
    expect(data.map(({ id }: { id: string }) => id)).toEqual(expected.map((name) => runs[name]));
  });

  it('include their workspaces and organizations', async () => {
    const { included } = await list('include=workspace.organization.owners&q=globex');
    expect(included.map(({ type }: { type: string }) => type)).toEqual(['workspaces', 'organizations']);
  });

  it('are not shown to others', async () => {
    const member = server.as((await makeMember(server, 'acme', 'mallory')).token);
    expectStatus(await member.get('/api/v2/admin/runs'), 404);
  });
});

describe('a run that an administrator cancels by force', () => {
  const forceCancel = (id: string, client: ApiTestClient = server) =>
    client.post(`/api/v2/admin/runs/${id}/actions/force-cancel`, { comment: 'It hangs.' });

  it('ends at once, and frees its workspace', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'stuck');
    await makeConfigurationVersion(server, workspace);
    const [first, second] = [await makeRun(server, workspace), await makeRun(server, workspace)];
    const read = async (id: string) => expectStatus(await server.get(`/api/v2/runs/${id}`), 200).body.data.attributes;
    expectStatus(await forceCancel(second), 202);
    expectStatus(await forceCancel(first), 202);
    expect([await read(first), await read(second)]).toMatchObject([
      { status: 'force_canceled' },
      { status: 'force_canceled' },
    ]);
    const { locked } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data.attributes;
    expect(locked).toBe(false);
    const comments = expectStatus(await server.get(`/api/v2/runs/${first}/comments`), 200).body.data;
    expect(comments[0].attributes.body).toBe('It hangs.');
    expectStatus(await forceCancel(first), 409);
  });

  it('is hidden from owners, and stays', async () => {
    const { token } = await makeMember(server, 'acme', 'trent');
    expectStatus(await forceCancel(runs['acme'] ?? '', server.as(token)), 404);
    expectStatus(await forceCancel('run-none'), 404);
    const { status } = expectStatus(await server.get(`/api/v2/runs/${runs['acme']}`), 200).body.data.attributes;
    expect(status).toBe('plan_queued');
  });
});
