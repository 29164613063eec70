import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser, issueUserToken } from '#identity/people';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { logLength } from '../../../../test/support/event-log.js';
import { expectStatus, makeMember, makeOrganization, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { signInTestUser } from '../../../../test/support/sessions.js';
import { enableTotp, FormClient, makePerson, PASSWORD } from '../../../../test/support/sign-in.js';

const PATH = '/api/v2/admin/users';

const clock = new AdjustableClock();
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ clock });
  await makeOrganization(server, 'acme');
});
afterAll(() => server.close());

type Action = 'suspend' | 'grant_admin' | 'revoke_admin' | 'disable_two_factor';

const act = (id: string, action: Action, api: Pick<ApiTestClient, 'post'> = server) =>
  api.post(`${PATH}/${id}/actions/${action}`);

const makeUser = async (name: string, siteAdmin = false) => {
  const { id } = await ensureUser(server.store, server.runtime.ids, name, siteAdmin);
  return { id, api: server.as(await issueUserToken(server.store, server.runtime.ids, id, 'for a test')) };
};

const listNames = async (query: string): Promise<readonly string[]> =>
  (expectStatus(await server.get(`${PATH}${query}`), 200).body.data as any[]).map(
    ({ attributes }) => attributes.username,
  );

describe('the users of the site', () => {
  it('are found by name, address, administration and suspension', async () => {
    await makeMember(server, 'acme', 'found-ada');
    const bob = await makeMember(server, 'acme', 'found-bob');
    await makeUser('found-carol', true);
    expectStatus(await act(bob.id, 'suspend'), 200);
    expect(await listNames('?q=FOUND-')).toEqual(['found-ada', 'found-bob', 'found-carol']);
    expect(await listNames('?q=found-ada@people')).toEqual(['found-ada']);
    expect(await listNames('?q=found-&filter%5Badmin%5D=true')).toEqual(['found-carol']);
    expect(await listNames('?q=found-&filter%5Badmin%5D=false')).toEqual(['found-ada', 'found-bob']);
    expect(await listNames('?q=found-&filter%5Bsuspended%5D=true')).toEqual(['found-bob']);
    expect(await listNames('?q=found-&filter%5Bsuspended%5D=false&filter%5Badmin%5D=false')).toEqual(['found-ada']);
    expect(await listNames('?q=found-&page%5Bsize%5D=1&page%5Bnumber%5D=2')).toEqual(['found-bob']);
    const refused = expectStatus(await server.get(`${PATH}?filter%5Badmin%5D=yes`), 400);
    expect(refused.body.errors[0]).toMatchObject({
      detail: 'filter[admin] can only be true or false, got yes',
      source: { parameter: 'filter[admin]' },
    });
  });

  it('have the attributes of Terraform Enterprise', async () => {
    const eve = await makeMember(server, 'acme', 'shown-eve');
    const { body } = expectStatus(await server.get(`${PATH}?q=shown-eve`), 200);
    const [listed] = body.data;
    expect(listed).toMatchObject({
      id: eve.id,
      type: 'users',
      attributes: {
        username: 'shown-eve',
        email: 'shown-eve@people.test',
        'avatar-url': `/api/v2/users/${eve.id}/avatar`,
        'created-at': expect.stringMatching(/Z$/),
        'is-admin': false,
        'is-suspended': false,
        'is-service-account': false,
        'two-factor': { enabled: false, verified: false },
      },
      relationships: { organizations: { data: [{ id: 'acme', type: 'organizations' }] } },
    });
    const { data: user } = expectStatus(await server.get(`/api/v2/users/${eve.id}`), 200).body;
    expect(listed.attributes).toMatchObject(user.attributes);
    expect(listed).toMatchObject({ links: user.links, relationships: user.relationships });
  });
});

describe('the administration of the site', () => {
  it('is granted and revoked at the next request, and each once', async () => {
    const { id, api } = await makeUser('promoted');
    expectStatus(await api.get(PATH), 404);
    expect(expectStatus(await act(id, 'grant_admin'), 200).body.data.attributes['is-admin']).toBe(true);
    expectStatus(await api.get(PATH), 200);
    const length = await logLength(server.store);
    expectStatus(await act(id, 'grant_admin'), 200);
    expect(await logLength(server.store)).toBe(length);
    expect(expectStatus(await act(id, 'revoke_admin', api), 200).body.data.attributes['is-admin']).toBe(false);
    expectStatus(await api.get(PATH), 404);
    expectStatus(await act(id, 'grant_admin', api), 404);
    expectStatus(await act('user-0000000000000000', 'grant_admin'), 404);
  });

  it('is not granted to suspended users, and not to invited ones that have not used the account', async () => {
    const { id } = await makeUser('dormant');
    expectStatus(await act(id, 'suspend'), 200);
    const suspended = expectStatus(await act(id, 'grant_admin'), 422);
    expect(suspended.body.errors[0].detail).toMatch(/^A suspended user cannot administer the site/);
    const invitation = resource('organization-memberships', { email: 'invited@people.test' });
    expectStatus(await server.post('/api/v2/organizations/acme/organization-memberships', invitation), 201);
    const { body } = expectStatus(await server.get(`${PATH}?q=invited@people.test`), 200);
    const invited = expectStatus(await act(body.data[0].id as string, 'grant_admin'), 422);
    expect(invited.body.errors[0].detail).toMatch(/^The user is invited and has not used the account yet/);
  });

  it('stays with one user if administrators revoke each other', async () => {
    const site = await startTestServer();
    try {
      const own = expectStatus(await site.get('/api/v2/account/details'), 200).body.data.id as string;
      const alone = expectStatus(await act(own, 'revoke_admin', site), 422);
      expect(alone.body.errors[0].detail).toMatch(/^The last administrator of the site must stay one/);
      const other = await ensureUser(site.store, site.runtime.ids, 'other', true);
      const api = site.as(await issueUserToken(site.store, site.runtime.ids, other.id, 'for a test'));
      const answers = await Promise.all([act(own, 'revoke_admin', api), act(other.id, 'revoke_admin', site)]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    } finally {
      await site.close();
    }
  });

  it('is not revoked and suspended at the same time for the last two administrators', async () => {
    const site = await startTestServer();
    try {
      const own = expectStatus(await site.get('/api/v2/account/details'), 200).body.data.id as string;
      const other = await ensureUser(site.store, site.runtime.ids, 'other', true);
      const api = site.as(await issueUserToken(site.store, site.runtime.ids, other.id, 'for a test'));
      const answers = await Promise.all([act(own, 'revoke_admin', api), act(other.id, 'suspend', site)]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    } finally {
      await site.close();
    }
  });

  it('needs a recent sign-in in a session', async () => {
    const admin = await makeUser('stale-admin', true);
    const { id } = await makeUser('stale-target');
    const session = await signInTestUser(server, admin.id);
    clock.offsetMs += 16 * 60_000;
    for (const action of ['grant_admin', 'revoke_admin', 'disable_two_factor'] as const) {
      const { body } = expectStatus(await act(id, action, session), 403);
      expect(body.errors[0].meta).toEqual({ required: 'recent-sign-in' });
    }
  });
});

describe('the second factors of a user', () => {
  it('are removed with all sessions, and the password remains', async () => {
    const user = await makePerson(server, 'locked-out');
    await enableTotp(server, user);
    const session = await signInTestUser(server, user);
    const [before] = expectStatus(await server.get(`${PATH}?q=locked-out`), 200).body.data;
    expect(before.attributes['two-factor']).toEqual({ enabled: true, verified: true });
    const { body } = expectStatus(await act(user, 'disable_two_factor'), 200);
    expect(body.data.attributes['two-factor']).toEqual({ enabled: false, verified: false });
    expectStatus(await session.get('/api/v2/account/details'), 401);
    const client = new FormClient(server.url, server.runtime.settings.publicUrl);
    const answer = await client.post('/sign-in', { login: 'locked-out', password: PASSWORD });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/app']);
    const length = await logLength(server.store);
    const { id } = await makeUser('without-factors');
    expectStatus(await act(id, 'disable_two_factor'), 200);
    expect(await logLength(server.store)).toBe(length + 2);
  });

  it('are removed by site administrators only', async () => {
    const user = await makePerson(server, 'guarded');
    await enableTotp(server, user);
    const stranger = await makeUser('stranger');
    expectStatus(await act(user, 'disable_two_factor', stranger.api), 404);
    expectStatus(await act('user-0000000000000000', 'disable_two_factor'), 404);
    const [listed] = expectStatus(await server.get(`${PATH}?q=guarded`), 200).body.data;
    expect(listed.attributes['two-factor'].enabled).toBe(true);
  });
});
