import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listViews, rebuildView, verifySnapshots, verifyView } from '#storage/event-store';
import { listSimilarNames } from '#api/access';
import { logLength } from '../../../../test/support/event-log.js';
import { listProblems } from '../../../../test/support/responses.js';
import {
  allowSimilarNames,
  expectStatus,
  makeMember,
  makeOrganization,
  makeTeam,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { listTokensOf, previewForget } from '../operator/accounts.operator.js';
import { ensureUser, forgetUserByName } from '../operator/people.operator.js';
import { peopleDefinition } from '../people.module.js';
import { findUserByLogin } from './user-login.queries.js';
import { USER_NAMES } from './user-names.js';

const TAKEN_NAME_PROBLEM = [['/data/attributes/username', 'Username has already been taken']];

const viewsOfUsers = listViews([peopleDefinition]).filter(({ tables }) => tables.includes('users'));

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
});
afterAll(() => server.close());

const rename = (api: ApiTestClient, username: string) =>
  api.patch('/api/v2/account/update', resource('users', { username }));
const findByLogin = async (login: string) => (await findUserByLogin(server.database, login))?.id;
const ensure = (name: string) => ensureUser(server.store, server.runtime.ids, name, false);
const invite = (email: string) =>
  server.post('/api/v2/organizations/acme/organization-memberships', resource('organization-memberships', { email }));
const listUsernames = async (team: string): Promise<string[]> =>
  expectStatus(await server.get(`/api/v2/teams/${team}?include=users`), 200).body.included.map(
    ({ attributes }: { attributes: { username: string } }) => attributes.username,
  );
const users = (...names: string[]) => ({ data: names.map((id) => ({ type: 'users', id })) });

describe('a username in another case', () => {
  let carol: SeededMember;

  beforeAll(async () => {
    carol = await makeMember(server, 'acme', 'carol');
  });

  it('finds the user, who keeps the name', async () => {
    for (const name of ['carol', 'Carol', 'CAROL']) {
      expect(await findByLogin(name)).toBe(carol.id);
      expect(await ensure(name)).toMatchObject({ id: carol.id, username: 'carol' });
      expect((await listTokensOf(server.store, name)).map(({ owner }) => owner)).toEqual(['carol']);
      expect(await previewForget(server.store, name)).toMatchObject({ id: carol.id, username: 'carol' });
    }
  });

  it('is refused for another user, and accepted for the user', async () => {
    const other = await makeMember(server, 'acme', 'other');
    const length = await logLength(server.store);
    for (const name of ['carol', 'Carol', 'CAROL']) {
      expect(listProblems(expectStatus(await rename(other, name), 422))).toEqual(TAKEN_NAME_PROBLEM);
    }
    expect(await logLength(server.store)).toBe(length);
    expect(expectStatus(await rename(carol, 'Carol'), 200).body.data.attributes.username).toBe('Carol');
    expect(await findByLogin('carol')).toBe(carol.id);
    expectStatus(await rename(carol, 'carol'), 200);
  });

  it('is given to one of several users that compete for it', async () => {
    const spellings = ['raced', 'Raced', 'RACED', 'rAced'];
    const rivals: SeededMember[] = [];
    for (const [n] of spellings.entries()) rivals.push(await makeMember(server, 'acme', `rival-${n}`));
    const answers = await Promise.all(rivals.map((rival, n) => rename(rival, spellings[n] ?? '')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422, 422, 422]);
  });

  it('is not derived from the addresses of people that are invited, even at the same time', async () => {
    const addresses = ['dora@a.test', 'Dora@b.test', 'DORA@c.test'];
    const answers = await Promise.all(addresses.map((address) => invite(address)));
    const accounts = await Promise.all(answers.map((answer) => expectStatus(answer, 201).body.data.id));
    expect(new Set(accounts).size).toBe(3);
    expect(await listSimilarNames(server.database, USER_NAMES)).toEqual([]);
    const names = await Promise.all(
      addresses.map(async (address) => (await findUserByLogin(server.database, address))?.username),
    );
    expect(names.filter((name) => /^dora$/i.test(name ?? ''))).toHaveLength(1);
    expect(names.filter((name) => /^dora_\w{6}$/i.test(name ?? ''))).toHaveLength(2);
  });

  it('adds and removes the member of a team once', async () => {
    const team = await makeTeam(server, 'acme', 'choir');
    const path = `/api/v2/teams/${team}/relationships/users`;
    expectStatus(await server.post(path, users('CAROL', 'carol')), 204);
    expect(await listUsernames(team)).toEqual(['carol']);
    expectStatus(await invite('Singer@people.test'), 201);
    expectStatus(await server.post(path, users('SINGER@people.test')), 204);
    expect((await listUsernames(team)).length).toBe(2);
    expect(listProblems(expectStatus(await server.post(path, users('CAROL', 'caro')), 422))).toEqual([
      ['/data/1/id', 'User caro is not a member of the organization'],
    ]);
    expectStatus(await server.delete(path, users('Carol', 'singer@people.test')), 204);
    expect((await server.get(`/api/v2/teams/${team}?include=users`)).body.included ?? []).toEqual([]);
  });
});

describe('usernames that differ only in case and are older than the rule', () => {
  let oldest: SeededMember;
  let twin: SeededMember;

  beforeAll(async () => {
    oldest = await makeMember(server, 'acme', 'Grace');
    twin = await makeMember(server, 'acme', 'other-grace');
    await allowSimilarNames(server.database, async () => {
      expectStatus(await rename(twin, 'grace'), 200);
    });
  });

  it('are reported, the oldest first', async () => {
    expect(await listSimilarNames(server.database, USER_NAMES)).toEqual([
      { names: ['Grace', 'grace'], organization: null },
    ]);
  });

  it('find exactly the user with the spelling, and the oldest for any other spelling', async () => {
    for (const [name, id] of [
      ['Grace', oldest.id],
      ['grace', twin.id],
      ['GRACE', oldest.id],
    ] as const) {
      expect(await findByLogin(name)).toBe(id);
      expect((await ensure(name)).id).toBe(id);
    }
    const team = await makeTeam(server, 'acme', 'navy');
    const path = `/api/v2/teams/${team}/relationships/users`;
    expectStatus(await server.post(path, users('grace')), 204);
    expect(await listUsernames(team)).toEqual(['grace']);
    expectStatus(await server.post(path, users('GRACE')), 204);
    expectStatus(await server.delete(path, users('grace')), 204);
    expect(await listUsernames(team)).toEqual(['Grace']);
  });

  it('stay as they are in a rebuild', async () => {
    for (const view of viewsOfUsers) {
      await rebuildView(server.store, view, { now: new Date() });
      expect([view.name, await verifyView(server.store, view, new Date())]).toEqual([view.name, []]);
    }
    expect(await findByLogin('grace')).toBe(twin.id);
  });

  it('leave other changes of the users alone', async () => {
    for (const one of [oldest, twin]) {
      const email = `new-${one.id.toLowerCase()}@people.test`;
      expectStatus(await one.patch('/api/v2/account/update', resource('users', { email })), 200);
    }
    expect(listProblems(expectStatus(await rename(twin, 'GRACE'), 422))).toEqual(TAKEN_NAME_PROBLEM);
  });

  it('are free again after one of the users is forgotten, also in a rebuild', async () => {
    const { store, runtime } = server;
    await forgetUserByName({ store, forgetting: runtime.forgetting }, runtime.ids, 'Grace');
    expect(await findByLogin('GRACE')).toBe(twin.id);
    expect(await listSimilarNames(server.database, USER_NAMES)).toEqual([]);
    expectStatus(await rename(twin, 'Grace'), 200);
    for (const view of viewsOfUsers) {
      await rebuildView(store, view, { now: new Date() });
      expect([view.name, await verifyView(store, view, new Date())]).toEqual([view.name, []]);
    }
    expect(await verifySnapshots(store, [peopleDefinition])).toEqual([]);
    expect(await findByLogin('grace')).toBe(twin.id);
  });
});
