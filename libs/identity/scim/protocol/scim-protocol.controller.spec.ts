import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendRaw, type RawReply } from '../../../../test/support/raw-requests.js';
import { createScimUser, makeScimClient } from '../../../../test/support/scim.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeToken,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { signInTestUser } from '../../../../test/support/sessions.js';

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

let server: TestServer;
let scim: ApiTestClient;
let secret: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  scim = await makeScimClient(server);
  const body = resource('authentication-tokens', { description: 'raw' });
  secret = expectStatus(await server.post('/api/v2/admin/scim-tokens', body), 201).body.data.attributes.token;
});

afterAll(() => server.close());

const send = (method: string, url: string, type: string | null, body: string | undefined): Promise<RawReply> =>
  sendRaw(server.url, { method, url, headers: type === null ? {} : { 'content-type': type }, body }, secret);

describe('SCIM', () => {
  it('describes its features', async () => {
    const { body, headers } = expectStatus(await scim.get('/scim/v2/ServiceProviderConfig'), 200);
    expect(body).toMatchObject({ patch: { supported: true }, bulk: { supported: false }, filter: { maxResults: 100 } });
    expect(headers.get('content-type')).toMatch(/^application\/scim\+json/);
    for (const [list, id] of [
      ['ResourceTypes', 'Group'],
      ['Schemas', 'urn:ietf:params:scim:schemas:core:2.0:User'],
    ]) {
      const { Resources } = expectStatus(await scim.get(`/scim/v2/${list}`), 200).body;
      expect(Resources.map((one: { id: string }) => one.id)).toContain(id);
      const description = expectStatus(await scim.get(`/scim/v2/${list}/${id}`), 200).body;
      expect(description.meta.location).toBe(`${server.runtime.settings.publicUrl}/scim/v2/${list}/${id}`);
      expectStatus(await scim.get(`/scim/v2/${list}/nothing`), 404);
    }
  });

  it('refuses every other token and sessions, and its token is refused elsewhere', async () => {
    const member = await makeMember(server, 'acme', 'curious');
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    const browser = await signInTestUser(server, member.id);
    for (const api of [server, member, organization, browser, server.as(null), server.as('wrong')]) {
      for (const refused of [
        await api.get('/scim/v2/Users'),
        await api.post('/scim/v2/Users', { userName: 'x@people.test' }),
        await api.get('/scim/v2/ServiceProviderConfig'),
      ]) {
        expect(expectStatus(refused, 401).body).toMatchObject({ schemas: [ERROR], status: '401' });
      }
    }
    for (const path of ['account/details', 'organizations', 'organizations/acme', 'admin/scim-tokens']) {
      expect([path, (await scim.get(`/api/v2/${path}`)).status]).toEqual([path, 401]);
    }
    expectStatus(await scim.get('/account'), 303);
  });

  it('ends with its token', async () => {
    const { body } = await server.post(
      '/api/v2/admin/scim-tokens',
      resource('authentication-tokens', { description: 'short' }),
    );
    const api = server.as(body.data.attributes.token);
    expectStatus(await api.get('/scim/v2/Users'), 200);
    expectStatus(await server.delete(`/api/v2/authentication-tokens/${body.data.id}`), 204);
    expectStatus(await api.get('/scim/v2/Users'), 401);
    expectStatus(await api.get('/scim/v2/Schemas'), 401);
  });

  it.each(['application/scim+json', 'application/scim+json; charset=utf-8', 'application/json', null])(
    'accepts bodies of the media type %s',
    async (type) => {
      const userName = `${(type ?? 'none').replaceAll(/\W/g, '-')}@types.test`;
      const { status, type: answered } = await send('POST', '/scim/v2/Users', type, JSON.stringify({ userName }));
      expect([status, answered]).toEqual([201, expect.stringMatching(/^application\/scim\+json/)]);
    },
  );

  it.each([
    ['a text as a body', 'POST', '/scim/v2/Users', 'text/plain', 'x', 415],
    ['a body that is not JSON', 'POST', '/scim/v2/Users', 'application/scim+json', '{"userName":', 400],
    ['a body that is no object', 'POST', '/scim/v2/Users', 'application/scim+json', '[]', 400],
    ['a large body', 'POST', '/scim/v2/Users', 'application/scim+json', `"${'x'.repeat(300_000)}"`, 413],
    ['an unknown address', 'POST', '/scim/v2/Bulk', 'application/scim+json', '{}', 404],
    ['an unknown method', 'DELETE', '/scim/v2/Users', null, undefined, 405],
    ['an unknown user', 'GET', '/scim/v2/Users/user-0000000000000000', null, undefined, 404],
    ['a NUL in the address', 'GET', '/scim/v2/Users/%00', null, undefined, 400],
    ['a broken address', 'GET', '/scim/v2/Users/%zz', null, undefined, 400],
    ['a page that is no number', 'GET', '/scim/v2/Users?count=all', null, undefined, 400],
  ])('answers %s with an error of SCIM', async (_, method, url, type, body, status) => {
    const answer = await send(method, url, type, body);
    expect([answer.status, answer.type]).toEqual([status, expect.stringMatching(/^application\/scim\+json/)]);
    const error = JSON.parse(answer.text) as { readonly detail: string };
    expect(error).toMatchObject({ schemas: [ERROR], status: String(status) });
    expect(error.detail).not.toBe('');
  });

  it.each([
    [{}, 'userName: Invalid input: expected string, received undefined'],
    [{ userName: '' }, 'userName: '],
    [{ userName: 1 }, 'userName: '],
    [{ userName: 'x'.repeat(300) }, 'userName: '],
    [{ userName: 'a\0b' }, 'userName: must not contain a NUL character'],
    [{ userName: 'a@b', emails: 'a@b' }, 'emails: '],
    [{ userName: 'a@b', emails: [{ value: 'no address' }] }, 'Email is invalid'],
    [{ userName: 'a@b', active: 'maybe' }, 'active: '],
  ])('refuses the user %j', async (body, detail) => {
    const { body: error } = expectStatus(await scim.post('/scim/v2/Users', body), 400);
    expect(error).toMatchObject({ scimType: 'invalidValue', detail: expect.stringContaining(detail) });
  });

  it('is recorded with the token as the caller', async () => {
    const { id } = await createScimUser(scim, 'recorded@people.test');
    const [created] = await server.store.log.stream(id);
    const [provisioned] = await server.store.log.stream(id.replace('user-', 'scu-'));
    const accessor = { type: 'authentication-tokens', name: 'identity provider', id: expect.stringMatching(/^at-/) };
    expect(created).toMatchObject({ type: 'UserCreated', context: { accessor } });
    expect(provisioned).toMatchObject({ type: 'ScimUserProvisioned', context: { accessor } });
    expect(JSON.stringify(provisioned)).not.toContain(secret);
  });

  it('shows when its token was used last', async () => {
    await server.uses.flush();
    const { body } = expectStatus(await server.get('/api/v2/admin/scim-tokens'), 200);
    const used = body.data.map((one: { attributes: object }) => one.attributes);
    expect(used).toContainEqual(expect.objectContaining({ description: 'raw', 'last-used-at': expect.any(String) }));
  });

  it('lets no token of a deactivated user in', async () => {
    const { id } = await createScimUser(scim, 'later@people.test');
    const token = await makeToken(server, `/api/v2/users/${id}/authentication-tokens`);
    expectStatus(await scim.delete(`/scim/v2/Users/${id}`), 204);
    expectStatus(await server.as(token).get('/api/v2/ping'), 204);
    expectStatus(await server.as(token).get('/api/v2/account/details'), 401);
  });
});
