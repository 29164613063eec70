import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sql } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeTeam,
  makeToken,
  resource,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { ensureUser } from '../operator/people.operator.js';
import { mapGroupsToTeams } from './group-teams.operation.js';

const GROUPS = ['developers', 'operators', 'auditors', 'chiefs'];

let server: TestServer;
let acme: SeededOrganization;
let rival: SeededOrganization;
/** Ids of the teams by group. */
const teams = new Map<string, string[]>();

beforeAll(async () => {
  server = await startTestServer();
  acme = await makeOrganization(server, 'acme');
  rival = await makeOrganization(server, 'rival');
  for (const group of ['developers', 'operators', 'auditors']) {
    const ids = [acme, rival].map(({ name }) => makeTeam(server, name, group, { 'sso-team-id': group }));
    teams.set(group, await Promise.all(ids));
  }
  await server.patch(`/api/v2/teams/${acme.ownersTeam}`, resource('teams', { 'sso-team-id': 'chiefs' }));
  teams.set('chiefs', [acme.ownersTeam]);
  await makeTeam(server, 'acme', 'manual');
});

afterAll(() => server.close());

const map = (user: string, groups: readonly string[], managed: readonly string[] | null = null): Promise<void> => {
  const { store, runtime } = server;
  return mapGroupsToTeams({ store, ids: runtime.ids }, { user, groups, managed }, createSystemContext('test', 'test'));
};

const makeUser = async (name: string): Promise<string> =>
  (await ensureUser(server.store, server.runtime.ids, name, false)).id;

const listTeams = async (user: string): Promise<readonly string[]> =>
  (await server.database.rows<{ team: string }>(sql`select team from team_members where user_id = ${user}`))
    .map(({ team }) => team)
    .toSorted();

const listMemberships = (user: string) =>
  server.database.rows<{ organization: string; status: string }>(
    sql`select organization, status from organization_memberships where user_id = ${user} order by organization`,
  );

const expectedTeams = (...groups: readonly string[]): readonly string[] =>
  groups.flatMap((group) => teams.get(group) ?? []).toSorted();

describe('the groups of a user', () => {
  it('add the user to teams of all organizations as an active member, and remove the user again', async () => {
    const ada = await makeUser('ada');
    await map(ada, ['developers', 'unknown']);
    expect(await listTeams(ada)).toEqual(expectedTeams('developers'));
    expect((await listMemberships(ada)).map(({ status }) => status)).toEqual(['active', 'active']);
    await map(ada, ['operators']);
    expect(await listTeams(ada)).toEqual(expectedTeams('operators'));
    await map(ada, []);
    expect(await listTeams(ada)).toEqual([]);
    expect(await listMemberships(ada)).toHaveLength(2);
  });

  it('accept an invitation, and leave teams without an SSO id alone', async () => {
    const manual = await makeTeam(server, 'acme', 'by-hand');
    const into = { teams: { data: [{ type: 'teams', id: manual }] } };
    const body = resource('organization-memberships', { email: 'invited@people.test' }, into);
    const path = '/api/v2/organizations/acme/organization-memberships';
    const user = expectStatus(await server.post(path, body), 201).body.data.relationships.user.data.id as string;
    await map(user, ['auditors']);
    await map(user, []);
    expect(await listTeams(user)).toEqual([manual]);
    expect((await listMemberships(user)).map(({ status }) => status)).toEqual(['active', 'active']);
  });

  it('change access at the next request', async () => {
    const user = await makeUser('quick');
    const token = await makeToken(server, `/api/v2/users/${user}/authentication-tokens`);
    expectStatus(await server.as(token).get('/api/v2/organizations/acme'), 404);
    await map(user, ['developers']);
    expectStatus(await server.as(token).get('/api/v2/organizations/acme'), 200);
  });

  it('change only teams of managed groups if the provider names them', async () => {
    const bob = await makeUser('bob');
    await map(bob, ['developers', 'operators']);
    await map(bob, ['auditors'], ['operators']);
    expect(await listTeams(bob)).toEqual(expectedTeams('developers'));
  });

  it('change no team of a suspended user if the caller refuses them', async () => {
    const user = await makeUser('suspended');
    expectStatus(await server.post(`/api/v2/admin/users/${user}/actions/suspend`), 200);
    const { store, runtime } = server;
    const userGroups = { user, groups: ['developers'], managed: null, refusesSuspended: true };
    const context = createSystemContext('test', 'test');
    const work = mapGroupsToTeams({ store, ids: runtime.ids }, userGroups, context);
    await expect(work).rejects.toMatchObject({ kind: 'not-found' });
    expect(await listTeams(user)).toEqual([]);
    await map(user, ['developers']);
    expect(await listTeams(user)).toEqual(expectedTeams('developers'));
  });

  it('append nothing if the teams match', async () => {
    const eve = await makeUser('eve');
    await map(eve, ['developers']);
    const count = () => server.database.row(sql`select count(*) from event_store.events`);
    const before = await count();
    await map(eve, ['developers']);
    expect(await count()).toEqual(before);
  });

  it('never remove the last active owner', async () => {
    const founded = await makeOrganization(server, 'founded');
    const owner = await makeMember(server, 'founded', 'sole', [founded.ownersTeam]);
    const { username } = expectStatus(await server.get('/api/v2/account/details'), 200).body.data.attributes;
    const founder = { data: [{ type: 'users', id: username }] };
    expectStatus(await server.delete(`/api/v2/teams/${founded.ownersTeam}/relationships/users`, founder), 204);
    const ssoId = resource('teams', { 'sso-team-id': 'founders' });
    expectStatus(await server.patch(`/api/v2/teams/${founded.ownersTeam}`, ssoId), 200);
    await map(owner.id, []);
    expect(await listTeams(owner.id)).toEqual([founded.ownersTeam]);
    const second = await makeMember(server, 'founded', 'second', [founded.ownersTeam]);
    await Promise.all([map(owner.id, []), map(second.id, [])]);
    expect([...(await listTeams(owner.id)), ...(await listTeams(second.id))]).toEqual([founded.ownersTeam]);
  });

  it('match the teams after any sequence of concurrent changes', async () => {
    const groups = fc.subarray(GROUPS);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(groups, groups), { minLength: 1, maxLength: 3 }), async (steps) => {
        count += 1;
        const users = [await makeUser(`left-${count}`), await makeUser(`right-${count}`)] as const;
        for (const [left, right] of steps) {
          await Promise.all([map(users[0], left), map(users[1], right), map(users[0], left)]);
          expect(await listTeams(users[0])).toEqual(expectedTeams(...left));
          expect(await listTeams(users[1])).toEqual(expectedTeams(...right));
        }
      }),
      { numRuns: 12 },
    );
  });

  it('are refused for an unknown user', async () => {
    await expect(map('user-0000000000000000', ['developers'])).rejects.toThrow('Not found');
  });
});
