import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser, issueUserToken } from '#identity/people';
import { rebuildView, verifyView, listViews } from '#storage/event-store';
import { sql } from '#platform/kernel';
import { ORGANIZATION_NAMES, listSimilarNames } from '#api/access';
import { organizationsDefinition } from '#organizations/organizations';
import { costOf } from '../../../../test/support/cost.js';
import { logLength } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeAgentPool,
  makeAgentToken,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeTeam,
  makeToken,
  createSecondOrganization,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { listProblems } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';

const PATH = '/api/v2/organizations';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

/** Creates a user without organizations and returns a client with the user's token. */
const makePerson = async (username: string): Promise<ApiTestClient> => {
  const { store, runtime } = server;
  const { id } = await ensureUser(store, runtime.ids, username, false);
  return server.as(await issueUserToken(store, runtime.ids, id, 'for a test'));
};

const organization = (attributes: object) => resource('organizations', attributes);

const namesIn = ({ body }: ApiResponse): string[] => body.data.map(({ id }: { id: string }) => id);

describe('an organization', () => {
  it('is created with its name as id, and with a stable external id', async () => {
    const { body } = expectStatus(
      await server.post(PATH, organization({ name: 'acme', email: 'ops@acme.test', 'session-timeout': 60 })),
      201,
    );
    expect(body.data).toMatchObject({
      id: 'acme',
      type: 'organizations',
      attributes: {
        name: 'acme',
        email: 'ops@acme.test',
        'external-id': expect.stringMatching(/^org-\w{16}$/),
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        'session-timeout': 60,
        'session-remember': null,
        'default-execution-mode': 'remote',
        'assessments-enforced': false,
        'allow-force-delete-workspaces': false,
        permissions: { 'can-update': true, 'can-destroy': true, 'can-create-workspace': true },
      },
      relationships: { 'default-agent-pool': { data: null }, 'data-retention-policy': { data: null } },
      links: { self: `${PATH}/acme` },
    });
    expect((await server.get(`${PATH}/acme`)).body).toEqual(body);
  });

  it('has a default project and an owners team with its creator from the start', async () => {
    const ada = await makePerson('ada');
    const { defaultProject, ownersTeam } = await makeOrganization(ada, 'ada-and-sons');
    const projects = expectStatus(await ada.get(`${PATH}/ada-and-sons/projects`), 200).body;
    expect(projects.data).toMatchObject([{ id: defaultProject, attributes: { name: 'Default Project' } }]);
    const teams = expectStatus(await ada.get(`${PATH}/ada-and-sons/teams`), 200).body;
    const { id } = (await ada.get('/api/v2/account/details')).body.data;
    expect(teams.data).toMatchObject([
      {
        id: ownersTeam,
        attributes: { name: 'owners', 'users-count': 1 },
        relationships: { users: { data: [{ type: 'users', id }] } },
      },
    ]);
    expectStatus(await ada.patch(`${PATH}/ada-and-sons`, organization({ 'assessments-enforced': true })), 200);
  });

  it('changes only the named attributes in an update, and records no event without changes', async () => {
    await makeOrganization(server, 'updated');
    const before = (await server.get(`${PATH}/updated`)).body.data;
    const changed = expectStatus(
      await server.patch(`${PATH}/updated`, organization({ email: 'new@acme.test', 'session-timeout': 9 })),
      200,
    ).body.data;
    const attributes = { ...before.attributes, email: 'new@acme.test', 'session-timeout': 9 };
    expect(changed).toEqual({ ...before, attributes });
    const length = await logLength(server.store);
    const same = expectStatus(await server.patch(`${PATH}/updated`, { data: { type: 'organizations' } }), 200);
    expect(same.body.data).toEqual(changed);
    const cleared = expectStatus(await server.patch(`${PATH}/updated`, organization({ 'session-timeout': null })), 200);
    expect(cleared.body.data.attributes['session-timeout']).toBeNull();
    expect(await logLength(server.store)).toBe(length + 1);
  });

  it('has the attributes that go-tfe reads, also for features that do not exist', async () => {
    await makeOrganization(server, 'read-by-go-tfe');
    const { attributes } = expectStatus(await server.get(`${PATH}/read-by-go-tfe`), 200).body.data;
    expect(attributes['remaining-testable-count']).toBe(0);
    expect(attributes.permissions).toMatchObject({ 'can-manage-auditing': true });
  });

  it('accepts attributes with underscores, as pytfe sends them', async () => {
    await makeOrganization(server, 'underscored');
    const sent = { session_timeout: 9, send_passing_statuses_for_untriggered_speculative_plans: true };
    expect(
      expectStatus(await server.patch(`${PATH}/underscored`, organization(sent)), 200).body.data.attributes,
    ).toMatchObject({
      'session-timeout': 9,
      'send-passing-statuses-for-untriggered-speculative-plans': true,
    });
  });

  it('keeps and shows switches of features that are not built, and grants no entitlement', async () => {
    const switches = {
      'global-module-sharing': true,
      'registry-monorepo-support-enabled': true,
      'stacks-default-execution-mode': 'agent',
      'stacks-enabled': true,
    };
    const body = organization({ name: 'switched', email: 'ops@acme.test', ...switches });
    expect(expectStatus(await server.post(PATH, body), 201).body.data.attributes).toMatchObject(switches);
    const off = { 'stacks-enabled': false, 'stacks-default-execution-mode': 'remote' };
    expectStatus(await server.patch(`${PATH}/switched`, organization(off)), 200);
    const { attributes } = expectStatus(await server.get(`${PATH}/switched`), 200).body.data;
    expect(attributes).toMatchObject({ ...switches, ...off });
    const entitlements = expectStatus(await server.get(`${PATH}/switched/entitlement-set`), 200).body.data.attributes;
    expect(entitlements.stacks).toBe(false);
    const refused = await server.patch(`${PATH}/switched`, organization({ 'stacks-default-execution-mode': 'local' }));
    expect(expectStatus(refused, 422).body.errors[0].source.pointer).toBe(
      '/data/attributes/stacks-default-execution-mode',
    );
  });

  it('refuses features that do not exist, each with its own error', async () => {
    await makeOrganization(server, 'plain');
    const answer = expectStatus(
      await server.patch(`${PATH}/plain`, organization({ 'global-provider-sharing': true, 'enforce-hyok': true })),
      422,
    );
    expect(answer.body.errors.map(({ source }: { source: { pointer: string } }) => source.pointer)).toEqual([
      '/data/attributes/enforce-hyok',
      '/data/attributes/global-provider-sharing',
    ]);
    expectStatus(
      await server.patch(`${PATH}/plain`, organization({ 'global-provider-sharing': false, 'enforce-hyok': false })),
      200,
    );
  });

  it('is available only under the new name after a renaming, with the same id and workspaces', async () => {
    const { id } = await makeOrganization(server, 'old-name');
    const workspace = await makeWorkspace(server, 'old-name', 'one');
    const renamed = expectStatus(await server.patch(`${PATH}/old-name`, organization({ name: 'new-name' })), 200).body
      .data;
    expect(renamed).toMatchObject({ id: 'new-name', attributes: { name: 'new-name', 'external-id': id } });
    expect((await server.get(`${PATH}/old-name`)).status).toBe(404);
    expect((await server.get(`${PATH}/new-name`)).body.data).toEqual(renamed);
    const { body } = await server.get(`${PATH}/new-name/workspaces/one`);
    expect(body.data).toMatchObject({ id: workspace, relationships: { organization: { data: { id: 'new-name' } } } });
    await makeOrganization(server, 'old-name');
  });

  it('keeps its tokens and members after a renaming', async () => {
    await makeOrganization(server, 'before');
    const team = await makeTeam(server, 'before', 'core', { 'organization-access': { 'manage-workspaces': true } });
    const member = await makeMember(server, 'before', 'robin', [team]);
    const token = server.as(await makeOrganizationToken(server, 'before'));
    const workspace = await makeWorkspace(token, 'before', 'one');
    const lock = `/api/v2/workspaces/${workspace}/actions/lock`;
    const holder = async (): Promise<string> => {
      const { included } = expectStatus(
        await server.get(`/api/v2/workspaces/${workspace}?include=locked_by`),
        200,
      ).body;
      return included[0].attributes.username as string;
    };
    expectStatus(await token.post(lock), 200);
    expect(await holder()).toBe('before');
    expectStatus(await token.post(lock.replace('/lock', '/unlock')), 200);

    expectStatus(await server.patch(`${PATH}/before`, organization({ name: 'after' })), 200);
    for (const caller of [token, member]) {
      expectStatus(await caller.get(`${PATH}/before`), 404);
      expect(namesIn(await caller.get(PATH))).toEqual(['after']);
      expectStatus(await caller.get(`${PATH}/after/workspaces/one`), 200);
    }
    expectStatus(await token.post(lock), 200);
    expect(await holder()).toBe('after');
    const one = expectStatus(await member.get(`/api/v2/workspaces/${workspace}`), 200).body.data;
    expect(one.links.self).toBe('/api/v2/organizations/after/workspaces/one');
  });

  it.each([
    ['a new organization', () => server.post(PATH, organization({ name: 'taken', email: 'a@b.test' }))],
    ['another organization', () => server.patch(`${PATH}/other`, organization({ name: 'taken' }))],
  ])('keeps its name unique: refused for %s', async (_, take) => {
    for (const name of ['taken', 'other']) await server.post(PATH, organization({ name, email: 'ops@acme.test' }));
    const length = await logLength(server.store);
    const answer = expectStatus(await take(), 422);
    expect(listProblems(answer)).toEqual([['/data/attributes/name', 'Name has already been taken']]);
    expect(await logLength(server.store)).toBe(length);
  });

  it.each([
    ['a new organization', () => server.post(PATH, organization({ name: 'zULU', email: 'a@b.test' }))],
    ['another organization', () => server.patch(`${PATH}/yankee`, organization({ name: 'zulu' }))],
  ])('keeps its name unique regardless of case: refused for %s', async (_, take) => {
    for (const name of ['Zulu', 'yankee']) await server.post(PATH, organization({ name, email: 'ops@acme.test' }));
    const length = await logLength(server.store);
    expect(listProblems(expectStatus(await take(), 422))).toEqual([
      ['/data/attributes/name', 'Name has already been taken'],
    ]);
    expect(await logLength(server.store)).toBe(length);
    expect(expectStatus(await server.get(`${PATH}/zulu`), 200).body.data.id).toBe('Zulu');
  });

  it('may change the case of its name, and frees its old name', async () => {
    await makeOrganization(server, 'Cased');
    expectStatus(await server.patch(`${PATH}/Cased`, organization({ name: 'cased' })), 200);
    expectStatus(await server.patch(`${PATH}/cased`, organization({ name: 'uncased' })), 200);
    await makeOrganization(server, 'CASED');
    expectStatus(await server.delete(`${PATH}/CASED`), 204);
    const recreated = await server.post(PATH, organization({ name: 'cased', email: 'ops@acme.test' }));
    expect(recreated.status).toBe(201);
  });

  it('is created once if several requests compete for its name in different cases', async () => {
    for (const base of ['raced-one', 'raced-two', 'raced-three']) {
      const names = [base, base.toUpperCase(), `R${base.slice(1)}`, base.replace('-o', '-O').replace('-t', '-T')];
      const spellings = [...new Set(names)];
      const answers = await Promise.all(
        spellings.map((name) => server.post(PATH, organization({ name, email: 'ops@acme.test' }))),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...spellings.slice(1).map(() => 422)]);
    }
  });

  it('keeps an old name that differs from another only in case; the name is reserved until both are gone', async () => {
    await createSecondOrganization(server, 'Xray', 'xray');
    const findSimilar = () => listSimilarNames(server.database, ORGANIZATION_NAMES);
    expect(await findSimilar()).toEqual([{ names: ['Xray', 'xray'], organization: null }]);
    // The exact name wins, and otherwise the oldest organization.
    for (const [path, name] of [
      ['Xray', 'Xray'],
      ['xray', 'xray'],
      ['XRAY', 'Xray'],
    ]) {
      const { body } = expectStatus(await server.get(`${PATH}/${path}`), 200);
      expect(body.data.id).toBe(name);
    }
    for (const name of ['Xray', 'xray']) {
      expectStatus(await server.patch(`${PATH}/${name}`, organization({ email: 'new@acme.test' })), 200);
    }
    const create = () => server.post(PATH, organization({ name: 'XRAY', email: 'a@b.test' }));
    expectStatus(await create(), 422);
    // The reservation passes to the second organization.
    expectStatus(await server.patch(`${PATH}/Xray`, organization({ name: 'x-ray' })), 200);
    expect(await findSimilar()).toEqual([]);
    expectStatus(await create(), 422);
    expectStatus(await server.delete(`${PATH}/xray`), 204);
    expectStatus(await create(), 201);
  });

  it('keeps its name after a rebuild, even if another name differs only in case', async () => {
    await createSecondOrganization(server, 'Whisky', 'whisky');
    for (const view of listViews([organizationsDefinition])) {
      await rebuildView(server.store, view, { now: new Date() });
      expect([view.name, await verifyView(server.store, view, new Date())]).toEqual([view.name, []]);
    }
    expectStatus(await server.get(`${PATH}/whisky`), 200);
    expectStatus(await server.post(PATH, organization({ name: 'WHISKY', email: 'a@b.test' })), 422);
    expectStatus(await server.delete(`${PATH}/whisky`), 204);
  });

  it.each<[string, object, string, string | RegExp]>([
    ['a name with a space', { name: 'a b c' }, 'name', /^Name may only contain/],
    ['a name of two letters', { name: 'ab' }, 'name', /at least 3/],
    ['an empty name', { name: '' }, 'name', "Name can't be blank"],
    ['a name that is a number', { name: 1 }, 'name', 'Name must be a string'],
    ['an empty address', { name: 'fine', email: '' }, 'email', "Email can't be blank"],
    [
      'an unknown execution mode',
      { 'default-execution-mode': 'here' },
      'default-execution-mode',
      /one of remote, local/,
    ],
    ['a string instead of a boolean', { 'assessments-enforced': 'yes' }, 'assessments-enforced', /true or false/],
    ['a session timeout of half a minute', { 'session-timeout': 0.5 }, 'session-timeout', /whole number/],
    ['a session of zero minutes', { 'session-remember': 0 }, 'session-remember', /at least one minute/],
    ['an address that is too long', { email: 'x'.repeat(256) }, 'email', /at most 255/],
  ])('is not created with %s', async (_, attributes, attribute, detail) => {
    const length = await logLength(server.store);
    const answer = expectStatus(
      await server.post(PATH, organization({ name: 'fine', email: 'a@b.test', ...attributes })),
      422,
    );
    expect(listProblems(answer)).toEqual([[`/data/attributes/${attribute}`, expect.stringMatching(detail)]]);
    expect(await logLength(server.store)).toBe(length);
  });

  it('is not created by tokens of organizations and teams', async () => {
    const { ownersTeam } = await makeOrganization(server, 'founder');
    const token = await makeOrganizationToken(server, 'founder');
    const owners = await makeToken(server, `/api/v2/teams/${ownersTeam}/authentication-token`);
    for (const other of [server.as(token), server.as(owners)]) {
      expect((await other.post(PATH, organization({ name: 'founded', email: 'a@b.test' }))).status).toBe(404);
    }
  });
});

describe('the default execution mode of an organization', () => {
  const agents = (pool: string | null, attributes: object = { 'default-execution-mode': 'agent' }) =>
    resource('organizations', attributes, {
      'default-agent-pool': { data: pool && { type: 'agent-pools', id: pool } },
    });

  it('can be a pool of agents, which projects and workspaces follow', async () => {
    const { defaultProject } = await makeOrganization(server, 'agents');
    const pool = await makeAgentPool(server, 'agents', 'pool');
    const workspace = await makeWorkspace(server, 'agents', 'one');
    const agentsDocument = expectStatus(await server.patch(`${PATH}/agents`, agents(pool)), 200).body.data;
    expect(agentsDocument).toMatchObject({
      attributes: { 'default-execution-mode': 'agent' },
      relationships: { 'default-agent-pool': { data: { type: 'agent-pools', id: pool } } },
    });
    expect((await server.get(`/api/v2/workspaces/${workspace}`)).body.data).toMatchObject({
      attributes: { 'execution-mode': 'agent', 'setting-overwrites': { 'execution-mode': false, 'agent-pool': false } },
      relationships: { 'agent-pool': { data: { id: pool } } },
    });
    expect((await server.get(`/api/v2/projects/${defaultProject}`)).body.data).toMatchObject({
      attributes: { 'default-execution-mode': 'agent', 'setting-overwrites': { 'default-execution-mode': false } },
      relationships: { 'default-agent-pool': { data: { id: pool } } },
    });
    expectStatus(await server.delete(`/api/v2/agent-pools/${pool}`), 422);

    const remoteResponse = expectStatus(
      await server.patch(`${PATH}/agents`, organization({ 'default-execution-mode': 'remote' })),
      200,
    );
    expect(remoteResponse.body.data.relationships['default-agent-pool'].data).toBeNull();
    expect((await server.get(`/api/v2/workspaces/${workspace}`)).body.data).toMatchObject({
      attributes: { 'execution-mode': 'remote' },
      relationships: { 'agent-pool': { data: null } },
    });
    expectStatus(await server.delete(`/api/v2/agent-pools/${pool}`), 204);
  });

  it('can name the pool in an attribute', async () => {
    await makeOrganization(server, 'attributed');
    const pool = await makeAgentPool(server, 'attributed', 'pool');
    const attributes = { 'default-execution-mode': 'agent', 'default-agent-pool-id': pool };
    const { body } = expectStatus(await server.patch(`${PATH}/attributed`, organization(attributes)), 200);
    expect(body.data.relationships['default-agent-pool'].data).toEqual({ type: 'agent-pools', id: pool });
  });

  it('is refused with a pool that the organization may not use, with a pool and another mode, and as agent without a pool', async () => {
    await makeOrganization(server, 'owning');
    await makeOrganization(server, 'wanting');
    const foreign = await makeAgentPool(server, 'owning', 'pool');
    const scoped = await makeAgentPool(server, 'wanting', 'scoped', { 'organization-scoped': false });
    const own = await makeAgentPool(server, 'wanting', 'own');
    const length = await logLength(server.store);
    for (const [body, detail] of [
      [agents(foreign), /does not exist, or is not allowed here/],
      [agents(scoped), /does not exist, or is not allowed here/],
      [agents('apool-none'), /does not exist, or is not allowed here/],
      [agents(null), /must be specified when using 'agent' execution mode/],
      [organization({ 'default-execution-mode': 'agent' }), /must be specified when using 'agent' execution mode/],
      [agents(own, {}), /must not be specified unless using 'agent' execution mode/],
      [agents(own, { 'default-execution-mode': 'local' }), /must not be specified unless using 'agent'/],
    ] as const) {
      const answer = expectStatus(await server.patch(`${PATH}/wanting`, body), 422);
      expect(listProblems(answer)).toEqual([['/data/relationships/default-agent-pool', expect.stringMatching(detail)]]);
    }
    const founded = agents(own, { name: 'founded', email: 'a@b.test', 'default-execution-mode': 'agent' });
    expectStatus(await server.post(PATH, founded), 422);
    expect(await logLength(server.store)).toBe(length);
  });
});

describe('the limits for the lifetime of tokens', () => {
  const TYPE = 'organization-token-ttl-policies';
  const DEFAULT = 63_113_904_000;
  const policies = (...items: readonly (readonly [unknown, unknown])[]) =>
    resource(TYPE, {
      'token-ttl-policies': items.map(([type, ms]) => ({ 'token-type': type, 'max-ttl-ms': ms })),
    });
  const limits = ({ body }: ApiResponse) =>
    body.data.map(({ attributes }: any) => [attributes['token-type'], attributes['max-ttl-ms']]);

  beforeAll(() => makeOrganization(server, 'limited'));
  const path = `${PATH}/limited/token-ttl-policies`;

  it('exist for four types of tokens with the default of two years, and apply only if the organization enables them', async () => {
    const { body } = expectStatus(await server.get(`${PATH}/limited`), 200);
    expect(body.data.attributes['max-ttl-enabled']).toBe(false);
    const answer = expectStatus(await server.get(path), 200);
    expect(limits(answer)).toEqual(['organization', 'team', 'user', 'audit_trails'].map((type) => [type, DEFAULT]));
    expect(answer.body.data[1]).toEqual({
      id: `ttlp-${body.data.attributes['external-id'].slice('org-'.length)}-team`,
      type: TYPE,
      attributes: {
        'token-type': 'team',
        'max-ttl-ms': DEFAULT,
        'created-at': body.data.attributes['created-at'],
        'updated-at': body.data.attributes['created-at'],
      },
    });
    expect(answer.body.meta.pagination).toMatchObject({ 'total-count': 4 });
    const updated = expectStatus(await server.patch(`${PATH}/limited`, organization({ 'max-ttl-enabled': true })), 200);
    expect(updated.body.data.attributes['max-ttl-enabled']).toBe(true);
  });

  it('change only for the types in the request, and the response has all four', async () => {
    const changed = expectStatus(await server.patch(path, policies(['team', 60_000], ['user', 3_600_000])), 200);
    const expected = [
      ['organization', DEFAULT],
      ['team', 60_000],
      ['user', 3_600_000],
      ['audit_trails', DEFAULT],
    ];
    expect(limits(changed)).toEqual(expected);
    expect(limits(expectStatus(await server.get(path), 200))).toEqual(expected);
    const length = await logLength(server.store);
    expectStatus(await server.patch(path, policies(['team', 60_000])), 200);
    expect(await logLength(server.store)).toBe(length);
    await expectViewsMatchLog(server, [organizationsDefinition]);
  });

  it.each([
    [[['agent', 60_000]], '/0/token-type', 'Token type must be one of organization, team, user, audit_trails'],
    [
      [['team', 59_999]],
      '/0/max-ttl-ms',
      'Max ttl ms must be a whole number of milliseconds from 60000 to 3155695200000',
    ],
    [[['team', 3_155_695_200_001]], '/0/max-ttl-ms', 'Max ttl ms must be a whole number of milliseconds from 60000 to'],
    [[['team', 60_000.5]], '/0/max-ttl-ms', 'Max ttl ms must be a whole number'],
    [[['team', '1h']], '/0/max-ttl-ms', 'Max ttl ms must be a number'],
    [
      [
        ['team', 60_000],
        ['team', 70_000],
      ],
      '',
      'Token ttl policies must name each token type once',
    ],
    [[], '', 'Token ttl policies: must name at least one policy'],
  ] as const)('are refused as %j', async (items, at, detail) => {
    const before = limits(await server.get(path));
    const answer = expectStatus(await server.patch(path, policies(...items)), 422);
    expect(listProblems(answer)).toEqual([
      [`/data/attributes/token-ttl-policies${at}`, expect.stringContaining(detail)],
    ]);
    expect(limits(await server.get(path))).toEqual(before);
  });

  it('refuse a request without limits', async () => {
    const answer = expectStatus(await server.patch(path, { data: { type: TYPE } }), 422);
    expect(listProblems(answer)).toEqual([
      ['/data/attributes/token-ttl-policies', "Token ttl policies can't be blank"],
    ]);
  });
});

describe('the permissions in an organization’s document', () => {
  const can = async (api: ApiTestClient, name: string): Promise<string[]> => {
    const { permissions } = expectStatus(await api.get(`${PATH}/${name}`), 200).body.data.attributes;
    return Object.keys(permissions as object).filter((key) => (permissions as Record<string, boolean>)[key]);
  };
  let teamless: ApiTestClient;

  beforeAll(async () => {
    await makeOrganization(server, 'allowing');
    teamless = await makeMember(server, 'allowing', 'teamless');
  });

  it('are few for a member', async () => {
    expect(await can(teamless, 'allowing')).toEqual(['can-traverse', 'can-access-via-teams', 'can-read-run-tasks']);
  });

  it.each([
    ['manage-workspaces', ['can-create-workspace', 'can-manage-tags', 'can-manage-varsets', 'can-update-ssh-keys'], 3],
    ['manage-projects', ['can-create-project', 'can-create-workspace'], 2],
    ['manage-vcs-settings', ['can-update-ssh-keys'], 1],
    ['manage-agent-pools', ['can-update-agent-pools'], 1],
    ['manage-membership', ['can-manage-users', 'can-manage-membership'], 2],
    ['manage-teams', ['can-create-team'], 1],
    ['manage-run-tasks', ['can-manage-run-tasks'], 1],
    ['read-workspaces', ['can-read-varsets'], 1],
  ])('follow from the access %s of a team', async (flag, keys, true_) => {
    const team = await makeTeam(server, 'allowing', flag, { 'organization-access': { [flag]: true } });
    const member = await makeMember(server, 'allowing', flag, [team]);
    const allowed = await can(member, 'allowing');
    expect(keys.filter((key) => allowed.includes(key))).toHaveLength(true_);
    expect(allowed).not.toContain('can-update');
    expect(allowed).not.toContain('can-destroy');
  });

  it('include everything except the subscription for an owner, and never features that do not exist', async () => {
    const founder = await makePerson('founding');
    await makeOrganization(founder, 'founders');
    const allowed = await can(founder, 'founders');
    expect(allowed).toEqual(
      expect.arrayContaining([
        'can-update',
        'can-destroy',
        'can-create-team',
        'can-update-api-token',
        'can-update-oauth',
      ]),
    );
    expect(allowed).not.toContain('can-manage-subscription');
    expect(allowed).not.toContain('can-update-sentinel');
    expect(await can(server, 'founders')).toContain('can-manage-subscription');
    const token = server.as(await makeOrganizationToken(founder, 'founders'));
    const ofToken = await can(token, 'founders');
    expect(ofToken).toEqual(
      expect.arrayContaining(['can-create-workspace', 'can-create-team', 'can-read-audit-trail']),
    );
    expect(ofToken).not.toContain('can-update-ssh-keys');
  });
});

describe('a deleted organization', () => {
  it('takes everything in it along: its names, ids and tokens are unknown afterwards', async () => {
    const { defaultProject, ownersTeam, id } = await makeOrganization(server, 'doomed');
    const project = await makeProject(server, 'doomed', 'Doomed');
    const workspace = await makeWorkspace(
      server,
      'doomed',
      'one',
      {},
      {
        tags: { data: [{ type: 'tags', attributes: { name: 'flat' } }] },
      },
    );
    const issued = expectStatus(await server.post(`${PATH}/doomed/authentication-token`), 201).body.data;
    const owners = await makeToken(server, `/api/v2/teams/${ownersTeam}/authentication-token`);
    expectStatus(await server.as(owners).get(`/api/v2/workspaces/${workspace}`), 200);

    const removed = expectStatus(await server.delete(`${PATH}/doomed`), 204);
    expect(removed.text).toBe('');

    for (const path of [
      `${PATH}/doomed`,
      `${PATH}/doomed/entitlement-set`,
      `${PATH}/doomed/subscription`,
      `${PATH}/doomed/projects`,
      `${PATH}/doomed/teams`,
      `${PATH}/doomed/workspaces`,
      `${PATH}/doomed/workspaces/one`,
      `${PATH}/doomed/authentication-token`,
      `/api/v2/workspaces/${workspace}`,
      `/api/v2/projects/${defaultProject}`,
      `/api/v2/projects/${project}`,
      `/api/v2/teams/${ownersTeam}`,
      `/api/v2/teams/${ownersTeam}/authentication-token`,
      `/api/v2/authentication-tokens/${issued.id}`,
    ]) {
      expect([path, (await server.get(path)).status]).toEqual([path, 404]);
    }
    expectStatus(await server.delete(`${PATH}/doomed`), 404);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 404);
    expectStatus(await server.patch(`/api/v2/projects/${project}`, resource('projects', { name: 'Again' })), 404);
    for (const token of [owners, issued.attributes.token]) {
      expectStatus(await server.as(token).get('/api/v2/account/details'), 401);
    }
    const [remaining] = await server.database.rows<{ n: number }>(sql`
      select (select count(*) from organizations where id = ${id}) + (select count(*) from projects where organization = ${id})
           + (select count(*) from teams where organization = ${id}) + (select count(*) from workspaces where organization = ${id})
           + (select count(*) from authentication_tokens where organization = ${id})
           + (select count(*) from workspace_tags where organization = ${id})
           + (select count(*) from team_members where team = ${ownersTeam}) as n`);
    expect(remaining?.n).toBe(0);
  });

  it('leaves no row in any view', async () => {
    const { id, defaultProject } = await makeOrganization(server, 'traceless');
    const pool = await makeAgentPool(server, 'traceless', 'pool');
    await makeAgentToken(server, pool);
    const team = await makeTeam(server, 'traceless', 'core');
    await makeMember(server, 'traceless', 'traced', [team]);
    const workspace = await makeWorkspace(server, 'traceless', 'one');
    await grantProjectAccess(server, team, defaultProject, 'read');
    await grantWorkspaceAccess(server, team, workspace, 'read');
    const tables = await server.database.rows<{ table: string }>(sql`
      select format('%I.%I', table_schema, table_name) as table from information_schema.columns
       where column_name = 'organization' and table_schema not in ('event_store', 'information_schema')
         and table_name not like 'audit%' order by 1`);
    const tablesWithRows = async (): Promise<string[]> => {
      const counts = tables.map(
        ({ table }) => sql`select ${table} as table from ${sql.raw(table)} where organization = ${id} limit 1`,
      );
      return (await Promise.all(counts.map((one) => server.database.rows<{ table: string }>(one)))).flatMap((rows) =>
        rows.map(({ table }) => table),
      );
    };
    expect(await tablesWithRows()).toEqual(
      expect.arrayContaining(['views.agent_pools', 'views.projects', 'views.team_projects', 'views.workspaces']),
    );
    expectStatus(await server.delete(`${PATH}/traceless`), 204);
    expect(await tablesWithRows()).toEqual([]);
  });

  it('frees its name for a new organization, which starts empty', async () => {
    await makeOrganization(server, 'reborn');
    await makeWorkspace(server, 'reborn', 'one');
    expectStatus(await server.delete(`${PATH}/reborn`), 204);
    await makeOrganization(server, 'reborn');
    expect((await server.get(`${PATH}/reborn/workspaces`)).body.data).toEqual([]);
  });

  it('can only be deleted by its owners', async () => {
    await makeOrganization(server, 'guarded');
    const token = server.as(await makeOrganizationToken(server, 'guarded'));
    expectStatus(await token.delete(`${PATH}/guarded`), 404);
    expectStatus(await token.patch(`${PATH}/guarded`, organization({ name: 'mine' })), 404);
    expect((await server.get(`${PATH}/guarded`)).status).toBe(200);
  });
});

describe('the list of organizations', () => {
  it('contains the caller’s own organizations, by name and page by page', async () => {
    const bob = await makePerson('bob');
    expect((await bob.get(PATH)).body).toMatchObject({
      data: [],
      meta: { pagination: { 'total-count': 0, 'total-pages': 0 } },
    });
    for (const name of ['bob-3', 'bob-1', 'bob-2']) await makeOrganization(bob, name);
    expect(namesIn(await bob.get(PATH))).toEqual(['bob-1', 'bob-2', 'bob-3']);
    const second = await bob.get(`${PATH}?page[size]=2&page[number]=2`);
    expect(namesIn(second)).toEqual(['bob-3']);
    expect(second.body.meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 2,
      'prev-page': 1,
      'next-page': null,
      'total-pages': 2,
      'total-count': 3,
    });
    const past = await bob.get(`${PATH}?page[number]=7`);
    expect(past.body).toMatchObject({ data: [], meta: { pagination: { 'current-page': 7, 'total-count': 3 } } });
    const searched = await bob.get(`${PATH}?q=OB-2`);
    expect(namesIn(searched)).toEqual(['bob-2']);
    expect(searched.body.meta.pagination['total-count']).toBe(1);
  });

  it('has the same documents as a single read', async () => {
    const carol = await makePerson('carol');
    await makeOrganization(carol, 'carols');
    expect((await carol.get(PATH)).body.data).toEqual([(await carol.get(`${PATH}/carols`)).body.data]);
  });

  it('contains all organizations for site administrators', async () => {
    const dave = await makePerson('dave');
    await makeOrganization(dave, 'daves');
    expect(namesIn(await server.get(`${PATH}?page[size]=100`))).toContain('daves');
  });

  it('contains the organization of a token, also of an audit trail token, with its entitlement `audit-logging`', async () => {
    await makeOrganization(server, 'watched');
    const tokens = `${PATH}/watched/authentication-token`;
    for (const path of [tokens, `${tokens}?token=audit-trails`]) {
      const token = server.as(await makeToken(server, path));
      const { body } = expectStatus(await token.get(`${PATH}?include=entitlement_set`), 200);
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['watched']);
      const { id } = body.data[0].relationships['entitlement-set'].data;
      expect(body.included).toMatchObject([{ type: 'entitlement-sets', id, attributes: { 'audit-logging': true } }]);
    }
  });

  it('includes default projects that the caller may see', async () => {
    const { defaultProject } = await makeOrganization(server, 'included');
    const project = (await server.get(`/api/v2/projects/${defaultProject}`)).body.data;
    const one = expectStatus(await server.get(`${PATH}/included?include=default-project`), 200).body;
    expect(one.included).toEqual([project]);
    const both = await server.get(`${PATH}?q=included&include=entitlement_set,default_project`);
    expect(both.body.included.map(({ type }: { type: string }) => type)).toEqual(['entitlement-sets', 'projects']);
    const audit = `${PATH}/included/authentication-token?token=audit-trails`;
    const auditor = server.as(await makeToken(server, audit));
    expect((await auditor.get(`${PATH}?include=default_project`)).body.included).toEqual([]);
  });

  it('is searched by name and email address', async () => {
    await makeOrganization(server, 'searched');
    expectStatus(await server.patch(`${PATH}/searched`, organization({ email: 'Someone@Else.test' })), 200);
    expect(namesIn(await server.get(`${PATH}?q=someone@else`))).toEqual(['searched']);
    expect(namesIn(await server.get(`${PATH}?q=EARCHE`))).toEqual(['searched']);
  });

  it('is searched by name, by email address or by both', async () => {
    const grace = await makePerson('grace');
    for (const name of ['left-one', 'left-two', 'right-one']) await makeOrganization(grace, name);
    const search = async (query: string) => {
      const { body } = expectStatus(await grace.get(`${PATH}?${query}`), 200);
      expect(body.meta.pagination['total-count']).toBe(body.data.length);
      return body.data.map(({ id }: { id: string }) => id);
    };
    expect(await search('q[name]=ONE')).toEqual(['left-one', 'right-one']);
    expect(await search('q[email]=ops@left')).toEqual(['left-one', 'left-two']);
    expect(await search('q[name]=one&q[email]=ops@left')).toEqual(['left-one']);
    expect(await search('q=two&q[name]=one')).toEqual(['left-two']);
    expect(await search('q[name]=%25')).toEqual([]);
  });

  it('costs one statement, and one more for included entitlements and projects', async () => {
    const listed = (query: string) => costOf(server, () => server.get(`${PATH}?page[size]=100&${query}`));
    expect(await listed('')).toMatchObject({ status: 200, statements: 1 });
    expect(await listed('include=subscription')).toMatchObject({ status: 200, statements: 1 });
    expect(await listed('include=entitlement_set')).toMatchObject({ status: 200, statements: 2 });
    expect(await listed('include=entitlement_set,default_project')).toMatchObject({ status: 200, statements: 2 });
  });

  it('is empty for an agent', async () => {
    await makeOrganization(server, 'worked-for');
    const pool = await makeAgentPool(server, 'worked-for', 'pool');
    const agent = server.as(await makeAgentToken(server, pool));
    expect(namesIn(expectStatus(await agent.get(PATH), 200))).toEqual([]);
    expectStatus(await agent.get(`${PATH}/worked-for`), 404);
  });

  it('returns 400 for an unknown include', async () => {
    const { body } = expectStatus(await server.get(`${PATH}?include=moon`), 400);
    expect(body.errors[0].detail).toContain('include parameter');
  });
});

describe('another organization', () => {
  it('is not found, nor is anything in it', async () => {
    const { ownersTeam, defaultProject } = await makeOrganization(server, 'foreign');
    const issued = expectStatus(await server.post(`${PATH}/foreign/authentication-token`), 201).body.data;
    const eve = await makePerson('eve');
    await makeOrganization(eve, 'eves');
    const own = server.as(await makeOrganizationToken(eve, 'eves'));
    const admin = (await server.get('/api/v2/account/details')).body.data.id as string;
    const project = resource('projects', { name: 'Mine' });
    const subscription = resource('subscriptions', {}, { 'feature-set': { data: { id: 'fs-free' } } });
    const requests: [keyof Omit<ApiTestClient, 'as'>, string, object?][] = [
      ['get', `${PATH}/foreign`],
      ['patch', `${PATH}/foreign`, organization({ name: 'mine' })],
      ['delete', `${PATH}/foreign`],
      ['get', `${PATH}/foreign/entitlement-set`],
      ['get', `${PATH}/foreign/subscription`],
      ['get', `${PATH}/foreign/projects`],
      ['post', `${PATH}/foreign/projects`, project],
      ['get', `${PATH}/foreign/teams`],
      ['get', `${PATH}/foreign/authentication-token`],
      ['post', `${PATH}/foreign/authentication-token`],
      ['post', `${PATH}/foreign/authentication-token?token=audit-trails`],
      ['delete', `${PATH}/foreign/authentication-token`],
      ['get', `/api/v2/projects/${defaultProject}`],
      ['patch', `/api/v2/projects/${defaultProject}`, project],
      ['delete', `/api/v2/projects/${defaultProject}`],
      ['get', `/api/v2/teams/${ownersTeam}`],
      ['get', `/api/v2/teams/${ownersTeam}/authentication-token`],
      ['post', `/api/v2/teams/${ownersTeam}/authentication-token`],
      ['delete', `/api/v2/teams/${ownersTeam}/authentication-token`],
      ['get', `/api/v2/authentication-tokens/${issued.id}`],
      ['delete', `/api/v2/authentication-tokens/${issued.id}`],
      ['get', `/api/v2/users/${admin}/authentication-tokens`],
      ['post', `/api/v2/users/${admin}/authentication-tokens`],
      ['get', '/api/v2/admin/feature-sets'],
      ['post', '/api/v2/admin/organizations/foreign/subscription', subscription],
      ['get', `${PATH}/foreign/tags`],
      ['post', `/api/v2/projects/${defaultProject}/relationships/workspaces`, { data: [] }],
    ];
    const length = await logLength(server.store);
    for (const [method, path, body] of requests) {
      for (const caller of [eve, own]) {
        expect([method, path, (await caller[method](path, body)).status]).toEqual([method, path, 404]);
      }
    }
    expect(namesIn(await eve.get(PATH))).toEqual(['eves']);
    expect(await logLength(server.store)).toBe(length);
  });
});

describe('the self-hosted edition', () => {
  it('has no entitlement `audit-logging`', async () => {
    const hosted = await startTestServer({ env: { CADASTRE_EDITION: 'self-hosted' } });
    try {
      await makeOrganization(hosted, 'acme');
      const { data } = expectStatus(await hosted.get(`${PATH}/acme/entitlement-set`), 200).body;
      expect(data.attributes).toMatchObject({ 'audit-logging': false, teams: true });
      const { included } = expectStatus(await hosted.get(`${PATH}?include=entitlement_set`), 200).body;
      expect(included).toMatchObject([{ attributes: { 'audit-logging': false } }]);
    } finally {
      await hosted.close();
    }
  });

  it('neither returns nor accepts settings of health assessments', async () => {
    const hosted = await startTestServer({ env: { CADASTRE_EDITION: 'self-hosted' } });
    try {
      const attributes = { name: 'acme', email: 'ops@acme.test', 'assessments-enforced': true };
      const created = expectStatus(await hosted.post(PATH, organization(attributes)), 201).body.data;
      expect(created.attributes).toMatchObject({ name: 'acme', 'default-execution-mode': 'remote' });
      expect(created.attributes).not.toHaveProperty('assessments-enforced');
      const workspace = await makeWorkspace(hosted, 'acme', 'one', { 'assessments-enabled': true, 'auto-apply': true });
      for (const path of [`/api/v2/workspaces/${workspace}`, `${PATH}/acme/workspaces?include=organization`]) {
        const { body } = expectStatus(await hosted.get(path), 200);
        expect([body.data].flat()[0].attributes).toMatchObject({ name: 'one', 'auto-apply': true });
        expect([body.data].flat()[0].attributes).not.toHaveProperty('assessments-enabled');
      }
      const [row] = await hosted.database.rows<{ enabled: boolean; enforced: boolean }>(sql`
        select (w.settings ->> 'assessmentsEnabled')::boolean as enabled,
               (o.settings ->> 'assessmentsEnforced')::boolean as enforced
          from workspaces w join organizations o on o.id = w.organization`);
      expect(row).toEqual({ enabled: false, enforced: false });
      // The value is ignored, as for any unknown attribute.
      expectStatus(await hosted.patch(`${PATH}/acme`, organization({ 'assessments-enforced': 'yes' })), 200);
    } finally {
      await hosted.close();
    }
  });
});
