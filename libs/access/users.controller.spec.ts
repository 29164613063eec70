import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answered, makeOrganization, makeToken, resource, type SeededOrganization } from '../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../test/support/server.js';
import { ensureUser, issueUserToken } from './access.operator.js';

let server: TestServer;
let acme: SeededOrganization;

beforeAll(async () => {
  server = await startTestServer();
  acme = await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const details = async (token: string) =>
  answered(await server.as(token).get('/api/v2/account/details'), 200).body.data as Record<string, any>;

describe('account details', () => {
  it('tell the administrator of the site who they are', async () => {
    expect(await details(server.adminToken)).toMatchObject({
      id: expect.stringMatching(/^user-\w{16}$/),
      type: 'users',
      attributes: {
        username: 'admin',
        email: null,
        'is-site-admin': true,
        'is-service-account': false,
        permissions: { 'can-create-organizations': true },
      },
    });
  });

  it('tell anybody else, too', async () => {
    const { store, house } = server;
    const { id } = await ensureUser(store, house.ids, 'ada', false);
    expect(await details(await issueUserToken(store, house.ids, id, 'for a test'))).toMatchObject({
      id,
      attributes: { username: 'ada', 'is-site-admin': false, 'is-service-account': false },
      relationships: { 'authentication-tokens': { links: { related: `/api/v2/users/${id}/authentication-tokens` } } },
    });
  });

  it.each([
    ['team', () => `/api/v2/teams/${acme.ownersTeam}/authentication-token`, () => acme.ownersTeam, 'owners'],
    ['organization', () => '/api/v2/organizations/acme/authentication-token', () => acme.id, 'acme'],
    ['audit', () => '/api/v2/organizations/acme/authentication-token?token=audit-trails', () => acme.id, 'acme'],
  ])('show a %s token as a service account, which founds no organizations', async (_, path, id, username) => {
    expect(await details(await makeToken(server, path()))).toMatchObject({
      id: id(),
      type: 'users',
      attributes: {
        username,
        'is-service-account': true,
        'is-site-admin': false,
        permissions: { 'can-create-organizations': false },
      },
    });
  });

  it('tell an organization’s token its new name as soon as it is renamed', async () => {
    await makeOrganization(server, 'before');
    const token = await makeToken(server, '/api/v2/organizations/before/authentication-token');
    expect((await details(token))['attributes'].username).toBe('before');
    answered(await server.patch('/api/v2/organizations/before', resource('organizations', { name: 'after' })), 200);
    expect((await details(token))['attributes'].username).toBe('after');
  });

  it('tell nobody else anything', async () => {
    for (const caller of [server.as(null), server.as('nobodys.atlasv1.token')]) {
      const { body } = answered(await caller.get('/api/v2/account/details'), 401);
      expect(body).not.toHaveProperty('data');
    }
  });
});
