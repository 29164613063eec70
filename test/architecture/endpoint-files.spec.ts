import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitForTrail } from '#activity/audit-trail';
import { buildEventSchemas } from '#storage/message-log';
import { GatewayModule } from '../../apps/gateway/src/gateway.module.js';
import { eventRegistry, moduleDefinitions } from '../../apps/modules.js';
import {
  controllersIn,
  filesOf,
  LIBS,
  listEndpointModules,
  routesOf,
  type EndpointModule,
  type Route,
} from '../support/gateway-routes.js';
import { recordAssessment } from '../support/assessments.js';
import { makeOauthClient, openTestGitHost, REACHES_GIT_HOSTS } from '../support/git-host.js';
import { makePolicy, makePolicyEvaluation, makePolicySet } from '../support/policies.js';
import { makeRunTask, makeTaskReport, makeWorkspaceTask } from '../support/task-service.js';
import { makeNotificationConfiguration } from '../support/notification-receiver.js';
import {
  expectStatus,
  bindTags,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganization,
  makeReservedTagKey,
  makeRun,
  makeRunTrigger,
  makeTeam,
  makeWorkspace,
  related,
  resource,
} from '../support/seeds.js';
import { startTestSession } from '../support/sessions.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import { makeWorkloadIdentity } from '../support/workload-identities.js';
import { makeModule, publishModuleVersion } from '../support/registry-modules.js';
import { addKey, makeProvider, publishVersion } from '../support/registry.js';
import { createTestSigning } from '../support/trail-signing.js';
import { makeSigner } from '../support/releases.js';
import { startTestServer, type ApiResponse, type TestServer } from '../support/server.js';
import { costOf } from '../support/cost.js';

/** Controllers that return no JSON:API resource, with the reason. They are named after the noun in their path. */
const NOUNS: Readonly<Record<string, string>> = {
  'api-docs': 'descriptions of the API, and a page',
  console: 'the page of the web console, and its files',
  'start-page': 'a redirect to the console',
  discovery: 'Terraform’s protocol for service discovery',
  health: 'for orchestrators and Prometheus',
  pages: 'a stylesheet and a picture, for the pages for browsers',
  ping: 'responses without a body',
  webhooks: 'responses without a body',
  'commit-previews': 'the server computes a preview for each request, and stores none',
  'vcs-events': 'the job that reads Git hosts creates them',
  avatars: 'pictures; documents of users contain the links',
  'audit-trail-log-time-stamps': 'the job that asks a time stamp authority creates them',
  account: 'a page',
  'sign-in': 'pages',
  'sign-out': 'a form of pages',
  'sign-in-methods': 'forms of the account page',
  authorize: 'a page of OAuth',
  'oauth-metadata': 'the format of RFC 8414',
  'oauth-revocation': 'responses without a body',
  'oauth-token': 'the format of RFC 6749',
  'oidc-issuer': 'the formats of OpenID Connect Discovery and RFC 7517',
  'oidc-settings': 'responses without a body',
  'oidc-sign-in': 'pages',
  'saml-sign-in': 'pages',
  'back-channel-logout': 'responses without a body',
  'identity-links': 'a page',
  'host-authorizations': 'pages',
  'audit-facts': 'entries for the trail, in its own format',
  events: 'a live stream for browsers',
  'audit-trail': 'entries of the trail have their own format, which is not JSON:API',
  'audit-trail-log': 'the formats of C2SP transparency logs',
  'site-audit-trail-log': 'the formats of C2SP transparency logs',
  'trail-log-settings': 'responses without a body',
  'organization-audit-trail': 'entries of the trail have their own format, which is not JSON:API',
  'site-audit-trail': 'entries of the trail have their own format, which is not JSON:API',
  'scim-groups': 'SCIM, a protocol of identity providers',
  'scim-protocol': 'SCIM, a protocol of identity providers',
  'scim-users': 'SCIM, a protocol of identity providers',
  'state-files': 'files; documents of state versions contain the links',
  'configuration-files': 'files; documents of configuration versions contain the links',
  'release-files': 'files; documents of provider versions and platforms contain the links',
  'module-files': 'files; responses of the module protocol contain the links',
  'module-protocol': 'Terraform’s protocol for installing modules',
  'provider-protocol': 'Terraform’s protocol for installing providers',
  'provider-scim-tokens': 'authentication tokens that an identity provider uses for SCIM',
  'plan-documents': 'documents in the formats of terraform',
  'run-identity-tokens': 'tokens of a claimed phase, for executors; only a POST returns them',
  'plan-files': 'archives with plans, for executors; their jobs contain the links',
  'errored-states': 'states that workspaces did not accept; documents of applies contain the links',
  'run-jobs': 'what a claimed phase needs, for executors; only a POST returns it',
  'run-logs': 'the output of plans and applies, as text; their documents contain the links',
  'run-tokens': 'authentication tokens that executors issue for a run',
  'policy-overrides': 'an action on task stages',
  'policy-texts': 'texts in Rego; documents of policies contain the links',
  'task-callbacks': 'responses without a body',
  'task-outcome-bodies': 'texts in Markdown; documents of outcomes contain the links',
};

/** Controllers of relationships, and of documents for administrators, with the type of the resources. */
const RELATIONSHIPS: Readonly<Record<string, string>> = {
  'admin-organizations': 'organizations',
  'admin-runs': 'runs',
  'admin-users': 'users',
  'admin-workspaces': 'workspaces',
  'remote-state-consumers': 'workspaces',
};

/** Types that share the controller of another type, because both are variants of the same rows. */
const SHARED_CONTROLLERS: Readonly<Record<string, readonly string[]>> = {
  'data-retention-policy-delete-olders': ['data-retention-policy-dont-deletes'],
};

/** Required query parameters of lists. */
const QUERIES: Readonly<Record<string, string>> = {
  '/api/v2/state-versions': 'filter%5Borganization%5D%5Bname%5D=acme&filter%5Bworkspace%5D%5Bname%5D=one',
  '/api/registry/private/v2/gpg-keys': 'filter%5Bnamespace%5D=acme',
  '/api/registry/v1/modules/search': 'q=network',
  '/api/v2/organizations/:organization/registry-modules/:registryName/:namespace/:name/:provider/version':
    'module_version=1.0.0',
  // TEAM stands for the id of a team, and TOKEN for the id of an OAuth token.
  '/api/v2/organizations/:organization/vcs/repo': 'identifier=acme%2Fnetwork&oauth_token_id=TOKEN',
  '/api/v2/organizations/:organization/vcs/tree': 'identifier=acme%2Fnetwork&oauth_token_id=TOKEN',
  '/api/v2/organizations/:organization/access-explanations': 'filter%5Bteam%5D=TEAM&filter%5Bpermission%5D=read-runs',
  '/api/v2/vars': 'filter%5Borganization%5D%5Bname%5D=acme&filter%5Bworkspace%5D%5Bname%5D=one',
};

/** POST routes that change nothing and have no GET route. They follow the rules of reads. */
const PREVIEWS: Readonly<Record<string, object>> = {
  '/api/v2/organizations/:organization/reserved-tag-keys/actions/preview': resource('reserved-tag-keys', {
    key: 'env',
    'disable-overrides': true,
  }),
};

/**
 * Number of statements of reads that need several. Reads that wait for a follower first read its checkpoint. The history of
 * a workspace also reads the changes. The first live stream of a process starts the reader of the log.
 */
const STATEMENTS: Readonly<Record<string, number>> = {
  // The connection, and its token.
  '/api/v2/oauth-tokens/:id/authorized-repos': 2,
  '/api/v2/organizations/:organization/vcs/repo': 2,
  '/api/v2/organizations/:organization/vcs/tree': 2,
  '/api/v2/organizations/:organization/locks': 2,
  '/api/v2/workspaces/:id/lock-history': 2,
  '/api/v2/workspaces/:id/history': 3,
  '/api/v2/organizations/:organization/events': 2,
  // The subject, its grants, and the resources that the rules of access permit with these grants.
  '/api/v2/organizations/:organization/access-explanations': 3,
  // The changes, and the keys of their addresses.
  '/api/v2/users/:id/account-changes': 2,
  // The provider, and its tokens.
  '/api/v2/admin/identity-providers/:id/scim-tokens': 2,
  // The organization, the page that the caller has begun, the follower, the trail, the entries and the names in them.
  '/api/v2/admin/audit-trail': 6,
  '/api/v2/organizations/:organization/audit-trail': 6,
  '/api/v2/organizations/:organization/audit-trail-activity': 3,
  // The place of the checkpoint, and the tiles.
  '/audit-trail-log/checkpoints/:digest/proof': 2,
  // A partial tile needs a checkpoint.
  '/audit-trail-log/tile/*': 2,
  // The organization, and what the log publishes. A partial tile needs a checkpoint.
  '/api/v2/organizations/:organization/audit-trail-log': 2,
  '/api/v2/organizations/:organization/audit-trail-log/checkpoint': 2,
  '/api/v2/organizations/:organization/audit-trail-log/keys': 2,
  '/api/v2/organizations/:organization/audit-trail-log/tile/*': 3,
  // The organization, the follower, the log, the checkpoint, the entry, its leaf, the keys of its people, and the tiles.
  '/api/v2/organizations/:organization/audit-trail-log/entries/:entry/proof': 8,
  // Each follower has a statement of its own.
  '/api/v2/admin/site-status': 20,
};

let server: TestServer;
let endpointModules: readonly EndpointModule[];
/** Values of path parameters, by the collection before the parameter. */
let seeds: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  endpointModules = await listEndpointModules();
  seeds = await furnish();
  // The first read creates the key of the issuer.
  expectStatus(await server.get('/.well-known/jwks'), 200);
  // After this response the next reads do not wait for the follower.
  expectStatus(await server.get(`/api/v2/workspaces/${seeds['workspaces']}/history`), 200);
});

/** Creates the resources that each GET endpoint needs to return at least one. */
const furnish = async (): Promise<typeof seeds> => {
  const organization = await makeOrganization(server, 'acme');
  const workspace = await makeWorkspace(
    server,
    'acme',
    'one',
    {},
    {
      tags: { data: [{ type: 'tags', attributes: { name: 'flat' } }] },
      'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] },
    },
  );
  // The workspace overrides the value of its project, and lacks a reserved key.
  await bindTags(server, `projects/${organization.defaultProject}`, { env: 'test' });
  const reservedTagKey = await makeReservedTagKey(server, 'acme', 'owner');
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const state = newStateVersion(stateFile({ outputs: { out: { value: 1, type: 'number' } } }), { inline: true });
  const version = expectStatus(await server.post(`/api/v2/workspaces/${workspace}/state-versions`, state), 201).body
    .data;
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
  const outputs = expectStatus(await server.get(`/api/v2/state-versions/${version.id}/outputs`), 200);
  const consumers = related('workspaces', await makeWorkspace(server, 'acme', 'reader'));
  expectStatus(
    await server.post(`/api/v2/workspaces/${workspace}/relationships/remote-state-consumers`, consumers),
    204,
  );
  const policy = '/relationships/data-retention-policy';
  const olders = resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': 30 });
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}${policy}`, olders), 200);
  const none = resource('data-retention-policy-dont-deletes');
  expectStatus(await server.post(`/api/v2/organizations/acme${policy}`, none), 200);
  const user = expectStatus(await server.get('/api/v2/account/details'), 200).body.data.id as string;
  const memberships = expectStatus(await server.get('/api/v2/organization-memberships'), 200);
  const team = organization.ownersTeam;
  for (const owner of [`users/${user}/authentication-tokens`, `teams/${team}/authentication-token`]) {
    expectStatus(await server.post(`/api/v2/${owner}`), 201);
  }
  const token = expectStatus(await server.post('/api/v2/organizations/acme/authentication-token'), 201);
  const pool = await makeRemotePool(server, 'acme', 'edge');
  const agents = server.as(await makeAgentToken(server, pool));
  const agent = expectStatus(await agents.post(`/api/v2/agent-pools/${pool}/agents`), 201).body.data.id as string;
  const executed = { 'execution-mode': 'agent', 'agent-pool-id': pool };
  const claimed = await makeWorkspace(server, 'acme', 'executed', executed);
  await makeConfigurationVersion(server, claimed);
  await makeRun(server, claimed);
  expectStatus(await agents.post(`/api/v2/agents/${agent}/actions/claim`), 200);
  const core = await makeTeam(server, 'acme', 'core');
  const key = resource('ssh-keys', { name: 'deploy', value: '-----BEGIN OPENSSH PRIVATE KEY-----' });
  const sshKey = expectStatus(await server.post('/api/v2/organizations/acme/ssh-keys', key), 201).body.data
    .id as string;
  const { client, token: oauthToken } = await makeOauthClient(server, 'acme', await openTestGitHost());
  const task = await makeRunTask(server, 'acme', 'scanner');
  const workspaceTask = await makeWorkspaceTask(server, workspace, task);
  const deleted = await makeWorkspace(server, 'acme', 'deleted');
  expectStatus(await server.delete(`/api/v2/workspaces/${deleted}`), 204);
  const view = resource('saved-views', { name: 'all', query: '', shared: true });
  const savedView = expectStatus(await server.post('/api/v2/organizations/acme/saved-views', view), 201).body.data;
  const listed = { 'cidr-ranges': { data: [{ type: 'cidr-ranges', attributes: { range: '127.0.0.0/8' } }] } };
  const list = resource('cidr-range-lists', { name: 'offices', 'enforcement-scope': 'organization' }, listed);
  const ipAllowlist = expectStatus(await server.post('/api/v2/organizations/acme/cidr-range-lists', list), 201).body
    .data;
  const source = resource('audit-fact-sources', { source: 'https://policies.example', description: 'Policies' });
  const registered = expectStatus(await server.post('/api/v2/organizations/acme/audit-fact-sources', source), 201);
  const region = resource('vars', { key: 'region', value: 'eu', category: 'terraform' });
  const variable = expectStatus(await server.post(`/api/v2/workspaces/${workspace}/vars`, region), 201).body.data;
  const global = resource('varsets', { name: 'shared', global: true });
  const set = expectStatus(await server.post('/api/v2/organizations/acme/varsets', global), 201).body.data;
  const configuration = await makeConfigurationVersion(server, workspace);
  const upstream = await makeWorkspace(server, 'acme', 'upstream');
  const trigger = await makeRunTrigger(server, workspace, upstream);
  const taskReport = await makeTaskReport(server, workspace);
  const policyPool = await makeRemotePool(server, 'acme', 'pool-of-policies');
  const evaluated = await makePolicyEvaluation(server, 'acme', workspace, policyPool);
  const rule = await makePolicy(server, 'acme', 'buckets');
  const run = await makeRun(server, workspace);
  const result = await recordAssessment(server, { organization: organization.id, workspace });
  const comment = resource('comments', { body: 'well' });
  const runComment = expectStatus(await server.post(`/api/v2/runs/${run}/comments`, comment), 201).body.data;
  const signer = await makeSigner();
  expectStatus(await addKey(server, 'acme', signer), 201);
  const provider = await makeProvider(server, 'acme', 'aws');
  await publishVersion(server, 'acme', 'aws', '1.0.0', signer);
  const module = await makeModule(server, 'acme', 'network');
  await publishModuleVersion(server, 'acme', 'network', '1.0.0');
  const identity = { name: 'Acme', issuer: 'https://id.example.com', 'client-id': 'cadastre', enabled: false };
  const identityProvider = await server.post(
    '/api/v2/admin/identity-providers',
    resource('identity-providers', identity),
  );
  const notifications = await makeNotificationConfiguration(server, `workspaces/${workspace}`, 'main', {
    url: 'http://127.0.0.1:9/hook',
  });
  // The failed test is a delivery.
  expectStatus(await server.post(`/api/v2/notification-configurations/${notifications}/actions/verify`), 422);
  await waitForTrail(server.store, organization.id);
  await createTestSigning(server)();
  const log = expectStatus(await server.get('/api/v2/organizations/acme/audit-trail-log/checkpoint'), 200).text;
  return {
    checkpoints: hash('sha256', log.slice(0, log.indexOf('\n\n') + 1)),
    entries: '0',
    'identity-providers': expectStatus(identityProvider, 201).body.data.id,
    'registry-providers': provider,
    'organizations/acme/registry-providers': 'private',
    private: 'acme',
    'organizations/acme/registry-providers/private/acme': 'aws',
    versions: '1.0.0',
    platforms: 'linux',
    'organizations/acme/registry-providers/private/acme/aws/versions/1.0.0/platforms/linux': 'amd64',
    'gpg-keys': 'acme',
    '/api/registry/private/v2/gpg-keys/acme': signer.keyId,
    '/api/registry/v1/providers': 'acme',
    '/api/registry/v1/providers/acme': 'aws',
    '/api/registry/v1/providers/acme/aws': '1.0.0',
    '/api/registry/v1/providers/acme/aws/1.0.0/download': 'linux',
    '/api/registry/v1/providers/acme/aws/1.0.0/download/linux': 'amd64',
    'registry-modules': module,
    'organizations/acme/registry-modules': 'private',
    'organizations/acme/registry-modules/private': 'acme',
    'organizations/acme/registry-modules/private/acme': 'network',
    'organizations/acme/registry-modules/private/acme/network': 'aws',
    '/api/registry/v1/modules': 'acme',
    '/api/registry/v1/modules/acme': 'network',
    '/api/registry/v1/modules/acme/network': 'aws',
    '/api/registry/v1/modules/acme/network/aws': '1.0.0',
    'configuration-versions': configuration,
    runs: run,
    'assessment-results': result,
    plans: run.replace('run-', 'plan-'),
    applies: run.replace('run-', 'apply-'),
    comments: runComment.id,
    'run-events': runComment.relationships['run-event'].data.id,
    vars: variable.id,
    varsets: set.id,
    'agent-pools': pool,
    agents: agent,
    'cidr-range-lists': ipAllowlist.id,
    'cidr-ranges': ipAllowlist.relationships['cidr-ranges'].data[0].id,
    'run-triggers': trigger,
    'saved-views': savedView.id,
    tasks: task,
    policies: rule,
    'policy-sets': await makePolicySet(server, 'acme', 'security', {}, { policies: [rule] }),
    'policy-evaluations': evaluated.evaluation,
    'policy-set-outcomes': evaluated.outcome,
    'task-stages': taskReport.stage,
    'task-results': taskReport.result,
    'task-result-outcomes': taskReport.outcome,
    [`workspaces/${workspace}/tasks`]: workspaceTask,
    'oauth-clients': client,
    'oauth-tokens': oauthToken,
    'ssh-keys': sshKey,
    'notification-configurations': notifications,
    'workload-identities': await makeWorkloadIdentity(server, team, 'main'),
    'audit-fact-sources': registered.body.data.id,
    'reserved-tag-keys': reservedTagKey,
    organizations: 'acme',
    'organizations/acme/workspaces': 'one',
    workspaces: workspace,
    projects: organization.defaultProject,
    teams: team,
    users: user,
    sessions: (await startTestSession(server, user)).id,
    'team-workspaces': await grantWorkspaceAccess(server, core, workspace, 'read'),
    'team-projects': await grantProjectAccess(server, core, organization.defaultProject, 'read'),
    'organization-memberships': memberships.body.data[0].id,
    'authentication-tokens': token.body.data.id,
    'audit-facts/schemas': 'stack.create',
    'state-versions': version.id,
    'state-version-outputs': outputs.body.data[0].id,
  };
};

afterAll(() => server.close());

/** Returns the path with its parameters filled in, or null if there is no value for one of them. */
const filled = ({ path }: Route): string | null => {
  let done = '';
  for (const segment of path.split('/').slice(1)) {
    const collection = done.replace(/^\/api\/v2\//, '');
    const value = segment.startsWith(':') ? (seeds[collection] ?? seeds[collection.replace(/^.*\//, '')]) : segment;
    if (value === undefined) return null;
    done += `/${value}`;
  }
  return done;
};

const typesIn = (body: { data?: { type: string } | { type: string }[] | null }): string[] => [
  ...new Set([body.data ?? []].flat().map(({ type }) => type)),
];

const isReadOnly = ({ method, path }: Route): boolean => method === 'GET' || (method === 'POST' && path in PREVIEWS);

const toQuery = (template: string): string =>
  (QUERIES[template] ?? '').replace('TEAM', seeds['teams'] ?? '').replace('TOKEN', seeds['oauth-tokens'] ?? '');

const send = ({ method, path: template }: Route, path: string): Promise<ApiResponse> =>
  method === 'GET' ? server.get(`${path}?${toQuery(template)}`) : server.post(path, PREVIEWS[template]);

/** Returns the types of the resources in the responses to all reads of a module. */
const responseTypesOf = async (endpointModule: EndpointModule): Promise<{ path: string; type: string }[]> => {
  const answers: { path: string; type: string }[] = [];
  for (const route of endpointModule.controllers.flatMap(routesOf).filter(isReadOnly)) {
    const path = filled(route);
    if (path === null) continue;
    const { status, body } = await send(route, path);
    if (status === 200) answers.push(...typesIn(body).map((type) => ({ path: route.path, type })));
  }
  return answers;
};

describe('the controllers', () => {
  it('are declared one per file, which is named after the controller', () => {
    const pascal = (name: string): string =>
      name.replaceAll(/(?:^|-)([a-z])/g, (_, initial: string) => initial.toUpperCase());
    expect(endpointModules.map(({ file, controllers }) => [file, controllers.map(({ name }) => name)])).toEqual(
      endpointModules.map(({ file, name }) => [file, [`${pascal(name)}Controller`]]),
    );
  });

  it('are exactly those that the gateway serves', () => {
    const served = controllersIn(GatewayModule.over(server.runtime)).map(({ name }) => name);
    const declared = endpointModules.flatMap(({ controllers }) => controllers.map(({ name }) => name));
    expect(served.toSorted()).toEqual(declared.toSorted());
  });

  it('declare every route once', () => {
    const routes = endpointModules
      .flatMap(({ controllers }) => controllers.flatMap(routesOf))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:[^/]+/g, ':')}`);
    expect(routes).toContain('POST /api/v2/workspaces/:/actions/lock');
    expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([]);
  });

  it('are named after the JSON:API type that they return', async () => {
    const misplaced: string[] = [];
    for (const endpointModule of endpointModules.filter(({ name }) => !(name in NOUNS))) {
      const answers = await responseTypesOf(endpointModule);
      const own = RELATIONSHIPS[endpointModule.name] ?? endpointModule.name;
      for (const { path, type } of answers) {
        if (type === own || SHARED_CONTROLLERS[endpointModule.name]?.includes(type)) continue;
        misplaced.push(`${path} returns ${type}, but is declared in ${endpointModule.file}`);
      }
      if (answers.some(({ type }) => type === own)) continue;
      misplaced.push(`${endpointModule.file}: no read returns ${own}; create one in furnish, or add the name to NOUNS`);
    }
    expect(misplaced).toEqual([]);
  });

  it('return every read with one statement', async () => {
    const expensive: string[] = [];
    for (const route of endpointModules
      .flatMap(({ controllers }) => controllers.flatMap(routesOf))
      .filter(isReadOnly)) {
      const path = filled(route);
      if (path === null) continue;
      const { status, statements } = await costOf(server, () => send(route, path));
      if (statements > (STATEMENTS[route.path] ?? 1))
        expensive.push(`${route.method} ${route.path}: ${status} after ${statements} statements`);
    }
    expect(expensive).toEqual([]);
  });

  it('exist for every name in NOUNS and RELATIONSHIPS', () => {
    const names = endpointModules.map(({ name }) => name);
    expect([...Object.keys(NOUNS), ...Object.keys(RELATIONSHIPS)].filter((noun) => !names.includes(noun))).toEqual([]);
  });

  it('use no clock, randomness or environment in files with one dot', async () => {
    const technical = /^(?:platform|storage|api|packages|operations\/backup|registry\/provider-release)\//;
    const pure = (await filesOf(/^(?:[a-z-]+\/){2,3}[a-z-]+\.ts$/)).filter(
      (file) => !technical.test(file) && !/\/(?:index|spec)\.ts$/.test(file),
    );
    expect(pure).toContain('workspaces/workspaces/lock/lock.ts');
    const impure: string[] = [];
    for (const file of pure) {
      const text = await readFile(join(LIBS, file), 'utf8');
      const match = /Date\.now\(|new Date\(\)|Math\.random\(|\bprocess\.|\bfetch\(|\bsetTimeout\(|\bcrypto\./.exec(
        text,
      );
      if (match) impure.push(`${file}: ${match[0]}`);
    }
    expect(impure).toEqual([]);
  });
});

describe('an event', () => {
  const kinds = Object.entries(eventRegistry);
  const published = buildEventSchemas(eventRegistry);

  it('belongs to a registered module', () => {
    expect(kinds.length).toBeGreaterThan(0);
    expect(kinds.map(([type]) => type).toSorted()).toEqual(
      moduleDefinitions.flatMap((definition) => Object.keys(definition.kinds)).toSorted(),
    );
  });

  it.each(kinds)('has a name of several capitalized words: %s', (type) => {
    expect(type).toMatch(/^[A-Z][a-z]+(?:[A-Z][a-z]+)+$/);
  });

  it.each(kinds)('has a JSON Schema that allows no other members: %s', (type) => {
    // A member that the schema does not name could contain a secret, and the log keeps it for ever.
    expect(published[type]).toMatchObject({ type: 'object', additionalProperties: false });
  });

  it.each(kinds)('has a topic: %s', (_, { topic }) => {
    expect(topic).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
  });

  it.each(kinds)('has an audit entry, or the reason why there is none: %s', (_, { audit }) => {
    const words = 'unaudited' in audit ? audit.unaudited : audit.resource;
    // The resource type of a fact depends on its data. audit-catalogue.spec.ts tests it.
    const shape = 'unaudited' in audit ? /\w+ \w+/ : /^[a-z]+(?:_[a-z]+)*$/;
    expect(typeof words === 'function' || shape.test(words)).toBe(true);
  });
});
