import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Vault } from '#storage/vault';
import { listProblems } from '../../../test/support/responses.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  resource,
} from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import {
  makeRunTask,
  makeWorkspaceTask,
  newRunTask,
  newWorkspaceTask,
  signTaskBody,
  startTaskService,
  type TaskService,
} from '../../../test/support/task-service.js';
import { runTasksDefinition } from './index.js';

const TASKS = '/api/v2/organizations/acme/tasks';
const KEY = 'key-of-the-scanner';

let server: TestServer;
let service: TaskService;
let vault: Vault;
let workspace: string;

beforeAll(async () => {
  server = await startTestServer({ followers: true, env: { CADASTRE_OUTBOUND_PRIVATE_HOSTS: '127.0.0.1' } });
  vault = new Vault(server.database, server.runtime.encryptionKeys);
  service = await startTaskService();
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  workspace = await makeWorkspace(server, 'acme', 'prod');
});

afterAll(() => server.close());

const byId = (id: string): string => `/api/v2/tasks/${id}`;
const last = () => service.received.at(-1);

describe('a run task', () => {
  it('is tested with a signed request, and shows everything except its key', async () => {
    const body = newRunTask('scanner', service, { 'hmac-key': KEY, description: 'Scans plans' });
    const created = expectStatus(await server.post(TASKS, body), 201);
    const request = last();
    expect(request?.payload).toMatchObject({
      payload_version: 1,
      stage: 'test',
      access_token: 'test-token',
      capabilities: { outcomes: true },
      organization_name: 'acme',
    });
    expect(request?.headers['x-tfc-task-signature']).toBe(signTaskBody(request?.body ?? '', KEY));
    const { id } = created.body.data;
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^task-\w{16}$/),
      type: 'tasks',
      attributes: {
        category: 'task',
        description: 'Scans plans',
        enabled: true,
        'global-configuration': { enabled: false, stages: [], 'enforcement-level': 'advisory' },
        'hmac-key': null,
        name: 'scanner',
        url: service.url,
      },
      relationships: {
        'agent-pool': { data: null },
        organization: expect.objectContaining({ data: { type: 'organizations', id: 'acme' } }),
        'workspace-tasks': { data: [] },
      },
      links: { self: byId(id) },
    });
    expect((await server.get(byId(id))).body).toEqual(created.body);
    expect((await server.get(TASKS)).body.data).toEqual([created.body.data]);
    expect(await vault.open(id)).toBe(KEY);
  });

  it('is not created if the service does not answer 200', async () => {
    service.answer(500);
    const refused = expectStatus(await server.post(TASKS, newRunTask('broken', service)), 422);
    service.answer(200);
    expect(listProblems(refused)).toEqual([
      ['/data/attributes/url', 'Url could not be verified: the service answered with status 500, not with 200'],
    ]);
    const names = (await server.get(TASKS)).body.data.map((task: any) => task.attributes.name);
    expect(names).not.toContain('broken');
  });

  it('is not created with a private address that no setting permits', async () => {
    const refused = await server.post(TASKS, newRunTask('inside', { url: 'http://10.0.0.1/hook' }));
    expect(listProblems(expectStatus(refused, 422))[0]).toEqual([
      '/data/attributes/url',
      expect.stringMatching(/^Url could not be verified: .*private/),
    ]);
  });

  it('is tested again with its kept key only if the URL or the key changes', async () => {
    const id = await makeRunTask(server, 'acme', 'changing', { 'hmac-key': KEY });
    const before = service.received.length;
    expectStatus(await server.patch(byId(id), resource('tasks', { enabled: false, 'hmac-key': null })), 200);
    expect(service.received).toHaveLength(before);
    expectStatus(await server.patch(byId(id), resource('tasks', { url: service.url })), 200);
    const request = last();
    expect(request?.headers['x-tfc-task-signature']).toBe(signTaskBody(request?.body ?? '', KEY));
    expectStatus(await server.patch(byId(id), resource('tasks', { 'hmac-key': '' })), 200);
    expect(last()?.headers['x-tfc-task-signature']).toBe('');
    expect(await vault.open(id)).toBeUndefined();
  });

  it('can belong to every workspace, and keeps what a change does not name', async () => {
    const id = await makeRunTask(server, 'acme', 'global');
    const change = { 'global-configuration': { enabled: true, stages: ['pre_apply', 'pre_plan'] } };
    const { attributes } = expectStatus(await server.patch(byId(id), resource('tasks', change)), 200).body.data;
    expect(attributes['global-configuration']).toEqual({
      enabled: true,
      stages: ['pre_plan', 'pre_apply'],
      'enforcement-level': 'advisory',
    });
  });

  it('consults in post_plan if it belongs to every workspace and names no stages, and cannot lose all stages', async () => {
    const attributes = { 'global-configuration': { enabled: true } };
    const { id, attributes: created } = expectStatus(
      await server.post(TASKS, newRunTask('global-by-default', service, attributes)),
      201,
    ).body.data;
    expect(created['global-configuration']).toMatchObject({ enabled: true, stages: ['post_plan'] });
    const change = resource('tasks', { 'global-configuration': { stages: [] } });
    expectStatus(await server.patch(byId(id as string), change), 422);
  });

  it('has a name that no other run task of the organization has in any case', async () => {
    await makeRunTask(server, 'acme', 'named');
    const refused = expectStatus(await server.post(TASKS, newRunTask('NAMED', service)), 422);
    expect(listProblems(refused)).toEqual([['/data/attributes/name', 'Name has already been taken']]);
  });

  it('is read by members, and changed by those who manage run tasks', async () => {
    const id = await makeRunTask(server, 'acme', 'protected');
    const team = await makeTeam(server, 'acme', 'taskers', { 'organization-access': { 'manage-run-tasks': true } });
    const manager = await makeMember(server, 'acme', 'manager', [team]);
    const member = await makeMember(server, 'acme', 'member');
    const stranger = await makeMember(server, 'neighbour', 'stranger');
    const change = resource('tasks', { enabled: false });
    const statuses = await Promise.all(
      [manager, member, stranger].map(async (api) => [
        (await api.get(byId(id))).status,
        (await api.patch(byId(id), change)).status,
      ]),
    );
    expect(statuses).toEqual([
      [200, 200],
      [200, 404],
      [404, 404],
    ]);
  });

  it('takes its key and its tasks of workspaces with it', async () => {
    const id = await makeRunTask(server, 'acme', 'ending', { 'hmac-key': KEY });
    const attached = await makeWorkspaceTask(server, workspace, id);
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.get(byId(id)), 404);
    expectStatus(await server.get(`/api/v2/workspaces/${workspace}/tasks/${attached}`), 404);
    expect(await vault.open(id)).toBeUndefined();
  });
});

describe('a run task of a workspace', () => {
  const path = (id = ''): string => `/api/v2/workspaces/${workspace}/tasks${id === '' ? '' : `/${id}`}`;

  it('has the stage after the plan by default, and shows the first of its stages', async () => {
    const task = await makeRunTask(server, 'acme', 'attached');
    const { data } = expectStatus(await server.post(path(), newWorkspaceTask(task)), 201).body;
    expect(data).toMatchObject({
      id: expect.stringMatching(/^wstask-\w{16}$/),
      attributes: { 'enforcement-level': 'mandatory', stage: 'post_plan', stages: ['post_plan'] },
      relationships: { task: { data: { type: 'tasks', id: task } }, workspace: { data: { id: workspace } } },
    });
    expect((await server.get(path(data.id))).body.data).toEqual(data);
    expect((await server.get(path())).body.data).toContainEqual(data);
    const change = resource('workspace-tasks', { 'enforcement-level': 'advisory', stages: ['pre_apply', 'pre_plan'] });
    expect(expectStatus(await server.patch(path(data.id), change), 200).body.data.attributes).toEqual({
      'enforcement-level': 'advisory',
      stage: 'pre_plan',
      stages: ['pre_plan', 'pre_apply'],
    });
    const included = expectStatus(await server.get(`${byId(task)}?include=workspace_tasks.workspace`), 200).body;
    expect(included.included.map(({ type, id }: any) => [type, id])).toEqual([
      ['workspace-tasks', data.id],
      ['workspaces', workspace],
    ]);
    expectStatus(await server.delete(path(data.id)), 204);
    expectStatus(await server.get(path(data.id)), 404);
  });

  it('is refused twice, for tasks of other organizations, and without a stage', async () => {
    const pointer = '/data/relationships/task/data/id';
    const task = await makeRunTask(server, 'acme', 'once');
    const foreign = await makeRunTask(server, 'neighbour', 'foreign');
    await makeWorkspaceTask(server, workspace, task);
    const refuse = async (body: object) => listProblems(expectStatus(await server.post(path(), body), 422))[0];
    expect(await refuse(newWorkspaceTask(task))).toEqual([pointer, 'The workspace has the run task once already']);
    expect(await refuse(newWorkspaceTask(foreign))).toEqual([
      pointer,
      `Run task ${foreign} does not exist in the organization`,
    ]);
    const other = await makeRunTask(server, 'acme', 'other');
    expect(await refuse(newWorkspaceTask(other, { stages: [] }))).toEqual([
      '/data/attributes/stages',
      'Stages must name at least one stage, such as post_plan',
    ]);
    expect((await refuse(newWorkspaceTask(other, { stages: ['later'] })))?.[0]).toBe('/data/attributes/stages/0');
  });

  it('counts at most 20 in a workspace, also if several are added at once', async () => {
    const full = await makeWorkspace(server, 'acme', 'full');
    const tasks: string[] = [];
    for (let n = 0; n < 22; n += 1) tasks.push(await makeRunTask(server, 'acme', `task-${n}`));
    const answers = await Promise.all(
      tasks.map((task) => server.post(`/api/v2/workspaces/${full}/tasks`, newWorkspaceTask(task))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(2);
  });
});

describe('the views of run tasks', () => {
  it('match the log', async () => {
    await expectViewsMatchLog(server, [runTasksDefinition]);
  });
});
