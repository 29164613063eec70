import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sql } from '#platform/kernel';
import { hashSecret } from '#api/access';
import { logLength } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeToken,
  resource,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { ensureAdmin, ensureUser, forgetUserByName, issueUserToken, setEmail } from '../operator/people.operator.js';

let server: TestServer;
let acme: SeededOrganization;

beforeAll(async () => {
  server = await startTestServer();
  acme = await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const details = async (token: string) =>
  expectStatus(await server.as(token).get('/api/v2/account/details'), 200).body.data as Record<string, any>;

describe('account details', () => {
  it('identify the site administrator', async () => {
    expect(await details(server.adminToken)).toMatchObject({
      id: expect.stringMatching(/^user-\w{16}$/),
      type: 'users',
      attributes: {
        username: 'admin',
        email: null,
        'is-site-admin': true,
        'is-service-account': false,
        'unconfirmed-email': null,
        'two-factor': { enabled: false, verified: false },
        permissions: { 'can-create-organizations': true, 'can-manage-user-tokens': true },
      },
    });
  });

  it('link to a picture that anybody may fetch and cache, and that does not reveal whether the account exists', async () => {
    const { attributes } = await details(server.adminToken);
    const picture = expectStatus(await server.as(null).get(attributes['avatar-url']), 200);
    expect(picture.text).toMatch(/^<svg /);
    expect(picture.headers.get('content-type')).toBe('image/svg+xml');
    expect(picture.headers.get('cache-control')).toBe('public, max-age=604800, immutable');
    expectStatus(await server.as(null).get('/api/v2/users/user-0000000000000000/avatar'), 200);
    const none = expectStatus(await server.as(null).get('/api/v2/users/nobody/avatar'), 404);
    expect(none.headers.get('cache-control')).toBe('no-store');
  });

  it('identify any other user', async () => {
    const { store, runtime } = server;
    const { id } = await ensureUser(store, runtime.ids, 'ada', false);
    expect(await details(await issueUserToken(store, runtime.ids, id, 'for a test'))).toMatchObject({
      id,
      attributes: { username: 'ada', 'is-site-admin': false, 'is-service-account': false },
      relationships: { 'authentication-tokens': { links: { related: `/api/v2/users/${id}/authentication-tokens` } } },
    });
  });

  it.each([
    ['team', () => `/api/v2/teams/${acme.ownersTeam}/authentication-token`, () => acme.ownersTeam, 'owners'],
    ['organization', () => '/api/v2/organizations/acme/authentication-token', () => acme.id, 'acme'],
    ['audit', () => '/api/v2/organizations/acme/authentication-token?token=audit-trails', () => acme.id, 'acme'],
  ])('show a %s token as a service account that cannot create organizations', async (_, path, id, username) => {
    expect(await details(await makeToken(server, path()))).toMatchObject({
      id: id(),
      type: 'users',
      attributes: {
        username,
        'is-service-account': true,
        'is-site-admin': false,
        permissions: { 'can-create-organizations': false, 'can-manage-user-tokens': false },
      },
    });
  });

  it('show an organization’s token its new name right after a renaming', async () => {
    await makeOrganization(server, 'before');
    const token = await makeToken(server, '/api/v2/organizations/before/authentication-token');
    expect((await details(token))['attributes'].username).toBe('before');
    expectStatus(await server.patch('/api/v2/organizations/before', resource('organizations', { name: 'after' })), 200);
    expect((await details(token))['attributes'].username).toBe('after');
  });

  it('return 401 without a valid token', async () => {
    for (const caller of [server.as(null), server.as('nobodys.atlasv1.token')]) {
      const { body } = expectStatus(await caller.get('/api/v2/account/details'), 401);
      expect(body).not.toHaveProperty('data');
    }
  });
});

describe('an account', () => {
  const UPDATE = '/api/v2/account/update';

  it.each([UPDATE, '/api/v2/account/details'])('is changed by its user at %s', async (path) => {
    const name = path.replaceAll(/.*\//g, '');
    const member = await makeMember(server, 'acme', name);
    const attributes = { username: `${name}-2`, email: member.email };
    const { body } = expectStatus(await member.patch(path, resource('users', attributes)), 200);
    expect(body.data).toMatchObject({ id: member.id, type: 'users', attributes });
    expect((await details(member.token))['attributes']).toMatchObject({
      ...attributes,
      permissions: { 'can-change-email': true, 'can-change-username': true },
    });
    const length = await logLength(server.store);
    expectStatus(await member.patch(path, resource('users', attributes)), 200);
    expectStatus(await member.patch(path, { data: { type: 'users' } }), 200);
    expect(await logLength(server.store)).toBe(length);
  });

  it.each(['email', 'unconfirmed-email'])('keeps its address until a new %s is confirmed', async (attribute) => {
    const { store, runtime } = server;
    const member = await makeMember(server, 'acme', `wanderer-${attribute}`);
    const requestedEmail = `new-${attribute}@people.test`;
    const addresses = { email: member.email, 'unconfirmed-email': requestedEmail };
    const { body } = expectStatus(await member.patch(UPDATE, resource('users', { [attribute]: requestedEmail })), 200);
    expect(body.data.attributes).toMatchObject(addresses);
    expect((await details(member.token))['attributes']).toMatchObject(addresses);
    const length = await logLength(store);
    expectStatus(await member.patch(UPDATE, resource('users', { ...body.data.attributes })), 200);
    expect(await logLength(store)).toBe(length);
    await setEmail(store, runtime.ids, member.id, requestedEmail);
    const confirmed = { email: requestedEmail, 'unconfirmed-email': null };
    expect((await details(member.token))['attributes']).toMatchObject(confirmed);
  });

  it('drops the unconfirmed address if the request gives the present address', async () => {
    const member = await makeMember(server, 'acme', 'undecided');
    expectStatus(await member.patch(UPDATE, resource('users', { email: 'elsewhere@people.test' })), 200);
    const { body } = expectStatus(await member.patch(UPDATE, resource('users', { email: member.email })), 200);
    expect(body.data.attributes).toMatchObject({ email: member.email, 'unconfirmed-email': null });
  });

  it('gets no invitations to its unconfirmed address, and does not reveal whether another account has that address', async () => {
    const member = await makeMember(server, 'acme', 'grabber');
    const victim = await makeMember(server, 'acme', 'victim');
    await makeOrganization(server, 'inviting');
    for (const requestedEmail of ['nobody-yet@people.test', victim.email]) {
      const { body } = expectStatus(await member.patch(UPDATE, resource('users', { email: requestedEmail })), 200);
      expect(body.data.attributes).toMatchObject({ email: member.email, 'unconfirmed-email': requestedEmail });
      const invitation = resource('organization-memberships', { email: requestedEmail });
      expectStatus(await server.post('/api/v2/organizations/inviting/organization-memberships', invitation), 201);
    }
    const own = expectStatus(await member.get('/api/v2/organization-memberships'), 200).body.data;
    expect(own.map(({ id }: { id: string }) => id)).toEqual([member.membership]);
  });

  it('shows its unconfirmed address only to its user and to site administrators', async () => {
    const member = await makeMember(server, 'acme', 'discreet');
    const owner = await makeMember(server, 'acme', 'curious', [acme.ownersTeam]);
    expectStatus(await member.patch(UPDATE, resource('users', { email: 'secret@people.test' })), 200);
    const paths = [`/api/v2/users/${member.id}`, `/api/v2/organization-memberships/${member.membership}?include=user`];
    for (const path of paths) {
      expect(expectStatus(await member.get(path), 200).text).toContain('secret@people.test');
      expect(expectStatus(await server.get(path), 200).text).toContain('secret@people.test');
      expect(expectStatus(await owner.get(path), 200).text).not.toContain('secret@people.test');
    }
  });

  it('changes its address at once if its user is a site administrator', async () => {
    const member = await makeMember(server, 'acme', 'settled');
    const move = (email: string) => resource('users', { email });
    expectStatus(await server.patch(UPDATE, move('root@people.test')), 200);
    expect((await details(server.adminToken))['attributes']).toMatchObject({
      email: 'root@people.test',
      'unconfirmed-email': null,
      permissions: { 'can-change-email': true },
    });
    const refused = expectStatus(await server.patch(UPDATE, move(member.email.toUpperCase())), 422);
    expect(refused.body.errors[0].detail).toBe('Email has already been taken');
  });

  it('uses its new username in later actions', async () => {
    const member = await makeMember(server, 'acme', 'renamed');
    expectStatus(await member.patch(UPDATE, resource('users', { username: 'newly-named' })), 200);
    const { body } = await member.post(
      '/api/v2/organizations',
      resource('organizations', { name: 'theirs', email: 'a@b' }),
    );
    const path = `/api/v2/teams/${body.data.relationships['owners-team'].data.id}?include=users`;
    expect((await member.get(path)).body.included).toMatchObject([{ attributes: { username: 'newly-named' } }]);
  });

  it.each([
    [{ username: 'renamed-once' }, 'Username has already been taken', 'username'],
    [{ username: 'admin' }, 'Username is reserved: choose another one than admin', 'username'],
    [{ username: 'user-4nZ8' }, 'Username must not look like an id: it begins with user-', 'username'],
    [{ username: 'a b' }, 'Username may only contain letters, numbers, dashes and underscores', 'username'],
    [{ email: null }, "Email can't be blank", 'email'],
    [{ email: 'nowhere' }, 'Email is invalid', 'email'],
    [{ 'unconfirmed-email': 'nobody' }, 'Email is invalid', 'unconfirmed-email'],
  ])('refuses the change %j', async (attributes, detail, attribute) => {
    await ensureUser(server.store, server.runtime.ids, 'renamed-once', false);
    const member = await makeMember(server, 'acme', `wishful-${JSON.stringify(attributes).length}`);
    const { body } = expectStatus(await member.patch(UPDATE, resource('users', attributes)), 422);
    expect(body.errors).toEqual([
      expect.objectContaining({ status: '422', detail, source: { pointer: `/data/attributes/${attribute}` } }),
    ]);
  });

  it('is not available to team and organization tokens, and has no password', async () => {
    const tokens = [
      await makeOrganizationToken(server, 'acme'),
      await makeToken(server, `/api/v2/teams/${acme.ownersTeam}/authentication-token`),
    ];
    for (const token of tokens) {
      expectStatus(await server.as(token).patch(UPDATE, resource('users', { username: 'somebody' })), 404);
    }
    expectStatus(await server.as(null).patch(UPDATE, resource('users')), 401);
    expect((await server.patch('/api/v2/account/password', resource('users', { password: 'x' }))).status).toBe(404);
  });
});

describe('a user', () => {
  it('is visible to themselves, to members of the same organizations, and to site administrators', async () => {
    const ada = await makeMember(server, 'acme', 'ada-l');
    const bob = await makeMember(server, 'acme', 'bob-l', [await makeTeam(server, 'acme', 'lookers')]);
    await makeOrganization(server, 'apart');
    const eve = await makeMember(server, 'apart', 'eve-l');
    const path = `/api/v2/users/${ada.id}`;
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    for (const api of [ada, bob, server, token]) {
      const { body } = expectStatus(await api.get(path), 200);
      expect(body.data).toMatchObject({ id: ada.id, type: 'users', attributes: { username: 'ada-l' } });
    }
    expect((await bob.get(path)).body.data.attributes.permissions).toMatchObject({ 'can-change-email': false });
    expectStatus(await eve.get(path), 404);
    expectStatus(await server.get('/api/v2/users/user-nobody'), 404);
    expectStatus(await ada.delete(`/api/v2/organization-memberships/${ada.membership}`), 204);
    expectStatus(await bob.get(path), 404);
    expectStatus(await ada.get(path), 200);
  });
});

describe('the first administrator', () => {
  it('keeps their identity after a renaming, and no other user can take the name admin', async () => {
    const { store, runtime } = server;
    const { id } = await details(server.adminToken);
    expectStatus(await server.patch('/api/v2/account/update', resource('users', { username: 'site-root' })), 200);
    const member = await makeMember(server, 'acme', 'pretender');
    expectStatus(await member.patch('/api/v2/account/update', resource('users', { username: 'admin' })), 422);
    const secret = runtime.ids.secret();
    await ensureAdmin(store, runtime.ids, secret);
    expect(await details(secret)).toMatchObject({ id, attributes: { username: 'site-root', 'is-site-admin': true } });
  });

  it('has one token more if several processes start at the same time', async () => {
    const { store, runtime } = server;
    const secret = runtime.ids.secret();
    await Promise.all(Array.from({ length: 4 }, () => ensureAdmin(store, runtime.ids, secret)));
    const hashes = sql`select 1 from access.token_hashes where hash = ${hashSecret(secret)}`;
    expect(await server.database.rows(hashes)).toHaveLength(1);
  });

  it('gets no token if a name stays taken', async () => {
    const { store, runtime } = server;
    const violation = Object.assign(new Error('duplicate key'), { code: '23505', constraint: 'users_username' });
    const append = jest.spyOn(store, 'append').mockRejectedValue(violation);
    await expect(ensureAdmin(store, runtime.ids, runtime.ids.secret())).rejects.toThrow('duplicate key');
    expect(append).toHaveBeenCalledTimes(3);
    append.mockRestore();
  });
});

describe('an operator', () => {
  it('forgets a user by name, once', async () => {
    const { store, runtime } = server;
    const { token, id } = await makeMember(server, 'acme', 'leaver');
    await forgetUserByName(runtime, runtime.ids, 'leaver');
    expectStatus(await server.as(token).get('/api/v2/account/details'), 401);
    const [creation, ...rest] = await store.log.stream(id);
    expect(creation?.data).toEqual({ username: id, email: null, siteAdmin: false });
    expect(rest.map(({ type }) => type)).toEqual(['UserForgotten']);
    await expect(forgetUserByName(runtime, runtime.ids, 'leaver')).rejects.toThrow('There is no user named leaver');
    const other = await makeMember(server, 'acme', 'leaver');
    expect(other).toMatchObject({ username: 'leaver', email: 'leaver@people.test' });
    expect(other.id).not.toBe(id);
  });
});
