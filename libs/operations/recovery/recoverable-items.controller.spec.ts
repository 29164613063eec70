import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { runsDefinition } from '#runs/runs';
import { peopleDefinition } from '#identity/people';
import { agentsDefinition } from '#organizations/agents';
import { retentionDefinition } from '#organizations/data-retention-policies';
import { variablesDefinition } from '#workspaces/variables';
import { createExpiredWorkspacesJob, workspacesDefinition } from '#workspaces/workspaces';
import { stateDefinition } from '#workspaces/state';
import { notificationsDefinition } from '#activity/notifications';
import { FixedClock } from '../../../test/support/clocks.js';
import { readWholeLog, waitForFollowers } from '../../../test/support/event-log.js';
import { runBetween } from '../../../test/support/interleaving.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import {
  bindTags,
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeAgentPool,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeProject,
  makeRun,
  makeTeam,
  makeWorkspace,
  refusalOf,
  related,
  resource,
  type SeededMember,
} from '../../../test/support/seeds.js';
import { newStateVersion, pathOf, stateFile } from '../../../test/support/state-file.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';

const clock = new FixedClock();
const SECRET = 'hunter2-of-the-recovered-workspace';
let server: TestServer;
let admin: SeededMember;
let reader: SeededMember;
let admins: string;
let readers: string;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  await makeOrganization(server, 'acme');
  admins = await makeTeam(server, 'acme', 'admins');
  readers = await makeTeam(server, 'acme', 'readers');
  admin = await makeMember(server, 'acme', 'ada', [admins]);
  reader = await makeMember(server, 'acme', 'rita', [readers]);
});

afterAll(() => server.close());

let count = 0;
const unique = (name: string): string => `${name}-${(count += 1)}`;

const make = async (name = unique('ws'), attributes: object = {}, relationships: object = {}): Promise<string> =>
  makeWorkspace(server, 'acme', name, attributes, relationships);

const remove = async (id: string, api: ApiTestClient = server): Promise<void> =>
  void expectStatus(await api.delete(`/api/v2/workspaces/${id}`), 204);
const recover = (id: string, api: ApiTestClient = server, name?: string): Promise<ApiResponse> =>
  api.post(
    `/api/v2/recoverable-items/${id}/actions/recover`,
    name === undefined ? undefined : resource('recoverable-items', { name }),
  );
const purge = (id: string, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.delete(`/api/v2/recoverable-items/${id}`);
const list = async (api: ApiTestClient = server, query = ''): Promise<ApiResponse['body']> =>
  expectStatus(await api.get(`/api/v2/organizations/acme/recoverable-items${query}`), 200).body;
const listIds = async (api: ApiTestClient = server): Promise<readonly string[]> =>
  (await list(api)).data.map(({ id }: { id: string }) => id);

const get = async (path: string): Promise<ApiResponse['body']> => expectStatus(await server.get(path), 200).body;

/** Stores a state and leaves the workspace unlocked. Returns the id of the version. */
const addState = async (workspace: string, serial: number, { unlocks = true } = {}): Promise<string> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const file = stateFile({
    outputs: { address: { value: '192.0.2.7', type: 'string' } },
    serial,
    lineage: 'of-the-workspace',
  });
  const answer = await server.post(
    `/api/v2/workspaces/${workspace}/state-versions`,
    newStateVersion(file, { inline: true }),
  );
  if (unlocks) expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
  return expectStatus(answer, 201).body.data.id as string;
};

const downloadState = async (workspace: string): Promise<string> => {
  const { data } = await get(`/api/v2/workspaces/${workspace}/current-state-version`);
  const answer = await server.get(pathOf(data.attributes['hosted-state-download-url'] as string));
  return expectStatus(answer, 200).text;
};

const addVariable = async (workspace: string, key: string, attributes: object): Promise<string> => {
  const body = resource('vars', { key, category: 'terraform', ...attributes });
  return expectStatus(await server.post(`/api/v2/workspaces/${workspace}/vars`, body), 201).body.data.id as string;
};

/** Everything that a workspace shows, but for times that a recovery changes. */
const showEverything = async (id: string): Promise<unknown> => {
  const { data } = await get(`/api/v2/workspaces/${id}`);
  const { 'updated-at': _, 'latest-change-at': __, ...attributes } = data.attributes;
  const versions = await get(
    `/api/v2/state-versions?filter[workspace][name]=${attributes.name}&filter[organization][name]=acme`,
  );
  return {
    attributes,
    relationships: data.relationships,
    tags: (await get(`/api/v2/workspaces/${id}/tag-bindings`)).data,
    variables: (await get(`/api/v2/workspaces/${id}/vars`)).data,
    access: (await get(`/api/v2/team-workspaces?filter[workspace][id]=${id}`)).data,
    notifications: (await get(`/api/v2/workspaces/${id}/notification-configurations`)).data,
    consumers: (await get(`/api/v2/workspaces/${id}/relationships/remote-state-consumers`)).data,
    sets: (await get(`/api/v2/workspaces/${id}/varsets`)).data,
    // Links are signed again.
    versions: versions.data.map(({ id: version, attributes: { serial, md5, status } }: ApiResponse['body']) => ({
      version,
      serial,
      md5,
      status,
    })),
    outputs: (await get(`/api/v2/workspaces/${id}/current-state-version-outputs`)).data,
  };
};

const readSecret = async (variable: string): Promise<number> =>
  (await server.store.database.rows(sql`select 1 as one from vault.secrets where id = ${variable}`)).length;

/** A workspace with everything that belongs to one. */
const makeFull = async (): Promise<{ id: string; name: string; secret: string }> => {
  const name = unique('full');
  const project = await makeProject(server, 'acme', unique('project'));
  const id = await make(
    name,
    { description: 'Networks', 'auto-apply': true, 'terraform-version': '1.9.0', 'global-remote-state': false },
    { project: { data: { type: 'projects', id: project } } },
  );
  const consumer = await make();
  const body = related('workspaces', consumer);
  expectStatus(await server.post(`/api/v2/workspaces/${id}/relationships/remote-state-consumers`, body), 204);
  await bindTags(server, `workspaces/${id}`, { env: 'prod', owner: 'net' });
  await addVariable(id, 'region', { value: 'eu-1', description: 'where' });
  const secret = await addVariable(id, 'password', { value: SECRET, sensitive: true });
  await grantWorkspaceAccess(server, admins, id, 'admin');
  await grantWorkspaceAccess(server, readers, id, 'read');
  const set = resource('varsets', { name: unique('set') }, { workspaces: related('workspaces', id) });
  expectStatus(await server.post('/api/v2/organizations/acme/varsets', set), 201);
  const notification = resource('notification-configurations', {
    name: 'chat',
    'destination-type': 'generic',
    url: 'https://chat.test/hook',
    enabled: false,
    triggers: [],
  });
  expectStatus(await server.post(`/api/v2/workspaces/${id}/notification-configurations`, notification), 201);
  await addState(id, 1);
  await addState(id, 2);
  return { id, name, secret };
};

describe('a deleted workspace', () => {
  it('comes back under its id as it was, with byte-identical state', async () => {
    const { id, secret } = await makeFull();
    const [before, stateBefore] = [await showEverything(id), await downloadState(id)];
    await remove(id);
    await waitForFollowers(server.store, 'state_sweeper');
    expect((await server.get(`/api/v2/workspaces/${id}`)).status).toBe(404);
    clock.pass({ seconds: 29 * 86_400 });
    await runJobOnce(createExpiredWorkspacesJob(server.store, clock, server.runtime.ids));
    await waitForFollowers(server.store, 'state_sweeper');
    const answer = expectStatus(await recover(id), 200);
    expect(answer.body.data).toMatchObject({
      id,
      type: 'recoverable-items',
      attributes: { kind: 'workspaces', changes: [], 'recoverable-until': null },
      relationships: { item: { data: { type: 'workspaces', id } } },
    });
    expect(await showEverything(id)).toEqual(before);
    expect(await downloadState(id)).toBe(stateBefore);
    expect(await readSecret(secret)).toBe(1);
    expect(await listIds()).not.toContain(id);
  });

  it('accepts the next state, and can be deleted and recovered again', async () => {
    const { id } = await makeFull();
    for (const serial of [3, 4]) {
      await remove(id);
      expectStatus(await recover(id), 200);
      await addState(id, serial);
    }
    const { data } = await get(`/api/v2/workspaces/${id}/current-state-version`);
    expect(data.attributes.serial).toBe(4);
  });

  it('hides its contents until its recovery', async () => {
    const { id } = await makeFull();
    const [variable] = (await get(`/api/v2/workspaces/${id}/vars`)).data;
    const [configuration] = (await get(`/api/v2/workspaces/${id}/notification-configurations`)).data;
    const [access] = (await get(`/api/v2/team-workspaces?filter[workspace][id]=${id}`)).data;
    const { data: version } = await get(`/api/v2/workspaces/${id}/current-state-version`);
    const outputs = (await get(`/api/v2/workspaces/${id}/current-state-version-outputs`)).data;
    const download = pathOf(version.attributes['hosted-state-download-url'] as string);
    await remove(id);
    const paths = [
      `/api/v2/workspaces/${id}/vars/${variable.id}`,
      `/api/v2/workspaces/${id}/vars`,
      `/api/v2/notification-configurations/${configuration.id}`,
      `/api/v2/team-workspaces/${access.id}`,
      `/api/v2/state-versions/${version.id}`,
      `/api/v2/state-version-outputs/${outputs[0].id}`,
      `/api/v2/workspaces/${id}/current-state-version`,
      download,
    ];
    const answers = await Promise.all(paths.map(async (path) => [path, (await server.get(path)).status]));
    expect(answers).toEqual(paths.map((path) => [path, 404]));
    const tags = (await get('/api/v2/organizations/acme/tags')).data;
    expect(tags.filter((tag: ApiResponse['body']) => tag.attributes.name === 'owner')).toEqual([]);
  });

  it('is listed with its deletion, the last one first, and by kind', async () => {
    const [first, second] = [await make(), await make()];
    clock.pass({ seconds: 1 });
    await remove(first);
    clock.pass({ seconds: 1 });
    await remove(second);
    const { data, meta } = await list(server, '?filter[kind]=workspaces&page[size]=2');
    expect(data.map(({ id }: { id: string }) => id)).toEqual([second, first]);
    expect(data[0]).toMatchObject({
      type: 'recoverable-items',
      attributes: {
        kind: 'workspaces',
        changes: [],
        'deleted-at': clock.now().toISOString(),
        'deleted-by': { type: 'users', name: 'admin' },
        'recoverable-until': new Date(clock.now().getTime() + 30 * 86_400_000).toISOString(),
        permissions: { 'can-recover': true, 'can-purge': true },
      },
    });
    expect(meta.pagination['total-count']).toBeGreaterThan(1);
    const refused = await server.get('/api/v2/organizations/acme/recoverable-items?filter[kind]=users');
    expect([refused.status, refused.body.errors[0].detail]).toEqual([
      400,
      'filter[kind] must be one of workspaces, projects, varsets, registry-providers, got "users"',
    ]);
  });

  it.each(['workspaces', 'projects', 'varsets', 'registry-providers'])(
    'is listed without other kinds: %s',
    async (kind) => {
      const { data } = await list(server, `?filter[kind]=${kind}`);
      expect(data.filter(({ attributes }: ApiResponse['body']) => attributes.kind !== kind)).toEqual([]);
    },
  );

  it('comes back unlocked, with the newest finalized state, if it was deleted while locked', async () => {
    const id = await make();
    await addState(id, 1);
    const version = await addState(id, 2, { unlocks: false });
    await remove(id);
    expectStatus(await recover(id), 200);
    const { data } = await get(`/api/v2/workspaces/${id}`);
    expect(data.attributes.locked).toBe(false);
    expect((await get(`/api/v2/workspaces/${id}/current-state-version`)).data.id).toBe(version);
    await addState(id, 3);
  });

  it('comes back without its runs, and runs again', async () => {
    const id = await make();
    await makeConfigurationVersion(server, id);
    const run = await makeRun(server, id, { 'plan-only': true });
    await remove(id);
    expectStatus(await recover(id), 200);
    expect((await server.get(`/api/v2/runs/${run}`)).status).toBe(404);
    expect((await get(`/api/v2/workspaces/${id}`)).data.relationships['current-run'].data).toBeNull();
    await makeConfigurationVersion(server, id);
    await makeRun(server, id, { 'plan-only': true });
  });
});

describe('a recovery', () => {
  it('is refused while another workspace has the name, in any case, and accepts another name', async () => {
    const id = await make('Taken');
    await remove(id);
    const other = await make('taken');
    const refused = expectStatus(await recover(id), 422);
    expect(refusalOf(refused)).toEqual([
      '/data/attributes/name',
      'Name has already been taken: rename the other workspace, or send another name',
    ]);
    expect(refusalOf(expectStatus(await recover(id, server, 'a b'), 422))[0]).toBe('/data/attributes/name');
    const answer = expectStatus(await recover(id, server, 'taken-2'), 200);
    expect(answer.body.data.attributes).toMatchObject({
      name: 'taken-2',
      changes: [{ field: 'name', detail: 'The name was Taken' }],
    });
    expect((await get('/api/v2/organizations/acme/workspaces/taken-2')).data.id).toBe(id);
    expect((await get('/api/v2/organizations/acme/workspaces/taken')).data.id).toBe(other);
  });

  it('goes to the default project if the project is gone, and names everything that is gone', async () => {
    const project = await makeProject(server, 'acme', unique('leaving'));
    const pool = await makeAgentPool(server, 'acme', unique('pool'));
    const key = expectStatus(
      await server.post(
        '/api/v2/organizations/acme/ssh-keys',
        resource('ssh-keys', { name: unique('key'), value: 'KEY' }),
      ),
      201,
    ).body.data.id as string;
    const attributes = { 'execution-mode': 'agent', 'agent-pool-id': pool };
    const id = await make(unique('moved'), attributes, { project: { data: { type: 'projects', id: project } } });
    const assigned = await server.patch(
      `/api/v2/workspaces/${id}/relationships/ssh-key`,
      resource('workspaces', { id: key }),
    );
    expectStatus(assigned, 200);
    await grantWorkspaceAccess(server, readers, id, 'read');
    await remove(id);
    for (const path of [`projects/${project}`, `agent-pools/${pool}`, `ssh-keys/${key}`])
      expectStatus(await server.delete(`/api/v2/${path}`), 204);
    const { changes } = expectStatus(await recover(id), 200).body.data.attributes;
    expect(changes.map(({ field }: { field: string }) => field)).toEqual(['project', 'agent-pool', 'ssh-key']);
    expect(changes[0].detail).toContain('Default Project');
    const { data } = await get(`/api/v2/workspaces/${id}`);
    expect(data.attributes).toMatchObject({ 'execution-mode': 'remote' });
    expect(data.relationships['agent-pool'].data).toBeNull();
    expect(data.relationships['ssh-key']?.data ?? null).toBeNull();
    expect(data.relationships.project.data.id).not.toBe(project);
    expect((await get(`/api/v2/team-workspaces?filter[workspace][id]=${id}`)).data).toHaveLength(1);
  });

  it('leaves out the access of a team that was deleted in between', async () => {
    const id = await make();
    const team = await makeTeam(server, 'acme', unique('short-lived'));
    await grantWorkspaceAccess(server, team, id, 'write');
    await remove(id);
    expectStatus(await server.delete(`/api/v2/teams/${team}`), 204);
    expectStatus(await recover(id), 200);
    expect((await get(`/api/v2/team-workspaces?filter[workspace][id]=${id}`)).data).toEqual([]);
  });

  it('is refused with 409 the second time, and one of two at once succeeds', async () => {
    const id = await make();
    expectStatus(await recover(id), 409);
    await remove(id);
    const answers = await Promise.all([recover(id), recover(id)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect((await recover('ws-unknown')).status).toBe(404);
    expect((await recover('user-unknown')).status).toBe(404);
    expect((await recover('constructor-1')).status).toBe(404);
  });

  it('is allowed to callers that may delete the workspace, who alone find it in the list', async () => {
    const id = await make();
    await grantWorkspaceAccess(server, admins, id, 'admin');
    await grantWorkspaceAccess(server, readers, id, 'write');
    await remove(id);
    expect([await listIds(admin), await listIds(reader)].map((ids) => ids.includes(id))).toEqual([true, false]);
    const [item] = (await list(admin)).data;
    // It was forced, which only owners may do.
    expect(item.attributes.permissions).toEqual({ 'can-purge': false, 'can-recover': true });
    expect((await recover(id, reader)).status).toBe(404);
    expect((await purge(id, reader)).status).toBe(403);
    expect((await purge(id, admin)).status).toBe(403);
    expectStatus(await recover(id, admin), 200);
  });

  it('comes back into the default project only for callers that may create workspaces there', async () => {
    const project = await makeProject(server, 'acme', unique('leaving'));
    const id = await make(unique('homeless'), {}, { project: { data: { type: 'projects', id: project } } });
    await grantWorkspaceAccess(server, admins, id, 'admin');
    await remove(id);
    const canRecover = async (api: ApiTestClient): Promise<unknown> =>
      (await list(api)).data.find((item: ApiResponse['body']) => item.id === id).attributes.permissions['can-recover'];
    expect(await canRecover(admin)).toBe(true);
    expectStatus(await server.delete(`/api/v2/projects/${project}`), 204);
    expect([await canRecover(admin), await canRecover(server)]).toEqual([false, true]);
    const refused = expectStatus(await recover(id, admin), 403);
    expect(refused.body.errors[0].detail).toContain('you may not create workspaces in Default Project');
    expectStatus(await recover(id), 200);
  });

  it('is allowed to administrators of the project', async () => {
    const project = await makeProject(server, 'acme', unique('project'));
    const id = await make(unique('inside'), {}, { project: { data: { type: 'projects', id: project } } });
    await grantProjectAccess(server, admins, project, 'admin');
    await remove(id);
    expect(await listIds(admin)).toContain(id);
    expectStatus(await recover(id, admin), 200);
  });

  it('has an entry in the audit trail, a live event and a version in the history', async () => {
    const { id, name } = await makeFull();
    const before = clock.now().toISOString();
    clock.pass({ seconds: 5 });
    await remove(id);
    const between = clock.now().toISOString();
    clock.pass({ seconds: 5 });
    expectStatus(await recover(id), 200);
    clock.pass({ seconds: 5 });
    const at = async (time: string): Promise<ApiResponse> => server.get(`/api/v2/workspaces/${id}?as-of=${time}`);
    const [old, deleted, present] = [await at(before), await at(between), await at(clock.now().toISOString())];
    expect([old.status, deleted.status, present.status]).toEqual([200, 404, 200]);
    const { 'updated-at': _, 'latest-change-at': __, ...attributes } = old.body.data.attributes;
    expect(present.body.data.attributes).toMatchObject({ ...attributes, name });
    expect(present.body.data.relationships.vars).toEqual(old.body.data.relationships.vars);
    expect(present.body.data.relationships.outputs).toEqual(old.body.data.relationships.outputs);
    const events = (await readWholeLog(server.store)).filter(({ stream }) => stream === id);
    expect(events.at(-1)).toMatchObject({ type: 'WorkspaceRecovered', data: { name } });
    expect(JSON.stringify(events)).not.toContain(SECRET);
  });
});

describe('the end of a deleted workspace', () => {
  const countRows = async (id: string): Promise<number> => {
    const tables = [
      ['variables', 'owner'],
      ['team_workspaces', 'workspace'],
      ['state_versions', 'workspace'],
      ['state_version_outputs', 'workspace'],
      ['deleted_workspace_tags', 'workspace'],
      ['deleted_workspaces', 'id'],
      ['notification_configurations', 'subscribable'],
      ['remote_state_consumers', 'workspace'],
      ['variable_set_targets', 'target'],
    ] as const;
    const counts = await Promise.all(
      tables.map(([table, column]) =>
        server.store.database.rows(sql`select 1 as one from ${sql.raw(table)} where ${sql.raw(column)} = ${id}`),
      ),
    );
    return counts.flat().length;
  };

  const countFiles = async (id: string): Promise<number> =>
    (await server.store.database.rows(sql`select 1 as one from state.kept_files where owner = ${id}`)).length;

  it('comes with its time, and removes secrets, files and rows', async () => {
    const { id, secret } = await makeFull();
    await remove(id);
    await waitForFollowers(server.store, 'state_sweeper');
    expect([await readSecret(secret), await countFiles(id)]).toEqual([1, 2]);
    clock.pass({ seconds: 30 * 86_400 });
    await runJobOnce(createExpiredWorkspacesJob(server.store, clock, server.runtime.ids));
    await waitForFollowers(server.store, 'state_sweeper');
    expect([await readSecret(secret), await countFiles(id), await countRows(id)]).toEqual([0, 0, 0]);
    expectStatus(await recover(id), 404);
    const events = (await readWholeLog(server.store)).filter(({ stream }) => stream === id);
    expect(events.at(-1)).toMatchObject({
      type: 'WorkspacePurged',
      data: { expired: true },
      context: { auth: 'System' },
    });
  });

  it('comes for the others if the purge of one fails', async () => {
    const [first, second] = [await make(), await make()];
    await remove(first);
    await remove(second);
    const [failing, purged] = [first, second].toSorted();
    clock.pass({ seconds: 30 * 86_400 });
    runBetween(server.store, () => Promise.reject(new Error('the disk is full')));
    const job = createExpiredWorkspacesJob(server.store, clock, server.runtime.ids);
    await expect(runJobOnce(job)).rejects.toThrow('1 deleted workspaces could not be purged');
    expect(await countRows(purged ?? '')).toBe(0);
    expect(await runJobOnce(job)).toBe(1);
    expect(await countRows(failing ?? '')).toBe(0);
  });

  it('comes earlier if an owner wants it', async () => {
    const { id, secret } = await makeFull();
    expectStatus(await purge(id), 409);
    await remove(id);
    expectStatus(await purge(id), 204);
    expectStatus(await purge(id), 404);
    expectStatus(await recover(id), 404);
    expect([await readSecret(secret), await countRows(id)]).toEqual([0, 0]);
  });

  it('comes with its organization', async () => {
    await makeOrganization(server, 'leaving');
    const id = await makeWorkspace(server, 'leaving', 'one');
    await remove(id);
    expectStatus(await server.delete('/api/v2/organizations/leaving'), 204);
    expectStatus(await recover(id), 404);
    expect(await countRows(id)).toBe(0);
  });

  it('leaves either the purge or the recovery, if both happen at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await make();
      await remove(id);
      const [recovered, purged] = await Promise.all([recover(id), purge(id)]);
      const exists = (await server.get(`/api/v2/workspaces/${id}`)).status === 200;
      expect([recovered.status, purged.status, exists]).toEqual(
        recovered.status === 200 ? [200, 409, true] : [404, 204, false],
      );
    }
  });
});

describe('the views', () => {
  it('match the log', async () => {
    await expectViewsMatchLog(server, [
      workspacesDefinition,
      stateDefinition,
      variablesDefinition,
      peopleDefinition,
      agentsDefinition,
      retentionDefinition,
      notificationsDefinition,
      runsDefinition,
    ]);
  });
});
