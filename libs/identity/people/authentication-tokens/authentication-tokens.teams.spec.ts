import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixedClock } from '../../../../test/support/clocks.js';
import {
  expectStatus,
  makeAgentPool,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeToken,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import { costOf } from '../../../../test/support/cost.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';

const clock = new FixedClock();
let server: TestServer;
let acme: SeededOrganization;

beforeAll(async () => {
  server = await startTestServer({ clock, env: { CADASTRE_TOKEN_LIFETIME: 'off' } });
  acme = await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const several = (team: string): string => `/api/v2/teams/${team}/authentication-tokens`;
const only = (team: string): string => `/api/v2/teams/${team}/authentication-token`;
const byId = (id: string): string => `/api/v2/authentication-tokens/${id}`;

const token = (description?: string | null, attributes: object = {}) =>
  resource('authentication-tokens', { ...(description === undefined ? {} : { description }), ...attributes });

const idOf = ({ body }: ApiResponse): string => body.data.id as string;
const descriptionsIn = ({ body }: ApiResponse): (string | null)[] =>
  body.data.map(({ attributes }: any) => attributes.description as string | null);

describe('the tokens of a team', () => {
  it('have descriptions, and are listed together with the token that has none', async () => {
    const team = await makeTeam(server, 'acme', 'several');
    const first = expectStatus(await server.post(several(team), token('first')), 201);
    expect(first.body.data).toMatchObject({
      type: 'authentication-tokens',
      attributes: { description: 'first' },
      relationships: { team: { data: { type: 'teams', id: team } } },
    });
    clock.pass({ seconds: 1 });
    expectStatus(await server.post(several(team), token('second')), 201);
    clock.pass({ seconds: 1 });
    expectStatus(await server.post(only(team), token('ignored')), 201);
    expect(descriptionsIn(expectStatus(await server.get(several(team)), 200))).toEqual([null, 'second', 'first']);
    const page = expectStatus(await server.get(`${several(team)}?page[size]=1&page[number]=2`), 200);
    expect(descriptionsIn(page)).toEqual(['second']);
    expect(page.body.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 3 });
  });

  it('are replaced and destroyed independently of each other', async () => {
    const team = await makeTeam(server, 'acme', 'untouched');
    const secrets = [
      expectStatus(await server.post(several(team), token('named')), 201).body.data.attributes.token as string,
      await makeToken(server, only(team)),
    ];
    await makeToken(server, only(team));
    expectStatus(await server.as(secrets[0] ?? '').get('/api/v2/account/details'), 200);
    expectStatus(await server.as(secrets[1] ?? '').get('/api/v2/account/details'), 401);
    expectStatus(await server.delete(only(team)), 204);
    expect(descriptionsIn(await server.get(several(team)))).toEqual(['named']);
    expectStatus(await server.get(only(team)), 404);
  });

  it.each([
    ['no description', token()],
    ['null as the description', token(null)],
    ['a description that is too long', token('n'.repeat(1_001))],
    ['no attributes', { data: { type: 'authentication-tokens' } }],
  ])('are not created with %s', async (_, body) => {
    const team = acme.ownersTeam;
    const { errors } = expectStatus(await server.post(several(team), body), 422).body;
    expect(errors[0].source.pointer).toBe('/data/attributes/description');
  });

  it('may have an empty description, but only one token in each team', async () => {
    const team = await makeTeam(server, 'acme', 'nameless');
    const { attributes } = expectStatus(await server.post(several(team), token('')), 201).body.data;
    expect(attributes.description).toBe('');
    expectStatus(await server.post(several(team), token('')), 422);
    expect(descriptionsIn(expectStatus(await server.get(several(team)), 200))).toEqual(['']);
  });

  it('have descriptions that are unique in the team, even if several are created at once, but not across teams', async () => {
    const [team, other] = [await makeTeam(server, 'acme', 'unique'), await makeTeam(server, 'acme', 'unique-too')];
    const answers = await Promise.all([1, 2, 3].map(() => server.post(several(team), token('same'))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422]);
    const { errors } = expectStatus(await server.post(several(team), token('same')), 422).body;
    expect(errors).toEqual([
      {
        status: '422',
        title: 'invalid attributes',
        detail: 'Validation failed: Description has already been taken',
        source: { pointer: '/data/attributes/description' },
      },
    ]);
    expectStatus(await server.post(several(other), token('same')), 201);
    // 1,000 characters of three bytes each, which hardly compress: longer than an entry of a Postgres index may be.
    const long = Array.from({ length: 1_000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7_919) % 20_000))).join(
      '',
    );
    expectStatus(await server.post(several(team), token(long)), 201);
    expectStatus(await server.post(several(team), token(long)), 422);
    const existing = (await server.get(several(team))).body.data.find(
      ({ attributes }: any) => attributes.description === 'same',
    );
    expectStatus(await server.delete(byId(existing.id)), 204);
    expectStatus(await server.post(several(team), token('same')), 201);
  });

  it('take one round trip to read, and two to create or destroy', async () => {
    const team = await makeTeam(server, 'acme', 'counted');
    const cost = async (send: () => Promise<ApiResponse>): Promise<[number, number]> => {
      const { status, roundTrips } = await costOf(server, send);
      return [status, roundTrips];
    };
    expect(await cost(() => server.post(several(team), token('measured')))).toEqual([201, 2]);
    expect(await cost(() => server.post(only(team)))).toEqual([201, 2]);
    expect(await cost(() => server.post(only(team)))).toEqual([201, 2]);
    expect(await cost(() => server.get(several(team)))).toEqual([200, 1]);
    expect(await cost(() => server.get(only(team)))).toEqual([200, 1]);
    expect(await cost(() => server.delete(only(team)))).toEqual([204, 2]);
  });
});

describe('the permission to manage the tokens of a team', () => {
  it('is given to members while the team allows it, never to a token of the team', async () => {
    const team = await makeTeam(server, 'acme', 'trusting');
    const member = await makeMember(server, 'acme', 'trusted', [team]);
    const created = expectStatus(await member.post(several(team), token('mine')), 201);
    expectStatus(await member.get(byId(idOf(created))), 200);
    expectStatus(await member.post(only(team)), 201);
    expectStatus(await member.delete(only(team)), 204);
    const itself = server.as(created.body.data.attributes.token as string);
    expectStatus(await itself.post(several(team), token('longer')), 404);
    expectStatus(await itself.get(several(team)), 404);
    expectStatus(await itself.get(byId(idOf(created))), 404);
    const closed = resource('teams', { 'allow-member-token-management': false });
    expectStatus(await server.patch(`/api/v2/teams/${team}`, closed), 200);
    for (const answer of [
      await member.post(several(team), token('late')),
      await member.post(only(team)),
      await member.get(several(team)),
      await member.get(byId(idOf(created))),
      await member.delete(byId(idOf(created))),
    ]) {
      expectStatus(answer, 404);
    }
    expectStatus(await member.get(`/api/v2/teams/${team}`), 200);
    expect((await server.get(byId(idOf(created)))).status).toBe(200);
  });

  it('is given to callers that may manage teams, except for the owners team and teams that they cannot see', async () => {
    const managers = await makeTeam(server, 'acme', 'managers', { 'organization-access': { 'manage-teams': true } });
    const manager = await makeMember(server, 'acme', 'manager', [managers]);
    const open = await makeTeam(server, 'acme', 'open', { visibility: 'organization' });
    const secret = await makeTeam(server, 'acme', 'secret', { visibility: 'secret' });
    expectStatus(await manager.post(several(open), token('by a manager')), 201);
    for (const team of [secret, acme.ownersTeam]) {
      expectStatus(await manager.post(several(team), token('by a manager')), 404);
      expectStatus(await manager.get(several(team)), 404);
      expect((await manager.post(only(team))).status).toBe(404);
    }
  });

  it('is denied to other members and to users of other organizations', async () => {
    const team = await makeTeam(server, 'acme', 'private', { visibility: 'organization' });
    const created = expectStatus(await server.post(several(team), token('theirs')), 201);
    const others: readonly SeededMember[] = [
      await makeMember(server, 'acme', 'bystander', [await makeTeam(server, 'acme', 'bystanders')]),
      await makeMember(server, (await makeOrganization(server, 'elsewhere')).name, 'foreigner'),
    ];
    for (const other of others) {
      expectStatus(await other.get(several(team)), 404);
      expectStatus(await other.post(several(team), token('mine')), 404);
      expectStatus(await other.delete(byId(idOf(created))), 404);
    }
    for (const path of [several('team-nowhere'), only('team-nowhere')])
      expect((await server.get(path)).status).toBe(404);
  });
});

describe('the tokens of all teams of an organization', () => {
  const PATH = '/api/v2/organizations/listed/team-tokens';
  let teams: Readonly<Record<'zeta' | 'alpha', string>>;
  let owners: string;

  beforeAll(async () => {
    ({ ownersTeam: owners } = await makeOrganization(server, 'listed'));
    teams = {
      zeta: await makeTeam(server, 'listed', 'zeta', { visibility: 'organization' }),
      alpha: await makeTeam(server, 'listed', 'alpha', { visibility: 'secret' }),
    };
    const ends = (days: number) => ({ 'expired-at': new Date(clock.time + days * 86_400_000).toISOString() });
    expectStatus(await server.post(several(teams.zeta), token('zeta never')), 201);
    expectStatus(await server.post(several(teams.zeta), token('zeta late', ends(9))), 201);
    expectStatus(await server.post(several(teams.alpha), token('alpha soon', ends(1))), 201);
    expectStatus(await server.post(several(owners), token('owners', ends(5))), 201);
    await makeOrganizationToken(server, 'listed');
  });

  const listed = async (query = '', api = server as Pick<TestServer, 'get'>): Promise<(string | null)[]> =>
    descriptionsIn(expectStatus(await api.get(`${PATH}?${query}`), 200));

  it.each([
    ['', ['alpha soon', 'owners', 'zeta late', 'zeta never']],
    ['sort=-expired-at', ['zeta late', 'owners', 'alpha soon', 'zeta never']],
    ['q=ETA', ['zeta late', 'zeta never']],
    ['q=alpha&sort=team-name', ['alpha soon']],
    ['q=none', []],
    ['q=%25', []],
  ])('are filtered and sorted with the query "%s"', async (query, expected) =>
    expect(await listed(query)).toEqual(expected),
  );

  it('are sorted by team name, creator or last use; another sort returns 400', async () => {
    const sorted = await listed('sort=team-name');
    expect(sorted.slice(0, 2)).toEqual(['alpha soon', 'owners']);
    for (const sort of ['created-by', '-last-used-at']) expect(await listed(`sort=${sort}`)).toHaveLength(4);
    expect(expectStatus(await server.get(`${PATH}?sort=name`), 400).body.errors[0].source.parameter).toBe('sort');
  });

  it('are listed page by page without secrets, in one statement', async () => {
    const second = (): Promise<ApiResponse> => server.get(`${PATH}?page[size]=3&page[number]=2`);
    expect(await costOf(server, second)).toMatchObject({ statements: 1 });
    const { body } = expectStatus(await second(), 200);
    expect(body.meta.pagination).toMatchObject({ 'total-count': 4, 'total-pages': 2, 'next-page': null });
    expect(body.data).toMatchObject([
      { attributes: { token: null }, relationships: { team: { data: { id: teams.zeta } } } },
    ]);
  });

  it('are listed if the caller may manage them', async () => {
    const organization = server.as(await makeOrganizationToken(server, 'listed'));
    expect(await listed('', organization)).toEqual(['alpha soon', 'zeta late', 'zeta never']);
    const managers = await makeTeam(server, 'listed', 'managers', { 'organization-access': { 'manage-teams': true } });
    const manager = await makeMember(server, 'listed', 'manager-there', [managers]);
    expect(await listed('', manager)).toEqual(['zeta late', 'zeta never']);
    const insider = await makeMember(server, 'listed', 'insider-there', [teams.alpha]);
    expect(await listed('', insider)).toEqual(['alpha soon']);
    const closed = resource('teams', { 'allow-member-token-management': false });
    expectStatus(await server.patch(`/api/v2/teams/${teams.alpha}`, closed), 200);
    expect(await listed('', insider)).toEqual([]);
    const owner = await makeMember(server, 'listed', 'owner-there', [owners]);
    expect(await listed('', owner)).toHaveLength(4);
  });

  it('return 404 to callers outside the organization', async () => {
    const stranger = await makeMember(server, 'acme', 'stranger');
    expectStatus(await stranger.get(PATH), 404);
    expect((await server.get('/api/v2/organizations/nowhere/team-tokens')).status).toBe(404);
  });
});

describe('the tokens of an agent pool', () => {
  let pool: string;
  beforeAll(async () => {
    pool = await makeAgentPool(server, 'acme', 'edge');
  });
  const PATH = (): string => `/api/v2/agent-pools/${pool}/authentication-tokens`;

  it.each(['agent-tokens', 'authentication-tokens', ''])(
    'are created with the type %j, and have the type authentication-tokens in every response',
    async (type) => {
      const body = resource(type, { description: `as ${type}` });
      const created = expectStatus(await server.post(PATH(), body), 201).body.data;
      expect(created).toMatchObject({ type: 'authentication-tokens', attributes: { description: `as ${type}` } });
      const document = expectStatus(await server.get(byId(created.id)), 200).body.data;
      expect(document).toEqual({ ...created, attributes: { ...created.attributes, token: null } });
      expectStatus(await server.delete(byId(created.id)), 204);
      expectStatus(await server.get(byId(created.id)), 404);
    },
  );

  it('require a description and the type of a token', async () => {
    expectStatus(await server.post(PATH(), resource('agent-tokens')), 422);
    expect((await server.post(PATH(), resource('agent-pools', { description: 'x' }))).status).toBe(422);
  });

  it('are listed page by page, and return 404 for an unknown pool', async () => {
    for (const description of ['one', 'two']) {
      clock.pass({ seconds: 1 });
      expectStatus(await server.post(PATH(), token(description)), 201);
    }
    const page = expectStatus(await server.get(`${PATH()}?page[size]=1`), 200);
    expect(descriptionsIn(page)).toEqual(['two']);
    expect(page.body.meta.pagination['total-count']).toBe(2);
    expectStatus(await server.get('/api/v2/agent-pools/apool-nowhere/authentication-tokens'), 404);
    expectStatus(await server.post('/api/v2/agent-pools/apool-nowhere/authentication-tokens', token('x')), 404);
  });

  it('are managed by callers that may manage agent pools, not by the organization token or other members', async () => {
    const [existing] = (await server.get(PATH())).body.data;
    const keepers = await makeTeam(server, 'acme', 'keepers', {
      'organization-access': { 'manage-agent-pools': true },
    });
    const keeper = await makeMember(server, 'acme', 'keeper', [keepers]);
    const own = expectStatus(await keeper.post(PATH(), token('of a keeper')), 201);
    expectStatus(await keeper.delete(byId(idOf(own))), 204);
    const together = server.as(await makeToken(server, `/api/v2/teams/${keepers}/authentication-token`));
    const theirs = expectStatus(await together.post(PATH(), token('of all keepers')), 201).body.data;
    expect(theirs.relationships['created-by'].data).toEqual({ type: 'users', id: keepers });
    expectStatus(await together.delete(byId(theirs.id)), 204);
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    const member = await makeMember(server, 'acme', 'mere-member');
    for (const api of [organization, member]) {
      expectStatus(await api.get(PATH()), 404);
      expectStatus(await api.post(PATH(), token('mine')), 404);
      expectStatus(await api.get(byId(existing.id)), 404);
      expect((await api.delete(byId(existing.id))).status).toBe(404);
    }
  });
});
