import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createScimUser, makeScimClient } from '../../../test/support/scim.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeToken,
} from '../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';

let server: TestServer;
let scim: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  scim = await makeScimClient(server);
});

afterAll(() => server.close());

const patch = (id: string, ...Operations: readonly object[]) =>
  scim.patch(`/scim/v2/Users/${id}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations,
  });

const list = async (query: string): Promise<readonly string[]> =>
  expectStatus(await scim.get(`/scim/v2/Users?${query}`), 200).body.Resources.map(
    ({ userName }: { userName: string }) => userName,
  );

const filter = (text: string) => list(`filter=${encodeURIComponent(text)}`);

describe('a user of SCIM', () => {
  it('becomes an account with a username, an address and an external id', async () => {
    const attributes = { externalId: '00u1', emails: [{ value: 'ada@people.test', primary: true }] };
    const ada = await createScimUser(scim, 'ada.lovelace@people.test', attributes);
    expect(ada).toMatchObject({
      userName: 'ada.lovelace@people.test',
      displayName: 'ada-lovelace',
      active: true,
      externalId: '00u1',
    });
    const { body } = expectStatus(await server.get(`/api/v2/users/${ada.id}`), 200);
    expect(body.data.attributes).toMatchObject({ username: 'ada-lovelace', email: 'ada@people.test' });
    const shownUser = expectStatus(await scim.get(`/scim/v2/Users/${ada.id}`), 200);
    expect(shownUser.body).toEqual(ada);
    expect(shownUser.headers.get('content-type')).toMatch(/^application\/scim\+json/);
    const events = await server.store.stream(ada.id);
    const { body: tokens } = await server.get('/api/v2/admin/scim-tokens');
    expect(tokens.data.map(({ id }: { id: string }) => id)).toContain(events[0]?.context.accessor.id);
  });

  it('does not take over an account that SCIM did not make', async () => {
    const member = await makeMember(server, 'acme', 'owner-of-address');
    const refused = expectStatus(await scim.post('/scim/v2/Users', { userName: member.email.toUpperCase() }), 409);
    expect(refused.body).toMatchObject({ status: '409', scimType: 'uniqueness' });
    expectStatus(await scim.get(`/scim/v2/Users/${member.id}`), 404);
    expectStatus(await scim.delete(`/scim/v2/Users/${member.id}`), 404);
    expectStatus(await patch(member.id, { op: 'replace', path: 'active', value: false }), 404);
    expectStatus(await member.get('/api/v2/account/details'), 200);
  });

  it('gets another username if the first one is taken, and its user name is unique', async () => {
    await makeMember(server, 'acme', 'taken');
    const other = await createScimUser(scim, 'taken@elsewhere.test');
    expect(other['displayName']).toMatch(/^taken_/);
    const again = expectStatus(await scim.post('/scim/v2/Users', { userName: 'TAKEN@elsewhere.test' }), 409);
    expect(again.body.scimType).toBe('uniqueness');
    const answers = await Promise.all([1, 2, 3].map(() => scim.post('/scim/v2/Users', { userName: 'same@race.test' })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
  });

  it.each([
    ['a boolean', [{ op: 'replace', path: 'active', value: false }]],
    ['a text of Microsoft Entra', [{ op: 'Replace', path: 'active', value: 'False' }]],
    ['a value without a path of Okta', [{ op: 'replace', value: { active: false } }]],
  ])('is deactivated by %s, and loses its tokens at the next request', async (name, operations) => {
    const { id } = await createScimUser(scim, `${name.replaceAll(' ', '-').toLowerCase()}@off.test`);
    const token = await makeToken(server, `/api/v2/users/${id}/authentication-tokens`);
    expectStatus(await server.as(token).get('/api/v2/account/details'), 200);
    expect(expectStatus(await patch(id, ...operations), 200).body.active).toBe(false);
    expectStatus(await server.as(token).get('/api/v2/account/details'), 401);
    expect(expectStatus(await patch(id, { op: 'replace', path: 'active', value: true }), 200).body.active).toBe(true);
    expectStatus(await server.as(token).get('/api/v2/account/details'), 401);
  });

  it('ends all tokens although requests create tokens at the same time', async () => {
    const { id } = await createScimUser(scim, 'racer@off.test');
    const path = `/api/v2/users/${id}/authentication-tokens`;
    const answers = await Promise.all([
      server.post(path),
      patch(id, { op: 'replace', path: 'active', value: false }),
      server.post(path),
    ]);
    expect(answers[1]?.status).toBe(200);
    for (const secret of answers.flatMap(({ body }) => body?.data?.attributes?.token ?? [])) {
      expectStatus(await server.as(secret).get('/api/v2/account/details'), 401);
    }
  });

  it('comes back with the same id if it is deleted and created again', async () => {
    const { id } = await createScimUser(scim, 'returning@people.test');
    expectStatus(await scim.delete(`/scim/v2/Users/${id}`), 204);
    expectStatus(await scim.get(`/scim/v2/Users/${id}`), 404);
    expectStatus(await scim.delete(`/scim/v2/Users/${id}`), 404);
    expect(expectStatus(await server.get(`/api/v2/users/${id}`), 200).body.data.attributes['is-suspended']).toBe(true);
    const back = await createScimUser(scim, 'returning@people.test');
    expect(back).toMatchObject({ id, active: true });
  });

  it('changes its names by PUT and PATCH, and ignores unknown attributes', async () => {
    const { id } = await createScimUser(scim, 'before@people.test');
    const put = { userName: 'after@people.test', externalId: 'x', active: true };
    expect(expectStatus(await scim.put(`/scim/v2/Users/${id}`, put), 200).body).toMatchObject({
      userName: 'after@people.test',
      displayName: 'after',
      externalId: 'x',
      emails: [{ value: 'after@people.test' }],
    });
    const patched = await patch(
      id,
      { op: 'add', path: 'emails[type eq "work"].value', value: 'new@people.test' },
      { op: 'replace', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'x' },
      { op: 'remove', path: 'externalId' },
    );
    expect(expectStatus(patched, 200).body).not.toHaveProperty('externalId');
    expect(patched.body.emails).toMatchObject([{ value: 'new@people.test' }]);
  });

  it('is forgotten with its names at the identity provider', async () => {
    const { id } = await createScimUser(scim, 'forgotten@people.test', { externalId: 'secret' });
    expectStatus(await server.delete(`/api/v2/admin/users/${id}`), 204);
    expectStatus(await scim.get(`/scim/v2/Users/${id}`), 404);
    const [event] = await server.store.stream(id.replace('user-', 'scu-'));
    expect(event?.data).toMatchObject({ userName: id, externalId: null });
  });
});

describe('a list of users', () => {
  it('is filtered by each attribute', async () => {
    const attributes = { externalId: 'Ext-1', emails: [{ value: 'zoe@mail.test' }], active: false };
    const zoe = await createScimUser(scim, 'zoe@filter.test', attributes);
    for (const text of [
      'userName eq "ZOE@filter.test"',
      'externalId eq "Ext-1"',
      'emails.value co "zoe@mail"',
      'emails[value eq "zoe@mail.test"]',
      `id eq "${zoe.id}"`,
      'userName sw "zoe" and active eq false',
      'externalId pr and (userName eq "nobody" or displayName sw "zo")',
      'active eq "False" and not (userName co "@off.test") and userName co "filter"',
    ]) {
      expect([text, await filter(text)]).toEqual([text, ['zoe@filter.test']]);
    }
    expect(await filter('externalId eq "ext-1"')).toEqual([]);
    expect(await filter('userName ne "zoe@filter.test" and userName sw "zoe"')).toEqual([]);
  });

  it('has pages, and only the requested attributes', async () => {
    for (const name of ['a', 'b', 'c']) await createScimUser(scim, `${name}@pages.test`);
    const query = `filter=${encodeURIComponent('userName co "@pages.test"')}`;
    const all = await list(query);
    const { body } = expectStatus(
      await scim.get(`/scim/v2/Users?${query}&startIndex=2&count=1&attributes=userName`),
      200,
    );
    expect(body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 });
    expect(body.Resources).toEqual([{ schemas: expect.anything(), id: expect.anything(), userName: all[1] }]);
    expect(await list(`${query}&count=0`)).toEqual([]);
  });

  it.each([
    `userName eq "x' or '1'='1"`,
    'userName eq "x\\"; drop table users; --"',
    'userName co "%"',
    'userName sw "_"',
  ])('takes %s as a text', async (text) => expect(await filter(text)).toEqual([]));

  it.each([
    'userName',
    'userName eq',
    'userName eq "open',
    'password eq "x"',
    '__proto__ eq "x"',
    'constructor pr',
    'userName gt "a"',
    'active co "t"',
    `userName eq "${'x'.repeat(1_024)}"`,
    '('.repeat(1_000),
    'not '.repeat(250),
  ])('refuses the filter %s', async (text) => {
    const { body } = expectStatus(await scim.get(`/scim/v2/Users?filter=${encodeURIComponent(text)}`), 400);
    expect(body).toMatchObject({ status: '400', scimType: 'invalidFilter' });
  });
});

describe('the protocol', () => {
  it('describes its features', async () => {
    const { body } = expectStatus(await scim.get('/scim/v2/ServiceProviderConfig'), 200);
    expect(body).toMatchObject({ patch: { supported: true }, bulk: { supported: false } });
    expectStatus(await scim.post('/scim/v2/Bulk', {}), 404);
  });

  it('refuses every other token, and its token is refused elsewhere', async () => {
    const member = await makeMember(server, 'acme', 'curious');
    const others = [server, member, server.as(await makeOrganizationToken(server, 'acme')), server.as(null)];
    for (const api of others) {
      expectStatus(await api.get('/scim/v2/Users'), 401);
      expectStatus(await api.post('/scim/v2/Users', { userName: 'x@people.test' }), 401);
    }
    for (const path of ['account/details', 'organizations', 'organizations/acme', 'admin/scim-tokens', 'ping']) {
      expect([path, (await scim.get(`/api/v2/${path}`)).status]).toEqual([path, path === 'ping' ? 204 : 401]);
    }
    expectStatus(await scim.post('/api/v2/organizations', {}), 401);
  });

  it('ends with its token', async () => {
    const { body } = await server.post('/api/v2/admin/scim-tokens', {
      data: { type: 'authentication-tokens', attributes: { description: 'short' } },
    });
    const api = server.as(body.data.attributes.token);
    expectStatus(await api.get('/scim/v2/Users'), 200);
    expectStatus(await server.delete(`/api/v2/authentication-tokens/${body.data.id}`), 204);
    expectStatus(await api.get('/scim/v2/Users'), 401);
  });

  it.each([
    [{ op: 'replace', path: '__proto__.polluted', value: true }],
    [{ op: 'add', path: 'emails', value: [JSON.parse('{"__proto__.polluted": true, "value": "a@b"}')] }],
    [{ op: 'add', path: 'constructor.prototype.polluted', value: true }],
  ])('refuses the operation %j', async (operation) => {
    const { id } = await createScimUser(scim, `${JSON.stringify(operation).length}@polluted.test`);
    expectStatus(await patch(id, operation), 400);
    expect({}).not.toHaveProperty('polluted');
  });

  it.each([
    {},
    { userName: '' },
    { userName: 1 },
    { userName: 'x'.repeat(300) },
    { userName: 'a\0b' },
    { userName: 'a@b', emails: 'a@b' },
  ])('refuses the user %j', async (body) => {
    const refused = expectStatus(await scim.post('/scim/v2/Users', body), 400);
    expect(refused.body).toMatchObject({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      scimType: 'invalidValue',
    });
  });
});
