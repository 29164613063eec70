import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { rebuildView, listViews } from '#storage/event-store';
import { FixedClock } from '../../../../test/support/clocks.js';
import { logLength, readWholeLog, waitForFollowers } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  makeAgentPool,
  makeAgentToken,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeToken,
  makeWorkspace,
  resource,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { ensureUser, issueUserToken, makeOwner } from '../operator/people.operator.js';
import { peopleDefinition } from '../people.module.js';
import { can } from '#api/access';

const clock = new FixedClock();
let server: TestServer;
let acme: SeededOrganization;
let admin: string;
let pool: string;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  acme = await makeOrganization(server, 'acme');
  pool = await makeAgentPool(server, 'acme', 'edge');
  admin = (await server.get('/api/v2/account/details')).body.data.id as string;
});

afterAll(() => server.close());

const ORGANIZATION = '/api/v2/organizations/acme/authentication-token';
const AUDIT = `${ORGANIZATION}?token=audit-trails`;
const team = (): string => `/api/v2/teams/${acme.ownersTeam}/authentication-token`;
const user = (): string => `/api/v2/users/${admin}/authentication-tokens`;
const byId = (id: string): string => `/api/v2/authentication-tokens/${id}`;

const token = (attributes: object = {}) => resource('authentication-token', attributes);
const secretOf = ({ body }: ApiResponse): string => body.data.attributes.token as string;

/** Creates a user with a token, and makes the user an owner of `organization` if it is set. */
const makePerson = async (
  username: string,
  organization?: string,
): Promise<ApiTestClient & { readonly id: string }> => {
  const { store, runtime } = server;
  const { id } = await ensureUser(store, runtime.ids, username, false);
  if (organization) await makeOwner(store, runtime.ids, { id, username }, organization);
  return { ...server.as(await issueUserToken(store, runtime.ids, id, 'for a test')), id };
};

const dumpSchemas = async (...schemas: readonly string[]): Promise<string> => {
  const tables = await server.database.rows<{ name: string }>(sql`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema = any (${schemas}::text[]) order by 1`);
  expect(tables.length).toBeGreaterThan(0);
  const texts = await Promise.all(
    tables.map(({ name }) => server.database.rows(sql`select t::text as row from ${sql.raw(name)} as t`)),
  );
  return JSON.stringify(texts);
};

const teams = (): string => `/api/v2/teams/${acme.ownersTeam}/authentication-tokens`;
const agents = (): string => `/api/v2/agent-pools/${pool}/authentication-tokens`;

const KINDS = [
  ['a user', user, '2028-11-21T12:00:00.000Z'],
  ['a team', team, '2028-11-21T12:00:00.000Z'],
  ['a team, by name', teams, '2028-11-21T12:00:00.000Z'],
  ['an organization', () => ORGANIZATION, '2028-11-21T12:00:00.000Z'],
  ['an audit trail', () => AUDIT, '2028-11-21T12:00:00.000Z'],
  ['an agent pool', agents, null],
] as const;

let names = 0;
/** Returns the body of a token with a unique description. */
const uniqueToken = (attributes: object = {}) => token({ description: `name ${(names += 1)}`, ...attributes });

describe.each(KINDS)('the token of %s', (_, path, end) => {
  it('shows its secret only in the response that creates it', async () => {
    const created = expectStatus(await server.post(path(), uniqueToken()), 201);
    const { id, attributes } = created.body.data;
    expect(created.body.data).toMatchObject({
      id: expect.stringMatching(/^at-\w{16}$/),
      type: 'authentication-tokens',
      attributes: { 'created-at': '2026-11-21T12:00:00.000Z', 'last-used-at': null, 'expired-at': end },
      relationships: { 'created-by': { data: { type: 'users', id: admin } } },
    });
    expect(attributes.token).toMatch(/^\w{14}\.atlasv1\.\w{60}$/);
    const byIdResponse = expectStatus(await server.get(byId(id)), 200);
    expect(byIdResponse.body.data).toEqual({ ...created.body.data, attributes: { ...attributes, token: null } });
    const pathResponse = expectStatus(await server.get(path()), 200);
    expect([pathResponse.body.data].flat()).toContainEqual(byIdResponse.body.data);
    expect(pathResponse.text).not.toContain(attributes.token);
  });

  it('authenticates its first request, and its secret is in no event, view or snapshot', async () => {
    const secret = secretOf(expectStatus(await server.post(path(), uniqueToken()), 201));
    expect((await server.as(secret).get('/api/v2/account/details')).status).toBe(200);
    const hash = createHash('sha256').update(secret).digest();
    const everywhere = await dumpSchemas('event_store', 'views', 'access', 'public');
    for (const part of [secret, ...secret.split('.atlasv1.')]) expect(everywhere).not.toContain(part);
    const logAndViews = await dumpSchemas('event_store', 'views');
    for (const form of ['hex', 'base64', 'base64url'] as const) expect(logAndViews).not.toContain(hash.toString(form));
    // The schema access contains the hash. Without this check, the search above could pass without finding anything.
    expect(await dumpSchemas('access')).toContain(hash.toString('hex'));
  });

  it('is rejected from the first request after its destruction', async () => {
    const created = expectStatus(await server.post(path(), uniqueToken()), 201);
    const holder = server.as(secretOf(created));
    expectStatus(await holder.get('/api/v2/account/details'), 200);
    expectStatus(await server.delete(byId(created.body.data.id)), 204);
    const refused = expectStatus(await holder.get('/api/v2/account/details'), 401);
    expect(refused.body.errors).toMatchObject([{ status: '401', title: 'unauthorized' }]);
    expectStatus(await server.get(byId(created.body.data.id)), 404);
    expectStatus(await server.delete(byId(created.body.data.id)), 404);
    expect(await dumpSchemas('access')).not.toContain(createHash('sha256').update(secretOf(created)).digest('hex'));
  });

  it('gets the lifetime of the site if the request gives null as its expiry time', async () => {
    const created = expectStatus(await server.post(path(), uniqueToken({ 'expired-at': null })), 201);
    expect(created.body.data.attributes['expired-at']).toBe(end);
  });

  it('authenticates until the millisecond of its expiry time', async () => {
    const end = clock.time + 60_000;
    const created = expectStatus(
      await server.post(path(), uniqueToken({ 'expired-at': '2026-11-21T13:01:00+01:00' })),
      201,
    );
    expect(created.body.data.attributes['expired-at']).toBe(new Date(end).toISOString());
    const holder = server.as(secretOf(created));
    const { time } = clock;
    try {
      clock.time = end - 1;
      expectStatus(await holder.get('/api/v2/account/details'), 200);
      clock.time = end;
      expectStatus(await holder.get('/api/v2/account/details'), 401);
    } finally {
      clock.time = time;
    }
  });

  it.each([
    ['an invalid expiry time', { 'expired-at': 'tomorrow' }, '/data/attributes/expired-at'],
    [
      'an expiry time that UTC cannot write',
      { 'expired-at': '9999-12-31T23:59:59-01:00' },
      '/data/attributes/expired-at',
    ],
    ['an expiry time in the past', { 'expired-at': '2026-11-21T11:59:59.999Z' }, '/data/attributes/expired-at'],
    ['the present as its expiry time', { 'expired-at': '2026-11-21T13:00:00+01:00' }, '/data/attributes/expired-at'],
    ['a description that is a number', { description: 7 }, '/data/attributes/description'],
  ])('is not created with %s', async (_what, attributes, pointer) => {
    const length = await logLength(server.store);
    const answer = expectStatus(await server.post(path(), uniqueToken(attributes)), 422);
    expect(answer.body.errors[0].source.pointer).toBe(pointer);
    expect(await logLength(server.store)).toBe(length);
  });
});

describe.each([
  ['a team', team],
  ['an organization', () => ORGANIZATION],
  ['an audit trail', () => AUDIT],
])('the single token of %s', (_, path) => {
  it('replaces the previous token, which is rejected from then on', async () => {
    const old = server.as(secretOf(expectStatus(await server.post(path()), 201)));
    expectStatus(await old.get('/api/v2/account/details'), 200);
    const current = expectStatus(await server.post(path()), 201);
    expectStatus(await old.get('/api/v2/account/details'), 401);
    expectStatus(await server.as(secretOf(current)).get('/api/v2/account/details'), 200);
    expect((await server.get(path())).body.data.id).toBe(current.body.data.id);
    const tokenEvents = (await readWholeLog(server.store)).filter(({ type }) => type.startsWith('AuthenticationToken'));
    expect(tokenEvents.slice(-3).map(({ type, organization }) => [type, organization])).toEqual([
      ['AuthenticationTokenDestroyed', acme.id],
      ['AuthenticationTokenCreated', acme.id],
      ['AuthenticationTokenShown', acme.id],
    ]);
  });

  it('is destroyed at the path that created it, and returns 404 afterwards', async () => {
    const holder = server.as(await makeToken(server, path()));
    expectStatus(await server.delete(path()), 204);
    expectStatus(await holder.get('/api/v2/account/details'), 401);
    expectStatus(await server.get(path()), 404);
    expect((await server.delete(path())).status).toBe(404);
  });
});

describe('the two tokens of an organization', () => {
  it('are replaced independently of each other', async () => {
    const audit = server.as(await makeToken(server, AUDIT));
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    expectStatus(await audit.get('/api/v2/account/details'), 200);
    await makeToken(server, AUDIT);
    expectStatus(await audit.get('/api/v2/account/details'), 401);
    expect((await organization.get('/api/v2/organizations/acme')).status).toBe(200);
  });

  it.each(['post', 'get', 'delete'] as const)(
    'return 400 for an unknown kind of token, and stay valid: %s',
    async (method) => {
      const organization = server.as(await makeOrganizationToken(server, 'acme'));
      const answer = expectStatus(await server[method](`${ORGANIZATION}?token=audit_trail`), 400);
      expect(answer.body.errors[0].source.parameter).toBe('token');
      expectStatus(await organization.get('/api/v2/organizations/acme'), 200);
    },
  );
});

describe('a token that is requested without an expiry time', () => {
  it.each([
    ['off', null],
    ['90d', '2027-02-19T12:00:00.000Z'],
  ])('expires according to CADASTRE_TOKEN_LIFETIME, here %s', async (lifetime, end) => {
    const site = await startTestServer({ clock: new FixedClock(), env: { CADASTRE_TOKEN_LIFETIME: lifetime } });
    try {
      const { id } = expectStatus(await site.get('/api/v2/account/details'), 200).body.data;
      const created = expectStatus(await site.post(`/api/v2/users/${id}/authentication-tokens`), 201);
      expect(created.body.data.attributes['expired-at']).toBe(end);
    } finally {
      await site.close();
    }
  });
});

describe('an organization that limits the lifetime of tokens', () => {
  const DAY = 86_400_000;
  const path = '/api/v2/organizations/brief';
  let ownersTeam: string;

  const policies = (maxTtls: Readonly<Record<string, number>>) =>
    server.patch(
      `${path}/token-ttl-policies`,
      resource('organization-token-ttl-policies', {
        'token-ttl-policies': Object.entries(maxTtls).map(([type, ms]) => ({ 'token-type': type, 'max-ttl-ms': ms })),
      }),
    );
  const enable = (is: boolean) => server.patch(path, resource('organizations', { 'max-ttl-enabled': is }));
  const endOfNew = async (where: string, attributes: object = {}) =>
    expectStatus(await server.post(where, uniqueToken(attributes)), 201).body.data.attributes['expired-at'] as
      string | null;

  beforeAll(async () => {
    ({ ownersTeam } = await makeOrganization(server, 'brief'));
    expectStatus(await policies({ organization: DAY, team: 2 * DAY, audit_trails: 3 * DAY, user: DAY }), 200);
  });

  it.each([
    ['organization', () => `${path}/authentication-token`, '2026-11-22T12:00:00.000Z'],
    ['team', () => `/api/v2/teams/${ownersTeam}/authentication-tokens`, '2026-11-23T12:00:00.000Z'],
    ['only team', () => `/api/v2/teams/${ownersTeam}/authentication-token`, '2026-11-23T12:00:00.000Z'],
    ['audit trail', () => `${path}/authentication-token?token=audit-trails`, '2026-11-24T12:00:00.000Z'],
  ])(
    'gives a new %s token the latest expiry time, and refuses a later one, only while the limit is enabled',
    async (_, where, latest) => {
      const later = new Date(Date.parse(latest) + 1).toISOString();
      expect(await endOfNew(where(), { 'expired-at': later })).toBe(later);
      expectStatus(await enable(true), 200);
      try {
        expect(await endOfNew(where())).toBe(latest);
        expect(await endOfNew(where(), { 'expired-at': latest })).toBe(latest);
        const { errors } = expectStatus(await server.post(where(), uniqueToken({ 'expired-at': later })), 422).body;
        expect(errors).toMatchObject([
          {
            detail: expect.stringMatching(new RegExp(`^Expired at must be ${latest} or earlier: .* \\d+ ms$`)),
            source: { pointer: '/data/attributes/expired-at' },
          },
        ]);
      } finally {
        expectStatus(await enable(false), 200);
      }
      expect(await endOfNew(where())).toBe('2028-11-21T12:00:00.000Z');
    },
  );

  it('does not limit the tokens of agent pools', async () => {
    expectStatus(await enable(true), 200);
    const machines = await makeAgentPool(server, 'brief', 'machines');
    expect(await endOfNew(`/api/v2/agent-pools/${machines}/authentication-tokens`)).toBeNull();
    expectStatus(await enable(false), 200);
  });

  it('returns 401 for user tokens that are older than the limit, only while the limit is enabled', async () => {
    const ada = await makePerson('brief-ada', 'brief');
    const created = expectStatus(await ada.post(`/api/v2/users/${ada.id}/authentication-tokens`, token()), 201);
    expect(created.body.data.attributes['expired-at']).toBe('2028-11-21T12:00:00.000Z');
    const old = server.as(secretOf(created));
    expectStatus(await enable(true), 200);
    clock.pass({ days: 1, ms: -1 });
    try {
      expectStatus(await old.get(path), 200);
      clock.pass({ ms: 1 });
      const { errors } = expectStatus(await old.get(path), 401).body;
      expect(errors).toMatchObject([
        { title: 'unauthorized', detail: expect.stringContaining('as old as this token') },
      ]);
      expect((await old.get('/api/v2/organizations')).body.data).toEqual([]);
      expectStatus(await old.get('/api/v2/account/details'), 200);
      expectStatus(await server.get(path), 200);
      const fresh = expectStatus(await old.post(`/api/v2/users/${ada.id}/authentication-tokens`, token()), 201);
      expectStatus(await server.as(secretOf(fresh)).get(path), 200);
      expectStatus(await policies({ user: 2 * DAY }), 200);
      expectStatus(await old.get(path), 200);
      expectStatus(await policies({ user: DAY }), 200);
      expectStatus(await old.get(path), 401);
      expectStatus(await enable(false), 200);
      expectStatus(await old.get(path), 200);
    } finally {
      clock.pass({ days: -1 });
    }
  });
});

describe('an organization that does not accept user tokens', () => {
  it('returns 401 for user tokens, also of owners, until the owners’ token or a site administrator accepts them again', async () => {
    const { ownersTeam } = await makeOrganization(server, 'closed');
    const ada = await makePerson('closed-ada', 'closed');
    const stranger = await makePerson('closed-stranger', 'acme');
    const owners = server.as(await makeToken(server, `/api/v2/teams/${ownersTeam}/authentication-token`));
    const path = '/api/v2/organizations/closed';
    const accepting = (is: boolean) => resource('organizations', { 'user-tokens-enabled': is });
    for (const opener of [owners, server]) {
      expectStatus(await ada.patch(path, accepting(false)), 200);
      const paths = [
        path,
        `${path}/workspaces`,
        `${path}/teams`,
        `${path}/organization-memberships`,
        `${path}/projects`,
      ];
      for (const one of [...paths, `/api/v2/teams/${ownersTeam}`]) {
        const { errors } = expectStatus(await ada.get(one), 401).body;
        expect(errors).toMatchObject([{ title: 'unauthorized', detail: expect.stringContaining('tokens of users') }]);
        expectStatus(await stranger.get(one), 404);
        expectStatus(await owners.get(one), 200);
      }
      expectStatus(await ada.patch(path, accepting(true)), 401);
      expect((await ada.get('/api/v2/organizations')).body.data).toEqual([]);
      expectStatus(await ada.get('/api/v2/account/details'), 200);
      expectStatus(await opener.patch(path, accepting(true)), 200);
      expectStatus(await ada.get(path), 200);
    }
  });
});

describe('the tokens of a user', () => {
  it('are listed newest first and page by page, only to their owner', async () => {
    const ada = await makePerson('ada');
    const path = `/api/v2/users/${ada.id}/authentication-tokens`;
    for (const description of ['first', 'second']) {
      clock.pass({ seconds: 1 });
      expectStatus(await ada.post(path, token({ description })), 201);
    }
    const { body } = expectStatus(await ada.get(`${path}?page[size]=2`), 200);
    expect(body.data.map(({ attributes }: { attributes: { description: string } }) => attributes.description)).toEqual([
      'second',
      'first',
    ]);
    expect(body.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2 });
    expectStatus(await ada.get(user()), 404);
    expectStatus(await ada.post(user()), 404);
  });

  it('are also created by a site administrator, if the user exists', async () => {
    const bob = await makePerson('bob');
    const path = `/api/v2/users/${bob.id}/authentication-tokens`;
    const created = expectStatus(await server.post(path, token({ description: 'from above' })), 201);
    expect(created.body.data.relationships['created-by'].data).toEqual({ type: 'users', id: admin });
    const { body } = await server.as(secretOf(created)).get('/api/v2/account/details');
    expect(body.data.attributes.username).toBe('bob');
    expectStatus(await server.post('/api/v2/users/user-nobody/authentication-tokens'), 404);
    expectStatus(await server.get('/api/v2/users/user-nobody/authentication-tokens'), 404);
  });

  it('are hidden from tokens of teams and organizations', async () => {
    const owners = server.as(await makeToken(server, team()));
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    for (const other of [owners, organization]) {
      expectStatus(await other.get(user()), 404);
      expectStatus(await other.post(user()), 404);
      expect((await other.get(`/api/v2/users/${acme.ownersTeam}/authentication-tokens`)).status).toBe(404);
    }
  });

  it('are visible by id to their owner, not to other owners of the organization', async () => {
    const carol = await makePerson('carol', 'acme');
    const mine = expectStatus(await server.post(user()), 201).body.data.id as string;
    const teams = expectStatus(await server.post(team()), 201).body.data.id as string;
    expectStatus(await carol.get(byId(mine)), 404);
    expectStatus(await carol.delete(byId(mine)), 404);
    expectStatus(await carol.get(byId(teams)), 200);
    expect((await server.get(byId(mine))).status).toBe(200);
  });
});

describe('the permission to create tokens', () => {
  it('does not let an organization token create tokens of the owners team or of the organization', async () => {
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    const owners = expectStatus(await server.post(team()), 201).body.data.id as string;
    const length = await logLength(server.store);
    for (const path of [team(), ORGANIZATION, AUDIT]) {
      expectStatus(await organization.post(path), 404);
      expectStatus(await organization.get(path), 404);
      expectStatus(await organization.delete(path), 404);
    }
    expectStatus(await organization.get(byId(owners)), 404);
    expectStatus(await organization.delete(byId(owners)), 404);
    expect(await logLength(server.store)).toBe(length);
    const { body } = expectStatus(await organization.get(`/api/v2/teams/${acme.ownersTeam}`), 200);
    expect(body.data.attributes.permissions['can-update-api-token']).toBe(false);
    const asOwner = expectStatus(await server.get(`/api/v2/teams/${acme.ownersTeam}`), 200);
    expect(asOwner.body.data.attributes.permissions['can-update-api-token']).toBe(true);
  });

  it('lets the owners’ token create an audit trail token', async () => {
    const owners = server.as(await makeToken(server, team()));
    const created = expectStatus(await owners.post(AUDIT), 201);
    const createdBy = { type: 'teams', id: acme.ownersTeam };
    expect(created.body.data.relationships['created-by'].data).toEqual(createdBy);
    expectStatus(await owners.get('/api/v2/organizations/acme'), 200);
  });

  it('lets an audit trail token only read the audit trail', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'watched');
    const auditor = server.as(await makeToken(server, AUDIT));
    const length = await logLength(server.store);
    const requests: [keyof Omit<ApiTestClient, 'as'>, string, object?][] = [
      ['get', '/api/v2/organizations/acme'],
      ['patch', '/api/v2/organizations/acme', resource('organizations', { name: 'mine' })],
      ['delete', '/api/v2/organizations/acme'],
      ['get', '/api/v2/organizations/acme/entitlement-set'],
      ['get', '/api/v2/organizations/acme/projects'],
      ['get', '/api/v2/organizations/acme/teams'],
      ['get', '/api/v2/organizations/acme/workspaces/watched'],
      ['get', `/api/v2/workspaces/${workspace}`],
      ['post', `/api/v2/workspaces/${workspace}/actions/lock`],
      ['get', `/api/v2/workspaces/${workspace}/current-state-version`],
      ['post', ORGANIZATION],
      ['post', AUDIT],
      ['post', team()],
      ['post', user()],
    ];
    for (const [method, path, body] of requests) {
      expect([method, path, (await auditor[method](path, body)).status]).toEqual([method, path, 404]);
    }
    expect(await logLength(server.store)).toBe(length);
    expectStatus(await auditor.get('/api/v2/organization/audit-trail'), 200);
  });
});

describe('a team token that an organization token has created', () => {
  it('names the organization as its creator', async () => {
    const id = await makeTeam(server, 'acme', 'core');
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    const created = expectStatus(await organization.post(`/api/v2/teams/${id}/authentication-token`), 201);
    const createdBy = { data: { type: 'organizations', id: 'acme' } };
    expect(created.body.data.relationships['created-by']).toEqual(createdBy);
    const response = expectStatus(await organization.get(`/api/v2/teams/${id}/authentication-token`), 200);
    expect(response.body.data.relationships['created-by']).toEqual(createdBy);
  });
});

describe('the limits of token kinds', () => {
  it('keep an organization token from uploading state, managing SSH keys and starting runs', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'worked-in');
    const secret = await makeOrganizationToken(server, 'acme');
    const organization = server.as(secret);
    const state = newStateVersion(stateFile(), { inline: true });
    const requests: readonly ((api: ApiTestClient) => Promise<ApiResponse>)[] = [
      (api) => api.post(`/api/v2/workspaces/${workspace}/state-versions`, state),
      (api) => api.post(`/api/v2/workspaces/${workspace}/configuration-versions`, resource('configuration-versions')),
    ];
    // The organization token may lock. The lock is therefore not the reason why its upload is refused.
    expectStatus(await organization.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    for (const [index, send] of requests.entries())
      expect([index, (await send(organization)).status]).toEqual([index, 404]);
    expectStatus(await organization.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    for (const [index, send] of requests.entries()) expect([index, (await send(server)).status]).toEqual([index, 201]);
    const actor = await server.authenticator.identify(secret, '127.0.0.1');
    const never = [
      'create-state',
      'assign-ssh-key',
      'read-ssh-keys',
      'manage-ssh-keys',
      'queue-run',
      'apply-run',
    ] as const;
    expect(never.filter((permission) => can(actor, permission, { organization: acme.id }))).toEqual([]);
  });

  it('keep an agent token from reading or changing anything except its own account details', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'executed');
    const agent = server.as(await makeAgentToken(server, pool));
    const details = expectStatus(await agent.get('/api/v2/account/details'), 200).body.data;
    expect(details).toMatchObject({ id: pool, type: 'users', attributes: { 'is-service-account': true } });
    const length = await logLength(server.store);
    const requests: [keyof Omit<ApiTestClient, 'as'>, string, object?][] = [
      ['get', '/api/v2/organizations/acme'],
      ['post', '/api/v2/organizations', resource('organizations', { name: 'mine', email: 'a@b.test' })],
      ['get', '/api/v2/organizations/acme/projects'],
      ['get', '/api/v2/organizations/acme/teams'],
      ['get', '/api/v2/organizations/acme/team-tokens'],
      ['get', '/api/v2/organizations/acme/workspaces'],
      ['get', `/api/v2/workspaces/${workspace}`],
      ['post', `/api/v2/workspaces/${workspace}/actions/lock`],
      ['get', `/api/v2/workspaces/${workspace}/current-state-version`],
      ['get', '/api/v2/organization/audit-trail'],
      ['get', agents()],
      ['post', agents(), uniqueToken()],
      ['post', team()],
    ];
    for (const [method, path, body] of requests) {
      expect([method, path, (await agent[method](path, body)).status]).toEqual([method, path, 404]);
    }
    expect(await logLength(server.store)).toBe(length);
  });
});

describe('tokens for SCIM', () => {
  const path = '/api/v2/admin/scim-tokens';

  it('are created, listed and revoked by administrators of the site only', async () => {
    const owner = await makePerson('owner-without-site', 'acme');
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    const created = expectStatus(await server.post(path, token({ description: 'identity provider' })), 201);
    const { id } = created.body.data;
    for (const other of [owner, organization]) {
      expectStatus(await other.get(path), 404);
      expectStatus(await other.post(path, uniqueToken()), 404);
      expectStatus(await other.get(`/api/v2/authentication-tokens/${id}`), 404);
      expectStatus(await other.delete(`/api/v2/authentication-tokens/${id}`), 404);
    }
    const [listed] = expectStatus(await server.get(path), 200).body.data;
    expect(listed).toMatchObject({ id, attributes: { description: 'identity provider', token: null } });
    expectStatus(await server.delete(`/api/v2/authentication-tokens/${id}`), 204);
    expect(expectStatus(await server.get(path), 200).body.data).toEqual([]);
  });

  it('are refused at other addresses, and append no event there', async () => {
    const scim = server.as(secretOf(expectStatus(await server.post(path, uniqueToken()), 201)));
    const length = await logLength(server.store);
    for (const address of ['account/details', 'organizations', 'organizations/acme', 'admin/scim-tokens']) {
      expect([address, (await scim.get(`/api/v2/${address}`)).status]).toEqual([address, 401]);
    }
    expectStatus(await scim.post(path, uniqueToken()), 401);
    expectStatus(await scim.post('/api/v2/organizations', resource('organizations', { name: 'mine' })), 401);
    expect(await logLength(server.store)).toBe(length);
  });
});

describe('the secrets of tokens', () => {
  it('are deleted together with their team, agent pool or organization', async () => {
    const doomed = await makeOrganization(server, 'doomed');
    const inside = await makeTeam(server, doomed.name, 'inside');
    const leaving = await makeTeam(server, 'acme', 'leaving');
    const drained = await makeAgentPool(server, 'acme', 'drained');
    const responses: ApiResponse[] = [];
    for (const path of [
      `/api/v2/teams/${inside}/authentication-token`,
      `/api/v2/organizations/${doomed.name}/authentication-token`,
      `/api/v2/organizations/${doomed.name}/authentication-token?token=audit-trails`,
      `/api/v2/teams/${leaving}/authentication-token`,
      `/api/v2/teams/${leaving}/authentication-tokens`,
      `/api/v2/agent-pools/${drained}/authentication-tokens`,
    ]) {
      responses.push(expectStatus(await server.post(path, uniqueToken()), 201));
    }
    const ids = responses.map(({ body }) => body.data.id as string);
    const readHashes = async (): Promise<unknown[]> =>
      server.database.rows(sql`select token from access.token_hashes where token = any (${ids}::text[])`);
    expect(await readHashes()).toHaveLength(ids.length);
    for (const path of [`teams/${leaving}`, `agent-pools/${drained}`, `organizations/${doomed.name}`]) {
      expectStatus(await server.delete(`/api/v2/${path}`), 204);
    }
    expect(await readHashes()).toEqual([]);
    for (const answer of responses) expectStatus(await server.as(secretOf(answer)).get('/api/v2/account/details'), 401);
    await expectViewsMatchLog(server, [peopleDefinition]);
  });

  it('stay valid after a rebuild of the views', async () => {
    const holder = server.as(await makeOrganizationToken(server, 'acme'));
    for (const view of listViews([peopleDefinition])) await rebuildView(server.store, view, { now: new Date() });
    expect((await holder.get('/api/v2/organizations/acme')).status).toBe(200);
  });
});

describe('a token of a user', () => {
  it('is recorded in the trails of the organizations of the user, until it is deleted', async () => {
    const rival = await makeOrganization(server, 'rival');
    const ada = await makePerson('ada-of-acme', 'acme');
    await makeOwner(server.store, server.runtime.ids, { id: ada.id, username: 'ada-of-acme' }, 'rival');
    const tokens = `/api/v2/users/${ada.id}/authentication-tokens`;
    const { id } = expectStatus(await ada.post(tokens, token({ description: 'laptop' })), 201).body.data;
    expectStatus(await ada.delete(byId(id)), 204);
    await waitForFollowers(server.store, 'audit_trail');
    for (const name of ['acme', 'rival']) {
      const reader = server.as(await makeOrganizationToken(server, name));
      const entries = (await reader.get('/api/v2/organization/audit-trail')).body.data as any[];
      const ofToken = entries.filter(({ resource: { id: recorded } }) => recorded === id);
      expect(ofToken.map(({ resource: { type, action, meta } }) => [type, action, meta])).toEqual([
        ['authentication_token', 'destroy', { user_id: ada.id }],
        ['authentication_token', 'create', { user_id: ada.id }],
      ]);
    }
    const created = (await readWholeLog(server.store)).find(({ stream }) => stream === id);
    expect(created?.data).toMatchObject({ organizations: [acme.id, rival.id].toSorted(), description: 'laptop' });
  });

  it('has a description that is encrypted in the log', async () => {
    const bob = await makePerson('bob-of-acme', 'acme');
    const tokens = `/api/v2/users/${bob.id}/authentication-tokens`;
    await bob.post(tokens, token({ description: 'terraform login, 203.0.113.7' }));
    const stored = await server.database.rows<{ text: string }>(
      sql`select data::text as text from event_store.events where type = 'AuthenticationTokenCreated'`,
    );
    expect(JSON.stringify(stored)).not.toContain('203.0.113.7');
    const { data } = (await bob.get(tokens)).body;
    const descriptions = data.map(
      ({ attributes }: { attributes: Record<string, unknown> }) => attributes['description'],
    );
    expect(descriptions).toContain('terraform login, 203.0.113.7');
  });
});
