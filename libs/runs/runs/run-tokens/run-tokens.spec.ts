import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  makeAgentPool,
  makeAgentToken,
  makeRemotePool,
  makeConfigurationVersion,
  makeOrganization,
  makeProject,
  makeRun,
  makeWorkspace,
  related,
  reportBody,
  resource,
  runBody,
} from '../../../../test/support/seeds.js';
import { runRequests } from '../../../../test/support/runs.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { newStateVersion, pathOf, stateFile, type TestStateFile } from '../../../../test/support/state-file.js';

let server: TestServer;
let pool: string;
let agents: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  pool = await makeRemotePool(server, 'acme', 'edge');
  agents = server.as(await makeAgentToken(server, pool));
});

afterAll(() => server.close());

let count = 0;
const { aWorkspace, act, report } = runRequests(() => ({ server, agents }));
const inProject = (id: string) => ({ project: { data: { type: 'projects', id } } });

const tokenPath = (run: string): string => `/api/v2/runs/${run}/authentication-tokens`;
const secretOf = async (run: string): Promise<string> =>
  expectStatus(await agents.post(tokenPath(run)), 201).body.data.attributes.token as string;
const asRun = async (run: string): Promise<ApiTestClient> => server.as(await secretOf(run));
/** Returns a client with the token of a speculative run in that workspace. The run does not lock the workspace. */
const visitorFrom = async (workspace: string): Promise<ApiTestClient> =>
  asRun(await makeRun(server, workspace, { 'plan-only': true }));

const SECRET = { out: { value: 'hush', type: 'string' } };

/** Uploads a current state that has one output. */
const addState = async (workspace: string, state: TestStateFile = stateFile({ outputs: SECRET })): Promise<string> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const response = await server.post(
    `/api/v2/workspaces/${workspace}/state-versions`,
    newStateVersion(state, { inline: true }),
  );
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
  return expectStatus(response, 201).body.data.id as string;
};

const statusesOf = async (api: ApiTestClient, paths: readonly string[]): Promise<Record<string, number>> => {
  const statuses: Record<string, number> = {};
  for (const path of paths) statuses[path] = (await api.get(`/api/v2/${path}`)).status;
  return statuses;
};
const allOf = (paths: readonly string[], status: number): Record<string, number> =>
  Object.fromEntries(paths.map((path) => [path, status]));

/** Paths by which a caller can read a state version of the workspace. */
const stateOf = (workspace: string, version: string): readonly string[] => [
  `workspaces/${workspace}`,
  `workspaces/${workspace}/current-state-version`,
  `workspaces/${workspace}/current-state-version-outputs`,
  `workspaces/${workspace}/state-versions`,
  `state-versions/${version}`,
  `state-versions/${version}/outputs`,
  `state-versions/${version}/download`,
];

/** Paths of the other resources of a workspace. */
const restOf = (workspace: string, run: string, configuration: string): readonly string[] => [
  `workspaces/${workspace}/runs`,
  `runs/${run}`,
  `runs/${run}/plan`,
  `runs/${run}/configuration-version`,
  `workspaces/${workspace}/configuration-versions`,
  `configuration-versions/${configuration}/download`,
  `workspaces/${workspace}/vars`,
  `workspaces/${workspace}/all-vars`,
  `workspaces/${workspace}/varsets`,
  `team-workspaces?filter[workspace][id]=${workspace}`,
];

describe('a token for a run', () => {
  it("is issued to the run's executor, and shows its secret once", async () => {
    const run = await makeRun(server, await aWorkspace());
    const { data } = expectStatus(await agents.post(tokenPath(run)), 201).body;
    expect(data).toMatchObject({ type: 'authentication-tokens', id: expect.stringMatching(/^at-/) });
    expect(data.attributes).toMatchObject({ description: null, 'last-used-at': null });
    const life = Date.parse(data.attributes['expired-at']) - Date.parse(data.attributes['created-at']);
    // The server computes the expiry just before it stores the token.
    expect(Math.round(life / 60_000)).toBe(24 * 60);
    expect(data.relationships['created-by'].data).toEqual({ type: 'agent-pools', id: pool });
    expect(data.attributes.token).toMatch(/\.atlasv1\./);
    const [createdEvent] = await server.store.log.stream(data.id as string);
    expect(createdEvent).toMatchObject({ type: 'AuthenticationTokenCreated', data: { kind: 'run', owner: run } });
    expect(JSON.stringify(createdEvent)).not.toContain(data.attributes.token);
    const account = expectStatus(await server.as(data.attributes.token).get('/api/v2/account/details'), 200).body.data;
    expect(account).toMatchObject({ id: run, attributes: { username: run } });
  });

  it('is another one at each request, and all of them work', async () => {
    const run = await makeRun(server, await aWorkspace());
    const secrets = [await secretOf(run), await secretOf(run)];
    expect(secrets[0]).not.toBe(secrets[1]);
    for (const secret of secrets) expectStatus(await server.as(secret).get('/api/v2/account/details'), 200);
  });

  it('is not issued to other callers, nor for a run that does not exist', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace);
    const scoped = await makeAgentPool(
      server,
      'acme',
      `scoped-${(count += 1)}`,
      { 'organization-scoped': false },
      { 'allowed-workspaces': related('workspaces', await aWorkspace()) },
    );
    const refused = [
      await server.post(tokenPath(run)),
      await server.as(await makeAgentToken(server, scoped)).post(tokenPath(run)),
      await (await asRun(run)).post(tokenPath(run)),
      await agents.post(tokenPath('run-none')),
    ];
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });

  it('is not issued for a run that has ended', async () => {
    const run = await makeRun(server, await aWorkspace());
    expectStatus(await act(run, 'cancel'), 202);
    const { body } = expectStatus(await agents.post(tokenPath(run)), 409);
    expect(body.errors[0].detail).toContain('Run is canceled');
  });

  it('is revoked by a caller that may manage agent tokens', async () => {
    const run = await makeRun(server, await aWorkspace());
    const { id, attributes } = expectStatus(await agents.post(tokenPath(run)), 201).body.data;
    expectStatus(await agents.get(`/api/v2/authentication-tokens/${id}`), 404);
    expect(expectStatus(await server.get(`/api/v2/authentication-tokens/${id}`), 200).body.data.attributes.token).toBe(
      null,
    );
    expectStatus(await server.delete(`/api/v2/authentication-tokens/${id}`), 204);
    expectStatus(await server.as(attributes.token).get('/api/v2/account/details'), 401);
  });
});

describe('the token of a run, in the run’s workspace,', () => {
  it('reads the workspace, its state, its variables and the configuration', async () => {
    const workspace = await aWorkspace();
    const version = await addState(workspace);
    const name = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data.attributes
      .name as string;
    const run = await makeRun(server, workspace);
    const api = await asRun(run);
    const paths = [
      ...stateOf(workspace, version),
      `organizations/acme/workspaces/${name}`,
      'organizations/acme/entitlement-set',
      `workspaces/${workspace}/relationships/remote-state-consumers`,
      `workspaces/${workspace}/configuration-versions`,
      `runs/${run}/configuration-version`,
      `workspaces/${workspace}/vars`,
      `workspaces/${workspace}/all-vars`,
    ];
    expect(await statusesOf(api, paths)).toEqual(allOf(paths, 200));
  });

  it('does not show sensitive values', async () => {
    const workspace = await aWorkspace();
    const variable = (key: string, sensitive: boolean) =>
      resource('vars', { key, value: 'hush', category: 'env', sensitive });
    for (const body of [variable('OPEN', false), variable('SECRET', true)])
      expectStatus(await server.post(`/api/v2/workspaces/${workspace}/vars`, body), 201);
    const api = await visitorFrom(workspace);
    const { data } = expectStatus(await api.get(`/api/v2/workspaces/${workspace}/vars`), 200).body;
    expect(data.map(({ attributes }: any) => [attributes.key, attributes.value])).toEqual([
      ['OPEN', 'hush'],
      ['SECRET', null],
    ]);
  });

  it('cannot do anything else', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace);
    const api = await asRun(run);
    const closed = [
      `runs/${run}`,
      `workspaces/${workspace}/runs`,
      `team-workspaces?filter[workspace][id]=${workspace}`,
      'organizations/acme',
      'organizations/acme/workspaces',
      'organizations/acme/runs',
      'organizations/acme/varsets',
      'organizations/acme/teams',
      `agent-pools/${pool}`,
      `agent-pools/${pool}/runs`,
      'organization/audit-trail',
    ];
    expect(await statusesOf(api, closed)).toEqual(allOf(closed, 404));
    expect(expectStatus(await api.get('/api/v2/organizations'), 200).body.data).toEqual([]);
    const self = `/api/v2/workspaces/${workspace}`;
    const consumers = `${self}/relationships/remote-state-consumers`;
    const writes: readonly Promise<ApiResponse>[] = [
      api.post(`${self}/actions/unlock`),
      api.post(`${self}/actions/force-unlock`),
      api.post(`${self}/actions/lock`),
      api.patch(self, resource('workspaces', { 'auto-apply': true })),
      api.post(`${self}/actions/safe-delete`),
      api.post(`${self}/vars`, resource('vars', { key: 'a', value: 'b', category: 'env' })),
      api.post(`${self}/configuration-versions`, resource('configuration-versions')),
      api.post('/api/v2/runs', runBody(workspace)),
      api.post(`/api/v2/runs/${run}/actions/apply`),
      api.post(`/api/v2/runs/${run}/progress`, reportBody('planning')),
      api.post(consumers, related('workspaces', workspace)),
      api.patch(consumers, related('workspaces')),
      api.post('/api/v2/organizations', resource('organizations', { name: 'mine', email: 'run@acme.test' })),
    ];
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 404));
  });
});

describe('the token of a run, in other workspaces,', () => {
  it('gets 404 if the workspace does not share its state', async () => {
    const [own, stranger] = [await aWorkspace(), await aWorkspace()];
    const paths = stateOf(stranger, await addState(stranger));
    expect(await statusesOf(await visitorFrom(own), paths)).toEqual(allOf(paths, 404));
  });

  it('reads the state of a workspace that names it as a consumer, and gets 404 at the next request after it is removed', async () => {
    const [own, lender] = [await aWorkspace(), await aWorkspace()];
    const paths = stateOf(lender, await addState(lender));
    const consumers = `/api/v2/workspaces/${lender}/relationships/remote-state-consumers`;
    const visitor = await visitorFrom(own);
    expectStatus(await server.post(consumers, related('workspaces', own)), 204);
    expect(await statusesOf(visitor, paths)).toEqual(allOf(paths, 200));
    expectStatus(await server.delete(consumers, related('workspaces', own)), 204);
    expect(await statusesOf(visitor, paths)).toEqual(allOf(paths, 404));
  });

  it('reads a state that is shared with the whole organization, but not with another organization', async () => {
    const [own, lender] = [await aWorkspace(), await aWorkspace({ 'global-remote-state': true })];
    const paths = stateOf(lender, await addState(lender));
    const visitor = await visitorFrom(own);
    expect(await statusesOf(visitor, paths)).toEqual(allOf(paths, 200));
    expectStatus(
      await server.patch(`/api/v2/workspaces/${lender}`, resource('workspaces', { 'global-remote-state': false })),
      200,
    );
    expect(await statusesOf(visitor, paths)).toEqual(allOf(paths, 404));
    const rival = `rival-${(count += 1)}`;
    await makeOrganization(server, rival);
    const foreign = await makeWorkspace(server, rival, 'theirs', { 'global-remote-state': true });
    const theirs = stateOf(foreign, await addState(foreign));
    expect(await statusesOf(visitor, theirs)).toEqual(allOf(theirs, 404));
  });

  it('reads a state that is shared within the project, as long as both workspaces are in the project', async () => {
    const [here, there] = [
      await makeProject(server, 'acme', `here-${(count += 1)}`),
      await makeProject(server, 'acme', `there-${(count += 1)}`),
    ];
    const own = await aWorkspace({}, inProject(here));
    const lender = await aWorkspace({ 'project-remote-state': true }, inProject(here));
    const paths = stateOf(lender, await addState(lender));
    const visitor = await visitorFrom(own);
    expect(await statusesOf(visitor, paths)).toEqual(allOf(paths, 200));
    expectStatus(await server.patch(`/api/v2/workspaces/${own}`, resource('workspaces', {}, inProject(there))), 200);
    expect(await statusesOf(visitor, paths)).toEqual(allOf(paths, 404));
    // A named consumer in another project counts only while project sharing is off.
    const consumers = `/api/v2/workspaces/${lender}/relationships/remote-state-consumers`;
    expectStatus(await server.post(consumers, related('workspaces', own)), 204);
    expect(await statusesOf(visitor, paths)).toEqual(allOf(paths, 404));
    const off = resource('workspaces', { 'project-remote-state': false });
    expectStatus(await server.patch(`/api/v2/workspaces/${lender}`, off), 200);
    expect(await statusesOf(visitor, paths)).toEqual(allOf(paths, 200));
  });

  it('reads the state only, and cannot add a state version', async () => {
    const [own, lender] = [await aWorkspace(), await aWorkspace({ 'global-remote-state': true })];
    await addState(lender);
    const [run, configuration] = [await makeRun(server, lender), await makeConfigurationVersion(server, lender)];
    const visitor = await visitorFrom(own);
    const paths = restOf(lender, run, configuration);
    expect(await statusesOf(visitor, paths)).toEqual(allOf(paths, 404));
    const pathWithIncludes = `/api/v2/workspaces/${lender}?include=current_run,current_run.plan,current_configuration_version,outputs`;
    const { data, included } = expectStatus(await visitor.get(pathWithIncludes), 200).body;
    expect(included.map(({ type }: { type: string }) => type)).toEqual(['workspace-outputs']);
    expect(data.relationships.vars.data).toEqual([]);
    const state = newStateVersion(stateFile({ serial: 9 }), { inline: true });
    expectStatus(await visitor.post(`/api/v2/workspaces/${lender}/state-versions`, state), 404);
  });

  it('lists those consumers of its workspace that it may read', async () => {
    const [own, hidden, open] = [
      await aWorkspace(),
      await aWorkspace(),
      await aWorkspace({ 'global-remote-state': true }),
    ];
    const consumers = `/api/v2/workspaces/${own}/relationships/remote-state-consumers`;
    expectStatus(await server.post(consumers, related('workspaces', hidden, open)), 204);
    const visitor = await visitorFrom(own);
    const visibleConsumers = expectStatus(await visitor.get(consumers), 200).body;
    expect([
      visibleConsumers.data.map(({ id }: { id: string }) => id),
      visibleConsumers.meta.pagination['total-count'],
    ]).toEqual([[open], 1]);
    expectStatus(
      await server.patch(`/api/v2/workspaces/${own}`, resource('workspaces', { 'global-remote-state': true })),
      200,
    );
    const all = expectStatus(await visitor.get(`${consumers}?page[size]=100`), 200).body;
    expect(all.data.map(({ id }: { id: string }) => id)).toContain(open);
    expect(all.data.map(({ id }: { id: string }) => id)).not.toContain(hidden);
    expect(all.meta.pagination['total-count']).toBe(all.data.length);
  });
});

describe('the state of a run', () => {
  const create = (api: ApiTestClient, workspace: string, state: TestStateFile, inline = true): Promise<ApiResponse> =>
    api.post(`/api/v2/workspaces/${workspace}/state-versions`, newStateVersion(state, { inline }));

  /** Creates a run, confirms it and starts its apply. */
  const applying = async (workspace: string): Promise<string> => {
    const run = await makeRun(server, workspace);
    expectStatus(await report(run, 'planning'), 200);
    expectStatus(await report(run, 'planned', { 'has-changes': true }), 200);
    expectStatus(await act(run, 'apply'), 202);
    expectStatus(await report(run, 'applying'), 200);
    return run;
  };

  it('is uploaded with the run’s token during the apply, and names the run', async () => {
    const workspace = await aWorkspace();
    const run = await applying(workspace);
    const api = await asRun(run);
    const { data } = expectStatus(await create(api, workspace, stateFile()), 201).body;
    expect(data.relationships.run.data).toEqual({ type: 'runs', id: run });
    expect(data.relationships['created-by'].data).toEqual({ type: 'runs', id: run });
    expect(data.attributes).toMatchObject({ status: 'finalized', intermediate: true });
    // Other callers are refused, whatever their permissions on the workspace.
    expectStatus(await create(server, workspace, stateFile({ serial: 2 })), 409);
  });

  it('is not uploaded or rolled back before the apply, because a plan can run arbitrary code', async () => {
    const workspace = await aWorkspace();
    const version = await addState(workspace);
    const run = await makeRun(server, workspace);
    const api = await asRun(run);
    const back = resource(
      'state-versions',
      {},
      { 'rollback-state-version': { data: { type: 'state-versions', id: version } } },
    );
    const tried: number[] = [];
    const tryIt = async (): Promise<void> => {
      const path = `/api/v2/workspaces/${workspace}`;
      tried.push((await create(api, workspace, stateFile({ serial: 9 }))).status);
      tried.push((await api.patch(`${path}/state-versions`, back)).status);
      const { permissions } = expectStatus(await api.get(path), 200).body.data.attributes;
      expect(permissions).toMatchObject({ 'can-read-state-versions': true, 'can-create-state-versions': false });
    };
    await tryIt();
    expectStatus(await report(run, 'planning'), 200);
    await tryIt();
    expectStatus(await report(run, 'planned', { 'has-changes': true }), 200);
    await tryIt();
    expectStatus(await act(run, 'apply'), 202);
    await tryIt();
    expect(tried).toEqual(tried.map(() => 404));
    expectStatus(await report(run, 'applying'), 200);
    expectStatus(await api.patch(`/api/v2/workspaces/${workspace}/state-versions`, back), 201);
  });

  it('is not uploaded by a run that waits, is speculative, or no longer has the workspace', async () => {
    const workspace = await aWorkspace();
    const api = await asRun(await applying(workspace));
    const refusedRuns = [await asRun(await makeRun(server, workspace)), await visitorFrom(workspace)];
    for (const refusedRun of refusedRuns) expectStatus(await create(refusedRun, workspace, stateFile()), 404);
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/force-unlock`), 200);
    const [{ detail }] = expectStatus(await create(api, workspace, stateFile()), 409).body.errors;
    expect(detail).toContain('Lock the workspace first');
  });

  it('is created in a complete cycle of an executor', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace);
    // The executor finds the waiting run and gets its token.
    const waiting = expectStatus(await agents.get(`/api/v2/agent-pools/${pool}/runs?page[size]=100`), 200).body.data;
    expect(waiting.map(({ id }: { id: string }) => id)).toContain(run);
    expectStatus(await report(run, 'planning'), 200);
    const secret = await secretOf(run);
    const api = server.as(secret);
    // It downloads the configuration.
    const download = expectStatus(await api.get(`/api/v2/runs/${run}/configuration-version/download`), 302);
    const archive = await fetch(`${server.url}${pathOf(download.headers.get('location') ?? '')}`);
    expect(gunzipSync(Buffer.from(await archive.arrayBuffer())).toString()).toBe('main.tf');
    expectStatus(await api.get(`/api/v2/workspaces/${workspace}/current-state-version`), 404);
    expectStatus(await report(run, 'planned', { 'has-changes': true, 'resource-additions': 1 }), 200);
    expectStatus(await act(run, 'apply'), 202);
    expectStatus(await report(run, 'applying'), 200);
    // It creates the state version, and uploads the state without a token.
    const state = stateFile({ outputs: SECRET });
    const announced = expectStatus(await create(api, workspace, state, false), 201).body.data;
    const upload = pathOf(announced.attributes['hosted-state-upload-url'] as string);
    expectStatus(await server.as(null).put(upload, state.bytes), 200);
    expectStatus(await api.get(`/api/v2/workspaces/${workspace}/current-state-version`), 404);
    expectStatus(await report(run, 'applied', { 'resource-additions': 1 }), 200);
    // The run has ended, the state is current, and the token is invalid.
    const current = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/current-state-version`), 200).body
      .data;
    expect([current.id, current.relationships.run.data.id]).toEqual([announced.id, run]);
    expectStatus(await api.get(`/api/v2/workspaces/${workspace}/current-state-version`), 401);
    const { relationships } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data;
    expect(relationships['locked-by'].data).toBeNull();
  });
});
