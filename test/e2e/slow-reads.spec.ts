import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { waitUntil } from '../support/product.js';
import { expectStatus, makeMember, makeOrganization, makeToken, makeWorkspace, resource } from '../support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../support/server.js';

let server: TestServer;
let workspace: string;
let owners: ApiTestClient;
let organization: ApiTestClient;

beforeAll(async () => {
  const env = { CADASTRE_READ_TIMEOUT_SECONDS: '1', CADASTRE_SLOW_READ_TIMEOUT_SECONDS: '4' };
  server = await startTestServer({ env, followers: true });
  const { ownersTeam } = await makeOrganization(server, 'acme');
  await makeOrganization(server, 'other');
  workspace = await makeWorkspace(server, 'acme', 'one');
  expectStatus(await server.post('/api/v2/organizations/acme/varsets', resource('varsets', { name: 'set' })), 201);
  owners = server.as(await makeToken(server, `/api/v2/teams/${ownersTeam}/authentication-token`));
  organization = server.as(await makeToken(server, '/api/v2/organizations/acme/authentication-token'));
  for (const api of [owners, organization]) expectStatus(await api.get(`/api/v2/workspaces/${workspace}`), 200);
});

afterAll(() => server.close());

/** Blocks reads of the table until the returned function is called. */
const lockTable = async (table: string) => {
  const session = await server.database.session();
  await session.run(sql`begin`);
  await session.run(sql.raw(`lock table views.${table} in access exclusive mode`));
  return async () => {
    await session.run(sql`rollback`);
    await session.close();
  };
};

/** Counts the statements of this database that wait for a table. */
const waiting = async (): Promise<number> => {
  const rows = await server.database.rows(sql`
    select 1 from pg_locks where not granted and relation is not null
       and database = (select oid from pg_database where datname = current_database())`);
  return rows.length;
};

describe('slow reads of one caller', () => {
  it.each([
    ['a list', 'configuration_versions', () => `/api/v2/workspaces/${workspace}/configuration-versions`],
    ['related resources', 'variables', () => '/api/v2/organizations/acme/varsets?include=vars'],
  ])('delay neither fast requests nor slow reads of another caller: %s', async (_, table, path) => {
    const release = await lockTable(table);
    const list = path();
    const stuck = Array.from({ length: 20 }, () => owners.get(list));
    await waitUntil(async () => (await waiting()) === 2, 'two statements wait for the table');
    // Fast reads of each kind of caller, slow reads, and a write.
    expectStatus(await organization.get('/api/v2/organizations/acme'), 200);
    expectStatus(await owners.get('/api/v2/organizations/acme'), 200);
    expectStatus(await organization.get('/api/v2/organizations/acme/projects?q=default'), 200);
    expectStatus(await organization.get('/api/v2/organizations/acme/teams'), 200);
    const project = { data: { type: 'projects', attributes: { name: `beside-${table}` } } };
    expectStatus(await organization.post('/api/v2/organizations/acme/projects', project), 201);
    await release();
    const statuses = (await Promise.all(stuck)).map(({ status }) => status);
    // On a loaded machine, statements that waited for more than 4 s are canceled.
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await waiting()).toBe(0);
  });
});

describe('a read that takes too long', () => {
  it.each([
    ['fast', (api: ApiTestClient) => api.get(`/api/v2/workspaces/${workspace}`), 'did not answer within 1 s'],
    [
      'slow',
      (api: ApiTestClient) => api.get(`/api/v2/workspaces/${workspace}/configuration-versions`),
      'did not answer within 4 s',
    ],
  ])('gets 503 with Retry-After and the time limit: %s', async (_, read, text) => {
    const release = await lockTable('configuration_versions');
    const { status, body, headers } = await read(owners);
    expect(await waiting()).toBe(0);
    await release();
    expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '5' });
    expect(body.errors).toMatchObject([{ status: '503', title: 'unavailable' }]);
    expect(body.errors[0].detail).toContain(text);
    expect((await read(owners)).status).toBe(200);
  });
});

describe('a list of an organization', () => {
  it.each(['workspaces', 'projects', 'teams', 'runs', 'varsets', 'organization-memberships', 'locks'])(
    'is visible to a caller as soon as they are a member, and not before: %s',
    async (list) => {
      const path = `/api/v2/organizations/acme/${list}`;
      const { token } = await makeMember(server, 'other', list);
      expect((await server.as(token).get(path)).status).toBe(404);
      await makeMember(server, 'acme', list);
      expect((await server.as(token).get(path)).status).toBe(200);
    },
  );
});
