import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { logLength } from '../support/event-log.js';
import {
  expectStatus,
  makeAgentPool,
  makeMember,
  makeOrganization,
  makeTeam,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../support/server.js';

// One server for all tests. The administrator, olga and mike have one token each at the start.
let server: TestServer;
let acme: SeededOrganization;
let olga: SeededMember;

beforeAll(async () => {
  server = await startTestServer({
    env: {
      CADASTRE_MAX_ORGANIZATIONS_PER_USER: '2',
      CADASTRE_MAX_TOKENS_PER_OWNER: '2',
    },
  });
  acme = await makeOrganization(server, 'acme');
  olga = await makeMember(server, 'acme', 'olga', [acme.ownersTeam]);
  await makeMember(server, 'acme', 'mike');
});

afterAll(() => server.close());

const organization = (name: string) => resource('organizations', { name, email: 'ops@acme.test' });
const token = (attributes: object = {}) => resource('authentication-tokens', attributes);

/** Returns the errors of a refused request and the number of events that it appended. */
const refusal = async (request: () => Promise<ApiResponse>) => {
  const before = await logLength(server.store);
  const { body } = expectStatus(await request(), 422);
  return { errors: body.errors as unknown, events: (await logLength(server.store)) - before };
};

const only = (detail: string) => ({ errors: [{ status: '422', title: 'invalid attribute', detail }], events: 0 });

it('refuses another organization to a user that owns as many as the quota allows', async () => {
  const create = (name: string) => olga.post('/api/v2/organizations', organization(name));
  expectStatus(await create('second'), 201);
  expect(await refusal(() => create('third'))).toEqual(
    only(
      'A user can own at most 2 organizations (CADASTRE_MAX_ORGANIZATIONS_PER_USER). Delete one, or ask the operator of the site for a higher quota',
    ),
  );
  expectStatus(await olga.delete('/api/v2/organizations/second'), 204);
  expectStatus(await create('third'), 201);
});

it('lets administrators of the site create organizations beyond the quota', async () => {
  for (const name of ['of-admin-1', 'of-admin-2', 'of-admin-3']) {
    expect(await server.post('/api/v2/organizations', organization(name))).toMatchObject({ status: 201 });
  }
});

it.each([
  ['user', async () => `/api/v2/users/${olga.id}`],
  ['team', async () => `/api/v2/teams/${await makeTeam(server, 'acme', 'builders')}`],
  ['agent pool', async () => `/api/v2/agent-pools/${await makeAgentPool(server, 'acme', 'edge')}`],
])('refuses a token of a %s beyond the quota, and accepts one after another has been deleted', async (_, pathOf) => {
  const path = `${await pathOf()}/authentication-tokens`;
  const create = async (description: string) => olga.post(path, token({ description }));
  const isFull = async () => expectStatus(await olga.get(path), 200).body.data.length === 2;
  for (let n = 1; !(await isFull()); n += 1) expectStatus(await create(`number ${n}`), 201);
  expect(await refusal(() => create('one too many'))).toEqual(
    only(
      'A user, team, organization or agent pool can have at most 2 tokens (CADASTRE_MAX_TOKENS_PER_OWNER). Delete one, or ask the operator of the site for a higher quota',
    ),
  );
  const [latest] = expectStatus(await olga.get(path), 200).body.data;
  expectStatus(await olga.delete(`/api/v2/authentication-tokens/${latest.id}`), 204);
  expectStatus(await create('instead'), 201);
});

it('replaces the only token of a kind while its owner has as many as the quota allows', async () => {
  const path = '/api/v2/organizations/acme/authentication-token';
  for (const kind of [path, `${path}?token=audit-trails`, path, `${path}?token=audit-trails`]) {
    expect(await olga.post(kind, token())).toMatchObject({ status: 201 });
  }
});
