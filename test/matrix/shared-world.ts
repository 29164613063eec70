import { toAttributes } from '#json-api';
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
  makeTeam,
  makeToken,
  makeWorkspace,
  related,
  resource,
  type SeededOrganization,
} from '../support/seeds.js';
import type { ApiResponse, ApiTestClient, TestServer } from '../support/server.js';
import { addKey, makeProvider, publishVersion } from '../support/registry.js';
import { makeSigner } from '../support/releases.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import type { MatrixCaller, CallerSetup } from './callers.js';

/** A caller who is here: with a token, and with what callers.ts says of them. */
export type MatrixCallerInWorld = MatrixCaller & {
  readonly api: ApiTestClient;
  /** Of the user, team or organization that the token is; of somebody else where it is none. */
  readonly id: string;
  /** Their username, or their team's name. */
  readonly short: string;
  /** Their membership in acme, or in rival; empty where they have none. */
  readonly membership: string;
  /** The team that speaks for them; empty where there is none. */
  readonly team: string;
};

/** Two organizations and everybody who may knock. */
export type MatrixWorld = {
  readonly server: TestServer;
  readonly callers: readonly MatrixCallerInWorld[];
  readonly acme: SeededOrganization;
  readonly rival: SeededOrganization;
  /** The project that grants are on, its workspace `one` that grants are on, and one beside it. */
  readonly land: string;
  readonly one: string;
  readonly beside: string;
  /** A project and its workspace that nobody has been given anything on. */
  readonly elsewhere: string;
  readonly far: string;
  readonly stateVersion: string;
  readonly output: string;
  /** Teams that no caller is in: one that everybody sees, and a secret one. */
  readonly openTeam: string;
  readonly secretTeam: string;
  readonly pool: string;
  readonly otherPool: string;
  /** A pool that an owner has chosen for runs in `remote` mode; no caller speaks for it. */
  readonly remotePool: string;
  readonly resources: SharedResources;
  /** Memberships of people who ask nothing; the other one owns acme. */
  readonly guest: string;
  readonly guestOwner: string;
  /** Ids of what these two teams have been given, by `open on the workspace` and the like. */
  readonly access: Readonly<Record<string, string>>;
  /** An agent of the pool. */
  readonly agent: string;
  /** Ids of tokens that stay, by whose they are (rows/tokens.ts). */
  readonly tokens: Readonly<Record<string, string>>;
  /** A name that nothing has yet. */
  readonly unique: (of: string) => string;
  /** Lets time pass for the server. */
  readonly pass: (ms: number) => void;
};

type Attributes = Readonly<Record<string, unknown>>;

const relation = (type: string, id: string): object => ({ data: { type, id } });

const onWorkspace = (given: Extract<CallerSetup, { on: 'workspace' }>): Attributes => ({
  access: given.level,
  ...(given.level === 'custom' ? toAttributes(given.custom) : {}),
});

const onProject = (given: Extract<CallerSetup, { on: 'project' }>): Attributes => {
  if (given.level !== 'custom') return { access: given.level };
  const { project, ...inEach } = given.custom;
  return {
    access: 'custom',
    'project-access': toAttributes(project),
    'workspace-access': toAttributes(inEach),
  };
};

/** What callers.ts says that a team is given, given on that workspace or project. */
export const grantAccess = async (
  server: TestServer,
  team: string,
  given: CallerSetup,
  target: string,
): Promise<string> => {
  const [type, attributes] =
    given.on === 'workspace'
      ? (['team-workspaces', onWorkspace(given)] as const)
      : (['team-projects', onProject(given)] as const);
  const relationships = { team: relation('teams', team), [given.on]: relation(`${given.on}s`, target) };
  const made = await server.post(`/api/v2/${type}`, resource(type, attributes, relationships));
  return expectStatus(made, 201).body.data.id as string;
};

/** A state version with an output in it; the workspace is unlocked again. */
export const addState = async (
  server: TestServer,
  workspace: string,
  parts: Parameters<typeof stateFile>[0] = {},
): Promise<string> => {
  const state = stateFile({ outputs: { out: { value: 1, type: 'number' } }, ...parts });
  const { data } = newStateVersion(state, { inline: true }) as { data: { attributes: object } };
  const attributes = { ...data.attributes, 'json-state': Buffer.from('{}').toString('base64') };
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const made = await server.post(
    `/api/v2/workspaces/${workspace}/state-versions`,
    resource('state-versions', attributes),
  );
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
  return expectStatus(made, 201).body.data.id as string;
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

/** A set of variables with a variable in it. */
const makeSet = async (server: TestServer, name: string, relationships: object = {}): Promise<[string, string]> => {
  const set = idOf(
    await server.post('/api/v2/organizations/acme/varsets', resource('varsets', { name }, relationships)),
  );
  return [set, idOf(await server.post(`/api/v2/varsets/${set}/relationships/vars`, newVariable(name)))];
};

export const newVariable = (key: string): object => resource('vars', { key, value: 'v', category: 'terraform' });

export const newFactSource = (source: string): object => resource('audit-fact-sources', { source });

export const newSshKey = (name: string): object => resource('ssh-keys', { name, value: 'a private key' });

/** It holds no workspace, so that nothing else has to wait for it. */
export const makeSpeculativeRun = async (server: TestServer, workspace: string): Promise<string> => {
  await makeConfigurationVersion(server, workspace);
  return makeRun(server, workspace, { 'plan-only': true });
};

/** With the token that an executor of the run gets. */
export const createCallerFor = async (
  run: string,
  { server, pool }: Pick<MatrixWorld, 'server' | 'pool'>,
): Promise<ApiTestClient> => {
  const agents = server.as(await makeAgentToken(server, pool));
  return server.as(await makeToken(agents, `/api/v2/runs/${run}/authentication-tokens`));
};

/** A provider with a version that can be installed; `spareKey` is no organization's. */
const furnishRegistry = async (server: TestServer) => {
  const [signer, spareKey] = [await makeSigner(), await makeSigner()];
  expectStatus(await addKey(server, 'acme', signer), 201);
  const provider = await makeProvider(server, 'acme', 'aws');
  const path = await publishVersion(server, 'acme', 'aws', '1.0.0', signer);
  const platform = expectStatus(await server.get(`${path}/platforms/linux/amd64`), 200).body.data;
  return {
    provider,
    gpgKey: signer.keyId,
    spareKey: spareKey.keyId,
    spareArmor: spareKey.armor,
    archive: platform.links['provider-binary-download'] as string,
  };
};

/** What hangs on the workspace, on the project or on the organization: one of each. */
const furnish = async (
  server: TestServer,
  { land, one, beside, far }: Pick<MatrixWorld, 'land' | 'one' | 'beside' | 'far'>,
) => {
  const sshKey = idOf(await server.post('/api/v2/organizations/acme/ssh-keys', newSshKey('key')));
  const factSource = idOf(
    await server.post('/api/v2/organizations/acme/audit-fact-sources', newFactSource('urn:source')),
  );
  const reservedTagKey = await makeReservedTagKey(server, 'acme', 'owner');
  const variable = idOf(await server.post(`/api/v2/workspaces/${one}/vars`, newVariable('key')));
  const [openSet, openSetVariable] = await makeSet(server, 'set-of-all');
  const [landSet, landSetVariable] = await makeSet(server, 'set-of-land', { parent: relation('projects', land) });
  const configuration = await makeConfigurationVersion(server, one);
  const run = await makeSpeculativeRun(server, one);
  const comment = idOf(await server.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'Hm.' })));
  const events = expectStatus(await server.get(`/api/v2/runs/${run}/run-events`), 200);
  const { relationships } = expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data;
  return {
    ...(await furnishRegistry(server)),
    sshKey,
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
    comment,
    runEvent: events.body.data[0].id as string,
    plan: relationships.plan.data.id as string,
    apply: relationships.apply.data.id as string,
  };
};

export type SharedResources = Awaited<ReturnType<typeof furnish>>;

/** As it is before anybody arrives. */
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
  // The agent's pool executes every run but those of workspaces that choose another mode.
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
  const resources = await furnish(server, { land, one, beside, far });
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
    resources,
    access,
    guest,
    guestOwner,
    unique,
  };
};
