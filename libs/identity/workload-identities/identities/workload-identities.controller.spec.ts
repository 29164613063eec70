import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
import { costOf } from '../../../../test/support/cost.js';
import { runBetween } from '../../../../test/support/interleaving.js';
import { listNames, listProblems } from '../../../../test/support/responses.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import {
  makeWorkloadIdentity,
  workloadIdentityBody,
  WORKLOAD_SUBJECT,
} from '../../../../test/support/workload-identities.js';
import { workloadIdentitiesDefinition } from '../index.js';
import { MAX_IDENTITIES_PER_TEAM } from './workload-identities.handler.js';

let server: TestServer;
let acme: SeededOrganization;
let team: string;

beforeAll(async () => {
  server = await startTestServer();
  acme = await makeOrganization(server, 'acme');
  team = await makeTeam(server, 'acme', 'delivery');
});

afterAll(() => server.close());

const ofTeam = (id: string): string => `/api/v2/teams/${id}/workload-identities`;
const byId = (id: string): string => `/api/v2/workload-identities/${id}`;
const changes = (attributes: object): object => resource('workload-identities', attributes);

describe('a workload identity', () => {
  it('is created with defaults, and is the same by id and in the list', async () => {
    const other = await makeTeam(server, 'acme', 'other');
    const { body } = expectStatus(await server.post(ofTeam(other), workloadIdentityBody('main')), 201);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^wid-\w{16}$/),
      type: 'workload-identities',
      attributes: {
        name: 'main',
        description: null,
        issuer: 'https://token.actions.githubusercontent.com',
        audience: server.runtime.settings.publicUrl,
        claims: { sub: [WORKLOAD_SUBJECT] },
        'token-minutes': 60,
        enabled: true,
        'created-at': expect.any(String),
      },
      relationships: { team: { data: { type: 'teams', id: other }, links: { related: `/api/v2/teams/${other}` } } },
      links: { self: byId(body.data.id) },
    });
    expect(expectStatus(await server.get(byId(body.data.id)), 200).body).toEqual(body);
    expect(expectStatus(await server.get(ofTeam(other)), 200).body.data).toEqual([body.data]);
  });

  it('has the values of the request', async () => {
    const attributes = {
      audience: 'cadastre',
      claims: { project_path: ['acme/app', 'acme/*'], ref_protected: ['true'] },
      description: 'deploys',
      enabled: false,
      issuer: 'https://gitlab.example.com',
      'token-minutes': 1_440,
    };
    const id = await makeWorkloadIdentity(server, team, 'all', attributes);
    expect((await server.get(byId(id))).body.data.attributes).toMatchObject(attributes);
  });

  it('is changed attribute by attribute, and its claims are replaced together', async () => {
    const id = await makeWorkloadIdentity(server, team, 'changed', { audience: 'cadastre', description: 'before' });
    const update = async (attributes: object): Promise<object> =>
      expectStatus(await server.patch(byId(id), changes(attributes)), 200).body.data.attributes as object;
    const before = (await server.get(byId(id))).body.data.attributes as object;
    expect(await update({ 'token-minutes': 5 })).toEqual({ ...before, 'token-minutes': 5 });
    const claims = { repository: ['acme/app'] };
    const rest = { name: 'renamed', issuer: 'https://gitlab.example.com', enabled: false, claims };
    expect(await update(rest)).toMatchObject({ ...rest, 'token-minutes': 5, description: 'before' });
    expect(await update({ audience: null, description: null })).toMatchObject({
      audience: server.runtime.settings.publicUrl,
      description: null,
    });
    expect(await update({})).toMatchObject(rest);
  });

  it('is deleted', async () => {
    const id = await makeWorkloadIdentity(server, team, 'doomed');
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.get(byId(id)), 404);
    expectStatus(await server.patch(byId(id), changes({ enabled: false })), 404);
    expectStatus(await server.delete(byId(id)), 404);
  });

  it('is deleted with its team, also if the team is deleted while it is changed', async () => {
    const ended = await makeTeam(server, 'acme', 'ended');
    const id = await makeWorkloadIdentity(server, ended, 'main');
    runBetween(server.store, () => server.delete(`/api/v2/teams/${ended}`));
    expectStatus(await server.patch(byId(id), changes({ enabled: false })), 404);
    expectStatus(await server.get(byId(id)), 404);
    expectStatus(await server.get(ofTeam(ended)), 404);
  });

  it('is not created in a team that is deleted at the same time', async () => {
    const ending = await makeTeam(server, 'acme', 'ending');
    runBetween(server.store, () => server.delete(`/api/v2/teams/${ending}`));
    expectStatus(await server.post(ofTeam(ending), workloadIdentityBody('main')), 404);
  });

  it('is deleted with its organization', async () => {
    const { ownersTeam } = await makeOrganization(server, 'ended');
    const id = await makeWorkloadIdentity(server, ownersTeam, 'main');
    expectStatus(await server.delete('/api/v2/organizations/ended'), 204);
    expectStatus(await server.get(byId(id)), 404);
  });

  it('has a name that no other identity of the team has', async () => {
    const id = await makeWorkloadIdentity(server, team, 'taken');
    const nameProblem = [['/data/attributes/name', 'Name has already been taken']];
    expect(listProblems(expectStatus(await server.post(ofTeam(team), workloadIdentityBody('taken')), 422))).toEqual(
      nameProblem,
    );
    await makeWorkloadIdentity(server, await makeTeam(server, 'acme', 'elsewhere'), 'taken');
    const other = await makeWorkloadIdentity(server, team, 'free');
    expect(listProblems(expectStatus(await server.patch(byId(other), changes({ name: 'taken' })), 422))).toEqual(
      nameProblem,
    );
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.patch(byId(other), changes({ name: 'taken' })), 200);
  });
});

const toText = (detail: string | RegExp): unknown =>
  typeof detail === 'string' ? detail : expect.stringMatching(detail);

describe('a workload identity is refused with', () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, n) => `claim${n}`);

  it.each<[object, string, string | RegExp]>([
    [{ name: '' }, 'name', "Name can't be blank"],
    [{ name: 'a b' }, 'name', /^Name may only contain letters/],
    [{ name: 'x'.repeat(91) }, 'name', /^Name is too long/],
    [{ issuer: 'http://gitlab.example.com' }, 'issuer', /^Issuer must be the URL in the claim iss/],
    [{ issuer: `https://${'x'.repeat(250)}` }, 'issuer', 'Issuer: too long, at most 255 characters'],
    [{ issuer: 7 }, 'issuer', 'Issuer must be a string'],
    [{ audience: ' ' }, 'audience', "Audience can't be blank"],
    [{ audience: 'x'.repeat(256) }, 'audience', 'Audience: too long, at most 255 characters'],
    [{ description: 'x'.repeat(1_001) }, 'description', 'Description: too long, at most 1000 characters'],
    [{ 'token-minutes': 0 }, 'token-minutes', 'Token minutes: must be a whole number from 1 to 1440'],
    [{ 'token-minutes': 1_441 }, 'token-minutes', 'Token minutes: must be a whole number from 1 to 1440'],
    [{ 'token-minutes': 1.5 }, 'token-minutes', 'Token minutes must be a whole number'],
    [{ enabled: 'yes' }, 'enabled', 'Enabled must be true or false'],
    [{ claims: 'sub' }, 'claims', 'Claims must be an object'],
    [{ claims: {} }, 'claims', /^Claims must contain sub/],
    [{ claims: { sub: ['*'] } }, 'claims', /^Claims must contain sub/],
    [{ claims: { ref: ['refs/heads/main'] } }, 'claims', /^Claims must contain sub/],
    [{ claims: { sub: 'repo:acme/app' } }, 'claims/sub', 'Sub must be a list'],
    [{ claims: { sub: [] } }, 'claims/sub', 'Sub: needs at least one accepted value'],
    [{ claims: { sub: [7] } }, 'claims/sub/0', 'Sub must be a string'],
    [{ claims: { sub: ['x'.repeat(501)] } }, 'claims/sub/0', 'Sub: too long, at most 500 characters'],
    [
      { claims: { sub: Array.from({ length: 21 }, () => 'a:b') } },
      'claims/sub',
      'Sub: too many, at most 20 accepted values',
    ],
    [{ claims: { sub: ['a:b'], aud: ['x'] } }, 'claims/aud', /^Claims cannot contain aud/],
    [{ claims: { sub: ['a:b'], 'a b': ['x'] } }, 'claims/a b', /begins with a letter/],
    [
      { claims: { ...Object.fromEntries(many(20).map((name) => [name, ['x']])), sub: ['a:b'] } },
      'claims',
      'Claims: too many, at most 20',
    ],
  ])('%j', async (attributes, at, detail) => {
    const expected = [[`/data/attributes/${at}`, toText(detail)]];
    const created = await server.post(ofTeam(team), workloadIdentityBody('refused', attributes));
    expect(listProblems(expectStatus(created, 422))).toEqual(expected);
    const id = await makeWorkloadIdentity(server, await makeTeam(server, 'acme', 'fresh'), 'main');
    const before = (await server.get(byId(id))).body;
    expect(listProblems(expectStatus(await server.patch(byId(id), changes(attributes)), 422))).toEqual(expected);
    expect((await server.get(byId(id))).body).toEqual(before);
    expectStatus(await server.delete(`/api/v2/teams/${before.data.relationships.team.data.id}`), 204);
  });

  it('all faults of the request, each with its attribute', async () => {
    const attributes = { name: '', issuer: 'no url', claims: { ref: ['x'] }, 'token-minutes': 0 };
    const refused = await server.post(ofTeam(team), workloadIdentityBody('refused', attributes));
    expect(
      listProblems(expectStatus(refused, 422))
        .map(([at]) => at)
        .toSorted(),
    ).toEqual(['claims', 'issuer', 'name', 'token-minutes'].map((name) => `/data/attributes/${name}`));
  });

  it('more identities than a team can have', async () => {
    const full = await makeTeam(server, 'acme', 'full');
    for (let n = 0; n < MAX_IDENTITIES_PER_TEAM; n += 1) await makeWorkloadIdentity(server, full, `identity-${n}`);
    const refused = expectStatus(await server.post(ofTeam(full), workloadIdentityBody('one-more')), 422);
    expect(listProblems(refused)).toEqual([[undefined, 'A team can have at most 100 workload identities. Delete one']]);
  });
});

describe('the list of workload identities', () => {
  it('is sorted by name, paged, and takes one statement', async () => {
    const listed = await makeTeam(server, 'acme', 'listed');
    expect(expectStatus(await server.get(ofTeam(listed)), 200).body.data).toEqual([]);
    for (const name of ['c', 'a', 'b']) await makeWorkloadIdentity(server, listed, name);
    const page = expectStatus(await server.get(`${ofTeam(listed)}?page[size]=2`), 200);
    expect(listNames(page)).toEqual(['a', 'b']);
    expect(page.body.meta.pagination).toMatchObject({ 'total-count': 3, 'next-page': 2 });
    expect(listNames(expectStatus(await server.get(page.body.links.next as string), 200))).toEqual(['c']);
    expect(await costOf(server, () => server.get(ofTeam(listed)))).toMatchObject({ statements: 1, roundTrips: 1 });
  });
});

describe('permissions on workload identities', () => {
  let bodies = 0;
  const statuses = async (api: ApiTestClient, of: string, id: string): Promise<number[]> => [
    (await api.get(ofTeam(of))).status,
    (await api.get(byId(id))).status,
    (await api.patch(byId(id), changes({ description: 'changed' }))).status,
    (await api.post(ofTeam(of), workloadIdentityBody(`made-${(bodies += 1)}`))).status,
  ];

  it('are those on the tokens of the team', async () => {
    const own = await makeTeam(server, 'acme', 'own');
    const id = await makeWorkloadIdentity(server, own, 'main');
    const member = await makeMember(server, 'acme', 'member', [own]);
    const stranger = await makeMember(server, 'acme', 'stranger', [await makeTeam(server, 'acme', 'beside')]);
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    const ofOwnTeam = server.as(await makeToken(server, `/api/v2/teams/${own}/authentication-token`));
    expect(await statuses(member, own, id)).toEqual([200, 200, 200, 201]);
    expect(await statuses(organization, own, id)).toEqual([200, 200, 200, 201]);
    expect(await statuses(stranger, own, id)).toEqual([404, 404, 404, 404]);
    // A token could otherwise outlive itself.
    expect(await statuses(ofOwnTeam, own, id)).toEqual([404, 404, 404, 404]);
    const closed = resource('teams', { 'allow-member-token-management': false });
    expectStatus(await server.patch(`/api/v2/teams/${own}`, closed), 200);
    expect(await statuses(member, own, id)).toEqual([404, 404, 404, 404]);
  });

  it('are those of owners on the team of owners', async () => {
    const id = await makeWorkloadIdentity(server, acme.ownersTeam, 'main');
    const manager = await makeMember(server, 'acme', 'manager', [
      await makeTeam(server, 'acme', 'managers', { 'organization-access': { 'manage-teams': true } }),
    ]);
    expect(await statuses(manager, acme.ownersTeam, id)).toEqual([404, 404, 404, 404]);
    const owner = await makeMember(server, 'acme', 'owner', [acme.ownersTeam]);
    expect(await statuses(owner, acme.ownersTeam, id)).toEqual([200, 200, 200, 201]);
  });
});

describe('the view of workload identities', () => {
  it('matches the log', async () => {
    await expectViewsMatchLog(server, [workloadIdentitiesDefinition]);
  });
});
