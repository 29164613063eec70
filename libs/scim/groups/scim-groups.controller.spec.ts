import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#kernel';
import { createScimGroup, createScimUser, makeScimClient } from '../../../test/support/scim.js';
import { expectStatus, makeMember, makeOrganization, makeTeam } from '../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';

let server: TestServer;
let scim: ApiTestClient;
let ada: string;
let bob: string;

beforeAll(async () => {
  server = await startTestServer();
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

  it('leaves members of other origins and teams of other groups alone', async () => {
    const team = await makeTeam(server, 'acme', 'mixed', { 'sso-team-id': 'mixed' });
    const manual = await makeMember(server, 'acme', 'manual', [team]);
    const { id } = await createScimGroup(scim, 'mixed', [ada]);
    expectStatus(await patch(id, { op: 'replace', path: 'members', value: [] }), 200);
    expect(await listTeamMembers(team)).toEqual([manual.id]);
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
      `id eq "${id}"`,
    ]) {
      const { body } = expectStatus(await scim.get(`/scim/v2/Groups?filter=${encodeURIComponent(text)}`), 200);
      expect([text, body.Resources.map((one: { id: string }) => one.id)]).toEqual([text, [id]]);
    }
    const { body } = expectStatus(await scim.get(`/scim/v2/Groups/${id}?excludedAttributes=members`), 200);
    expect(body).not.toHaveProperty('members');
  });
});
