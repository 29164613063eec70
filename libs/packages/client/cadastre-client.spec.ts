import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeOrganization } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { createCadastreClient, describeError, listAllPages, type CadastreClient } from './index.js';

let server: TestServer;
let api: CadastreClient;

beforeAll(async () => {
  server = await startTestServer();
  api = createCadastreClient({ server: `${server.url}/`, token: server.adminToken });
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const createWorkspace = (name: string) =>
  api.POST('/api/v2/organizations/{organization}/workspaces', {
    params: { path: { organization: 'acme' } },
    body: { data: { type: 'workspaces', attributes: { name } } },
  });

describe('the client of the API description', () => {
  it('creates a workspace and locks it', async () => {
    const { data, error } = await createWorkspace('network');
    expect(error).toBeUndefined();
    expect(data?.data.attributes?.['execution-mode']).toBe('remote');
    const id = data?.data.id ?? '';
    const locked = await api.POST('/api/v2/workspaces/{id}/actions/lock', {
      params: { path: { id } },
      body: { reason: 'upgrade' },
    });
    expect(locked.data?.data.attributes?.locked).toBe(true);
    const { response, error: refusal } = await api.POST('/api/v2/workspaces/{id}/actions/lock', {
      params: { path: { id } },
    });
    expect(response.status).toBe(409);
    expect(describeError(refusal)).toMatch(/^Unable to lock workspace/);
  });

  it('lists the resources of all pages, with a list in one query parameter', async () => {
    for (const name of ['a', 'b', 'c']) await createWorkspace(name);
    const workspaces = await listAllPages((number) =>
      api.GET('/api/v2/organizations/{organization}/workspaces', {
        params: {
          path: { organization: 'acme' },
          query: { 'page[number]': number, 'page[size]': 2, include: ['organization', 'project'] },
        },
      }),
    );
    const names = workspaces.map(({ attributes }) => attributes?.name);
    expect(names).toEqual(expect.arrayContaining(['a', 'b', 'c']));
    expect(new Set(names).size).toBe(names.length);
  });

  it('reports a refused page', async () => {
    const readPage = () =>
      createCadastreClient({ server: server.url, token: 'wrong' }).GET(
        '/api/v2/organizations/{organization}/workspaces',
        {
          params: { path: { organization: 'acme' } },
        },
      );
    await expect(listAllPages(readPage)).rejects.toThrow(/./);
  });
});
