import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { FollowerRunner } from '#storage/event-store';
import { listActions, readTrail } from '../../../activity/audit-trail/spec.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { createScimGroup, createScimUser, makeScimClient } from '../../../../test/support/scim.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeTeam,
  makeToken,
  resource,
} from '../../../../test/support/seeds.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { createScimDefinition } from '../scim.module.js';
import { GroupStatements } from './group-statements.port.js';
import { createScimTeamsFollower } from './scim-teams.follower.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';

let server: TestServer;
let scim: ApiTestClient;
let ada: string;
let bob: string;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
  scim = await makeScimClient(server);
  ada = (await createScimUser(scim, 'ada@people.test')).id;
  bob = (await createScimUser(scim, 'bob@people.test')).id;
});

afterAll(() => server.close());

const patch = (id: string, ...Operations: readonly object[]) => scim.patch(`/scim/v2/Groups/${id}`, { Operations });

const listTeamMembers = async (team: string): Promise<readonly string[]> =>
  (await server.database.rows<{ id: string }>(sql`select user_id as id from team_members where team = ${team}`))
    .map(({ id }) => id)
    .toSorted();

const members = (...ids: readonly string[]) => ids.map((value) => ({ value }));

describe('a group of SCIM', () => {
  it('maps its members to the team with its display name, and back', async () => {
    const team = await makeTeam(server, 'acme', 'developers', { 'sso-team-id': 'developers' });
    const { id } = await createScimGroup(scim, 'developers', [ada]);
    expect(await listTeamMembers(team)).toEqual([ada]);
    expectStatus(await patch(id, { op: 'add', path: 'members', value: members(bob) }), 200);
    expect(await listTeamMembers(team)).toEqual([ada, bob].toSorted());
    expectStatus(await patch(id, { op: 'remove', path: `members[value eq "${ada}"]` }), 200);
    expect(await listTeamMembers(team)).toEqual([bob]);
    expectStatus(await patch(id, { op: 'Remove', path: 'members', value: members(bob) }), 200);
    expect(await listTeamMembers(team)).toEqual([]);
    expectStatus(await scim.put(`/scim/v2/Groups/${id}`, { displayName: 'developers', members: members(ada) }), 200);
    expect(await listTeamMembers(team)).toEqual([ada]);
    expectStatus(await scim.delete(`/scim/v2/Groups/${id}`), 204);
    expect(await listTeamMembers(team)).toEqual([]);
    expectStatus(await scim.get(`/scim/v2/Groups/${id}`), 404);
  });

  it('moves its members to other teams if its name changes, and prefers the external id', async () => {
    const before = await makeTeam(server, 'acme', 'before', { 'sso-team-id': 'before' });
    const after = await makeTeam(server, 'acme', 'after', { 'sso-team-id': 'group-1' });
    const { id } = await createScimGroup(scim, 'before', [ada, bob]);
    expect(await listTeamMembers(before)).toHaveLength(2);
    expectStatus(await patch(id, { op: 'replace', value: { externalId: 'group-1' } }), 200);
    expect(await listTeamMembers(before)).toEqual([]);
    expect(await listTeamMembers(after)).toHaveLength(2);
  });

  it('keeps its members in their teams if another group has the new name', async () => {
    const team = await makeTeam(server, 'acme', 'steady', { 'sso-team-id': 'steady' });
    await createScimGroup(scim, 'taken');
    const { id } = await createScimGroup(scim, 'steady', [ada]);
    const refused = expectStatus(await patch(id, { op: 'replace', path: 'displayName', value: 'TAKEN' }), 409);
    expect(refused.body).toMatchObject({ scimType: 'uniqueness', detail: 'displayName: another group has it already' });
    expect(await listTeamMembers(team)).toEqual([ada]);
  });

  it('maps its members to a team that gets its name later', async () => {
    await createScimGroup(scim, 'late', [ada]);
    const created = await makeTeam(server, 'acme', 'late', { 'sso-team-id': 'late' });
    const changed = await makeTeam(server, 'acme', 'changed');
    const body = resource('teams', { 'sso-team-id': 'late' });
    expectStatus(await server.patch(`/api/v2/teams/${changed}`, body), 200);
    await waitForFollowers(server.store, 'scim_teams');
    expect(await listTeamMembers(created)).toEqual([ada]);
    expect(await listTeamMembers(changed)).toEqual([ada]);
  });

  it('maps more members than a response waits for', async () => {
    const team = await makeTeam(server, 'acme', 'many', { 'sso-team-id': 'many' });
    const names = Array.from({ length: 130 }, (_, n) => `many-${n}@people.test`);
    const users = await Promise.all(names.map(async (name) => (await createScimUser(scim, name)).id));
    const { id } = await createScimGroup(scim, 'many', users);
    await waitForFollowers(server.store, 'scim_teams');
    expect(await listTeamMembers(team)).toEqual(users.toSorted());
    expectStatus(await scim.delete(`/scim/v2/Groups/${id}`), 204);
    await waitForFollowers(server.store, 'scim_teams');
    expect(await listTeamMembers(team)).toEqual([]);
  });

  it('gets the members of concurrent patches', async () => {
    const team = await makeTeam(server, 'acme', 'busy', { 'sso-team-id': 'busy' });
    const users = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => (await createScimUser(scim, `busy-${n}@people.test`)).id),
    );
    const { id } = await createScimGroup(scim, 'busy');
    const add = (user: string) => patch(id, { op: 'add', path: 'members', value: members(user) });
    for (const answer of await Promise.all(users.map(add))) expectStatus(answer, 200);
    await waitForFollowers(server.store, 'scim_teams');
    expect(await listTeamMembers(team)).toEqual(users.toSorted());
  });

  it('leaves members of other origins and teams of other groups alone', async () => {
    const team = await makeTeam(server, 'acme', 'mixed', { 'sso-team-id': 'mixed' });
    const manual = await makeMember(server, 'acme', 'manual', [team]);
    const { id } = await createScimGroup(scim, 'mixed', [ada]);
    expectStatus(await patch(id, { op: 'replace', path: 'members', value: [] }), 200);
    expect(await listTeamMembers(team)).toEqual([manual.id]);
  });

  it('makes invited members active', async () => {
    const team = await makeTeam(server, 'acme', 'invited', { 'sso-team-id': 'invited' });
    const guest = await createScimUser(scim, 'guest@people.test');
    const invitation = resource(
      'organization-memberships',
      { email: 'guest@people.test' },
      {
        teams: { data: [{ type: 'teams', id: team }] },
      },
    );
    expectStatus(await server.post('/api/v2/organizations/acme/organization-memberships', invitation), 201);
    await createScimGroup(scim, 'invited', [guest.id]);
    const [row] = await server.database.rows(
      sql`select status from organization_memberships where user_id = ${guest.id}`,
    );
    expect(row).toEqual({ status: 'active' });
  });

  it('loses a deleted user, who returns without the group and its teams', async () => {
    const team = await makeTeam(server, 'acme', 'left', { 'sso-team-id': 'left' });
    const { id: user } = await createScimUser(scim, 'leaver@people.test');
    const { id } = await createScimGroup(scim, 'left', [user, bob]);
    expectStatus(await scim.delete(`/scim/v2/Users/${user}`), 204);
    expect(await listTeamMembers(team)).toEqual([bob]);
    expect((await createScimUser(scim, 'leaver@people.test')).id).toBe(user);
    const { members: present } = expectStatus(await scim.get(`/scim/v2/Groups/${id}`), 200).body;
    expect(present).toEqual([{ value: bob, display: 'bob@people.test' }]);
    expect(await listTeamMembers(team)).toEqual([bob]);
  });

  it('keeps the last active owner of an organization in the owners team', async () => {
    const { ownersTeam } = await makeOrganization(server, 'kept');
    expectStatus(
      await server.patch(`/api/v2/teams/${ownersTeam}`, resource('teams', { 'sso-team-id': 'kept-owners' })),
      200,
    );
    const { id } = await createScimGroup(scim, 'kept-owners', [ada]);
    const { body } = await server.get('/api/v2/organizations/kept/organization-memberships');
    const admin = body.data.find((one: any) => one.relationships.user.data.id !== ada);
    expectStatus(await server.delete(`/api/v2/organization-memberships/${admin.id}`), 204);
    expectStatus(await scim.delete(`/scim/v2/Groups/${id}`), 204);
    await waitForFollowers(server.store, 'scim_teams');
    expect(await listTeamMembers(ownersTeam)).toEqual([ada]);
  });

  it('is recorded in the trail of the organization, with the token as the caller', async () => {
    await makeOrganization(server, 'watched');
    const auditor = server.as(
      await makeToken(server, '/api/v2/organizations/watched/authentication-token?token=audit-trails'),
    );
    const team = await makeTeam(server, 'watched', 'watched', { 'sso-team-id': 'watched' });
    const { id: user } = await createScimUser(scim, 'watched@people.test');
    await createScimGroup(scim, 'watched', [user]);
    const url = `/scim/v2/Users/${user}`;
    const operation = (path: string, value: unknown) => ({ Operations: [{ op: 'replace', path, value }] });
    expectStatus(await scim.patch(url, operation('externalId', '7')), 200);
    expectStatus(await scim.patch(url, operation('active', false)), 200);
    expectStatus(await scim.delete(url), 204);
    await createScimUser(scim, 'watched@people.test', { externalId: '7' });
    await waitForFollowers(server.store, 'audit_trail');
    const trail = await readTrail(auditor, { 'page[size]': '100' });
    const byScim = trail.data.filter(({ auth }) => auth.description === 'identity provider');
    expect(listActions({ ...trail, data: byScim })).toEqual([
      'user unsuspend',
      'user provision',
      'user deprovision',
      'team remove_member',
      'user suspend',
      'user update_provisioning',
      'user update_provisioning',
      'team add_member',
      'organization_user create',
    ]);
    expect(byScim.every(({ auth }) => auth.accessor_id.startsWith('at-'))).toBe(true);
    expect(byScim.flatMap(({ resource: { type, id } }) => (type === 'user' ? [id] : []))).toEqual(
      Array.from({ length: 6 }, () => user),
    );
    expect(await listTeamMembers(team)).toEqual([]);
  });

  it('gives access at the next request, and only users of SCIM can be members', async () => {
    const member = await makeMember(server, 'acme', 'not-of-scim');
    const refused = expectStatus(
      await scim.post('/scim/v2/Groups', { displayName: 'forged', members: members(member.id) }),
      400,
    );
    expect(refused.body.scimType).toBe('invalidValue');
    const again = { displayName: 'unique' };
    expectStatus(await scim.post('/scim/v2/Groups', again), 201);
    expect(expectStatus(await scim.post('/scim/v2/Groups', again), 409).body.scimType).toBe('uniqueness');
  });

  it('is found by name, external id and member', async () => {
    const { id } = await createScimGroup(scim, 'found', [bob]);
    for (const text of [
      `displayName eq "FOUND"`,
      `members.value eq "${bob}" and displayName sw "fo"`,
      `members[value eq "${bob}"] and displayName eq "found"`,
      `id eq "${id}" and members eq "${bob}"`,
      `id eq "${id}"`,
    ]) {
      const { body } = expectStatus(await scim.get(`/scim/v2/Groups?filter=${encodeURIComponent(text)}`), 200);
      expect([text, body.Resources.map((one: { id: string }) => one.id)]).toEqual([text, [id]]);
    }
    const { body } = expectStatus(await scim.get(`/scim/v2/Groups/${id}?excludedAttributes=members`), 200);
    expect(body).not.toHaveProperty('members');
  });

  it('has at most 5000 members, and a larger body than other resources', async () => {
    const many = Array.from({ length: 5_001 }, (_, n) => ({ value: `user-${n}`, display: 'x'.repeat(40) }));
    const refused = expectStatus(await scim.post('/scim/v2/Groups', { displayName: 'huge', members: many }), 400);
    expect(refused.body).toMatchObject({ scimType: 'invalidValue', detail: expect.stringContaining('members') });
    expectStatus(await scim.post('/scim/v2/Groups', { displayName: 'x'.repeat(2 ** 20) }), 413);
  });

  it('is listed page by page, with fewer groups if they have many members', async () => {
    await server.database.rows(sql`
      insert into scim_groups select 'scg-page-' || n, 'page ' || n, null, now(), now() from generate_series(1, 4) n`);
    await server.database.rows(sql`
      insert into scim_users (id, user_name, created_at, updated_at)
      select 'user-page-' || n, 'page-' || n || '@people.test', now(), now() from generate_series(1, 5000) n`);
    await server.database.rows(sql`
      insert into scim_group_members select 'scg-page-' || g, 'user-page-' || n
        from generate_series(1, 4) g, generate_series(1, 5000) n`);
    const list = async (query: string) =>
      expectStatus(await scim.get(`/scim/v2/Groups?filter=${encodeURIComponent('id sw "scg-page-"')}&${query}`), 200)
        .body;
    const first = await list('startIndex=1');
    expect(first).toMatchObject({ totalResults: 4, itemsPerPage: 2, startIndex: 1 });
    expect(first.Resources.map((one: { members: object[] }) => one.members.length)).toEqual([5_000, 5_000]);
    expect(await list('startIndex=3')).toMatchObject({ totalResults: 4, itemsPerPage: 2, startIndex: 3 });
    const names = await list('excludedAttributes=members');
    expect(names.Resources.map((one: { displayName: string }) => one.displayName)).toEqual([
      'page 1',
      'page 2',
      'page 3',
      'page 4',
    ]);
    expect(names.Resources[0]).not.toHaveProperty('members');
    await server.database.rows(sql`delete from scim_group_members where group_id like 'scg-page-%'`);
    await server.database.rows(sql`delete from scim_groups where id like 'scg-page-%'`);
    await server.database.rows(sql`delete from scim_users where id like 'user-page-%'`);
  });

  it('is read from views that match the log', async () => {
    await expectViewsMatchLog(server, [createScimDefinition(server.resolve(GroupStatements))]);
  });
});

describe('a group whose team has a creator who was forgotten before the follower read it', () => {
  let later: TestServer;

  beforeAll(async () => {
    later = await startTestServer();
  });
  afterAll(() => later.close());

  it('maps its members to the team', async () => {
    const { ownersTeam } = await makeOrganization(later, 'acme');
    const client = await makeScimClient(later);
    const eve = await createScimUser(client, 'eve@people.test');
    await createScimGroup(client, 'orphaned', [eve.id]);
    const creator = await makeMember(later, 'acme', 'olga', [ownersTeam]);
    const team = await makeTeam(creator, 'acme', 'orphaned', { 'sso-team-id': 'orphaned' });
    expectStatus(await later.delete(`/api/v2/admin/users/${creator.id}`), 204);
    const follower = createScimTeamsFollower(later.resolve(GroupStatements));
    const runner = new FollowerRunner(later.store, follower, quiet);
    runner.start();
    try {
      await waitForFollowers(later.store, 'scim_teams');
    } finally {
      await runner.stop();
    }
    const rows = await later.database.rows(sql`select user_id as id from team_members where team = ${team}`);
    expect(rows).toEqual([{ id: eve.id }]);
  });
});
