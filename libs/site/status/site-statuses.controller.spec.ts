import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#people';
import { expectStatus, makeMember, makeOrganization } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

const PATH = '/api/v2/admin/site-status';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
});
afterAll(() => server.close());

describe('GET /admin/site-status', () => {
  it('shows versions, settings, processes, followers and the size of the database', async () => {
    await makeOrganization(server, 'acme');
    const { data } = expectStatus(await server.get(PATH), 200).body;
    expect(data).toMatchObject({ id: 'site', type: 'site-statuses', links: { self: PATH } });
    const { attributes } = data;
    expect(attributes.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(attributes['postgres-version']).toMatch(/^\d+/);
    expect(attributes['database-bytes']).toBeGreaterThan(1_000_000);
    expect(attributes.processes.length).toBeGreaterThan(0);
    expect(attributes.settings).toContainEqual({ name: 'CADASTRE_EDITION', value: 'all' });
    const names = attributes.followers.map(({ name }: any) => name);
    expect(names).toEqual(expect.arrayContaining(['audit_trail', 'workspace_history', 'run_queue', 'state_sweeper']));
    expect(names).not.toContain('publisher');
    expect(attributes.followers.find(({ name }: any) => name === 'audit_trail')).toMatchObject({
      running: true,
      behind: expect.any(Number),
    });
  });

  it('contains no secret', async () => {
    const { text } = expectStatus(await server.get(PATH), 200);
    expect(text).not.toMatch(/password|secret|postgres(?:ql)?:\/\//i);
  });

  it('does not exist for owners, people without an organization, and callers without a token', async () => {
    const { ownersTeam } = await makeOrganization(server, 'other');
    const owner = await makeMember(server, 'other', 'olga', [ownersTeam]);
    expectStatus(await owner.get(PATH), 404);
    await ensureUser(server.store, server.runtime.ids, 'nina', false);
    expectStatus(await server.as(null).get(PATH), 401);
  });
});
