import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { makeOwner } from '#identity/people';
import { createScimUser, makeScimClient } from '../../../../test/support/scim.js';
import { expectStatus, makeMember, makeOrganization, makeToken } from '../../../../test/support/seeds.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { FormClient, PASSWORD, signInByLink } from '../../../../test/support/sign-in.js';
import { signInTestUser } from '../../../../test/support/sessions.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { toMethodsStream } from '../../sign-in/methods/sign-in-methods.js';
import { GroupStatements } from '../groups/group-statements.port.js';
import { createScimDefinition } from '../scim.module.js';
import { findUserByExternalId } from './scim-users.queries.js';

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
    expect(ada['meta'].location).toBe(`${server.runtime.settings.publicUrl}/scim/v2/Users/${ada.id}`);
    expect(shownUser.headers.get('content-type')).toMatch(/^application\/scim\+json/);
    const events = await server.store.log.stream(ada.id);
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

  it('gets another username if the first one is taken in any case, and its user name is unique', async () => {
    await makeMember(server, 'acme', 'taken');
    const other = await createScimUser(scim, 'taken@elsewhere.test');
    expect(other['displayName']).toMatch(/^taken_/);
    const inCapitals = await createScimUser(scim, 'TAKEN@third.test');
    expect(inCapitals['displayName']).toMatch(/^TAKEN_/);
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

  it('gets 401 with tokens and sessions on every gateway after its deactivation', async () => {
    const other = await startAnotherGateway(server);
    const { id } = await createScimUser(scim, 'everywhere@off.test');
    const token = await makeToken(server, `/api/v2/users/${id}/authentication-tokens`);
    const browser = await signInTestUser(server, id);
    const session = await signInTestUser(server, id).then((api) => api.get('/api/v2/account/details'));
    expectStatus(session, 200);
    for (const api of [server, other]) expectStatus(await api.as(token).get('/api/v2/account/details'), 200);
    expectStatus(await patch(id, { op: 'replace', path: 'active', value: false }), 200);
    for (const api of [server, other]) expectStatus(await api.as(token).get('/api/v2/account/details'), 401);
    expectStatus(await browser.get('/api/v2/account/details'), 401);
    const [sessions] = await server.database.rows(sql`select count(*) as n from sessions where user_id = ${id}`);
    expect(sessions?.['n']).toBe(0);
    await other.close();
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

  it('is not deactivated as the last active owner of an organization', async () => {
    const { id, displayName } = await createScimUser(scim, 'owner@people.test');
    await makeOrganization(server, 'owned');
    await makeOwner(server.store, server.runtime.ids, { id, username: displayName as string }, 'owned');
    const { body } = await server.get('/api/v2/organizations/owned/organization-memberships');
    const admin = body.data.find((one: any) => one.relationships.user.data.id !== id);
    expectStatus(await server.delete(`/api/v2/organization-memberships/${admin.id}`), 204);
    const detail = 'The last active owner of owned cannot be suspended; name another owner first';
    for (const refused of [
      await patch(id, { op: 'replace', path: 'active', value: false }),
      await scim.put(`/scim/v2/Users/${id}`, { userName: 'owner@people.test', active: false }),
      await scim.delete(`/scim/v2/Users/${id}`),
    ]) {
      expect(expectStatus(refused, 400).body).toMatchObject({ scimType: 'invalidValue', detail });
    }
    expect(expectStatus(await scim.get(`/scim/v2/Users/${id}`), 200).body.active).toBe(true);
  });

  it('stays suspended if an administrator suspended it, whatever the identity provider sends', async () => {
    const { id } = await createScimUser(scim, 'incident@people.test');
    const change = (action: string) => server.post(`/api/v2/admin/users/${id}/actions/${action}`);
    expectStatus(await change('suspend'), 200);
    const put = { userName: 'incident@people.test', externalId: 'new', active: true };
    expect(expectStatus(await scim.put(`/scim/v2/Users/${id}`, put), 200).body).toMatchObject({
      active: false,
      externalId: 'new',
    });
    expectStatus(await scim.delete(`/scim/v2/Users/${id}`), 204);
    expect((await createScimUser(scim, 'incident@people.test', { externalId: 'new' }))['active']).toBe(false);
    expectStatus(await change('unsuspend'), 200);
    for (const active of [false, true]) {
      expect(expectStatus(await patch(id, { op: 'replace', value: { active } }), 200).body.active).toBe(active);
    }
  });

  it('stays deactivated if a PUT does not state whether it is active', async () => {
    const { id } = await createScimUser(scim, 'left@people.test', { active: false });
    const { body } = expectStatus(await scim.put(`/scim/v2/Users/${id}`, { userName: 'left@people.test' }), 200);
    expect(body.active).toBe(false);
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

  it('comes back without its former sign-in methods', async () => {
    const { id } = await createScimUser(scim, 'locked-out@people.test');
    await (await signInByLink(server, id)).post('/account/password', { password: PASSWORD });
    expectStatus(await scim.delete(`/scim/v2/Users/${id}`), 204);
    expect((await createScimUser(scim, 'locked-out@people.test')).id).toBe(id);
    const signIn = await new FormClient(server.url, server.runtime.settings.publicUrl).post('/sign-in', {
      login: 'locked-out',
      password: PASSWORD,
    });
    expect(signIn.status).toBe(422);
    const events = await server.store.log.stream(toMethodsStream(id));
    expect(events.map(({ type }) => type)).toContain('SignInMethodsReset');
  });

  it('does not come back for another person, whose external id differs', async () => {
    const { id } = await createScimUser(scim, 'reused@people.test', { externalId: 'first' });
    expectStatus(await scim.delete(`/scim/v2/Users/${id}`), 204);
    for (const externalId of ['second', null]) {
      const other = { userName: 'reused@people.test', externalId };
      const refused = expectStatus(await scim.post('/scim/v2/Users', other), 409);
      expect(refused.body).toMatchObject({
        scimType: 'uniqueness',
        detail: expect.stringContaining('a deleted user with another externalId has it'),
      });
    }
    expect((await createScimUser(scim, 'reused@people.test', { externalId: 'first' })).id).toBe(id);
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
    );
    expect(expectStatus(patched, 200).body.emails).toMatchObject([{ value: 'new@people.test' }]);
  });

  it('changes the case of its username, unless another user has the name in any case', async () => {
    await makeMember(server, 'acme', 'spelled');
    const { id } = await createScimUser(scim, 'spelling@people.test');
    const rename = async (userName: string) =>
      expectStatus(await scim.put(`/scim/v2/Users/${id}`, { userName }), 200).body.displayName;
    expect(await rename('Spelling@people.test')).toBe('Spelling');
    expect(await rename('Spelled@other.test')).toBe('Spelling');
  });

  it('keeps its external id, which says who signs in as the user', async () => {
    const userName = 'identity@people.test';
    const { id } = await createScimUser(scim, userName, { externalId: 'mine' });
    const refused = { scimType: 'mutability', detail: expect.stringContaining('externalId: ') };
    const requests = [
      scim.put(`/scim/v2/Users/${id}`, { userName, externalId: 'another' }),
      patch(id, { op: 'replace', path: 'externalId', value: 'another' }),
      patch(id, { op: 'remove', path: 'externalId' }),
    ];
    for (const answer of await Promise.all(requests)) expect(expectStatus(answer, 400).body).toMatchObject(refused);
    const put = expectStatus(await scim.put(`/scim/v2/Users/${id}`, { userName }), 200);
    expect(put.body.externalId).toBe('mine');
  });

  it('keeps the changes of concurrent patches', async () => {
    const { id } = await createScimUser(scim, 'twice@people.test');
    const operations = [
      { op: 'replace', path: 'externalId', value: 'twice' },
      { op: 'replace', path: 'userName', value: 'thrice@people.test' },
      { op: 'replace', path: 'emails', value: [{ value: 'mail@people.test' }] },
      { op: 'replace', path: 'active', value: false },
    ];
    for (const answer of await Promise.all(operations.map((operation) => patch(id, operation))))
      expectStatus(answer, 200);
    expect(expectStatus(await scim.get(`/scim/v2/Users/${id}`), 200).body).toMatchObject({
      externalId: 'twice',
      userName: 'thrice@people.test',
      emails: [{ value: 'mail@people.test' }],
      active: false,
    });
  });

  it('is forgotten with its names at the identity provider', async () => {
    const { id } = await createScimUser(scim, 'forgotten@people.test', { externalId: 'secret' });
    expectStatus(await server.delete(`/api/v2/admin/users/${id}`), 204);
    expectStatus(await scim.get(`/scim/v2/Users/${id}`), 404);
    const [event] = await server.store.log.stream(id.replace('user-', 'scu-'));
    expect(event?.data).toMatchObject({ userName: id, externalId: null });
    const snapshots = sql`select stream from event_store.streams where state::text ~ 'forgotten@people|"secret"'`;
    expect(await server.database.rows(snapshots)).toEqual([]);
  });

  it('is found by its external id only if no other user has the same one', async () => {
    const find = () => findUserByExternalId(server.database, 'subject-1', ['site']);
    expect(await find()).toBeNull();
    const { id } = await createScimUser(scim, 'first@subject.test', { externalId: 'subject-1' });
    expect(await find()).toBe(id);
    const second = await createScimUser(scim, 'second@subject.test', { externalId: 'subject-1' });
    expect(await find()).toBeNull();
    expectStatus(await scim.delete(`/scim/v2/Users/${second.id}`), 204);
    expect(await find()).toBe(id);
  });

  it('gets a username from a user name that is no address', async () => {
    expect(await createScimUser(scim, 'grace')).toMatchObject({ displayName: 'grace', emails: [] });
    expect((await createScimUser(scim, 'Grace Hopper'))['displayName']).toBe('Grace-Hopper');
    expect((await createScimUser(scim, 'admin'))['displayName']).toBe('admin_');
  });

  it('is shown with the attributes that a change asks for', async () => {
    const created = expectStatus(
      await scim.post('/scim/v2/Users?attributes=active', { username: 'few@people.test' }),
      201,
    );
    const { id } = created.body;
    expect(created.body).toEqual({ schemas: expect.anything(), id, active: true });
    expect(created.headers.get('location')).toBe(`${server.runtime.settings.publicUrl}/scim/v2/Users/${id}`);
    const body = { Operations: [{ op: 'replace', path: 'externalId', value: 'few' }] };
    const patched = expectStatus(await scim.patch(`/scim/v2/Users/${id}?excludedAttributes=meta,emails`, body), 200);
    expect(Object.keys(patched.body).toSorted()).toEqual([
      'active',
      'displayName',
      'externalId',
      'id',
      'schemas',
      'userName',
    ]);
  });

  it('leaves an address that the person has not confirmed yet alone', async () => {
    const { id } = await createScimUser(scim, 'pending@people.test');
    const browser = await signInTestUser(server, id);
    const body = { data: { type: 'users', attributes: { email: 'wanted@people.test' } } };
    expectStatus(await browser.patch('/api/v2/account/update', body), 200);
    expectStatus(await patch(id, { op: 'replace', path: 'externalId', value: 'p' }), 200);
    const { attributes } = expectStatus(await browser.get('/api/v2/account/details'), 200).body.data;
    expect(attributes['unconfirmed-email']).toBe('wanted@people.test');
  });

  it('is read from views that match the log', async () => {
    await expectViewsMatchLog(server, [createScimDefinition(server.resolve(GroupStatements))]);
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
      'emails[type eq "work"].value eq "zoe@mail.test"',
      'emails[primary eq true and value sw "zoe"]',
      `id eq "${zoe.id}"`,
      'userName sw "zoe" and active eq false',
      'externalId pr and (userName eq "nobody" or displayName sw "zo")',
      'active eq "False" and not (userName co "@off.test") and userName co "filter"',
      'userName co "@filter." and meta.lastModified gt "2026-01-01T00:00:00Z"',
      'userName gt "zoe@filter.tes" and userName lt "zoe@filter.tesu"',
    ]) {
      expect([text, await filter(text)]).toEqual([text, ['zoe@filter.test']]);
    }
    expect(await filter('externalId eq "ext-1"')).toEqual([]);
    expect(await filter('userName ne "zoe@filter.test" and userName sw "zoe"')).toEqual([]);
    expect(await filter('meta.created gt "2999-01-01T00:00:00Z"')).toEqual([]);
  });

  it('is filtered by attributes that some users do not have', async () => {
    const names = ['with-id@null.test', 'without-id@null.test'];
    await createScimUser(scim, names[0] as string, { externalId: 'Null-1' });
    await createScimUser(scim, names[1] as string);
    const filterNulls = async (text: string) => (await filter(`userName co "@null.test" and (${text})`)).toSorted();
    expect(await filterNulls('externalId eq "Null-1"')).toEqual([names[0]]);
    expect(await filterNulls('not (externalId eq "Null-1")')).toEqual([names[1]]);
    expect(await filterNulls('externalId ne "Null-1"')).toEqual([names[1]]);
    expect(await filterNulls('externalId eq null')).toEqual([names[1]]);
    expect(await filterNulls('not (externalId pr)')).toEqual([names[1]]);
    expect(await filterNulls('not (externalId co "x" or externalId eq "Null-1")')).toEqual([names[1]]);
    expect(await filterNulls('externalId eq "Null-1" or not (externalId sw "Null")')).toEqual(names);
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
    'active co "t"',
    'active eq "maybe"',
    'meta.created gt "yesterday"',
    'meta.created gt "2026-99-99T00:00:00Z"',
    `userName eq "${'\\n'.repeat(400)}`,
    'emails[emails[value pr]]',
    `userName eq "${'x'.repeat(1_024)}"`,
    '('.repeat(1_000),
    'not '.repeat(250),
  ])('refuses the filter %s', async (text) => {
    const { body } = expectStatus(await scim.get(`/scim/v2/Users?filter=${encodeURIComponent(text)}`), 400);
    expect(body).toMatchObject({ status: '400', scimType: 'invalidFilter' });
  });
});
