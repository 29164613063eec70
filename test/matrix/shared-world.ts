import { makeModule, publishModuleVersion } from '../support/registry-modules.js';
import { hash } from 'node:crypto';
import { toAttributes } from '#api/json-api';
import { sql } from '#platform/kernel';
import {
  expectStatus,
  idOfTag,
  makeAgentPool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeProject,
  makeRemotePool,
  makeReservedTagKey,
  makeRun,
  makeSitePool,
  makeTeam,
  makeToken,
  makeWorkspace,
  related,
  resource,
  type SeededOrganization,
} from '../support/seeds.js';
import { createTestSigning } from '../support/trail-signing.js';
import type { ApiResponse, ApiTestClient, TestServer } from '../support/server.js';
import { makePolicy, makePolicyEvaluation, makePolicySet } from '../support/policies.js';
import { makeRunTask, makeTaskReport, makeWorkspaceTask, openTestTaskService } from '../support/task-service.js';
import { makeOauthClient, openTestGitHost } from '../support/git-host.js';
import { addKey, makeProvider, publishVersion } from '../support/registry.js';
import { makeSigner } from '../support/releases.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import type { MatrixCaller, CallerSetup } from './callers.js';

/** A kind of caller that exists on the server and has a token. */
export type MatrixCallerInWorld = MatrixCaller & {
  readonly api: ApiTestClient;
  /** Id of the user, team or organization of the token. A caller without a valid token has the id of another user. */
  readonly id: string;
  /** Username, or name of the team. */
  readonly short: string;
  /** Id of the membership in acme or rival. Empty if there is none. */
  readonly membership: string;
  /** Id of the team whose access the caller has. Empty if there is none. */
  readonly team: string;
};

/** Two organizations with all callers. */
export type MatrixWorld = {
  readonly server: TestServer;
  readonly callers: readonly MatrixCallerInWorld[];
  readonly acme: SeededOrganization;
  readonly rival: SeededOrganization;
  /** A project with two workspaces. Access is granted on the project or on its workspace `one`. */
  readonly land: string;
  readonly one: string;
  readonly beside: string;
  /** A project and its workspace on which no team has access. */
  readonly elsewhere: string;
  readonly far: string;
  readonly stateVersion: string;
  readonly output: string;
  /** Ids of teams without callers. Everybody sees the open one. */
  readonly openTeam: string;
  readonly secretTeam: string;
  readonly pool: string;
  readonly otherPool: string;
  /** Id of a pool that an owner has chosen for runs in `remote` mode. No caller has a token of it. */
  readonly remotePool: string;
  readonly sitePool: string;
  readonly resources: SharedResources;
  /** Ids of memberships whose users send no requests. `guestOwner` owns acme. */
  readonly guest: string;
  readonly guestOwner: string;
  /** Ids of the access of these two teams, by `open on the workspace` and so on. */
  readonly access: Readonly<Record<string, string>>;
  /** Id of an agent of the pool. */
  readonly agent: string;
  /** Ids of tokens that are never deleted, by kind of owner (rows/tokens.ts). */
  readonly tokens: Readonly<Record<string, string>>;
  /** Returns a new name. */
  readonly unique: (of: string) => string;
  /** Advances the clock of the server. */
  readonly pass: (ms: number) => void;
};

type AccessAttributes = Readonly<Record<string, unknown>>;

const relation = (type: string, id: string): object => ({ data: { type, id } });

const onWorkspace = (access: Extract<CallerSetup, { on: 'workspace' }>): AccessAttributes => ({
  access: access.level,
  ...(access.level === 'custom' ? toAttributes(access.custom) : {}),
});

const onProject = (access: Extract<CallerSetup, { on: 'project' }>): AccessAttributes => {
  if (access.level !== 'custom') return { access: access.level };
  const { project, ...inEach } = access.custom;
  return {
    access: 'custom',
    'project-access': toAttributes(project),
    'workspace-access': toAttributes(inEach),
  };
};

/** Grants the access that callers.ts describes on this workspace or project. Returns its id. */
export const grantAccess = async (
  server: TestServer,
  team: string,
  access: CallerSetup,
  target: string,
): Promise<string> => {
  const [type, attributes] =
    access.on === 'workspace'
      ? (['team-workspaces', onWorkspace(access)] as const)
      : (['team-projects', onProject(access)] as const);
  const relationships = { team: relation('teams', team), [access.on]: relation(`${access.on}s`, target) };
  const response = await server.post(`/api/v2/${type}`, resource(type, attributes, relationships));
  return expectStatus(response, 201).body.data.id as string;
};

/** Stores a state with an output, and unlocks the workspace. Returns the id of the state version. */
export const addState = async (
  server: TestServer,
  workspace: string,
  parts: Parameters<typeof stateFile>[0] = {},
): Promise<string> => {
  const state = stateFile({ outputs: { out: { value: 1, type: 'number' } }, ...parts });
  const { data } = newStateVersion(state, { inline: true }) as { data: { attributes: object } };
  const attributes = { ...data.attributes, 'json-state': Buffer.from('{}').toString('base64') };
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const response = await server.post(
    `/api/v2/workspaces/${workspace}/state-versions`,
    resource('state-versions', attributes),
  );
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
  return expectStatus(response, 201).body.data.id as string;
};

export const addStateConsumer = async (server: TestServer, workspace: string, consumer: string): Promise<void> => {
  const path = `/api/v2/workspaces/${workspace}/relationships/remote-state-consumers`;
  expectStatus(await server.post(path, related('workspaces', consumer)), 204);
};

const inProject = (id: string): object => ({
  project: { data: { type: 'projects', id } },
  tags: { data: [{ type: 'tags', attributes: { name: 'flat' } }] },
  'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] },
});

const idOf = (answer: ApiResponse): string => expectStatus(answer, 201).body.data.id as string;

/** Creates a variable set with one variable. Returns both ids. */
const makeSet = async (server: TestServer, name: string, relationships: object = {}): Promise<[string, string]> => {
  const set = idOf(
    await server.post('/api/v2/organizations/acme/varsets', resource('varsets', { name }, relationships)),
  );
  return [set, idOf(await server.post(`/api/v2/varsets/${set}/relationships/vars`, newVariable(name)))];
};

export const newVariable = (key: string): object => resource('vars', { key, value: 'v', category: 'terraform' });

export const newFactSource = (source: string): object => resource('audit-fact-sources', { source });

export const newSshKey = (name: string): object => resource('ssh-keys', { name, value: 'a private key' });

/** Queues a plan-only run, which does not lock the workspace. */
export const makeSpeculativeRun = async (server: TestServer, workspace: string): Promise<string> => {
  await makeConfigurationVersion(server, workspace);
  return makeRun(server, workspace, { 'plan-only': true });
};

/** Returns the token that the executor of the run gets. */
export const makeRunToken = async (
  run: string,
  { server, pool }: Pick<MatrixWorld, 'server' | 'pool'>,
): Promise<string> => {
  const agents = server.as(await makeAgentToken(server, pool));
  return makeToken(agents, `/api/v2/runs/${run}/authentication-tokens`);
};

/** Creates a provider and a module with a version that can be installed. `spareKey` belongs to no organization. */
const furnishRegistry = async (server: TestServer) => {
  const [signer, spareKey] = [await makeSigner(), await makeSigner()];
  expectStatus(await addKey(server, 'acme', signer), 201);
  const provider = await makeProvider(server, 'acme', 'aws');
  const path = await publishVersion(server, 'acme', 'aws', '1.0.0', signer);
  const platform = expectStatus(await server.get(`${path}/platforms/linux/amd64`), 200).body.data;
  const module = await makeModule(server, 'acme', 'network');
  await publishModuleVersion(server, 'acme', 'network', '1.0.0');
  const address = '/api/registry/v1/modules/acme/network/aws/1.0.0/download';
  const moduleArchive = expectStatus(await server.get(address), 204).headers.get('x-terraform-get') ?? '';
  return {
    module,
    moduleArchive,
    provider,
    gpgKey: signer.keyId,
    spareKey: spareKey.keyId,
    spareArmor: spareKey.armor,
    archive: platform.links['provider-binary-download'] as string,
  };
};

/** Creates one resource of each kind that belongs to the workspace, the project or the organization. */
const furnish = async (
  server: TestServer,
  { land, one, beside, far, pool }: Pick<MatrixWorld, 'land' | 'one' | 'beside' | 'far' | 'pool'>,
) => {
  const sshKey = idOf(await server.post('/api/v2/organizations/acme/ssh-keys', newSshKey('key')));
  const runTask = await makeRunTask(server, 'acme', 'task');
  // Disabled, so that runs of the workspace do not wait for it.
  const attachedTask = await makeRunTask(server, 'acme', 'attached-task', { enabled: false });
  const gitHost = await openTestGitHost();
  const connection = await makeOauthClient(server, 'acme', gitHost, 'git');
  const factSource = idOf(
    await server.post('/api/v2/organizations/acme/audit-fact-sources', newFactSource('urn:source')),
  );
  const reservedTagKey = await makeReservedTagKey(server, 'acme', 'owner');
  const variable = idOf(await server.post(`/api/v2/workspaces/${one}/vars`, newVariable('key')));
  const [openSet, openSetVariable] = await makeSet(server, 'set-of-all');
  const [landSet, landSetVariable] = await makeSet(server, 'set-of-land', { parent: relation('projects', land) });
  const configuration = await makeConfigurationVersion(server, one);
  const { run, ...taskReport } = await makeTaskReport(server, one);
  const evaluated = await makePolicyEvaluation(server, 'acme', one, pool);
  const otherPolicy = await makePolicy(server, 'acme', 'other-policy');
  const comment = idOf(await server.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'Hm.' })));
  const events = expectStatus(await server.get(`/api/v2/runs/${run}/run-events`), 200);
  const { relationships } = expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data;
  const trail = expectStatus(await server.get('/api/v2/organizations/acme/audit-trail?page[size]=1'), 200);
  const siteTrail = expectStatus(await server.get('/api/v2/admin/audit-trail?page[size]=1'), 200);
  const sign = createTestSigning(server);
  await sign();
  await sign();
  const checkpoint = expectStatus(await server.get('/api/v2/organizations/acme/audit-trail-log/checkpoint'), 200);
  const siteCheckpoint = expectStatus(await server.get('/audit-trail-log/checkpoint'), 200);
  const checkpointText = checkpoint.text.slice(0, checkpoint.text.indexOf('\n\n') + 1);
  const siteLogSize = Number(siteCheckpoint.text.split('\n')[1]);
  const timeStamp = 'a'.repeat(64);
  await server.database.rows(sql`
    insert into audit_trail.time_stamps (id, origin, size, note, response, authority, policy, stamped_at, stored_at)
    values (${timeStamp}, 'site', 1, 'note', 'response', 'authority', '1.2.3', now(), now())`);
  const logSize = Number(checkpoint.text.split('\n')[1]);
  return {
    ...(await furnishRegistry(server)),
    sshKey,
    taskService: (await openTestTaskService()).url,
    runTask,
    attachedTask,
    workspaceTask: await makeWorkspaceTask(server, one, attachedTask),
    gitHost: gitHost.url,
    oauthClient: connection.client,
    oauthToken: connection.token,
    factSource,
    tag: await idOfTag(server, 'acme', 'flat'),
    reservedTagKey,
    variable,
    openSet,
    openSetVariable,
    landSet,
    landSetVariable,
    configuration,
    run,
    runBeside: await makeSpeculativeRun(server, beside),
    runFar: await makeSpeculativeRun(server, far),
    policy: await makePolicy(server, 'acme', 'policy'),
    otherPolicy,
    policySet: await makePolicySet(server, 'acme', 'policy-set'),
    policyEvaluation: evaluated.evaluation,
    policySetOutcome: evaluated.outcome,
    taskStage: taskReport.stage,
    taskResult: taskReport.result,
    taskOutcome: taskReport.outcome,
    comment,
    auditEntry: trail.body.data[0].id as string,
    timeStamp,
    checkpointDigest: hash('sha256', checkpointText),
    siteTrailTile: `0/000.p/${siteLogSize}`,
    trailTile: logSize < 256 ? `0/000.p/${logSize}` : '0/000',
    siteAuditEntry: siteTrail.body.data[0].id as string,
    runEvent: events.body.data[0].id as string,
    plan: relationships.plan.data.id as string,
    apply: relationships.apply.data.id as string,
  };
};

export type SharedResources = Awaited<ReturnType<typeof furnish>>;

/** The world before the callers are created. */
export type SharedWorld = Omit<MatrixWorld, 'callers' | 'tokens' | 'agent' | 'pass'>;

export const setUpSharedWorld = async (server: TestServer): Promise<SharedWorld> => {
  const acme = await makeOrganization(server, 'acme');
  const rival = await makeOrganization(server, 'rival');
  await makeWorkspace(server, 'rival', 'one');
  const land = await makeProject(server, 'acme', 'land');
  const elsewhere = await makeProject(server, 'acme', 'elsewhere');
  const pool = await makeAgentPool(server, acme.name, 'pool');
  const otherPool = await makeAgentPool(server, acme.name, 'other-pool');
  const remotePool = await makeRemotePool(server, acme.name, 'remote-pool');
  const sitePool = await makeSitePool(server, 'site-pool');
  // The agents' pool executes the runs of all workspaces that do not choose another mode.
  const defaults = resource(
    'organizations',
    { 'default-execution-mode': 'agent' },
    { 'default-agent-pool': relation('agent-pools', pool) },
  );
  expectStatus(await server.patch('/api/v2/organizations/acme', defaults), 200);
  const one = await makeWorkspace(server, 'acme', 'one', {}, inProject(land));
  const beside = await makeWorkspace(server, 'acme', 'beside', {}, inProject(land));
  const far = await makeWorkspace(server, 'acme', 'far', {}, inProject(elsewhere));
  await addStateConsumer(server, one, beside);
  const stateVersion = await addState(server, one);
  const outputs = expectStatus(await server.get(`/api/v2/state-versions/${stateVersion}/outputs`), 200);
  const output = outputs.body.data[0].id as string;
  const openTeam = await makeTeam(server, acme.name, 'open', { visibility: 'organization' });
  const secretTeam = await makeTeam(server, acme.name, 'secret');
  const resources = await furnish(server, { land, one, beside, far, pool });
  const read = (on: 'workspace' | 'project') => ({ on, level: 'read' }) as const;
  const access = {
    'open on the workspace': await grantAccess(server, openTeam, read('workspace'), one),
    'secret on the workspace': await grantAccess(server, secretTeam, read('workspace'), one),
    'open on the project': await grantAccess(server, openTeam, read('project'), land),
    'secret on the project': await grantAccess(server, secretTeam, read('project'), land),
  };
  for (const team of [openTeam, secretTeam, acme.ownersTeam])
    await makeToken(server, `/api/v2/teams/${team}/authentication-token`);
  const { membership: guest } = await makeMember(server, acme.name, 'guest');
  const { membership: guestOwner } = await makeMember(server, acme.name, 'guest-owner', [acme.ownersTeam]);
  let names = 0;
  const unique = (of: string): string => `${of}-${(names += 1)}`;
  return {
    server,
    acme,
    rival,
    land,
    one,
    beside,
    elsewhere,
    far,
    stateVersion,
    output,
    openTeam,
    secretTeam,
    pool,
    otherPool,
    remotePool,
    sitePool,
    resources,
    access,
    guest,
    guestOwner,
    unique,
  };
};
