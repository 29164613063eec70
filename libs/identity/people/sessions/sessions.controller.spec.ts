import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { FixedClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  resource,
} from '../../../../test/support/seeds.js';
import { signInTestUser, startTestSession } from '../../../../test/support/sessions.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { peopleDefinition } from '../people.module.js';
import { createEndedSessionsJob } from './ended-sessions.job.js';
import { MAX_SESSIONS } from './sessions.writes.js';

const ORIGIN = 'https://cadastre.test';
const clock = new FixedClock();
let server: TestServer;
let ada: ApiTestClient & { readonly id: string };

beforeAll(async () => {
  server = await startTestServer({
    clock,
    followers: true,
    env: { CADASTRE_PUBLIC_URL: ORIGIN, CADASTRE_SESSION_IDLE_MINUTES: '60', CADASTRE_SESSION_HOURS: '48' },
  });
  const { ownersTeam } = await makeOrganization(server, 'acme');
  ada = await makeMember(server, 'acme', 'ada', [ownersTeam]);
});

afterAll(() => server.close());

const details = (api: ApiTestClient) => api.get('/api/v2/account/details');
const runJob = async () => {
  const { store, ids } = server.runtime;
  await createEndedSessionsJob({ store, clock, ids, idleMinutes: 60 }).run({
    signal: new AbortController().signal,
    done: () => undefined,
  });
};
const remainingSessions = () => server.database.rows(sql`select id from sessions order by id`);

describe('a session', () => {
  it('has the permissions of its person', async () => {
    const api = await signInTestUser(server, ada.id);
    expect((await details(api)).body.data.attributes.username).toBe('ada');
    const changed = await api.patch(
      '/api/v2/organizations/acme',
      resource('organizations', { 'cost-estimation-enabled': true }),
    );
    expect(changed.status).toBe(200);
  });

  it('is found by its id until it ends, however long it was not used', async () => {
    const { id } = await startTestSession(server, ada.id, { assurance: 'two-factor' });
    clock.pass({ minutes: 47 * 60 });
    expect(await server.authenticator.findSessionIdentity(id)).toMatchObject({ id: ada.id, assurance: 'two-factor' });
    clock.pass({ minutes: 60 });
    expect(await server.authenticator.findSessionIdentity(id)).toBeNull();
    const token = await server.database.row<{ id: string }>(sql`select id from authentication_tokens limit 1`);
    expect(await server.authenticator.findSessionIdentity(token?.id ?? '')).toBeNull();
  });

  it('is stored as a hash, and its secret is no token', async () => {
    const { id, secret } = await startTestSession(server, ada.id);
    expect((await details(server.as(secret))).status).toBe(401);
    expect((await details(server.as(`session ${secret}`))).status).toBe(401);
    const stored = await server.database.row<{ hash: string }>(
      sql`select encode(hash, 'escape') as hash from access.token_hashes where token = ${id}`,
    );
    expect(stored?.hash).not.toContain(secret);
    expect(JSON.stringify(await readWholeLog(server.store))).not.toContain(secret);
  });

  it('does not count if the request has a token', async () => {
    const { secret } = await startTestSession(server, ada.id);
    const headers = { cookie: `__Host-cadastre-session=${secret}`, authorization: 'Bearer wrong.atlasv1.wrong' };
    expect((await fetch(`${server.url}/api/v2/account/details`, { headers })).status).toBe(401);
  });

  it('is listed with its program and address, newest first, and shows which one is used', async () => {
    await server.delete(`/api/v2/users/${ada.id}/sessions`);
    await startTestSession(server, ada.id, { method: 'passkey', assurance: 'two-factor' });
    clock.pass({ seconds: 1 });
    const api = await signInTestUser(server, ada.id);
    const { data } = (await api.get(`/api/v2/users/${ada.id}/sessions`)).body;
    expect(data).toMatchObject([
      { attributes: { method: 'password', assurance: 'password', current: true, address: '203.0.113.7' } },
      {
        attributes: { method: 'passkey', assurance: 'two-factor', current: false, 'user-agent': 'Mozilla/5.0 (test)' },
      },
    ]);
    expect((await api.get(`/api/v2/sessions/${data[1].id}`)).body.data.id).toBe(data[1].id);
  });

  it('ends at once on every gateway when it is revoked', async () => {
    const other = await startAnotherGateway(server);
    const { id, secret } = await startTestSession(server, ada.id);
    const credential = { session: secret, origin: ORIGIN };
    expect((await details(other.as(credential))).status).toBe(200);
    expectStatus(await ada.delete(`/api/v2/sessions/${id}`), 204);
    expect((await details(other.as(credential))).status).toBe(401);
    expect((await ada.get(`/api/v2/sessions/${id}`)).status).toBe(404);
    await other.close();
  });

  it('ends with all sessions of its person, whose tokens remain valid', async () => {
    const api = await signInTestUser(server, ada.id);
    expectStatus(await api.delete(`/api/v2/users/${ada.id}/sessions`), 204);
    expect((await details(api)).status).toBe(401);
    expect((await details(ada)).status).toBe(200);
  });

  it('stays if its person ends all except the current one', async () => {
    const [api, other] = [await signInTestUser(server, ada.id), await signInTestUser(server, ada.id)];
    const path = `/api/v2/users/${ada.id}/sessions`;
    const refused = expectStatus(await api.delete(`${path}?except=this`), 400);
    expect(refused.body.errors[0].detail).toBe('except can only be current, got this');
    expectStatus(await api.delete(`${path}?except=current`), 204);
    expect((await details(api)).status).toBe(200);
    expect((await details(other)).status).toBe(401);
    expectStatus(await ada.delete(`${path}?except=current`), 204);
    expect((await details(api)).status).toBe(401);
  });

  it('ends at its absolute end even if it is used', async () => {
    const api = await signInTestUser(server, ada.id);
    for (let hour = 0; hour < 47; hour += 1) {
      clock.pass({ minutes: 59 });
      expectStatus(await details(api), 200);
      await server.uses.flush();
    }
    clock.pass({ minutes: 120 });
    expect((await details(api)).status).toBe(401);
  });

  it('ends if it was not used for the idle time', async () => {
    await runJob();
    const api = await signInTestUser(server, ada.id);
    clock.pass({ minutes: 61 });
    expect((await details(api)).status).toBe(401);
    await runJob();
    expect(await remainingSessions()).toEqual([]);
    expect((await readWholeLog(server.store)).at(-1)).toMatchObject({
      type: 'SessionEnded',
      data: { reason: 'idle' },
      context: { auth: 'System' },
    });
  });

  it('replaces the oldest session if the person has the largest number', async () => {
    await server.delete(`/api/v2/users/${ada.id}/sessions`);
    const first = await startTestSession(server, ada.id);
    for (let count = 1; count < MAX_SESSIONS; count += 1) {
      clock.pass({ seconds: 1 });
      await startTestSession(server, ada.id);
    }
    expect(await remainingSessions()).toHaveLength(MAX_SESSIONS);
    clock.pass({ seconds: 1 });
    await startTestSession(server, ada.id);
    const remaining = await remainingSessions();
    expect(remaining).toHaveLength(MAX_SESSIONS);
    expect(remaining).not.toContainEqual({ id: first.id });
  });

  it('is invisible to other people', async () => {
    const bob = await makeMember(server, 'acme', 'bob', []);
    const { id } = await startTestSession(server, ada.id);
    for (const path of [`/api/v2/sessions/${id}`, `/api/v2/users/${ada.id}/sessions`]) {
      expect([(await bob.get(path)).status, (await bob.delete(path)).status]).toEqual([404, 404]);
    }
  });

  it.each([
    ['from another site', { origin: 'https://evil.test', 'x-cadastre-csrf': '1' }],
    ['without an origin', { 'x-cadastre-csrf': '1' }],
    ['without the header', { origin: ORIGIN }],
    [
      'that the browser marks as cross-site',
      { origin: ORIGIN, 'x-cadastre-csrf': '1', 'sec-fetch-site': 'cross-site' },
    ],
  ])('is not accepted for a change %s', async (_, headers) => {
    const { secret, id } = await startTestSession(server, ada.id);
    const response = await fetch(`${server.url}/api/v2/sessions/${id}`, {
      method: 'DELETE',
      headers: { cookie: `__Host-cadastre-session=${secret}`, ...(headers as Record<string, string>) },
    });
    expect(response.status).toBe(403);
    expect((await ada.get(`/api/v2/sessions/${id}`)).status).toBe(200);
  });

  it('ends when its person is forgotten', async () => {
    const carol = await makeMember(server, 'acme', 'carol', []);
    const api = await signInTestUser(server, carol.id);
    expectStatus(await server.delete(`/api/v2/admin/users/${carol.id}`), 204);
    expect((await details(api)).status).toBe(401);
    expect((await readWholeLog(server.store)).filter(({ type }) => type === 'SessionEnded').at(-1)).toMatchObject({
      data: { user: carol.id, reason: 'forgotten' },
    });
  });

  it('leaves views that match the log', () => expectViewsMatchLog(server, [peopleDefinition]));
});

describe('an organization', () => {
  const organization = '/api/v2/organizations/acme';
  const settle = (attributes: object) => server.patch(organization, resource('organizations', attributes));

  it.each([
    ['password', 'password', 200],
    ['two_factor_mandatory', 'password', 401],
    ['two_factor_mandatory', 'two-factor', 200],
    ['two_factor_mandatory', 'oidc', 401],
    ['two_factor_mandatory', 'oidc-two-factor', 200],
    ['sso_mandatory', 'two-factor', 401],
    ['sso_mandatory', 'oidc', 200],
    ['sso_mandatory', 'oidc-two-factor', 200],
  ] as const)('with the policy %s answers a session of assurance %s with %d', async (policy, assurance, status) => {
    expectStatus(await settle({ 'collaborator-auth-policy': policy }), 200);
    const method = assurance.startsWith('oidc') ? 'oidc' : 'password';
    const api = await signInTestUser(server, ada.id, { assurance, method });
    expect((await api.get(`${organization}/projects`)).status).toBe(status);
    const created = await api.post(`/api/v2/users/${ada.id}/authentication-tokens`, resource('authentication-tokens'));
    const token = server.as(created.body.data.attributes.token as string);
    // A token has the assurance of the session that created it, so it opens nothing more.
    expect((await token.get(`${organization}/projects`)).status).toBe(status);
    expectStatus(await settle({ 'collaborator-auth-policy': 'password' }), 200);
    expect((await api.get(`${organization}/projects`)).status).toBe(200);
  });

  it('closes to a session that is older than its session-remember', async () => {
    expectStatus(await settle({ 'session-remember': 30 }), 200);
    const api = await signInTestUser(server, ada.id);
    expect((await api.get(`${organization}/projects`)).status).toBe(200);
    clock.pass({ minutes: 31 });
    expect((await api.get(`${organization}/projects`)).status).toBe(401);
    expect((await details(api)).status).toBe(200);
    expectStatus(await settle({ 'session-remember': null }), 200);
  });

  it('records sessions of its active members in its audit trail', async () => {
    await makeOrganization(server, 'rival');
    const { id } = await startTestSession(server, ada.id);
    expectStatus(await ada.delete(`/api/v2/sessions/${id}`), 204);
    const entriesOf = async (name: string) => {
      const token = await makeOrganizationToken(server, name);
      const trail = await server.as(token).get('/api/v2/organization/audit-trail?page%5Bsize%5D=1000');
      return (trail.body.data as { resource: { id: string; type: string; action: string; meta: unknown } }[])
        .map(({ resource: audited }) => audited)
        .filter((audited) => audited.id === id);
    };
    expect((await entriesOf('acme')).toSorted((a, b) => a.action.localeCompare(b.action))).toEqual([
      {
        id,
        type: 'session',
        action: 'create',
        meta: { user: 'ada', user_id: ada.id, method: 'password', assurance: 'password' },
      },
      { id, type: 'session', action: 'destroy', meta: { user: 'ada', user_id: ada.id, reason: 'revoked' } },
    ]);
    expect(await entriesOf('rival')).toEqual([]);
  });
});
