import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AccessModule } from '#api/access';
import { EventStoreModule } from '#storage/event-store';
import { NestLoggerAdapter } from '#platform/host';
import { OrganizationsModule } from '#organizations/organizations';
import { ensureUser, issueUserToken, makeOwner, PeopleModule } from '#identity/people';
import { ReadsModule } from '#api/reads';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeTeam,
  makeToken,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import {
  createApiTestClient,
  startTestServer,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { EdgeModule } from '../edge.module.js';
import { createHttpServer } from './http.server.js';

// A gateway caches callers. Each test sends requests to the first gateway until it has cached the caller, changes the
// access through the second gateway, and checks the next request.

@Module({})
class OtherGateway {}

let first: TestServer;
let second: ApiTestClient;
let close: () => Promise<void>;

beforeAll(async () => {
  first = await startTestServer();
  const { store, forgetting, clock, ids, logger, settings } = first.runtime;
  const imports = [
    CqrsModule.forRoot(),
    EventStoreModule.with({ store, clock, ids }),
    EdgeModule,
    AccessModule.with({
      wrongTokens: null,
      requiresTwoFactor: false,
      recoverableDays: 30,
      sessions: { idleMs: 60_000, siteOrigin: settings.publicUrl },
    }),
    ReadsModule.with({ recorded: true }),
    PeopleModule.with({ ...settings, forgetting, tokenLifetime: null }),
    OrganizationsModule.with(settings),
  ];
  const app = await createHttpServer(
    { module: OtherGateway, imports },
    { tls: null, logger: new NestLoggerAdapter(logger) },
  );
  await app.listen(0, '127.0.0.1');
  second = createApiTestClient(await app.getUrl(), first.adminToken);
  close = () => app.close();
});

afterAll(async () => {
  await close();
  await first.close();
});

const person = async (username: string): Promise<{ readonly id: string; readonly token: string }> => {
  const { store, runtime } = first;
  const { id } = await ensureUser(store, runtime.ids, username, false);
  return { id, token: await issueUserToken(store, runtime.ids, id, 'for a test') };
};

describe('two gateways of one database', () => {
  it('both show changes that were made through either', async () => {
    await makeOrganization(second, 'shared');
    const one = expectStatus(await first.get('/api/v2/organizations/shared'), 200);
    expect((await second.get('/api/v2/organizations/shared')).body).toEqual(one.body);
  });

  it('refuse a token after the other gateway has revoked it, for every kind of request', async () => {
    const { ownersTeam } = await makeOrganization(first, 'revoking');
    const { id } = (await first.get('/api/v2/account/details')).body.data;
    const requests: readonly ((api: ApiTestClient) => ReturnType<ApiTestClient['get']>)[] = [
      (api) => api.get('/api/v2/account/details'),
      (api) => api.get('/api/v2/organizations'),
      (api) => api.get('/api/v2/organizations/revoking'),
      (api) => api.patch('/api/v2/organizations/revoking', resource('organizations', { 'session-timeout': 5 })),
      (api) => api.post('/api/v2/organizations/revoking/projects', resource('projects', { name: 'Late' })),
      (api) => api.post('/api/v2/organizations/revoking/workspaces', resource('workspaces', { name: 'late' })),
      (api) => api.get('/api/v2/organizations/revoking/workspaces'),
      (api) => api.get(`/api/v2/teams/${ownersTeam}`),
      (api) => api.get(`/api/v2/users/${id}/authentication-tokens`),
      (api) => api.post('/api/v2/organizations/revoking/authentication-token'),
      (api) => api.delete('/api/v2/organizations/revoking'),
    ];
    const path = `/api/v2/teams/${ownersTeam}/authentication-token`;
    for (const [index, send] of requests.entries()) {
      const holder = first.as(await makeToken(second, path));
      expectStatus(await holder.get('/api/v2/account/details'), 200);
      expectStatus(await second.delete(path), 204);
      expect([index, (await send(holder)).status]).toEqual([index, 401]);
    }
    const projects = expectStatus(await first.get('/api/v2/organizations/revoking/projects'), 200).body;
    expect(projects.data).toHaveLength(1);
  });

  it('refuse a revoked token even if the response would be empty', async () => {
    const { id, token } = await person('nobody');
    const path = `/api/v2/users/${id}/authentication-tokens`;
    const holder = first.as(token);
    expect(expectStatus(await holder.get('/api/v2/organizations'), 200).body.data).toEqual([]);
    const [own] = expectStatus(await holder.get(path), 200).body.data as readonly { readonly id: string }[];
    expectStatus(await second.delete(`/api/v2/authentication-tokens/${own?.id}`), 204);
    for (const address of ['/api/v2/organizations', '/api/v2/organizations/nowhere', '/api/v2/workspaces/ws-nowhere']) {
      expect([address, (await holder.get(address)).status]).toEqual([address, 401]);
    }
  });

  it('refuse a token that was replaced, and a token of a deleted organization', async () => {
    await makeOrganization(first, 'going');
    const path = '/api/v2/organizations/going/authentication-token';
    const old = first.as(await makeToken(second, path));
    expectStatus(await old.get('/api/v2/organizations/going'), 200);
    const young = first.as(await makeToken(second, path));
    expectStatus(await old.get('/api/v2/organizations/going'), 401);
    expectStatus(await young.get('/api/v2/organizations/going'), 200);
    expectStatus(await second.delete('/api/v2/organizations/going'), 204);
    expect((await young.get('/api/v2/organizations/going')).status).toBe(401);
  });

  it('grant access at once after it was given', async () => {
    const { store, runtime } = first;
    const { id, token } = await person('newcomer');
    const newcomers = [first.as(token), second.as(token)];
    await makeOrganization(first, 'welcoming');
    for (const api of newcomers) expectStatus(await api.get('/api/v2/organizations/welcoming'), 404);
    await makeOwner(store, runtime.ids, { id, username: 'newcomer' }, 'welcoming');
    for (const api of newcomers) expect((await api.get('/api/v2/organizations/welcoming')).status).toBe(200);
  });

  it('refuse actions at once after the permission was removed', async () => {
    const { ownersTeam } = await makeOrganization(second, 'leaving');
    const team = await makeTeam(second, 'leaving', 'openers', { 'organization-access': { 'manage-projects': true } });
    const flags = resource('teams', { 'organization-access': { 'manage-projects': false } });
    const members = (name: string) => ({ data: [{ type: 'users', id: name }] });
    const endings: Readonly<Record<string, (of: SeededMember) => ReturnType<ApiTestClient['delete']>>> = {
      'out-of-the-team': (of) => second.delete(`/api/v2/teams/${team}/relationships/users`, members(of.username)),
      'no-more-flags': () => second.patch(`/api/v2/teams/${team}`, flags),
      'out-of-the-organization': (of) => second.delete(`/api/v2/organization-memberships/${of.membership}`),
      'no-more-team': () => second.delete(`/api/v2/teams/${team}`),
    };
    for (const [name, end] of Object.entries(endings)) {
      const leaver = await makeMember(second, 'leaving', name, [team]);
      expectStatus(
        await second.patch(
          `/api/v2/teams/${team}`,
          resource('teams', { 'organization-access': { 'manage-projects': true } }),
        ),
        200,
      );
      const clients = [first.as(leaver.token), second.as(leaver.token)];
      const path = '/api/v2/organizations/leaving/projects';
      for (const [n, api] of clients.entries()) {
        expectStatus(await api.post(path, resource('projects', { name: `${name} ${n}` })), 201);
      }
      expect([name, [200, 204]]).toEqual([name, expect.arrayContaining([(await end(leaver)).status])]);
      for (const api of clients) {
        expectStatus(await api.post(path, resource('projects', { name: 'Mine' })), 404);
        expect((await api.get('/api/v2/account/details')).status).toBe(200);
      }
    }
    const owner = await makeMember(second, 'leaving', 'owner', [ownersTeam]);
    const clients = [first.as(owner.token), second.as(owner.token)];
    for (const api of clients) expectStatus(await api.get('/api/v2/organizations/leaving'), 200);
    expectStatus(await second.delete(`/api/v2/organization-memberships/${owner.membership}`), 204);
    for (const api of clients) {
      expectStatus(await api.patch('/api/v2/organizations/leaving', resource('organizations', { name: 'mine' })), 404);
      expectStatus(await api.post('/api/v2/organizations/leaving/authentication-token'), 404);
      expectStatus(await api.get('/api/v2/organizations/leaving'), 404);
    }
  });

  it('refuse user tokens at once after the owners have disabled them for an organization', async () => {
    await makeOrganization(second, 'closing');
    const member = await makeMember(second, 'closing', 'shut-out');
    const clients = [first.as(member.token), second.as(member.token)];
    for (const api of clients) expectStatus(await api.get('/api/v2/organizations/closing'), 200);
    const userTokens = (areEnabled: boolean) => resource('organizations', { 'user-tokens-enabled': areEnabled });
    expectStatus(await second.patch('/api/v2/organizations/closing', userTokens(false)), 200);
    for (const api of clients) expectStatus(await api.get('/api/v2/organizations/closing'), 401);
    expectStatus(await second.patch('/api/v2/organizations/closing', userTokens(true)), 200);
    for (const api of clients) expect((await api.get('/api/v2/organizations/closing')).status).toBe(200);
  });

  it('both grant access after an invitation was accepted through one', async () => {
    const { ownersTeam } = await makeOrganization(second, 'hosting');
    const host = await makeMember(second, 'hosting', 'host', [ownersTeam]);
    const body = resource('organization-memberships', { email: 'visitor@people.test' });
    const path = '/api/v2/organizations/hosting/organization-memberships';
    const { id } = expectStatus(await host.post(path, body), 201).body.data;
    // The inviter cannot see the account before the invitation is accepted; site administrators can.
    const { relationships } = expectStatus(await second.get(`/api/v2/organization-memberships/${id}`), 200).body.data;
    const token = await makeToken(second, `/api/v2/users/${relationships.user.data.id}/authentication-tokens`);
    const clients = [first.as(token), second.as(token)];
    for (const api of clients) expectStatus(await api.get('/api/v2/organizations/hosting'), 404);
    expectStatus(await second.as(token).post(`/api/v2/organization-memberships/${id}/actions/accept`), 200);
    for (const api of clients) expect((await api.get('/api/v2/organizations/hosting')).status).toBe(200);
  });

  it('both show a new username at once', async () => {
    await makeOrganization(second, 'naming');
    const member = await makeMember(second, 'naming', 'old-name');
    const names = async () => {
      const lists = [first, second].map(async (api) => {
        const { body } = await api.as(member.token).get('/api/v2/account/details');
        return body.data.attributes.username as string;
      });
      return Promise.all(lists);
    };
    expect(await names()).toEqual(['old-name', 'old-name']);
    expectStatus(
      await second.as(member.token).patch('/api/v2/account/update', resource('users', { username: 'new-name' })),
      200,
    );
    expect(await names()).toEqual(['new-name', 'new-name']);
  });
});
