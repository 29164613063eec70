import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Authenticator } from '#api/access';
import { sql } from '#platform/kernel';
import { MAX_SUMMED_SUBJECTS, MAX_CHANGED_SUBJECTS } from '../../libs/api/access/permissions/access-epochs.queries.js';
import {
  expectStatus,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeRemotePool,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  related,
  resource,
  type SeededMember,
} from '../support/seeds.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiResponse,
  type TestGateway,
  type TestServer,
} from '../support/server.js';

// Gateways cache identities. A change must reach every identity that it affects at the next request, and must not make
// a gateway read any other identity again. Otherwise the writes of one caller slow down all callers (ADR 32).

const LONG = scaleLimit(120_000);
/** Each kind of removal once. */
const ROUNDS = countRounds(4);

let server: TestServer;
let second: TestGateway;
/** A gateway that serves the callers of a site only after the change, so it has nothing of them in its cache. */
let untouched: TestGateway;
let number = 0;

beforeAll(async () => {
  server = await startTestServer();
  second = await startAnotherGateway(server);
  untouched = await startAnotherGateway(server);
}, LONG);

afterAll(async () => {
  await untouched.close();
  await second.close();
  await server.close();
});

/** One token of each kind of caller. `ada` and `cleo` are in the team, `bea` is in another one. */
const CALLERS = [
  'ada',
  'ada, second token',
  'bea',
  'cleo',
  'invited',
  'owner',
  'outsider',
  'team',
  'team, second token',
  'other team',
  'owners team',
  'organization',
  'audit trail',
  'agent',
  'run',
] as const;
type CallerName = (typeof CALLERS)[number];

type Site = {
  readonly name: string;
  readonly team: string;
  readonly otherTeam: string;
  readonly ownersTeam: string;
  readonly pool: string;
  readonly run: string;
  readonly ada: SeededMember;
  readonly cleo: SeededMember;
  readonly outsider: SeededMember;
  readonly invited: { readonly id: string; readonly membership: string; readonly token: string };
  readonly secrets: Readonly<Record<CallerName, string>>;
};

const userToken = (user: string): Promise<string> => makeToken(server, `/api/v2/users/${user}/authentication-tokens`);

const makeSecondTeamToken = async (team: string): Promise<string> => {
  const body = resource('authentication-tokens', { description: 'a second one' });
  const { data } = expectStatus(await server.post(`/api/v2/teams/${team}/authentication-tokens`, body), 201).body;
  return data.attributes.token as string;
};

/** Invites as an owner who is no administrator of the site, so that the user has to accept. */
const invite = async (name: string, team: string, token: string, organization = name): Promise<Site['invited']> => {
  const body = resource(
    'organization-memberships',
    { email: `invited-${name}@people.test` },
    { teams: related('teams', team) },
  );
  const path = `/api/v2/organizations/${organization}/organization-memberships`;
  const { id: membership } = expectStatus(await server.as(token).post(path, body), 201).body.data;
  // The inviter does not see the account. An administrator of the site does.
  const membershipDocument = expectStatus(await server.get(`/api/v2/organization-memberships/${membership}`), 200).body
    .data;
  const id = membershipDocument.relationships.user.data.id as string;
  return { id, membership, token: await userToken(id) };
};

const makeSite = async (): Promise<Site> => {
  const name = `site-${(number += 1)}`;
  await makeOrganization(server, name);
  const elsewhere = `${name}-elsewhere`;
  await makeOrganization(server, elsewhere);
  const ownersOf = async (organization: string): Promise<string> =>
    (await server.get(`/api/v2/organizations/${organization}/teams?filter[names]=owners`)).body.data[0].id as string;
  const ownersTeam = await ownersOf(name);
  const [team, otherTeam] = [await makeTeam(server, name, 'core'), await makeTeam(server, name, 'other')];
  const ada = await makeMember(server, name, `ada-${name}`, [team]);
  const bea = await makeMember(server, name, `bea-${name}`, [otherTeam]);
  const cleo = await makeMember(server, name, `cleo-${name}`, [team]);
  const owner = await makeMember(server, name, `owner-${name}`, [ownersTeam]);
  const outsider = await makeMember(server, elsewhere, `outsider-${name}`, [await ownersOf(elsewhere)]);
  const invited = await invite(name, team, owner.token);
  const pool = await makeRemotePool(server, name, 'edge');
  const agent = await makeAgentToken(server, pool);
  const workspace = await makeWorkspace(server, name, 'one');
  await makeConfigurationVersion(server, workspace);
  const run = await makeRun(server, workspace);
  const secrets = {
    ada: ada.token,
    'ada, second token': await userToken(ada.id),
    bea: bea.token,
    cleo: cleo.token,
    invited: invited.token,
    owner: owner.token,
    outsider: outsider.token,
    team: await makeToken(server, `/api/v2/teams/${team}/authentication-token`),
    'team, second token': await makeSecondTeamToken(team),
    'other team': await makeToken(server, `/api/v2/teams/${otherTeam}/authentication-token`),
    'owners team': await makeSecondTeamToken(ownersTeam),
    organization: await makeOrganizationToken(server, name),
    'audit trail': await makeToken(server, `/api/v2/organizations/${name}/authentication-token?token=audit-trails`),
    agent,
    run: await makeToken(server.as(agent), `/api/v2/runs/${run}/authentication-tokens`),
  };
  return { name, team, otherTeam, ownersTeam, pool, run, ada, cleo, outsider, invited, secrets };
};

const ACTIVE_USERS = ['ada', 'ada, second token', 'bea', 'cleo', 'owner'] as const;
const ADA = ['ada', 'ada, second token'] as const;
const TEAM = [...ADA, 'cleo', 'team', 'team, second token'] as const;

type Change = {
  readonly is: string;
  readonly make: (site: Site) => Promise<unknown>;
  /** Callers whose identity is read again and stays valid. */
  readonly reads?: readonly CallerName[];
  /** Callers that get 401 afterwards. */
  readonly ends?: readonly CallerName[];
};

const users = (...ids: readonly string[]) => related('users', ...ids);

const CHANGES: readonly Change[] = [
  {
    is: 'a user changes their name',
    make: async ({ ada }) =>
      expectStatus(
        await ada.patch('/api/v2/account/update', resource('users', { username: `new-${ada.username}` })),
        200,
      ),
    reads: ADA,
  },
  {
    is: 'a user is deleted',
    make: async ({ ada }) => expectStatus(await server.delete(`/api/v2/admin/users/${ada.id}`), 204),
    ends: ADA,
  },
  {
    is: 'a user is suspended',
    make: async ({ ada }) => expectStatus(await server.post(`/api/v2/admin/users/${ada.id}/actions/suspend`), 200),
    ends: ADA,
  },
  {
    is: 'a member leaves',
    make: async ({ ada }) =>
      expectStatus(await server.delete(`/api/v2/organization-memberships/${ada.membership}`), 204),
    reads: ADA,
  },
  {
    is: 'an invited user accepts',
    make: async ({ invited }) =>
      expectStatus(
        await server.as(invited.token).post(`/api/v2/organization-memberships/${invited.membership}/actions/accept`),
        200,
      ),
    reads: ['invited'],
  },
  {
    is: 'an invitation is withdrawn',
    make: async ({ invited }) =>
      expectStatus(await server.delete(`/api/v2/organization-memberships/${invited.membership}`), 204),
    // They leave the team in the same append, after the invitation is deleted.
    reads: ['invited'],
  },
  {
    is: 'a user of another organization is invited',
    make: ({ name, outsider, secrets }) =>
      server
        .as(secrets.owner)
        .post(
          `/api/v2/organizations/${name}/organization-memberships`,
          resource('organization-memberships', { email: outsider.email }),
        )
        .then((answer) => expectStatus(answer, 201)),
  },
  {
    is: 'a member joins a team',
    make: async ({ otherTeam, ada }) =>
      expectStatus(await server.post(`/api/v2/teams/${otherTeam}/relationships/users`, users(ada.username)), 204),
    reads: ADA,
  },
  {
    is: 'a member leaves a team',
    make: async ({ team, ada }) =>
      expectStatus(await server.delete(`/api/v2/teams/${team}/relationships/users`, users(ada.username)), 204),
    reads: ADA,
  },
  {
    is: 'two members become owners',
    make: async ({ ownersTeam, ada, cleo }) =>
      expectStatus(
        await server.post(`/api/v2/teams/${ownersTeam}/relationships/users`, users(cleo.username, ada.username)),
        204,
      ),
    reads: [...ADA, 'cleo'],
  },
  {
    is: 'a team gets access to the organization',
    make: async ({ team }) =>
      expectStatus(
        await server.patch(
          `/api/v2/teams/${team}`,
          resource('teams', { 'organization-access': { 'manage-teams': true } }),
        ),
        200,
      ),
    reads: TEAM,
  },
  {
    is: 'a team changes its name',
    make: async ({ team }) =>
      expectStatus(await server.patch(`/api/v2/teams/${team}`, resource('teams', { name: 'core-2' })), 200),
    reads: TEAM,
  },
  {
    is: 'a team changes its visibility',
    make: async ({ team }) =>
      expectStatus(await server.patch(`/api/v2/teams/${team}`, resource('teams', { visibility: 'organization' })), 200),
  },
  {
    is: 'a team is deleted',
    make: async ({ team }) => expectStatus(await server.delete(`/api/v2/teams/${team}`), 204),
    reads: [...ADA, 'cleo'],
    ends: ['team', 'team, second token'],
  },
  {
    is: 'an organization changes its name',
    make: async ({ name }) =>
      expectStatus(
        await server.patch(`/api/v2/organizations/${name}`, resource('organizations', { name: `new-${name}` })),
        200,
      ),
    reads: ['organization', 'audit trail'],
  },
  {
    is: 'an organization refuses the tokens of users',
    make: async ({ name }) =>
      expectStatus(
        await server.patch(
          `/api/v2/organizations/${name}`,
          resource('organizations', { 'user-tokens-enabled': false }),
        ),
        200,
      ),
    reads: ACTIVE_USERS,
  },
  {
    is: 'an organization limits the life of tokens',
    make: async ({ name }) =>
      expectStatus(
        await server.patch(`/api/v2/organizations/${name}`, resource('organizations', { 'max-ttl-enabled': true })),
        200,
      ),
    reads: ACTIVE_USERS,
  },
  {
    is: 'an organization changes the limit for tokens of users',
    make: async ({ name }) =>
      expectStatus(
        await server.patch(
          `/api/v2/organizations/${name}/token-ttl-policies`,
          resource('organization-token-ttl-policies', {
            'token-ttl-policies': [{ 'token-type': 'user', 'max-ttl-ms': 60_000 }],
          }),
        ),
        200,
      ),
    reads: ACTIVE_USERS,
  },
  {
    is: 'an organization is deleted',
    make: async ({ name }) => expectStatus(await server.delete(`/api/v2/organizations/${name}`), 204),
    reads: ACTIVE_USERS,
    ends: ['team', 'team, second token', 'other team', 'owners team', 'organization', 'audit trail', 'agent', 'run'],
  },
  {
    is: 'a token of a user is destroyed',
    make: async ({ ada }) => {
      const { data } = (await ada.get(`/api/v2/users/${ada.id}/authentication-tokens`)).body;
      return expectStatus(await ada.delete(`/api/v2/authentication-tokens/${data[0].id as string}`), 204);
    },
    ends: ['ada, second token'],
  },
  {
    is: 'the token of a team is made again',
    make: ({ team }) => makeToken(server, `/api/v2/teams/${team}/authentication-token`),
    ends: ['team'],
  },
  {
    is: 'the token of an organization is made again',
    make: ({ name }) => makeOrganizationToken(server, name),
    ends: ['organization'],
  },
  {
    is: 'an agent pool is deleted',
    make: async ({ pool }) => expectStatus(await server.delete(`/api/v2/agent-pools/${pool}`), 204),
    ends: ['agent'],
  },
  {
    is: 'a run ends',
    make: async ({ run }) => expectStatus(await server.post(`/api/v2/runs/${run}/actions/cancel`), 202),
    ends: ['run'],
  },
];

/** Paths of documents that show the name and the roles of a caller. */
const pathsOf = ({ name }: Site): readonly string[] => [
  '/api/v2/account/details',
  `/api/v2/organizations/${name}/teams?include=users`,
];

type Answers = ReadonlyMap<CallerName, readonly (readonly [status: number, body: unknown])[]>;

const answersOf = async (gateway: TestGateway | TestServer, site: Site): Promise<Answers> =>
  new Map(
    await Promise.all(
      CALLERS.map(async (name) => {
        const api = gateway.as(site.secrets[name]);
        const answers = await Promise.all(pathsOf(site).map((path) => api.get(path)));
        return [name, answers.map(({ status, body }) => [status, body] as const)] as const;
      }),
    ),
  );

/** Records the secrets whose identities a gateway reads again from now on. */
const watchReads = (gateways: readonly { readonly authenticator: Authenticator }[]): Set<string> => {
  const secrets = new Set<string>();
  for (const { authenticator } of gateways) {
    const forget = authenticator.forget.bind(authenticator);
    jest.spyOn(authenticator, 'forget').mockImplementation((secret) => {
      secrets.add(secret);
      forget(secret);
    });
  }
  return secrets;
};

describe('a change of access', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each(CHANGES.map((change) => [change.is, change] as const))(
    'reaches the callers that it affects, on every gateway, and no other caller: %s',
    async (_, { make, reads = [], ends = [] }) => {
      const site = await makeSite();
      const gateways = [server, second];
      for (const gateway of gateways) {
        for (const answers of (await answersOf(gateway, site)).values()) expect(answers[0]?.[0]).toBe(200);
      }
      const secrets = watchReads(gateways);
      await make(site);
      const answers = await Promise.all(gateways.map((gateway) => answersOf(gateway, site)));
      const current = await answersOf(untouched, site);
      for (const each of answers) expect(each).toEqual(current);
      const ended = CALLERS.filter((name) => current.get(name)?.[0]?.[0] === 401);
      expect(ended.toSorted()).toEqual(ends.toSorted());
      const read = CALLERS.filter((name) => secrets.has(site.secrets[name]) && !ended.includes(name));
      expect(read.toSorted()).toEqual(reads.toSorted());
    },
    LONG,
  );

  it(
    'applies to every request that starts after its response, while gateways serve the caller',
    async () => {
      const name = `race-${(number += 1)}`;
      await makeOrganization(server, name);
      const organization = `/api/v2/organizations/${name}`;
      const gateways = [server, second];
      const removals: readonly ((team: string, member: SeededMember) => Promise<ApiResponse>)[] = [
        (team, { username }) => second.delete(`/api/v2/teams/${team}/relationships/users`, users(username)),
        (team) => server.delete(`/api/v2/teams/${team}`),
        (_, { membership }) => second.delete(`/api/v2/organization-memberships/${membership}`),
        (team) =>
          server.patch(
            `/api/v2/teams/${team}`,
            resource('teams', { 'organization-access': { 'manage-projects': false } }),
          ),
      ];
      for (let round = 0; round < ROUNDS; round += 1) {
        const team = await makeTeam(server, name, `team-${round}`, {
          'organization-access': { 'manage-projects': true },
        });
        const member = await makeMember(server, name, `racer-${name}-${round}`, [team]);
        let isAnswered = false;
        let counter = 0;
        const statuses: number[] = [];
        const clients = gateways.flatMap((gateway) =>
          Array.from({ length: 3 }, async (_, client) => {
            const api = gateway.as(member.token);
            for (let late = 0; late < 3;) {
              const startedLate = isAnswered;
              const body = resource('projects', { name: `p-${round}-${client}-${(counter += 1)}` });
              const { status } = await api.post(`${organization}/projects`, body);
              if (startedLate) {
                late += 1;
                statuses.push(status);
              } else if (status !== 201 && status !== 404) throw new Error(`a request was answered ${status}`);
            }
          }),
        );
        const remove = removals[round % removals.length] as (typeof removals)[number];
        const { status } = await remove(team, member);
        isAnswered = true;
        expect(status).toBeLessThan(300);
        await Promise.all(clients);
        expect(new Set(statuses)).toEqual(new Set([404]));
      }
    },
    LONG,
  );

  it(
    'reaches an invited user who accepts while their teams change',
    async () => {
      const name = `meeting-${(number += 1)}`;
      await makeOrganization(server, name);
      const ownersTeam = (await server.get(`/api/v2/organizations/${name}/teams?filter[names]=owners`)).body.data[0].id;
      const owner = await makeMember(server, name, `owner-${name}`, [ownersTeam as string]);
      for (let round = 0; round < ROUNDS; round += 1) {
        const team = await makeTeam(server, name, `team-${round}`, { 'organization-access': { 'manage-teams': true } });
        const invited = await invite(`${name}-${round}`, team, owner.token, name);
        const api = server.as(invited.token);
        const teams = `/api/v2/organizations/${name}/teams`;
        const accepted = api.post(`/api/v2/organization-memberships/${invited.membership}/actions/accept`);
        const removal = second.delete(
          `/api/v2/teams/${team}/relationships/organization-memberships`,
          related('organization-memberships', invited.membership),
        );
        let isOver = false;
        const reading = (async () => {
          while (!isOver) await api.get(teams);
        })();
        expectStatus(await accepted, 200);
        expectStatus(await removal, 204);
        isOver = true;
        await reading;
        expect((await api.post(teams, resource('teams', { name: `by-${round}` }))).status).toBe(404);
        expectStatus(await api.get(teams), 200);
      }
    },
    LONG,
  );

  it(
    'reaches a caller in many teams, and only if one of these teams changes',
    async () => {
      const name = `many-${(number += 1)}`;
      await makeOrganization(server, name);
      const teams: string[] = [];
      for (let n = 0; n <= MAX_SUMMED_SUBJECTS; n += 1) teams.push(await makeTeam(server, name, `team-${n}`));
      const [first = '', second = '', third = ''] = teams;
      const { id, token } = await makeMember(server, name, `joiner-${name}`, teams);
      const secrets = watchReads([server]);
      const raise = (...subjects: readonly string[]) =>
        server.database.rows(sql`select access.raise_epoch(subject) from unnest(${subjects}::text[]) as subject`);
      const isReadAgain = async (): Promise<boolean> => {
        secrets.clear();
        expectStatus(await server.as(token).get(`/api/v2/organizations/${name}`), 200);
        return secrets.has(token);
      };
      await isReadAgain();
      await raise('user-other');
      expect(await isReadAgain()).toBe(false);
      await raise('user-other', first);
      expect(await isReadAgain()).toBe(true);
      expect(await isReadAgain()).toBe(false);

      // A change that begins before the caller is read and ends after it.
      const session = await server.database.session();
      await session.pipeline([sql`begin`, sql`select access.raise_epoch(${second})`]);
      await raise(id);
      expect(await isReadAgain()).toBe(true);
      await session.run(sql`commit`);
      await session.close();
      expect(await isReadAgain()).toBe(true);

      await raise(...Array.from({ length: MAX_CHANGED_SUBJECTS }, (_, n) => `user-other-${n}`));
      expect(await isReadAgain()).toBe(false);
      await raise(third);
      expect(await isReadAgain()).toBe(true);
    },
    LONG,
  );
});
