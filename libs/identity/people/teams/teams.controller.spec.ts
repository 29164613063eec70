import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { logLength, readWholeLog } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeTeam,
  makeToken,
  makeWorkspace,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import { getDetail, listNames } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { ensureUser, issueUserToken } from '../operator/people.operator.js';
import { MAX_SSO_TEAMS } from './teams.handler.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

const teamsOf = (organization: string): string => `/api/v2/organizations/${organization}/teams`;
const pathOf = (id: string): string => `/api/v2/teams/${id}`;
const usersOf = (id: string): string => `${pathOf(id)}/relationships/users`;
const membershipsOf = (id: string): string => `${pathOf(id)}/relationships/organization-memberships`;
const users = (...names: string[]) => ({ data: names.map((id) => ({ type: 'users', id })) });
const memberships = (...ids: string[]) => ({ data: ids.map((id) => ({ type: 'organization-memberships', id })) });

const totalOf = ({ body }: ApiResponse): number => body.meta.pagination['total-count'];

/** Creates a member of a visible team that has these permissions in the whole organization. */
const makeHolder = async (organization: string, name: string, ...flags: string[]): Promise<SeededMember> => {
  const access = Object.fromEntries(flags.map((flag) => [flag, true]));
  const attributes = { visibility: 'organization', 'organization-access': access };
  return makeMember(server, organization, name, [await makeTeam(server, organization, `${name}-team`, attributes)]);
};

const membersOf = async (team: string): Promise<string[]> => {
  const { body } = expectStatus(await server.get(`${pathOf(team)}?include=users`), 200);
  return body.included.map(({ attributes }: { attributes: { username: string } }) => attributes.username);
};

describe('the teams of an organization', () => {
  beforeAll(async () => {
    await makeOrganization(server, 'listed');
    for (const name of ['core', 'core-2']) await makeTeam(server, 'listed', name, { visibility: 'organization' });
  });

  it.each([
    ['', ['core', 'core-2', 'owners']],
    ['filter[names]=core', ['core']],
    ['filter[names]=core,owners,none', ['core', 'owners']],
    ['q=CORE', ['core', 'core-2']],
    ['q=core&filter[names]=core-2', ['core-2']],
    ['q=none', []],
  ])('are filtered with the query "%s"', async (query, expected) => {
    const answer = expectStatus(await server.get(`${teamsOf('listed')}?${query}`), 200);
    expect(listNames(answer)).toEqual(expected);
    expect(totalOf(answer)).toBe(expected.length);
  });

  it('are listed page by page', async () => {
    const answer = await server.get(`${teamsOf('listed')}?page[size]=2&page[number]=2`);
    expect(listNames(answer)).toEqual(['owners']);
    expect(answer.body.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2, 'next-page': null });
  });

  it('have the same document in the list as alone', async () => {
    const { body } = await server.get(`${teamsOf('listed')}?filter[names]=core`);
    const [core] = body.data;
    expect((await server.get(pathOf(core.id))).body.data).toEqual(core);
  });

  it('return 404 for an unknown organization or team, and to callers outside the organization', async () => {
    expectStatus(await server.get(teamsOf('nowhere')), 404);
    expectStatus(await server.get(pathOf('team-nowhere')), 404);
    await makeOrganization(server, 'elsewhere');
    const stranger = await makeMember(server, 'elsewhere', 'stranger');
    expectStatus(await stranger.get(teamsOf('listed')), 404);
    const { body } = await server.get(teamsOf('listed'));
    for (const { id } of body.data) expect((await stranger.get(pathOf(id))).status).toBe(404);
  });

  it('return 400 for an unknown include', async () => {
    const answer = expectStatus(await server.get(`${teamsOf('listed')}?include=tokens`), 400);
    expect(getDetail(answer)).toContain('include parameter');
  });
});

describe('a team', () => {
  let acme: SeededOrganization;

  beforeAll(async () => {
    acme = await makeOrganization(server, 'acme');
  });

  it('is created secret by default, with the attributes of the request', async () => {
    const attributes = {
      name: 'core',
      'sso-team-id': 'sso-1',
      'organization-access': {
        'manage-workspaces': true,
        'access-secret-teams': true,
        'delegate-policy-overrides': true,
        'manage-public-modules': false,
      },
    };
    const answer = expectStatus(await server.post(teamsOf('acme'), resource('teams', attributes)), 201);
    expect(answer.body.data).toMatchObject({
      id: expect.stringMatching(/^team-\w{16}$/),
      type: 'teams',
      attributes: {
        name: 'core',
        'users-count': 0,
        visibility: 'secret',
        'sso-team-id': 'sso-1',
        'allow-member-token-management': true,
        'is-unified': false,
        'organization-access': {
          'manage-workspaces': true,
          'manage-vcs-settings': false,
          'read-projects': false,
          'access-secret-teams': true,
          'delegate-policy-overrides': true,
        },
        permissions: {
          'can-destroy': true,
          'can-update-membership': true,
          'can-update-organization-access': true,
          'can-update-api-token': true,
          'can-update-visibility': true,
        },
      },
      relationships: {
        organization: { data: { type: 'organizations', id: 'acme' } },
        users: { data: [] },
        'organization-memberships': { data: [] },
      },
    });
    expect(Object.keys(answer.body.data.attributes['organization-access'])).toHaveLength(16);
  });

  it.each([
    [{}, "Name can't be blank", 'name'],
    [
      { name: 'a b ' },
      'Name may only contain letters, numbers, dashes and underscores, and spaces between them',
      'name',
    ],
    [{ name: 'core' }, 'Name has already been taken', 'name'],
    [{ name: 'owners' }, 'Name has already been taken', 'name'],
    [{ name: 'new', visibility: 'public' }, 'Visibility must be one of secret, organization', 'visibility'],
    [
      { name: 'new', 'organization-access': { 'manage-teams': 'yes' } },
      'Manage teams must be true or false',
      'organization-access/manage-teams',
    ],
  ])('is not created with %j', async (attributes, detail, attribute) => {
    const { body } = expectStatus(await server.post(teamsOf('acme'), resource('teams', attributes)), 422);
    expect(body.errors).toMatchObject([{ detail, source: { pointer: `/data/attributes/${attribute}` } }]);
  });

  it('may have the same name as a team of another organization', async () => {
    await makeOrganization(server, 'namesake');
    expect(await makeTeam(server, 'namesake', 'core')).toMatch(/^team-/);
  });

  it('changes only the named attributes', async () => {
    const id = await makeTeam(server, 'acme', 'changing', {
      'sso-team-id': 'sso-1',
      'organization-access': { 'manage-workspaces': true, 'manage-projects': true },
    });
    const patch = async (attributes: object) =>
      expectStatus(await server.patch(pathOf(id), resource('teams', attributes)), 200).body.data.attributes;
    expect(await patch({ 'organization-access': { 'manage-projects': false, 'read-projects': true } })).toMatchObject({
      name: 'changing',
      'sso-team-id': 'sso-1',
      'organization-access': { 'manage-workspaces': true, 'manage-projects': false, 'read-projects': true },
    });
    expect(await patch({ 'sso-team-id': '' })).toMatchObject({ 'sso-team-id': null });
    const changes = { visibility: 'organization', 'sso-team-id': null, 'allow-member-token-management': false };
    expect(await patch({ ...changes, name: 'changed' })).toMatchObject({ ...changes, name: 'changed' });
    const length = await logLength(server.store);
    expect(await patch({ ...changes, name: 'changed', 'organization-access': {} })).toMatchObject(changes);
    expectStatus(await server.patch(pathOf(id), { data: { type: 'teams' } }), 200);
    expect(await logLength(server.store)).toBe(length);
    expect(getDetail(await server.patch(pathOf(id), resource('teams', { name: 'core' })))).toMatch(
      'already been taken',
    );
    expect(getDetail(await server.patch(pathOf(id), resource('tokens')))).toBe('Type must be teams');
  });

  it('may have spaces in its name, at its creation or later', async () => {
    const id = await makeTeam(server, 'acme', 'Site  Reliability');
    const { body } = expectStatus(await server.patch(pathOf(id), resource('teams', { name: 'On call' })), 200);
    expect(body.data.attributes.name).toBe('On call');
    expect(listNames(await server.get(`${teamsOf('acme')}?filter[names]=On%20call`))).toEqual(['On call']);
  });

  it('is deleted with its tokens, and its name becomes free', async () => {
    const id = await makeTeam(server, 'acme', 'going');
    const person = await makeMember(server, 'acme', 'goer', [id]);
    const secrets = [
      await makeToken(server, `${pathOf(id)}/authentication-token`),
      expectStatus(
        await server.post(
          `${pathOf(id)}/authentication-tokens`,
          resource('authentication-tokens', { description: 'ci' }),
        ),
        201,
      ).body.data.attributes.token as string,
    ];
    for (const secret of secrets) expectStatus(await server.as(secret).get(pathOf(id)), 200);
    expectStatus(await server.delete(pathOf(id)), 204);
    for (const secret of secrets) expectStatus(await server.as(secret).get(pathOf(id)), 401);
    expectStatus(await person.get(pathOf(id)), 404);
    expectStatus(await server.delete(pathOf(id)), 404);
    const ended = (await readWholeLog(server.store)).filter(
      ({ type, data }) => JSON.stringify([type, data]).includes(id) && type === 'AuthenticationTokenDestroyed',
    );
    expect(ended).toHaveLength(2);
    // The events are in the order of the tokens' ids.
    expect(ended.map(({ stream }) => stream)).toEqual(ended.map(({ stream }) => stream).toSorted());
    const hashes = await server.database.rows(sql`select 1 from access.token_hashes where token = any
      (${ended.map(({ stream }) => stream)}::text[])`);
    expect(hashes).toEqual([]);
    await makeTeam(server, 'acme', 'going');
  });

  it('is still named as the holder of its lock after its deletion, and an administrator can break the lock', async () => {
    const attributes = { 'organization-access': { 'manage-workspaces': true } };
    const id = await makeTeam(server, 'acme', 'lockers', attributes);
    const api = server.as(await makeToken(server, `${pathOf(id)}/authentication-token`));
    const workspace = `/api/v2/workspaces/${await makeWorkspace(server, 'acme', 'held')}`;
    expectStatus(await api.post(`${workspace}/actions/lock`, { reason: 'mine' }), 200);
    expectStatus(await server.delete(pathOf(id)), 204);
    const { body } = expectStatus(await server.get(workspace), 200);
    expect(body.data.attributes).toMatchObject({ locked: true, 'locked-reason': 'mine' });
    const refusal = expectStatus(await server.post(`${workspace}/actions/unlock`), 409);
    expect(getDetail(refusal)).toContain('is locked by Team lockers');
    expectStatus(await server.get(`${workspace}?include=locked_by`), 200);
    const freed = expectStatus(await server.post(`${workspace}/actions/force-unlock`), 200);
    expect(freed.body.data.attributes.locked).toBe(false);
  });

  it('is managed with the permission to manage teams; its organization access and its members need other permissions', async () => {
    const manager = await makeHolder('acme', 'manager', 'manage-teams');
    const { body } = expectStatus(
      await manager.post(
        teamsOf('acme'),
        resource('teams', {
          name: 'plain',
          visibility: 'organization',
          'organization-access': { 'manage-teams': false },
        }),
      ),
      201,
    );
    expect(body.data.attributes.permissions).toEqual({
      'can-destroy': true,
      'can-update-membership': false,
      'can-update-organization-access': false,
      'can-update-api-token': true,
      'can-update-visibility': true,
    });
    const { id } = body.data;
    const length = await logLength(server.store);
    const mighty = { 'organization-access': { 'manage-workspaces': true } };
    expectStatus(await manager.post(teamsOf('acme'), resource('teams', { name: 'mighty', ...mighty })), 404);
    expectStatus(await manager.patch(pathOf(id), resource('teams', mighty)), 404);
    expectStatus(await manager.post(usersOf(id), users('manager')), 404);
    for (const method of ['patch', 'delete', 'post'] as const) {
      const path = method === 'post' ? usersOf(acme.ownersTeam) : pathOf(acme.ownersTeam);
      expectStatus(await manager[method](path, method === 'post' ? users('manager') : resource('teams')), 404);
    }
    expectStatus(await manager.post(`${pathOf(acme.ownersTeam)}/authentication-token`), 404);
    expect(await logLength(server.store)).toBe(length);
    expectStatus(await manager.patch(pathOf(id), resource('teams', { name: 'plainer' })), 200);
    expectStatus(await manager.delete(pathOf(id)), 204);
    const giver = await makeHolder('acme', 'giver', 'manage-teams', 'manage-organization-access');
    expectStatus(await giver.post(teamsOf('acme'), resource('teams', { name: 'mighty', ...mighty })), 201);
  });

  it('cannot be changed by members without permissions', async () => {
    const member = await makeMember(server, 'acme', 'onlooker');
    const id = await makeTeam(server, 'acme', 'open', { visibility: 'organization' });
    const { permissions } = expectStatus(await member.get(pathOf(id)), 200).body.data.attributes;
    expect(Object.values(permissions)).toEqual([false, false, false, false, false]);
    expectStatus(await member.post(teamsOf('acme'), resource('teams', { name: 'theirs' })), 404);
    expectStatus(await member.patch(pathOf(id), resource('teams', { name: 'theirs' })), 404);
    expectStatus(await member.delete(pathOf(id)), 404);
    expectStatus(await member.post(usersOf(id), users('onlooker')), 404);
    expectStatus(await member.delete(usersOf(id), users('onlooker')), 404);
  });
});

describe('the owners team', () => {
  it('cannot be deleted, renamed, made secret or given other access', async () => {
    const { ownersTeam: id } = await makeOrganization(server, 'owned');
    const refused = async (answer: Promise<ApiResponse>, detail: string) =>
      expect(getDetail(expectStatus(await answer, 422))).toBe(detail);
    await refused(server.delete(pathOf(id)), 'The owners team cannot be deleted');
    await refused(server.patch(pathOf(id), resource('teams', { name: 'x' })), 'The owners team cannot be renamed');
    await refused(
      server.patch(pathOf(id), resource('teams', { visibility: 'secret' })),
      'The owners team cannot be made secret',
    );
    const flags = { 'organization-access': { 'manage-teams': true } };
    const detail = 'The organization access of the owners team cannot be changed';
    await refused(server.patch(pathOf(id), resource('teams', flags)), detail);
    const { body } = await server.get(pathOf(id));
    expect(body.data.attributes.permissions).toEqual({
      'can-destroy': false,
      'can-update-membership': true,
      'can-update-organization-access': false,
      'can-update-api-token': true,
      'can-update-visibility': false,
    });
    const echoed = await server.patch(pathOf(id), { data: { ...body.data, id } });
    expect(expectStatus(echoed, 200).body.data).toEqual(body.data);
  });

  it('keeps at least one owner', async () => {
    const { ownersTeam: id } = await makeOrganization(server, 'kept');
    await makeMember(server, 'kept', 'second', [id]);
    expectStatus(await server.delete(usersOf(id), users('admin')), 204);
    const refusal = expectStatus(await server.delete(usersOf(id), users('second', 'admin')), 422);
    expect(getDetail(refusal)).toBe('The last active owner of an organization cannot be removed');
    expect(await membersOf(id)).toEqual(['second']);
  });

  it('does not count invited members as owners', async () => {
    const { ownersTeam: id } = await makeOrganization(server, 'inviting');
    const owner = await makeMember(server, 'inviting', 'firm', [id]);
    expectStatus(await server.delete(usersOf(id), users('admin')), 204);
    const into = { teams: { data: [{ type: 'teams', id }] } };
    const body = resource('organization-memberships', { email: 'late@people.test' }, into);
    expectStatus(await owner.post('/api/v2/organizations/inviting/organization-memberships', body), 201);
    expectStatus(await owner.delete(usersOf(id), users('firm')), 422);
    expect((await owner.delete(usersOf(id), users('late'))).status).toBe(204);
  });

  it('keeps one of two owners that remove each other at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const name = `duel-${round}`;
      const { ownersTeam: id } = await makeOrganization(server, name);
      const one = await makeMember(server, name, `${name}-one`, [id]);
      const two = await makeMember(server, name, `${name}-two`, [id]);
      expectStatus(await server.delete(usersOf(id), users('admin')), 204);
      const removal = (by: SeededMember, other: SeededMember): Promise<ApiResponse> => {
        if (round % 2 === 0) return by.delete(usersOf(id), users(other.username));
        return by.delete(`/api/v2/organization-memberships/${other.membership}`);
      };
      const answers = await Promise.all([removal(one, two), removal(two, one)]);
      const statuses = answers.map(({ status }) => status).toSorted();
      expect(statuses[0]).toBe(204);
      expect([404, 422]).toContain(statuses[1]);
      expect(await membersOf(id)).toHaveLength(1);
    }
  });
});

describe('members of a team', () => {
  let id: string;
  let ada: SeededMember;
  let bob: SeededMember;

  beforeAll(async () => {
    await makeOrganization(server, 'staffed');
    id = await makeTeam(server, 'staffed', 'crew');
    ada = await makeMember(server, 'staffed', 'ada');
    bob = await makeMember(server, 'staffed', 'bob');
  });

  it('are added and removed by username, and repetition changes nothing', async () => {
    for (let n = 0; n < 2; n += 1) expectStatus(await server.post(usersOf(id), users('ada', 'bob', 'ada')), 204);
    expect(await membersOf(id)).toEqual(['ada', 'bob']);
    expect((await server.get(pathOf(id))).body.data).toMatchObject({
      attributes: { 'users-count': 2 },
      relationships: { users: { data: [ada.id, bob.id].toSorted().map((user) => ({ type: 'users', id: user })) } },
    });
    for (let n = 0; n < 2; n += 1) expectStatus(await server.delete(usersOf(id), users('ada', 'nobody')), 204);
    expect(await membersOf(id)).toEqual(['bob']);
    const memberEvents = (await readWholeLog(server.store))
      .filter(({ stream, type }) => stream === id && type.startsWith('TeamMember'))
      .map(({ type, data }) => [type, (data as { username: string }).username]);
    // One request adds its members in the order of their ids.
    expect(memberEvents.toSorted()).toEqual([
      ['TeamMemberAdded', 'ada'],
      ['TeamMemberAdded', 'bob'],
      ['TeamMemberRemoved', 'ada'],
    ]);
  });

  it('are added and removed by membership', async () => {
    expectStatus(await server.post(membershipsOf(id), memberships(ada.membership)), 204);
    const { body } = await server.get(`${pathOf(id)}?include=organization-memberships`);
    expect(body.data.relationships['organization-memberships'].data).toEqual(
      [ada.membership, bob.membership].toSorted().map((one) => ({ type: 'organization-memberships', id: one })),
    );
    expect(body.included).toHaveLength(2);
    expect(body.included).toContainEqual(
      expect.objectContaining({
        id: ada.membership,
        type: 'organization-memberships',
        attributes: expect.objectContaining({ status: 'active', email: 'ada@people.test' }),
      }),
    );
    expectStatus(await server.delete(membershipsOf(id), memberships(ada.membership)), 204);
    expect(await membersOf(id)).toEqual(['bob']);
  });

  it('are included in lists of teams as users and as memberships', async () => {
    const { body } = await server.get(`${teamsOf('staffed')}?include=users,organization_memberships`);
    expect(body.included.map(({ type }: { type: string }) => type).toSorted()).toEqual([
      'organization-memberships',
      'organization-memberships',
      'users',
      'users',
    ]);
  });

  it('must belong to the organization', async () => {
    await makeOrganization(server, 'abroad');
    const foreigner = await makeMember(server, 'abroad', 'foreigner');
    for (const [path, body, detail] of [
      [usersOf(id), users('ada', 'nobody'), 'User nobody is not a member of the organization'],
      [usersOf(id), users('foreigner'), 'User foreigner is not a member of the organization'],
      [membershipsOf(id), memberships(foreigner.membership), 'Organization membership'],
      [usersOf(id), users(ada.id), 'is not a member of the organization'],
    ] as const) {
      const answer = expectStatus(await server.post(path, body), 422);
      expect(getDetail(answer)).toContain(detail);
      expect(answer.body.errors[0].source.pointer).toMatch(/^\/data\/[01]\/id$/);
    }
    expect(await membersOf(id)).toEqual(['bob']);
    expectStatus(await server.post(usersOf(id), { data: 'ada' }), 422);
    expectStatus(await server.post(usersOf(id), { data: [] }), 204);
  });

  it('are added by callers that may manage memberships, but not to the owners team', async () => {
    const manager = await makeHolder('staffed', 'keeper', 'manage-membership', 'access-secret-teams');
    const { body } = await server.get(`${teamsOf('staffed')}?filter[names]=owners`);
    const [owners] = body.data;
    expectStatus(await manager.post(usersOf(id), users('keeper')), 204);
    expectStatus(await manager.post(usersOf(owners.id), users('keeper')), 404);
    expectStatus(await manager.delete(usersOf(owners.id), users('admin')), 404);
    expectStatus(await manager.post(membershipsOf(owners.id), memberships(manager.membership)), 404);
    expectStatus(await manager.patch(pathOf(id), resource('teams', { name: 'theirs' })), 404);
    expect(await membersOf(owners.id)).toEqual(['admin']);
  });

  it('without a membership, as in old logs, count as members', async () => {
    const { store, runtime } = server;
    const { id: user } = await ensureUser(store, runtime.ids, 'old-timer', false);
    const api: ApiTestClient = server.as(await issueUserToken(store, runtime.ids, user, 'for a test'));
    await server.database.transaction([
      sql`insert into team_members (team, user_id) values (${id}, ${user})`,
      sql`select access.raise_epoch(${user})`,
      sql`update users set email = 'old@people.test' where id = ${user}`,
    ]);
    expectStatus(await api.get('/api/v2/organizations/staffed'), 200);
    const other = await makeTeam(server, 'staffed', 'other');
    expectStatus(await server.post(usersOf(other), users('old-timer')), 204);
    expect(await membersOf(other)).toEqual(['old-timer']);
    const invitation = resource('organization-memberships', { email: 'OLD@people.test' });
    const owner = await makeMember(server, 'staffed', 'an-owner', [
      (await server.get(`${teamsOf('staffed')}?filter[names]=owners`)).body.data[0].id,
    ]);
    const { body } = expectStatus(
      await owner.post('/api/v2/organizations/staffed/organization-memberships', invitation),
      201,
    );
    expect(body.data.attributes).toMatchObject({ status: 'active', email: 'OLD@people.test' });
  });
});

describe('secret teams', () => {
  let hidden: string;
  let insider: SeededMember;
  let outsider: SeededMember;

  beforeAll(async () => {
    await makeOrganization(server, 'discreet');
    hidden = await makeTeam(server, 'discreet', 'hidden');
    await makeTeam(server, 'discreet', 'open', { visibility: 'organization' });
    insider = await makeMember(server, 'discreet', 'insider', [hidden]);
    outsider = await makeMember(server, 'discreet', 'outsider');
  });

  it('are visible to their members, their own token, and callers that may see all secret teams', async () => {
    const seer = await makeHolder('discreet', 'seer', 'access-secret-teams');
    const token = server.as(await makeToken(server, `${pathOf(hidden)}/authentication-token`));
    const organization = server.as(await makeToken(server, '/api/v2/organizations/discreet/authentication-token'));
    for (const api of [server, insider, seer, token, organization]) {
      expectStatus(await api.get(pathOf(hidden)), 200);
      expect(listNames(await api.get(`${teamsOf('discreet')}?q=hidden`))).toEqual(['hidden']);
    }
  });

  it('are hidden from other callers: by id, in lists and counts, and in relationships', async () => {
    const manager = await makeHolder('discreet', 'blind-manager', 'manage-teams', 'manage-membership');
    for (const api of [outsider, manager]) {
      expectStatus(await api.get(pathOf(hidden)), 404);
      expectStatus(await api.patch(pathOf(hidden), resource('teams', { name: 'found' })), 404);
      expectStatus(await api.delete(pathOf(hidden)), 404);
      expectStatus(await api.post(usersOf(hidden), users('outsider')), 404);
      const list = await api.get(`${teamsOf('discreet')}?page[size]=1&filter[names]=hidden,open`);
      expect([listNames(list), totalOf(list)]).toEqual([['open'], 1]);
      const { body } = expectStatus(
        await api.get(`/api/v2/organization-memberships/${insider.membership}?include=teams,user`),
        200,
      );
      expect(body.data.relationships.teams.data).toEqual([]);
      expect(body.included.map(({ type }: { type: string }) => type)).toEqual(['users']);
    }
    const own = await insider.get(`/api/v2/organization-memberships/${insider.membership}?include=teams`);
    expect(own.body.data.relationships.teams.data).toEqual([{ type: 'teams', id: hidden }]);
    expect(own.body.included.map(({ id }: { id: string }) => id)).toEqual([hidden]);
  });

  it('cannot be named in an invitation by callers that cannot see them', async () => {
    const manager = await makeHolder('discreet', 'inviter', 'manage-membership');
    const into = { teams: { data: [{ type: 'teams', id: hidden }] } };
    const body = resource('organization-memberships', { email: 'guest@people.test' }, into);
    const path = '/api/v2/organizations/discreet/organization-memberships';
    const refusal = expectStatus(await manager.post(path, body), 422);
    expect(getDetail(refusal)).toBe(`Team ${hidden} does not exist`);
    const nowhere = resource(
      'organization-memberships',
      { email: 'guest@people.test' },
      {
        teams: { data: [{ type: 'teams', id: 'team-nowhere' }] },
      },
    );
    expect(getDetail(expectStatus(await server.post(path, nowhere), 422))).toBe('Team team-nowhere does not exist');
  });
});

describe('teams of groups at an identity provider', () => {
  it('are at most 100 in an organization', async () => {
    const { name } = await makeOrganization(server, 'grouped');
    const path = `/api/v2/organizations/${name}/teams`;
    const create = (team: string, group: string | null) =>
      server.post(path, resource('teams', { name: team, 'sso-team-id': group }));
    const ids: string[] = [];
    for (let n = 0; n < MAX_SSO_TEAMS; n += 1) {
      ids.push(expectStatus(await create(`team-${n}`, 'everybody'), 201).body.data.id as string);
    }
    const manual = expectStatus(await create('manual', null), 201).body.data.id as string;
    const update = (id: string, group: string | null) =>
      server.patch(`/api/v2/teams/${id}`, resource('teams', { 'sso-team-id': group }));
    for (const refused of [await create('more', 'everybody'), await update(manual, 'everybody')]) {
      expect([refused.status, refused.body.errors[0].source.pointer, refused.text]).toEqual([
        422,
        '/data/attributes/sso-team-id',
        expect.stringContaining('The organization has 100 teams with an SSO team id'),
      ]);
    }
    // An organization of an earlier version can have more teams.
    await server.database.rows(sql`update teams set sso_team_id = 'everybody' where id = ${manual}`);
    expectStatus(await update(ids[0] ?? '', 'another'), 200);
    await server.database.rows(sql`update teams set sso_team_id = null where id = ${manual}`);
    expectStatus(await update(ids[0] ?? '', null), 200);
    expectStatus(await update(manual, 'everybody'), 200);
  });
});
