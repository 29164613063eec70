import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rebuildView, verifyView, verifySnapshots, listViews } from '#storage/event-store';
import { sql, upcastEventData } from '#platform/kernel';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { logLength, readWholeLog, waitForFollowers } from '../../../../test/support/event-log.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeToken,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import { getDetail } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { peopleEvents } from '../people.events.js';
import { ensureUser, issueUserToken, makeOwner } from '../operator/people.operator.js';
import { peopleDefinition } from '../people.module.js';

const clock = new AdjustableClock();
let server: TestServer;
let acme: SeededOrganization;
/** Owner of acme without site permissions: users that this owner invites must accept. */
let owner: SeededMember;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  acme = await makeOrganization(server, 'acme');
  owner = await makeMember(server, 'acme', 'owner', [acme.ownersTeam]);
  await makeOrganization(server, 'elsewhere');
});

afterAll(() => server.close());

const LIST = '/api/v2/organizations/acme/organization-memberships';
const OWN = '/api/v2/organization-memberships';
const pathOf = (id: string): string => `${OWN}/${id}`;

const invitation = (email: string, ...teams: string[]) =>
  resource(
    'organization-memberships',
    { email },
    teams.length > 0 ? { teams: { data: teams.map((id) => ({ type: 'teams', id })) } } : undefined,
  );

const invite = async (email: string, ...teams: string[]) =>
  expectStatus(await owner.post(LIST, invitation(email, ...teams)), 201).body.data;

/** Invites a user and returns a client with a token of that user. */
const inviteGuest = async (
  name: string,
  ...teams: string[]
): Promise<ApiTestClient & { membership: string; id: string }> => {
  const { id: membership } = await invite(`${name}@people.test`, ...teams);
  // The inviter does not see the account; an administrator of the site does.
  const { id } = expectStatus(await server.get(pathOf(membership)), 200).body.data.relationships.user.data;
  return { ...server.as(await makeToken(server, `/api/v2/users/${id}/authentication-tokens`)), membership, id };
};

const usersIn = ({ body }: ApiResponse): string[] =>
  body.included
    .filter(({ type }: { type: string }) => type === 'users')
    .map(({ attributes }: { attributes: { username: string } }) => attributes.username);

describe('an invitation', () => {
  it('creates a membership with the status invited', async () => {
    const team = await makeTeam(server, 'acme', 'invited-to');
    const answer = expectStatus(await owner.post(LIST, invitation('Grace.Hopper+1@People.test', team)), 201);
    expect(answer.body.data).toMatchObject({
      id: expect.stringMatching(/^ou-\w{16}$/),
      type: 'organization-memberships',
      attributes: { status: 'invited', email: 'Grace.Hopper+1@People.test' },
      relationships: {
        organization: { data: { type: 'organizations', id: 'acme' } },
        user: { data: { type: 'users', id: expect.stringMatching(/^user-\w{16}$/) } },
        teams: { data: [{ type: 'teams', id: team }] },
      },
    });
    const path = `${pathOf(answer.body.data.id)}?include=user`;
    const response = await owner.get(path);
    expect(response.body).toEqual(answer.body);
    expect(usersIn(response)).toEqual(['Grace.Hopper+1@People.test']);
    expect(usersIn(await server.get(path))).toEqual(['Grace-Hopper-1']);
  });

  it('finds an existing account, regardless of the case of the address', async () => {
    const other = await makeOrganization(server, 'other');
    const existing = await makeMember(server, other.name, 'known');
    const { id } = await invite('KNOWN@people.test');
    const { attributes, relationships } = expectStatus(await server.get(pathOf(id)), 200).body.data;
    expect(relationships.user.data.id).toBe(existing.id);
    expect(attributes.email).toBe('KNOWN@people.test');
  });

  it('shows the inviter only the typed address until it is accepted, whether or not the person has an account', async () => {
    const email = 'Hidden@people.test';
    const existing = await makeMember(server, 'elsewhere', 'hidden-account');
    const address = `${existing.username}@people.test`;
    const team = await makeTeam(server, 'acme', 'of-hidden');
    for (const typed of [address, email]) {
      const { id } = await invite(typed, team);
      const document = expectStatus(await owner.get(`${pathOf(id)}?include=user`), 200).body;
      const user = document.data.relationships.user.data.id as string;
      expect(user).toBe(id.replace(/^ou-/, 'user-'));
      expect(document.data.attributes).toMatchObject({ email: typed, status: 'invited' });
      expect(document.included).toMatchObject([
        { id: user, type: 'users', attributes: { username: typed, email: typed, 'is-site-admin': false } },
      ]);
      const own = expectStatus(await server.get(`${pathOf(id)}?include=user`), 200).body.included[0];
      expect(own.id).not.toBe(user);
      for (const path of [`/api/v2/users/${own.id}`, `/api/v2/users/${user}`]) {
        expectStatus(await owner.get(path), 404);
      }
      // Neither the order nor the search of the list may reveal the username.
      const search = async (q: string) => expectStatus(await owner.get(`${LIST}?q=${q}`), 200).body.data.length;
      expect(await search(encodeURIComponent(typed))).toBe(1);
      const inTeam = expectStatus(await owner.get(`/api/v2/teams/${team}?include=users`), 200);
      expect(inTeam.body.data.relationships.users.data).toContainEqual({ type: 'users', id: user });
      expect(inTeam.text).not.toContain(own.id);
      expectStatus(await server.post(`${pathOf(id)}/actions/accept`), 200);
      const accepted = expectStatus(await owner.get(`${pathOf(id)}?include=user`), 200).body;
      expect(accepted.included[0].id).toBe(own.id);
      expectStatus(await owner.get(`/api/v2/users/${own.id}`), 200);
    }
  });

  it('does not let the inviter guess the username of the invited person', async () => {
    const existing = await makeMember(server, 'elsewhere', 'guessed');
    const { id } = await invite('guessed@people.test');
    const team = await makeTeam(server, 'acme', 'guessing');
    const add = (name: string) =>
      owner.post(`/api/v2/teams/${team}/relationships/users`, { data: [{ type: 'users', id: name }] });
    expect(getDetail(expectStatus(await add(existing.username), 422))).toBe(
      'User guessed is not a member of the organization',
    );
    expectStatus(await add('guessed@people.test'), 204);
    const { body } = expectStatus(await owner.get(`/api/v2/teams/${team}`), 200);
    expect(body.data.relationships['organization-memberships'].data).toEqual([
      { type: 'organization-memberships', id },
    ]);
  });

  it('creates unique usernames', async () => {
    await invite('twin@one.test');
    const { id } = await invite('twin@two.test');
    expect(usersIn(await server.get(`${pathOf(id)}?include=user`))).toEqual([expect.stringMatching(/^twin_\w{6}$/)]);
  });

  it('is refused at once for an extremely long address', async () => {
    const endless = `a${'-'.repeat(200_000)}a@people.test`;
    for (const api of [owner, await makeMember(server, 'acme', 'nobody')]) {
      expect(getDetail(expectStatus(await api.post(LIST, invitation(endless)), 422))).toBe('Email is invalid');
    }
  });

  it('is refused if the person is already invited or a member', async () => {
    await invite('once@people.test');
    const second = expectStatus(await owner.post(LIST, invitation('ONCE@people.test')), 422);
    expect(second.body.errors[0]).toMatchObject({
      detail: 'User has already been invited to the organization',
      source: { pointer: '/data/attributes/email' },
    });
    const member = expectStatus(await owner.post(LIST, invitation('owner@people.test')), 422);
    expect(getDetail(member)).toBe('User is already a member of the organization');
  });

  it('is created once and with one account if several requests invite the same person at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => owner.post(LIST, invitation('rush@people.test'))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422, 422]);
    const accounts = await server.database.rows(sql`select 1 from users where email = 'rush@people.test'`);
    expect(accounts).toHaveLength(1);
  });

  it.each([
    [{}, "Email can't be blank"],
    [{ email: ' ' }, "Email can't be blank"],
    [{ email: 'nobody' }, 'Email is invalid'],
    [{ email: 7 }, 'Email must be a string'],
  ])('is refused with the attributes %j', async (attributes, detail) => {
    const answer = expectStatus(await owner.post(LIST, resource('organization-memberships', attributes)), 422);
    expect(getDetail(answer)).toBe(detail);
  });

  it('can be accepted by a site administrator on behalf of the person', async () => {
    const { body } = expectStatus(await server.post(LIST, invitation('direct@people.test')), 201);
    expect(body.data.attributes.status).toBe('invited');
    const path = `/api/v2/organization-memberships/${body.data.id}/actions/accept`;
    expect(expectStatus(await server.post(path), 200).body.data.attributes.status).toBe('active');
  });

  it('requires the permission to manage memberships, and ownership to invite into the owners team', async () => {
    const access = { visibility: 'organization', 'organization-access': { 'manage-membership': true } };
    const manager = await makeMember(server, 'acme', 'manager', [await makeTeam(server, 'acme', 'managers', access)]);
    const member = await makeMember(server, 'acme', 'plain');
    const length = await logLength(server.store);
    expectStatus(await member.post(LIST, invitation('x@people.test')), 404);
    expectStatus(await manager.post(LIST, invitation('x@people.test', acme.ownersTeam)), 404);
    expectStatus(await server.as(null).post(LIST, invitation('x@people.test')), 401);
    expect(await logLength(server.store)).toBe(length);
    expectStatus(await manager.post(LIST, invitation('by-manager@people.test')), 201);
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    expectStatus(await token.post(LIST, invitation('by-token@people.test')), 201);
  });
});

describe('an invited person', () => {
  it('sees only the invitation until they accept', async () => {
    const team = await makeTeam(server, 'acme', 'waiting', { 'organization-access': { 'read-workspaces': true } });
    const api = await inviteGuest('patient', team);
    for (const path of ['organizations/acme', 'organizations/acme/workspaces', `teams/${team}`]) {
      expectStatus(await api.get(`/api/v2/${path}`), 404);
    }
    expectStatus(await api.get(LIST), 404);
    const own = expectStatus(await api.get(`${OWN}?include=user,teams,organization,scim-identity`), 200);
    expect(own.body.data).toMatchObject([{ id: api.membership, attributes: { status: 'invited' } }]);
    expect(usersIn(own)).toEqual(['patient']);
    expectStatus(await api.get(pathOf(api.membership)), 200);

    const accepted = expectStatus(await api.post(`${pathOf(api.membership)}/actions/accept`), 200);
    expect(accepted.body.data).toMatchObject({ id: api.membership, attributes: { status: 'active' } });
    const organization = expectStatus(await api.get('/api/v2/organizations/acme'), 200).body.data;
    const included = expectStatus(await api.get(`${OWN}?include=organization`), 200).body.included;
    expect(included).toEqual([organization]);
    expectStatus(await api.get('/api/v2/organizations/acme/workspaces'), 200);
    expect((await api.get(`/api/v2/teams/${team}`)).body.data.id).toBe(team);
    const length = await logLength(server.store);
    expectStatus(await api.post(`${pathOf(api.membership)}/actions/accept`), 200);
    expect(await logLength(server.store)).toBe(length);
  });

  it('is the only user of the organization who can accept the invitation', async () => {
    const { membership } = await inviteGuest('shy');
    const path = `${pathOf(membership)}/actions/accept`;
    for (const api of [owner, await inviteGuest('nosy')]) expectStatus(await api.post(path), 404);
    expect((await server.get(pathOf(membership))).body.data.attributes.status).toBe('invited');
  });

  it('declines by deleting the membership, and can be invited again', async () => {
    const api = await inviteGuest('busy');
    expectStatus(await api.delete(pathOf(api.membership)), 204);
    expectStatus(await api.post(`${pathOf(api.membership)}/actions/accept`), 404);
    expect((await api.get(OWN)).body.data).toEqual([]);
    await invite('busy@people.test');
  });
});

describe('the memberships of an organization', () => {
  let list: (query: string) => Promise<[string[], number]>;

  beforeAll(async () => {
    const { ownersTeam } = await makeOrganization(server, 'listed');
    const path = '/api/v2/organizations/listed/organization-memberships';
    const host = await makeMember(server, 'listed', 'zoe', [ownersTeam]);
    for (const name of ['una', 'vera']) await makeMember(server, 'listed', name);
    for (const name of ['wim', 'xenia']) expectStatus(await host.post(path, invitation(`${name}@guests.test`)), 201);
    list = async (query) => {
      const answer = expectStatus(await host.get(`${path}?include=user&${query}`), 200);
      return [usersIn(answer), answer.body.meta.pagination['total-count']];
    };
  });

  it.each([
    ['', ['admin', 'una', 'vera', 'wim@guests.test', 'xenia@guests.test', 'zoe'], 6],
    ['page[size]=2&page[number]=2', ['vera', 'wim@guests.test'], 6],
    ['filter[status]=invited', ['wim@guests.test', 'xenia@guests.test'], 2],
    ['filter[status]=active&page[size]=1', ['admin'], 4],
    ['filter[email]=una@people.test,WIM@guests.test', ['una', 'wim@guests.test'], 2],
    ['q=GUESTS', ['wim@guests.test', 'xenia@guests.test'], 2],
    ['q=vera', ['vera'], 1],
    ['q=guests&filter[status]=active', [], 0],
  ])('are filtered with the query "%s"', async (query, names, total) => {
    expect(await list(query)).toEqual([names, total]);
  });

  it('return 400 for an unknown status or include', async () => {
    expect(getDetail(expectStatus(await owner.get(`${LIST}?filter[status]=gone`), 400))).toContain('filter[status]');
    expect(getDetail(expectStatus(await owner.get(`${LIST}?include=tokens`), 400))).toContain('include parameter');
  });

  it('return 404 to callers outside the organization', async () => {
    const stranger = await makeMember(server, 'listed', 'stranger');
    expectStatus(await stranger.get(LIST), 404);
    expectStatus(await stranger.get(pathOf(owner.membership)), 404);
    expectStatus(await stranger.delete(pathOf(owner.membership)), 404);
    expectStatus(await server.get('/api/v2/organizations/nowhere/organization-memberships'), 404);
    expect((await server.get(pathOf('ou-nowhere'))).status).toBe(404);
  });

  it('show the present address of the person', async () => {
    expectStatus(await server.patch('/api/v2/account/update', resource('users', { email: 'moved@people.test' })), 200);
    const [membership] = (await server.get(`${LIST}?filter[email]=moved@people.test`)).body.data;
    expect(membership.attributes.email).toBe('moved@people.test');
    expect((await server.get(`${OWN}?page[size]=100`)).body.data.map(({ id }: { id: string }) => id)).toContain(
      membership.id,
    );
  });
});

describe('the memberships of a team', () => {
  let team: string;
  let list: (query: string) => Promise<[string[], number]>;

  beforeAll(async () => {
    team = await makeTeam(server, 'acme', 'listed');
    for (const name of ['ida', 'ivo']) await makeMember(server, 'acme', name, [team]);
    await invite('ina@guests.test', team);
    const path = `/api/v2/teams/${team}/relationships/organization-memberships`;
    list = async (query) => {
      const answer = expectStatus(await owner.get(`${path}?include=user&${query}`), 200);
      return [usersIn(answer), answer.body.meta.pagination['total-count']];
    };
  });

  it.each([
    ['page[size]=100', ['ida', 'ina@guests.test', 'ivo'], 3],
    ['page[size]=2&page[number]=2', ['ivo'], 3],
    ['filter[status]=invited', ['ina@guests.test'], 1],
    ['filter[status]=active', ['ida', 'ivo'], 2],
  ])('are filtered with the query "%s"', async (query, names, total) => {
    expect(await list(query)).toEqual([names, total]);
  });

  it('have the same document as in the organization', async () => {
    const [first] = (await owner.get(`/api/v2/teams/${team}/relationships/organization-memberships`)).body.data;
    expect(first).toEqual((await owner.get(pathOf(first.id))).body.data);
  });

  it('may be empty, and return 404 to callers that cannot see the team', async () => {
    const empty = await makeTeam(server, 'acme', 'deserted');
    const path = `/api/v2/teams/${empty}/relationships/organization-memberships`;
    const { body } = expectStatus(await owner.get(path), 200);
    expect([body.data, body.meta.pagination['total-count']]).toEqual([[], 0]);
    const outsider = await makeMember(server, 'acme', 'outsider');
    expectStatus(await outsider.get(path), 404);
    expectStatus(await owner.get('/api/v2/teams/team-nowhere/relationships/organization-memberships'), 404);
  });
});

describe('a member that leaves or is removed', () => {
  it('leaves the organization and its teams in one append', async () => {
    const teams = [await makeTeam(server, 'acme', 'first-team'), await makeTeam(server, 'acme', 'second-team')];
    const leaver = await makeMember(server, 'acme', 'leaver', teams);
    const { name, ownersTeam } = await makeOrganization(leaver, 'leavers-own');
    expectStatus(await leaver.get('/api/v2/organizations/acme'), 200);
    expectStatus(await owner.delete(pathOf(leaver.membership)), 204);
    expectStatus(await leaver.get('/api/v2/organizations/acme'), 404);
    for (const team of teams) {
      expect((await server.get(`/api/v2/teams/${team}`)).body.data.relationships.users.data).toEqual([]);
    }
    const recordedEvents = (await readWholeLog(server.store))
      .filter(({ data }) => (data as { user?: string }).user === leaver.id)
      .slice(-3)
      .map(({ type, stream, organization }) => [type, stream, organization]);
    expect(recordedEvents).toEqual([
      ['MembershipRemoved', leaver.membership, acme.id],
      ...teams.toSorted().map((team) => ['TeamMemberRemoved', team, acme.id]),
    ]);
    expectStatus(await leaver.get(`/api/v2/organizations/${name}`), 200);
    expectStatus(await leaver.get(`/api/v2/teams/${ownersTeam}`), 200);
    expectStatus(await owner.delete(pathOf(leaver.membership)), 404);
  });

  it('may leave without a permission, but not as the last owner', async () => {
    const member = await makeMember(server, 'acme', 'free');
    expectStatus(await member.delete(pathOf(member.membership)), 204);
    const founder = await makeMember(server, 'acme', 'founder');
    await makeOrganization(founder, 'one-man-band');
    const { body } = await founder.get('/api/v2/organizations/one-man-band/organization-memberships');
    expect(body.data).toMatchObject([{ attributes: { status: 'active', email: 'founder@people.test' } }]);
    const refusal = expectStatus(await founder.delete(pathOf(body.data[0].id)), 422);
    expect(getDetail(refusal)).toBe('The last active owner of an organization cannot be removed');
    expectStatus(await founder.get('/api/v2/organizations/one-man-band'), 200);
  });

  it('is removed by callers that may manage memberships; owners are removed by owners only', async () => {
    const access = { 'organization-access': { 'manage-membership': true } };
    const manager = await makeMember(server, 'acme', 'sender', [await makeTeam(server, 'acme', 'senders', access)]);
    const member = await makeMember(server, 'acme', 'sent');
    expectStatus(await member.delete(pathOf(manager.membership)), 404);
    expectStatus(await manager.delete(pathOf(owner.membership)), 404);
    expect((await manager.delete(pathOf(member.membership))).status).toBe(204);
  });

  it('is not removed by a caller that cannot see one of their teams', async () => {
    const access = { 'organization-access': { 'manage-membership': true } };
    const senders = await makeTeam(server, 'acme', 'blind-senders', access);
    const manager = await makeMember(server, 'acme', 'blind', [senders]);
    const secret = await makeTeam(server, 'acme', 'unseen', { visibility: 'secret' });
    const [hiddenMember, visibleMember] = [
      await makeMember(server, 'acme', 'in-secret', [secret]),
      await makeMember(server, 'acme', 'beside', [senders]),
    ];
    expectStatus(await manager.delete(pathOf(hiddenMember.membership)), 404);
    expectStatus(await hiddenMember.get('/api/v2/organizations/acme'), 200);
    expectStatus(await manager.delete(pathOf(visibleMember.membership)), 204);
    expect((await hiddenMember.delete(pathOf(hiddenMember.membership))).status).toBe(204);
  });

  it('is in no team afterwards, even if a request adds them to a team at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const name = `torn-${round}`;
      const team = await makeTeam(server, 'acme', name);
      const member = await makeMember(server, 'acme', name);
      const body = { data: [{ type: 'users', id: name }] };
      const [added, removed] = await Promise.all([
        server.post(`/api/v2/teams/${team}/relationships/users`, body),
        server.delete(pathOf(member.membership)),
      ]);
      expect([204, 422]).toContain(added.status);
      expect(removed.status).toBe(204);
      expect((await server.get(`/api/v2/teams/${team}`)).body.data.relationships.users.data).toEqual([]);
      expectStatus(await member.get('/api/v2/organizations/acme'), 404);
    }
  });
});

describe('an owner created at the command line', () => {
  it('becomes an active member, invited before or not', async () => {
    const { store, runtime } = server;
    const invited = await inviteGuest('promoted');
    await makeOwner(store, runtime.ids, { id: invited.id, username: 'promoted' }, 'acme');
    expect((await invited.get(OWN)).body.data).toMatchObject([{ attributes: { status: 'active' } }]);
    const { id } = await ensureUser(store, runtime.ids, 'newcomer', false);
    for (let n = 0; n < 2; n += 1) await makeOwner(store, runtime.ids, { id, username: 'newcomer' }, 'acme');
    const api = server.as(await issueUserToken(store, runtime.ids, id, 'for a test'));
    expect((await api.get(OWN)).body.data).toMatchObject([{ attributes: { status: 'active', email: '' } }]);
    expectStatus(await api.delete(pathOf((await api.get(OWN)).body.data[0].id)), 204);
  });
});

describe('the last activity of a member', () => {
  const KEY = 'last-active-at';
  const MINUTE_MS = 60_000;

  const readActivity = async (membership: string, api: ApiTestClient = owner): Promise<unknown> => {
    await waitForFollowers(server.store, 'member_activities');
    const { attributes } = expectStatus(await api.get(pathOf(membership)), 200).body.data;
    const listed = expectStatus(await api.get(`${LIST}?page%5Bsize%5D=100`), 200).body.data as { id: string }[];
    expect(listed.find(({ id }) => id === membership)).toMatchObject({ attributes });
    return attributes[KEY];
  };

  /** Moves the clock to the next minute. Returns the minute as the server renders it. */
  const passMinute = (): string => {
    const now = clock.now().getTime();
    const next = (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS;
    clock.offsetMs += next - now;
    return new Date(next).toISOString();
  };

  it('is the minute of the last change or recorded read, and null before', async () => {
    const access = { 'organization-access': { 'manage-workspaces': true } };
    const member = await makeMember(server, 'acme', 'active', [await makeTeam(server, 'acme', 'actives', access)]);
    expect(await readActivity(member.membership)).toBeNull();
    const changed = passMinute();
    const workspace = resource('workspaces', { name: 'by-active' });
    expectStatus(await member.post('/api/v2/organizations/acme/workspaces', workspace), 201);
    expect(await readActivity(member.membership)).toBe(changed);
    passMinute();
    expectStatus(await member.get('/api/v2/organizations/acme/workspaces'), 200);
    expect(await readActivity(member.membership)).toBe(changed);
    const read = passMinute();
    expectStatus(await member.get(LIST), 200);
    expect(await readActivity(member.membership)).toBe(read);
  });

  it('belongs to one organization, and is null for an invitation', async () => {
    const member = await makeMember(server, 'elsewhere', 'active-elsewhere');
    expectStatus(await member.get('/api/v2/organizations/elsewhere/organization-memberships'), 200);
    const { id } = await invite(`${member.username}@people.test`);
    expect(await readActivity(id)).toBeNull();
    expectStatus(await server.post(`${pathOf(id)}/actions/accept`), 200);
    expect(await readActivity(id)).toBeNull();
  });

  it('is shown only to callers that may manage memberships', async () => {
    const access = { visibility: 'organization', 'organization-access': { 'manage-membership': true } };
    const manager = await makeMember(server, 'acme', 'overseer', [await makeTeam(server, 'acme', 'overseers', access)]);
    const member = await makeMember(server, 'acme', 'curious');
    const organizationToken = server.as(await makeOrganizationToken(server, 'acme'));
    for (const api of [owner, manager, organizationToken, server])
      expect(await readActivity(owner.membership, api)).toMatch(/:00\.000Z$/);
    expect(await readActivity(owner.membership, member)).toBeUndefined();
    expect(await readActivity(member.membership, member)).toBeUndefined();
    const own = expectStatus(await member.get(OWN), 200).body.data[0].attributes;
    expect(own).not.toHaveProperty(KEY);
  });
});

describe('the data of members', () => {
  it('is deleted with the organization', async () => {
    const { name } = await makeOrganization(server, 'closing');
    const member = await makeMember(server, name, 'orphan');
    expectStatus(await server.delete(`/api/v2/organizations/${name}`), 204);
    expectStatus(await member.get(pathOf(member.membership)), 404);
    expect((await member.get(OWN)).body.data).toEqual([]);
  });

  it('matches the log while the deletion of an organization is not followed yet', async () => {
    const { name } = await makeOrganization(server, 'half-closed');
    const member = await makeMember(server, name, 'half-orphan');
    expectStatus(await member.get(`/api/v2/organizations/${name}/organization-memberships`), 200);
    await waitForFollowers(server.store, 'member_activities');
    const session = await server.store.database.session();
    try {
      await session.run(sql`begin`);
      // Followers read no event that was written after the start of an open transaction.
      await session.run(sql`select pg_current_xact_id()`);
      expectStatus(await server.delete(`/api/v2/organizations/${name}`), 204);
      await expectViewsMatchLog(server, [peopleDefinition]);
    } finally {
      await session.close();
    }
  });

  it('is recorded in the audit trail with resource, action and meta', () => {
    const renderEntry = (type: keyof typeof peopleEvents, data: object) => {
      const { audit: row, ...kind } = peopleEvents[type];
      if ('unaudited' in row) return null;
      // Data of schema version 1: the audit entries of these events must not change.
      const upcastData = upcastEventData({ ...kind, audit: row } as never, 1, data);
      return [row.resource, row.action, row.meta?.(upcastData as never, {} as never) ?? null];
    };
    const ada = { user: 'user-ada', username: 'ada' };
    const meta = { user: 'ada', user_id: 'user-ada' };
    expect(renderEntry('MembershipCreated', { ...ada, email: 'ada@people.test', status: 'invited' })).toEqual([
      'organization_user',
      'create',
      meta,
    ]);
    expect(renderEntry('MembershipAccepted', ada)).toEqual(['organization_user', 'update', meta]);
    expect(renderEntry('MembershipRemoved', ada)).toEqual(['organization_user', 'destroy', meta]);
    expect(renderEntry('TeamMemberAdded', ada)).toEqual(['team', 'add_member', { user: 'ada' }]);
    expect(renderEntry('TeamMemberRemoved', ada)).toEqual(['team', 'remove_member', { user: 'ada' }]);
  });

  it.each(['access', 'member_activities'])('matches the log before and after a rebuild: %s', async (name) => {
    const { store } = server;
    const [view] = listViews([peopleDefinition]).filter((one) => one.name === name);
    if (!view) throw new Error(`there is no view ${name}`);
    expect(await verifyView(store, view, new Date())).toEqual([]);
    await rebuildView(store, view, { now: new Date() });
    expect(await verifyView(store, view, new Date())).toEqual([]);
    expect(await verifySnapshots(store, [peopleDefinition])).toEqual([]);
  });
});
