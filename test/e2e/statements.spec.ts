import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  bindTags,
  flatTags,
  idOfTag,
  expectStatus,
  makeAgentPool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  related,
  resource,
} from '../support/seeds.js';
import {
  addKey,
  GPG_KEYS,
  makeProvider,
  makeVersion,
  pathOfProvider,
  pathOfProviders,
  pathOfVersion,
  platformAttributes,
  platformBody,
  providerBody,
  publishVersion,
  versionBody,
} from '../support/registry.js';
import { makeSigner } from '../support/releases.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { costOf, type Cost } from '../support/cost.js';

// Round trips dominate the cost of a request. These tests count statements where they leave for Postgres.

let server: TestServer;
let id: string;
let pool: string;

/** Id of a locked workspace that has a run and a state with outputs. */
let busy: string;

const WORKSPACES = '/api/v2/organizations/acme/workspaces';

const INCLUDES = [
  'current_configuration_version.ingress_attributes',
  'current_run.configuration_version.ingress_attributes',
  'current_run.plan',
  'current_state_version',
  'locked_by',
  'organization',
  'outputs',
  'project',
  'readme',
  'effective_tag_bindings',
  'tag_bindings',
].join(',');

beforeAll(async () => {
  server = await startTestServer();
  const { defaultProject } = await makeOrganization(server, 'acme');
  await bindTags(server, `projects/${defaultProject}`, { bound: 'by the project' });
  const tags = (n: number) => ({
    'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'n', value: String(n) } }] },
    tags: { data: [{ type: 'tags', attributes: { name: 'flat' } }] },
  });
  for (let n = 0; n < 100; n += 10) {
    await Promise.all(
      Array.from({ length: 10 }, (_, m) => makeWorkspace(server, 'acme', `workspace-${n + m}`, {}, tags(n + m))),
    );
  }
  id = await makeWorkspace(server, 'acme', 'measured');
  pool = await makeAgentPool(server, 'acme', 'edge');
  busy = await makeBusy();
  const set = resource('varsets', { name: 'applied' }, { workspaces: related('workspaces', busy) });
  await server.post('/api/v2/organizations/acme/varsets', set);
  const signer = await makeSigner();
  await addKey(server, 'acme', signer);
  await makeProvider(server, 'acme', 'aws');
  await publishVersion(server, 'acme', 'aws', '1.0.0', signer);
});

const PROVIDER = pathOfProvider('acme', 'aws');

const makeBusy = async (): Promise<string> => {
  const workspace = await makeWorkspace(server, 'acme', 'busy', { 'execution-mode': 'agent', 'agent-pool-id': pool });
  await makeConfigurationVersion(server, workspace);
  const run = await makeRun(server, workspace, { 'plan-only': true, variables: [{ key: 'region', value: '"eu"' }] });
  await server.post(`/api/v2/workspaces/${workspace}/actions/lock`);
  const outputs = { open: { value: 1, type: 'number' } };
  const { data } = newStateVersion(stateFile({ outputs }), { inline: true }) as { data: object };
  const body = { data: { ...data, relationships: { run: { data: { type: 'runs', id: run } } } } };
  await server.post(`/api/v2/workspaces/${workspace}/state-versions`, body);
  await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`);
  await server.post(`/api/v2/workspaces/${workspace}/actions/lock`);
  return workspace;
};

afterAll(() => server.close());

const counted = (request: () => Promise<{ status: number }>): Promise<Cost> => costOf(server, request);

const ONE = { status: 200, statements: 1, roundTrips: 1, appends: 0 };

describe('a read without includes', () => {
  it.each([
    ['a workspace by id', () => `/api/v2/workspaces/${id}`],
    ['a workspace by names', () => `${WORKSPACES}/measured`],
    ['the tag bindings of a workspace', () => `/api/v2/workspaces/${id}/tag-bindings`],
    ['the flat tags of a workspace', () => `/api/v2/workspaces/${id}/relationships/tags?page%5Bsize%5D=1`],
    ['the flat tags of an organization', () => '/api/v2/organizations/acme/tags?q=a'],
    ['an organization', () => '/api/v2/organizations/acme'],
    ['the list of organizations', () => '/api/v2/organizations'],
    ['teams', () => '/api/v2/organizations/acme/teams?q=o'],
    ['the caller’s own memberships', () => '/api/v2/organization-memberships'],
    ['the notification configurations of a workspace', () => `/api/v2/workspaces/${id}/notification-configurations`],
    ['the caller', () => '/api/v2/account/details'],
    ['an agent pool', () => `/api/v2/agent-pools/${pool}`],
    [
      'the list of agent pools',
      () => '/api/v2/organizations/acme/agent-pools?filter%5Ballowed_workspaces%5D%5Bname%5D=x',
    ],
    ['the list of agents', () => `/api/v2/agent-pools/${pool}/agents`],
    ['variable sets with their targets', () => '/api/v2/organizations/acme/varsets'],
    ['the variable sets of a workspace', () => `/api/v2/workspaces/${id}/varsets`],
    ['the list of providers', () => pathOfProviders('acme')],
    ['a provider', () => PROVIDER],
    ['the list of versions', () => `${PROVIDER}/versions`],
    ['a version', () => `${PROVIDER}/versions/1.0.0`],
    ['the list of platforms', () => `${PROVIDER}/versions/1.0.0/platforms`],
    ['a platform', () => `${PROVIDER}/versions/1.0.0/platforms/linux/amd64`],
    ['the list of GPG keys', () => `${GPG_KEYS}?filter%5Bnamespace%5D=acme`],
    ['the versions of a provider in the provider protocol', () => '/api/registry/v1/providers/acme/aws/versions'],
    [
      'the download of a package in the provider protocol',
      () => '/api/registry/v1/providers/acme/aws/1.0.0/download/linux/amd64',
    ],
  ])('takes one statement: %s', async (_, path) => {
    expect(await counted(() => server.get(path()))).toEqual(ONE);
  });

  it.each([1, 20, 100])('takes one statement for a page of %i workspaces', async (size) => {
    const path = `${WORKSPACES}?page%5Bsize%5D=${size}`;
    expect((await server.get(path)).body.data).toHaveLength(size);
    expect(await counted(() => server.get(path))).toEqual(ONE);
  });

  it('takes one statement for workspaces filtered by three tags, whether their own or of the project', async () => {
    const tagged = ['n', 'bound', 'flat'].map((key, index) => `filter%5Btagged%5D%5B${index}%5D%5Bkey%5D=${key}`);
    const path = `${WORKSPACES}?${tagged.join('&')}&page%5Bnumber%5D=2`;
    expect((await server.get(path)).body.data).toHaveLength(20);
    expect(await counted(() => server.get(path))).toEqual(ONE);
  });

  it('takes one statement for a page that is searched, filtered by tags and sorted', async () => {
    const path = `${WORKSPACES}?search%5Bname%5D=workspace&search%5Btags%5D=flat,n&sort=-name&page%5Bnumber%5D=2`;
    expect((await server.get(path)).body.data).toHaveLength(20);
    expect(await counted(() => server.get(path))).toEqual(ONE);
  });
});

describe('a recorded read', () => {
  const list = (of: string, size: number) => `/api/v2/${of}?page%5Bsize%5D=${size}`;

  it.each([
    ['people', () => '/api/v2/organizations/acme/organization-memberships?include=user'],
    ['SSH keys', () => '/api/v2/organizations/acme/ssh-keys'],
    ['OAuth tokens', () => '/api/v2/organizations/acme/oauth-tokens'],
    ['the variables of a workspace', () => `/api/v2/workspaces/${id}/vars`],
    ['the effective variables of a workspace', () => `/api/v2/workspaces/${id}/all-vars`],
    ['the current state', () => `/api/v2/workspaces/${busy}/current-state-version`],
    ['the current outputs', () => `/api/v2/workspaces/${busy}/current-state-version-outputs`],
    ['states', () => list(`workspaces/${busy}/state-versions`, 1)],
    ['more states', () => list(`workspaces/${busy}/state-versions`, 100)],
  ])('takes one statement and one append: %s', async (_, path) => {
    await server.get(path());
    expect(await counted(() => server.get(path()))).toEqual({ ...ONE, appends: 1 });
  });

  it('shares its append with concurrent reads', async () => {
    const path = `/api/v2/workspaces/${busy}/current-state-version`;
    const together = async () => {
      const answers = await Promise.all(Array.from({ length: 100 }, () => server.get(path)));
      return { status: Math.max(...answers.map(({ status }) => status)) };
    };
    const { status, appends } = await counted(together);
    expect(status).toBe(200);
    expect(appends).toBeLessThan(100);
  });
});

describe('a read with includes', () => {
  const TWO = { status: 200, statements: 2, roundTrips: 2 };

  it.each([1, 20, 100])('takes two statements for a page of %i workspaces', async (size) => {
    const path = `${WORKSPACES}?include=${INCLUDES}&page%5Bsize%5D=${size}`;
    expect(await counted(() => server.get(path))).toMatchObject(TWO);
  });

  it.each([
    ['a workspace by id', () => `/api/v2/workspaces/${busy}?include=${INCLUDES}`],
    ['a workspace by names', () => `${WORKSPACES}/busy?include=${INCLUDES}`],
    ['an agent pool', () => `/api/v2/agent-pools/${pool}?include=workspaces`],
    ['providers', () => `${pathOfProviders('acme')}?include=registry-provider-versions`],
    ['variable sets', () => '/api/v2/organizations/acme/varsets?include=workspaces,projects,vars'],
    [
      'runs with run variables',
      () => `/api/v2/workspaces/${busy}/runs?include=created_by,workspace,configuration_version,comments,plan`,
    ],
    [
      'states',
      () =>
        `/api/v2/workspaces/${busy}/state-versions?include=created_by,run.created_by,run.configuration_version,outputs`,
    ],
  ])('takes two statements: %s', async (_, path) => {
    expect((await server.get(path())).body.included).not.toEqual([]);
    expect(await counted(() => server.get(path()))).toMatchObject(TWO);
  });

  it('takes one statement if nothing is included', async () => {
    expect(await counted(() => server.get(`${WORKSPACES}/measured?include=readme,current_run,locked_by`))).toEqual(ONE);
  });
});

describe('a command', () => {
  it.each([
    ['lock', () => server.post(`/api/v2/workspaces/${id}/actions/lock`, { reason: 'counting' })],
    ['unlock', () => server.post(`/api/v2/workspaces/${id}/actions/unlock`)],
    ['PATCH', () => server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', { description: 'counted' }))],
    [
      'the SSH key of a workspace',
      () => server.patch(`/api/v2/workspaces/${id}/relationships/ssh-key`, resource('workspaces', { id: null })),
    ],
    [
      'a data retention policy',
      () =>
        server.post(
          `/api/v2/workspaces/${id}/relationships/data-retention-policy`,
          resource('data-retention-policy-dont-deletes'),
        ),
    ],
    ['PATCH by names', () => server.patch(`${WORKSPACES}/measured`, resource('workspaces', { 'auto-apply': true }))],
    [
      'binding tags',
      () =>
        server.patch(`/api/v2/workspaces/${id}/tag-bindings`, {
          data: [1, 2, 3].map((n) => ({ type: 'tag-bindings', attributes: { key: `key-${n}`, value: 'v' } })),
        }),
    ],
  ])('takes two round trips: %s', async (_, request) => {
    expect(await counted(request)).toMatchObject({ status: 200, roundTrips: 2 });
  });

  it.each([
    ['a workspace', WORKSPACES, resource('workspaces', { name: 'created' })],
    ['a project', '/api/v2/organizations/acme/projects', resource('projects', { name: 'created' })],
    ['an agent pool', '/api/v2/organizations/acme/agent-pools', resource('agent-pools', { name: 'created' })],
    ['an SSH key', '/api/v2/organizations/acme/ssh-keys', resource('ssh-keys', { name: 'created', value: 'key' })],
    ['a saved view', '/api/v2/organizations/acme/saved-views', resource('saved-views', { name: 'created', query: '' })],
    [
      'an IP allowlist',
      '/api/v2/organizations/acme/cidr-range-lists',
      resource('cidr-range-lists', { name: 'created', 'enforcement-scope': 'all_agent_pools' }),
    ],
    ['a reserved tag key', '/api/v2/organizations/acme/reserved-tag-keys', resource('reserved-tag-keys', { key: 'n' })],
    ['an organization', '/api/v2/organizations', resource('organizations', { name: 'other', email: 'a@b.test' })],
    ['a team', '/api/v2/organizations/acme/teams', resource('teams', { name: 'created' })],
    ['a provider', pathOfProviders('acme'), providerBody('acme', 'created')],
    ['a version of a provider', `${PROVIDER}/versions`, versionBody('1.1.0')],
    [
      'a platform of a version',
      `${PROVIDER}/versions/1.1.0/platforms`,
      platformBody(platformAttributes('aws', '1.1.0')),
    ],
    [
      'a membership with a new user',
      '/api/v2/organizations/acme/organization-memberships',
      resource('organization-memberships', { email: 'new@people.test' }),
    ],
  ])('takes at most two round trips to create %s', async (_, path, body) => {
    const { status, roundTrips } = await counted(() => server.post(path, body));
    expect({ status, tooMany: roundTrips > 2 ? roundTrips : null }).toEqual({ status: 201, tooMany: null });
  });

  it('takes three round trips to read the job of a run, with all variables', async () => {
    const pool = await makeRemotePool(server, 'acme', 'executors');
    const agents = server.as(await makeAgentToken(server, pool));
    const agent = expectStatus(await agents.post(`/api/v2/agent-pools/${pool}/agents`), 201).body.data.id;
    const workspace = await makeWorkspace(server, 'acme', 'claimed');
    await makeConfigurationVersion(server, workspace);
    const run = await makeRun(server, workspace);
    const claim = async () => expectStatus(await agents.post(`/api/v2/agents/${agent}/actions/claim`), 200).body.data;
    let lease = await claim();
    while (lease.id !== run) lease = await claim();
    const job = resource('run-jobs', { fence: lease.attributes.fence, nonce: 'nonce-of-the-executor' });
    // Reads the run, reads the variables, appends.
    const read = () => counted(() => agents.post(`/api/v2/runs/${run}/job`, job));
    expect(await read()).toMatchObject({ status: 200, roundTrips: 3 });
    expect(await read()).toMatchObject({ status: 200, roundTrips: 3 });
  });

  it('takes two round trips for variables, including sensitive values in the vault', async () => {
    const paths = [`/api/v2/workspaces/${id}/vars`];
    const set = (await server.post('/api/v2/organizations/acme/varsets', resource('varsets', { name: 'set' }))).body
      .data;
    paths.push(`/api/v2/varsets/${set.id}/relationships/vars`);
    for (const path of paths) {
      const secret = { key: 'token', value: 'hunter2', category: 'env', sensitive: true };
      expect(await counted(() => server.post(path, resource('vars', secret)))).toMatchObject({
        status: 201,
        roundTrips: 2,
      });
      const [{ id: variable }] = (await server.get(path)).body.data;
      const next = () => server.patch(`${path}/${variable}`, resource('vars', { value: 'next' }));
      expect(await counted(next)).toMatchObject({ status: 200, roundTrips: 2 });
      expect(await counted(() => server.delete(`${path}/${variable}`))).toMatchObject({ status: 204, roundTrips: 2 });
    }
  });

  it('takes two round trips for flat tags, whether by id or by name, and however many workspaces have them', async () => {
    const flat = related('tags', await idOfTag(server, 'acme', 'flat'));
    const ids = [await makeWorkspace(server, 'acme', 'tagged-1'), await makeWorkspace(server, 'acme', 'tagged-2')];
    const own = `/api/v2/workspaces/${id}/relationships/tags`;
    for (const request of [
      () => server.post(own, { data: [...flat.data, ...flatTags('by-name').data] }),
      () => server.delete(own, { data: [...flat.data, ...flatTags('by-name').data] }),
      () => server.post(`/api/v2/tags/${flat.data[0]?.id}/relationships/workspaces`, related('workspaces', ...ids)),
      () => server.delete('/api/v2/organizations/acme/tags', flat),
    ]) {
      expect(await counted(request)).toMatchObject({ status: 204, roundTrips: 2 });
    }
  });

  it('takes two round trips to delete a workspace', async () => {
    const doomed = await makeWorkspace(server, 'acme', 'doomed');
    const request = () => server.delete(`/api/v2/workspaces/${doomed}`);
    expect(await counted(request)).toMatchObject({ status: 204, roundTrips: 2 });
  });

  it('takes two round trips to delete a provider with any number of versions and platforms', async () => {
    await makeProvider(server, 'acme', 'doomed');
    for (const version of ['1.0.0', '1.1.0', '1.2.0', '1.3.0']) {
      await makeVersion(server, 'acme', 'doomed', version);
      const platforms = `${pathOfVersion('acme', 'doomed', version)}/platforms`;
      for (const os of ['linux', 'darwin'])
        await server.post(platforms, platformBody(platformAttributes('doomed', version, os)));
    }
    for (const path of ['/versions/1.0.0/platforms/linux/amd64', '/versions/1.1.0', '']) {
      const request = () => server.delete(pathOfProvider('acme', 'doomed') + path);
      expect(await counted(request)).toMatchObject({ status: 204, roundTrips: 2 });
    }
  });

  it('takes two round trips for a GPG key', async () => {
    const { armor, keyId } = await makeSigner();
    const body = resource('gpg-keys', { namespace: 'acme', 'ascii-armor': armor });
    expect(await counted(() => server.post(GPG_KEYS, body))).toMatchObject({ status: 201, roundTrips: 2 });
    expect(await counted(() => server.delete(`${GPG_KEYS}/acme/${keyId}`))).toMatchObject({
      status: 204,
      roundTrips: 2,
    });
  });

  it('takes two round trips to add or remove members of a team, and to delete a team with its tokens', async () => {
    const team = await makeTeam(server, 'acme', 'moved');
    const { membership, username } = await makeMember(server, 'acme', 'mover');
    await makeToken(server, `/api/v2/teams/${team}/authentication-token`);
    const users = { data: [{ type: 'users', id: username }] };
    const memberships = { data: [{ type: 'organization-memberships', id: membership }] };
    for (const request of [
      () => server.post(`/api/v2/teams/${team}/relationships/users`, users),
      () => server.delete(`/api/v2/teams/${team}/relationships/organization-memberships`, memberships),
      () => server.delete(`/api/v2/organization-memberships/${membership}`),
      () => server.delete(`/api/v2/teams/${team}`),
    ]) {
      expect(await counted(request)).toMatchObject({ status: 204, roundTrips: 2 });
    }
  });

  it('takes one statement if it is refused', async () => {
    const path = `/api/v2/workspaces/${id}/actions/unlock`;
    expect(await counted(() => server.post(path))).toEqual({ ...ONE, status: 409 });
  });

  it('takes no statement if its body is invalid', async () => {
    const body = resource('workspaces', { name: 7 });
    expect(await counted(() => server.post(WORKSPACES, body))).toEqual({
      status: 422,
      statements: 0,
      roundTrips: 0,
      appends: 0,
    });
  });

  it('takes as many statements after a thousand events as after ten', async () => {
    const old = await makeWorkspace(server, 'acme', 'old');
    const turn = async () => [
      await counted(() => server.post(`/api/v2/workspaces/${old}/actions/lock`)),
      await counted(() => server.post(`/api/v2/workspaces/${old}/actions/unlock`)),
    ];
    const young = await turn();
    for (let round = 0; round < 500; round += 1) await turn();
    expect(await turn()).toEqual(young);
  });
});

describe('the caller of a token', () => {
  it('is looked up once, and cached for the next request', async () => {
    // After more changes than a check reports, the next request reads Postgres itself.
    await server.get(`/api/v2/workspaces/${id}`);
    const issued = await server.post('/api/v2/organizations/acme/authentication-token');
    const caller = server.as(issued.body.data.attributes.token as string);
    const show = () => counted(() => caller.get(`/api/v2/workspaces/${id}`));
    expect((await show()).roundTrips).toBe(2);
    expect(await show()).toEqual(ONE);
  });
});
