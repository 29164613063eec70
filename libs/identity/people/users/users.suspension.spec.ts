import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectStatus, makeMember, makeOrganization, type SeededOrganization } from '../../../../test/support/seeds.js';
import { signInTestUser, startTestSession } from '../../../../test/support/sessions.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';
import { ensureUser, issueUserToken } from '../operator/people.operator.js';

let server: TestServer;
let acme: SeededOrganization;

beforeAll(async () => {
  server = await startTestServer();
  acme = await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const change = (id: string, action: 'suspend' | 'unsuspend', api: Pick<TestServer, 'post'> = server) =>
  api.post(`/api/v2/admin/users/${id}/actions/${action}`);

const listEvents = async (id: string): Promise<readonly string[]> =>
  (await server.store.log.stream(id)).map(({ type }) => type);

describe('a suspended user', () => {
  it('loses all tokens at the next request, and keeps the membership', async () => {
    const ada = await makeMember(server, 'acme', 'ada');
    const second = await issueUserToken(server.store, server.runtime.ids, ada.id, 'second');
    expectStatus(await ada.get('/api/v2/account/details'), 200);
    expectStatus(await server.as(second).get('/api/v2/account/details'), 200);
    const { body } = expectStatus(await change(ada.id, 'suspend'), 200);
    expect(body.data).toMatchObject({ id: ada.id, type: 'users', attributes: { 'is-suspended': true } });
    for (const token of [ada.token, second]) {
      expectStatus(await server.as(token).get('/api/v2/account/details'), 401);
    }
    expectStatus(await server.get(`/api/v2/organization-memberships/${ada.membership}`), 200);
  });

  it('loses all sessions at the next request, and gets no new ones', async () => {
    const visitor = await makeMember(server, 'acme', 'visitor');
    const browser = await signInTestUser(server, visitor.id);
    expectStatus(await browser.get('/api/v2/account/details'), 200);
    expectStatus(await change(visitor.id, 'suspend'), 200);
    expectStatus(await browser.get('/api/v2/account/details'), 401);
    await expect(startTestSession(server, visitor.id)).rejects.toThrow(`there is no user ${visitor.id}`);
  });

  it('gets no new tokens until the suspension ends', async () => {
    const bob = await makeMember(server, 'acme', 'bob');
    const path = `/api/v2/users/${bob.id}/authentication-tokens`;
    expectStatus(await change(bob.id, 'suspend'), 200);
    const { body } = expectStatus(await server.post(path, { data: { type: 'authentication-tokens' } }), 422);
    expect(body.errors[0].detail).toBe('The user is suspended, so the user cannot have new tokens');
    await expect(issueUserToken(server.store, server.runtime.ids, bob.id, 'by an operator')).rejects.toThrow(
      'bob is suspended, so this user cannot have new tokens',
    );
    expect(expectStatus(await change(bob.id, 'unsuspend'), 200).body.data.attributes['is-suspended']).toBe(false);
    const token = expectStatus(await server.post(path, { data: { type: 'authentication-tokens' } }), 201);
    expectStatus(await server.as(token.body.data.attributes.token).get('/api/v2/account/details'), 200);
    expectStatus(await bob.get('/api/v2/account/details'), 401);
  });

  it('is suspended and unsuspended once', async () => {
    const eve = await makeMember(server, 'acme', 'eve');
    for (const action of ['unsuspend', 'suspend', 'suspend', 'unsuspend'] as const) {
      expectStatus(await change(eve.id, action), 200);
    }
    const events = await listEvents(eve.id);
    expect(events.filter((type) => type === 'UserSuspended')).toHaveLength(1);
    expect(events.filter((type) => type === 'UserUnsuspended')).toHaveLength(1);
    expectStatus(await change('user-0000000000000000', 'suspend'), 404);
  });

  it('has no token left if requests create tokens at the same time', async () => {
    const { id, token } = await makeMember(server, 'acme', 'racer');
    const path = `/api/v2/users/${id}/authentication-tokens`;
    const create = (): Promise<ApiResponse> => server.post(path, { data: { type: 'authentication-tokens' } });
    const answers = await Promise.all([create(), create(), change(id, 'suspend'), create(), create()]);
    expect(answers[2]?.status).toBe(200);
    const secrets = answers.flatMap(({ body }) => body.data?.attributes?.token ?? []);
    for (const secret of [token, ...secrets]) expectStatus(await server.as(secret).get('/api/v2/account/details'), 401);
    expect(expectStatus(await server.get(path), 200).body.data).toEqual([]);
  });
});

describe('a suspension', () => {
  it('is refused for the last owner of an organization, and for one of two owners at the same time', async () => {
    await makeOrganization(server, 'owned');
    const team = expectStatus(await server.get('/api/v2/organizations/owned/teams'), 200).body.data[0].id as string;
    const owners = [
      await makeMember(server, 'owned', 'left', [team]),
      await makeMember(server, 'owned', 'right', [team]),
    ];
    const admin = expectStatus(await server.get('/api/v2/account/details'), 200).body.data.attributes.username;
    const founder = { data: [{ type: 'users', id: admin }] };
    expectStatus(await server.delete(`/api/v2/teams/${team}/relationships/users`, founder), 204);
    const answers = await Promise.all(owners.map(({ id }) => change(id, 'suspend')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
    const refused = answers.find(({ status }) => status === 422);
    expect(refused?.body.errors[0].detail).toBe(
      'The last active owner of owned cannot be suspended; name another owner first',
    );
  });

  it('does not let a suspended owner count as an owner', async () => {
    await makeOrganization(server, 'counted');
    const team = expectStatus(await server.get('/api/v2/organizations/counted/teams'), 200).body.data[0].id as string;
    const owner = await makeMember(server, 'counted', 'dormant', [team]);
    expectStatus(await change(owner.id, 'suspend'), 200);
    const admin = expectStatus(await server.get('/api/v2/account/details'), 200).body.data.attributes.username;
    const founder = { data: [{ type: 'users', id: admin }] };
    expectStatus(await server.delete(`/api/v2/teams/${team}/relationships/users`, founder), 422);
  });

  it('leaves one site administrator if administrators suspend each other', async () => {
    const site = await startTestServer();
    const { store, runtime } = site;
    try {
      const other = await ensureUser(store, runtime.ids, 'other', true);
      const api = site.as(await issueUserToken(store, runtime.ids, other.id, 'for a test'));
      const own = expectStatus(await site.get('/api/v2/account/details'), 200).body.data.id as string;
      const answers = await Promise.all([change(own, 'suspend', api), change(other.id, 'suspend', site)]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    } finally {
      await site.close();
    }
  });

  it('is only for site administrators', async () => {
    const owner = await makeMember(server, 'acme', 'boss', [acme.ownersTeam]);
    const target = await makeMember(server, 'acme', 'target');
    expectStatus(await change(target.id, 'suspend', owner), 404);
    expectStatus(await change(target.id, 'suspend', server.as(null)), 401);
  });
});
