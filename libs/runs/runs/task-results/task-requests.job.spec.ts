import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { register } from 'prom-client';
import { sql, type Logger } from '#platform/kernel';
import { FixedClock } from '../../../../test/support/clocks.js';
import { sendRaw } from '../../../../test/support/raw-requests.js';
import { waitUntil } from '../../../../test/support/product.js';
import { runRequests } from '../../../../test/support/runs.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import {
  expectStatus,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeWorkspace,
  resource,
  runBody,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import {
  newRunTask,
  newWorkspaceTask,
  sendTaskRequests,
  signTaskBody,
  startTaskService,
  taskReportOf,
  type TaskService,
} from '../../../../test/support/task-service.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { createRunTasksJob, runsDefinition } from '../index.js';

const KEY = 'key-of-the-scanner';

let clock: FixedClock;
let server: TestServer;
let agents: ApiTestClient;
let service: TaskService;

beforeAll(async () => {
  clock = new FixedClock();
  service = await startTaskService();
  server = await startTestServer({ clock, followers: true, env: { CADASTRE_OUTBOUND_PRIVATE_HOSTS: '127.0.0.1' } });
  await makeOrganization(server, 'acme');
  agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
});

afterAll(() => server.close());

const { aWorkspace, act, report, reported, show, statusOf, holderOf } = runRequests(() => ({ server, agents }));

const readDue = async (): Promise<number | undefined> =>
  (await register.getSingleMetric('cadastre_run_task_requests_due')?.get())?.values[0]?.value;

let count = 0;
const aTask = async (attributes: object = {}, of = service): Promise<string> => {
  const body = newRunTask(`task-${(count += 1)}`, of, { 'hmac-key': KEY, ...attributes });
  return expectStatus(await server.post('/api/v2/organizations/acme/tasks', body), 201).body.data.id as string;
};

type Consulted = {
  readonly stages: readonly string[];
  readonly level?: 'advisory' | 'mandatory';
  readonly options?: object;
  readonly of?: TaskService;
};

/** Creates a run of a workspace with one run task. */
const aRun = async ({ stages, level = 'mandatory', options = {}, of = service }: Consulted) => {
  const workspace = await aWorkspace();
  const task = await aTask({}, of);
  const body = newWorkspaceTask(task, { stages, 'enforcement-level': level });
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/tasks`, body), 201);
  return { workspace, task, run: await makeRun(server, workspace, options) };
};

const createJob = (logger: Logger = server.runtime.logger) =>
  createRunTasksJob({ ...server.runtime, ...server.runtime.settings, logger, store: server.store, clock });
const sendRequests = (): Promise<number> => sendTaskRequests(server, clock);

/** Sends the requests that are due. Returns the last one, about this run. */
const takeRequest = async (run: string) => {
  await sendRequests();
  const request = service.received.findLast(({ payload }) => payload.run_id === run);
  if (!request) throw new Error(`the service got no request about ${run}`);
  return request;
};

const callback = (payload: any, body: unknown, token: string | null = payload.access_token): Promise<ApiResponse> =>
  server.as(token).patch(new URL(payload.task_result_callback_url).pathname, body);

const result = taskReportOf;
const stagesOf = async (run: string) =>
  expectStatus(await server.get(`/api/v2/runs/${run}/task-stages?include=task_results`), 200).body;
const stageStatuses = async (run: string): Promise<readonly string[]> =>
  (await stagesOf(run)).data.map(({ attributes }: any) => attributes.status as string);
const resultOf = async ({ task_result_id: id }: any) =>
  expectStatus(await server.get(`/api/v2/task-results/${id}`), 200).body.data;

describe('the run tasks of a run', () => {
  it('get a signed request about the run, and their report lets the run continue', async () => {
    const { run, workspace, task } = await aRun({ stages: ['pre_plan', 'post_plan'] });
    expect(await statusOf(run)).toBe('pre_plan_running');
    expectStatus(await report(run, 'planning'), 409);
    const { body, headers, payload } = await takeRequest(run);
    expect(headers['x-tfc-task-signature']).toBe(signTaskBody(body, KEY));
    expect(payload).toMatchObject({
      payload_version: 1,
      stage: 'pre_plan',
      run_id: run,
      workspace_id: workspace,
      organization_name: 'acme',
      is_speculative: false,
      task_result_enforcement_level: 'mandatory',
    });
    expect(payload).not.toHaveProperty('plan_json_api_url');
    expectStatus(await callback(payload, result('running', { message: 'Scanning' })), 200);
    expect(await statusOf(run)).toBe('pre_plan_running');
    expectStatus(await callback(payload, result('passed', { message: 'Fine', url: 'https://scanner.example/1' })), 200);
    expect(await statusOf(run)).toBe('plan_queued');
    expect((await resultOf(payload)).attributes).toMatchObject({
      status: 'passed',
      message: 'Fine',
      url: 'https://scanner.example/1',
      'task-id': task,
    });
    expect(await stageStatuses(run)).toEqual(['passed', 'pending']);
    await reported(run, 'planning', 'planned');
    expect(await statusOf(run)).toBe('post_plan_running');
    expectStatus(await act(run, 'apply'), 409);
    const second = await takeRequest(run);
    expect(second.payload.stage).toBe('post_plan');
    expectStatus(await callback(second.payload, result('passed')), 200);
    expect((await show(run)).attributes).toMatchObject({
      status: 'post_plan_completed',
      actions: { 'is-confirmable': true },
    });
    expectStatus(await act(run, 'apply'), 202);
  });

  it('read the configuration and the plan of the run without a token of the API', async () => {
    const { run } = await aRun({ stages: ['post_plan'] });
    await reported(run, 'planning');
    const plan = { format_version: '1.2', resource_changes: [] };
    const ofPlan = `/api/v2/plans/${run.replace('run-', 'plan-')}`;
    const path = `${ofPlan}/json-output`;
    expectStatus(await agents.put(`${ofPlan}/json-schema`, { format_version: '1.0', provider_schemas: {} }), 204);
    expectStatus(await agents.put(path, plan), 204);
    await reported(run, 'planned');
    const { payload } = await takeRequest(run);
    const visitor = server.as(payload.access_token as string);
    const read = (url: string): Promise<ApiResponse> => visitor.get(new URL(url).pathname);
    expect(expectStatus(await read(payload.plan_json_api_url), 200).body).toMatchObject(plan);
    expectStatus(await read(payload.configuration_version_download_url), 200);
    for (const url of [`/api/v2/runs/${run}`, path, '/api/v2/organizations/acme'])
      expectStatus(await visitor.get(url), 401);
    clock.pass({ minutes: 71 });
    expectStatus(await read(payload.plan_json_api_url), 403);
    expectStatus(await callback(payload, result('passed')), 401);
    await sendRequests();
    expect(await statusOf(run)).toBe('errored');
  });

  it('end the run if a mandatory one fails, and release the workspace', async () => {
    const { run, workspace } = await aRun({ stages: ['post_plan'] });
    await reported(run, 'planning', 'planned');
    const { payload } = await takeRequest(run);
    expect(await holderOf(workspace)).toMatchObject({ id: run });
    expectStatus(await callback(payload, result('failed', { message: 'Port 22 is open' })), 200);
    expect(await statusOf(run)).toBe('errored');
    expect(await holderOf(workspace)).toBeNull();
    const events = expectStatus(await server.get(`/api/v2/runs/${run}/run-events`), 200).body.data;
    expect(events.map(({ attributes }: any) => attributes.description)).toContainEqual(
      expect.stringMatching(/^The mandatory run task task-\d+ failed$/),
    );
  });

  it('only advise if they are advisory, and after the apply', async () => {
    const { run } = await aRun({ stages: ['pre_plan'], level: 'advisory' });
    expectStatus(await callback((await takeRequest(run)).payload, result('failed')), 200);
    expect(await statusOf(run)).toBe('plan_queued');
    const applied = (await aRun({ stages: ['post_apply'], options: { 'auto-apply': true } })).run;
    await reported(applied, 'planning', 'planned', 'applying', 'applied');
    expectStatus(await callback((await takeRequest(applied)).payload, result('failed')), 200);
    expect([await statusOf(applied), await stageStatuses(applied)]).toEqual(['applied', ['failed']]);
  });

  it('prevent the apply of a run that needs no confirmation', async () => {
    const { run } = await aRun({ stages: ['pre_apply'], options: { 'auto-apply': true } });
    await reported(run, 'planning', 'planned');
    expect(await statusOf(run)).toBe('pre_apply_running');
    expectStatus(await report(run, 'applying'), 409);
    expectStatus(await callback((await takeRequest(run)).payload, result('failed')), 200);
    expect(await statusOf(run)).toBe('errored');
  });

  it('let a plan-only run pass, with an outcome that has only a text', async () => {
    const { run } = await aRun({ stages: ['pre_plan'], options: { 'plan-only': true } });
    const outcome = { type: 'task-result-outcomes', attributes: { 'outcome-id': 'NONE', body: 'x' } };
    expectStatus(await callback((await takeRequest(run)).payload, result('passed', {}, [outcome])), 200);
    expect(await statusOf(run)).toBe('plan_queued');
  });

  it('belong to every workspace if they are global, and a workspace cannot weaken them', async () => {
    const global = { enabled: true, stages: ['pre_plan'], 'enforcement-level': 'mandatory' };
    const task = await aTask({ 'global-configuration': global });
    const workspace = await aWorkspace();
    const body = newWorkspaceTask(task, { stages: ['pre_plan', 'pre_apply'], 'enforcement-level': 'advisory' });
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/tasks`, body), 201);
    const run = await makeRun(server, workspace);
    const other = await makeRun(server, await aWorkspace());
    const off = resource('tasks', { enabled: false });
    expectStatus(await server.patch(`/api/v2/tasks/${task}`, off), 200);
    const without = await makeRun(server, await aWorkspace());
    const levels = async (id: string) =>
      ((await stagesOf(id)).included ?? []).map(({ attributes }: any) => [
        attributes.stage,
        attributes['workspace-task-enforcement-level'],
      ]);
    expect((await levels(run)).toSorted()).toEqual([
      ['pre_apply', 'advisory'],
      ['pre_plan', 'mandatory'],
    ]);
    expect(await levels(other)).toEqual([['pre_plan', 'mandatory']]);
    expect(await stageStatuses(without)).toEqual([]);
    for (const one of [run, other]) expectStatus(await act(one, 'cancel'), 202);
    expect(await stageStatuses(run)).toEqual(['canceled', 'unreachable']);
  });

  it('are listed by the run, which includes them', async () => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    const { data, included } = expectStatus(await server.get(`/api/v2/runs/${run}?include=task_stages`), 200).body;
    const [stage] = data.relationships['task-stages'].data;
    expect(included).toEqual([expect.objectContaining({ id: stage.id, type: 'task-stages' })]);
    const path = `/api/v2/task-stages/${stage.id}?include=task_results,policy_evaluations`;
    const { data: ofStage, included: results } = expectStatus(await server.get(path), 200).body;
    expect(ofStage).toMatchObject({ attributes: { stage: 'pre_plan', status: 'running' } });
    expect(results).toEqual([expect.objectContaining({ type: 'task-results' })]);
    expectStatus(await act(run, 'cancel'), 202);
  });
});

describe('a report', () => {
  it('adds outcomes, whose texts only callers that may read the run see', async () => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    const { payload } = await takeRequest(run);
    const outcome = {
      type: 'task-result-outcomes',
      attributes: {
        'outcome-id': 'PORT-22',
        description: 'Port 22 is open',
        body: '# Port 22\n<script>alert(1)</script>',
        url: 'https://scanner.example/22',
        tags: { Severity: [{ label: 'High', level: 'error' }] },
      },
    };
    expectStatus(await callback(payload, result('failed', {}, [outcome])), 200);
    const path = `/api/v2/task-results/${payload.task_result_id}/outcomes`;
    const [firstOutcome] = expectStatus(await server.get(path), 200).body.data;
    expect(firstOutcome.attributes).toEqual({
      description: 'Port 22 is open',
      'has-body': true,
      'outcome-id': 'PORT-22',
      tags: { Severity: [{ label: 'High', level: 'error' }] },
      url: 'https://scanner.example/22',
    });
    const text = await fetch(`${server.url}/api/v2/task-result-outcomes/${firstOutcome.id}/body`, {
      headers: { authorization: `Bearer ${server.adminToken}` },
    });
    expect([text.status, text.headers.get('content-type'), text.headers.get('x-content-type-options')]).toEqual([
      200,
      'text/markdown; charset=utf-8',
      'nosniff',
    ]);
    expect(await text.text()).toBe(outcome.attributes.body);
    for (const each of [path, firstOutcome.links.self, firstOutcome.links.body])
      expectStatus(await agents.get(each), 404);
  });

  it('is recorded in the trail with the run and the task', async () => {
    const { run, workspace, task } = await aRun({ stages: ['pre_plan'] });
    const { payload } = await takeRequest(run);
    expectStatus(await callback(payload, result('passed', { message: 'Fine' })), 200);
    const { token } = expectStatus(
      await server.post('/api/v2/organizations/acme/authentication-token?token=audit-trails'),
      201,
    ).body.data.attributes;
    const { body } = await server.as(token as string).get('/api/v2/organization/audit-trail?filter[action]=callback');
    const entry = body.data.find((one: any) => one.resource.id === payload.task_result_id);
    expect(entry).toMatchObject({
      auth: { type: 'System' },
      resource: {
        type: 'task_result',
        action: 'callback',
        meta: {
          task_result_status: 'passed',
          task_result_message: 'Fine',
          run_id: run,
          workspace_id: workspace,
          organization_task_id: task,
          workspace_task_stage: 'pre_plan',
        },
      },
    });
  });

  it.each([
    ['no token', null],
    ['a token of the API', 'admin'],
    ['the token of another result', 'other'],
    ['a forged token', 'forged'],
  ])('is refused with %s', async (_, kind) => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    const other = (await aRun({ stages: ['pre_plan'] })).run;
    const { payload } = await takeRequest(run);
    const foreign = service.received.findLast((one) => one.payload.run_id === other)?.payload;
    const tokens: Record<string, string> = {
      admin: server.adminToken,
      other: foreign.access_token,
      forged: `${(payload.access_token as string).slice(0, -3)}AAA`,
    };
    expectStatus(await callback(payload, result('passed'), kind === null ? null : (tokens[kind] ?? '')), 401);
    expect(await statusOf(run)).toBe('pre_plan_running');
    for (const one of [run, other]) expectStatus(await act(one, 'cancel'), 202);
  });

  it('changes nothing if it is not valid, too large or about a final result', async () => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    const { payload } = await takeRequest(run);
    expectStatus(await callback(payload, result('errored')), 422);
    expectStatus(await callback(payload, result('passed', { url: 'javascript:alert(1)' })), 422);
    expectStatus(await callback(payload, result('passed', { message: 'x'.repeat(7 * 1_048_576) })), 413);
    const answer = await fetch(new URL(new URL(payload.task_result_callback_url).pathname, server.url), {
      method: 'PATCH',
      headers: { authorization: `Bearer ${payload.access_token}`, 'content-type': 'application/json' },
      body: '{"data"',
    });
    expect(answer.status).toBe(400);
    expect(await stageStatuses(run)).toEqual(['running']);
    expectStatus(await callback(payload, result('passed')), 200);
    expectStatus(await callback(payload, result('failed')), 409);
    expect(await statusOf(run)).toBe('plan_queued');
  });

  it('is refused before its body is read if nobody may send it, or no report can change its result', async () => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    const { payload } = await takeRequest(run);
    const path = new URL(payload.task_result_callback_url).pathname;
    // The body never comes, so that a server which reads it first does not answer.
    const announce = async (token: string, length: number): Promise<number> => {
      const headers = { 'content-type': 'application/json', 'content-length': String(length) };
      return (await sendRaw(server.url, { method: 'PATCH', url: path, headers, body: undefined }, token)).status;
    };
    expect(await announce('a-stranger', 1_048_576)).toBe(401);
    expect(await announce(payload.access_token as string, 7 * 1_048_576)).toBe(413);
    expectStatus(await callback(payload, result('passed')), 200);
    expect(await announce(payload.access_token as string, 1_048_576)).toBe(409);
  });

  it('counts once if it is sent twice at the same time', async () => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    const { payload } = await takeRequest(run);
    const answers = await Promise.all(
      ['passed', 'failed', 'passed'].map((status) => callback(payload, result(status))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const events = expectStatus(await server.get(`/api/v2/runs/${run}/run-events`), 200).body.data;
    const ends = events.filter(({ attributes }: any) => /^(pre_plan_completed|errored)$/.test(attributes.action));
    expect(ends).toHaveLength(1);
  });

  it('that says nothing new is refused after 99 of them', async () => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    const { payload } = await takeRequest(run);
    for (let n = 0; n < 99; n += 1) expectStatus(await callback(payload, result('running')), 200);
    expectStatus(await callback(payload, result('running')), 409);
    expectStatus(await callback(payload, result('passed')), 200);
  });
});

describe('a service', () => {
  it('that refuses all requests is unreachable after five of them', async () => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    service.answer(503);
    for (let n = 0; n < 5; n += 1) {
      await sendRequests();
      clock.pass({ minutes: 2 });
    }
    await sendRequests();
    service.answer(200);
    expect(service.received.filter(({ payload }) => payload.run_id === run)).toHaveLength(5);
    const [{ attributes }] = (await stagesOf(run)).included;
    expect([attributes.status, attributes.message]).toEqual([
      'unreachable',
      'The service did not accept the request: the service answered with status 503, not with 200',
    ]);
    expect(await statusOf(run)).toBe('errored');
  });

  it('that reports nothing for ten minutes fails, and every report extends the time up to an hour', async () => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    const { payload } = await takeRequest(run);
    for (let n = 0; n < 6; n += 1) {
      clock.pass({ minutes: 9 });
      await sendRequests();
      expectStatus(await callback(payload, result('running')), 200);
    }
    clock.pass({ minutes: 7 });
    await sendRequests();
    expect((await resultOf(payload)).attributes).toMatchObject({
      status: 'errored',
      message: 'The service did not report a result in time',
    });
    const silent = await aRun({ stages: ['pre_plan'], level: 'advisory' });
    await takeRequest(silent.run);
    clock.pass({ minutes: 9 });
    await sendRequests();
    expect(await statusOf(silent.run)).toBe('pre_plan_running');
    clock.pass({ minutes: 1 });
    await sendRequests();
    expect(await statusOf(silent.run)).toBe('plan_queued');
  });

  it.each(['not stored', 'lost'])(
    'that has reported is silent after ten minutes, also if its answer was %s',
    async (how) => {
      const { run } = await aRun({ stages: ['pre_plan'] });
      if (how === 'not stored') service.answer(503);
      const { payload } = await takeRequest(run);
      service.answer(200);
      if (how === 'lost')
        await server.database.transaction([
          sql`delete from runs.task_requests where result = ${payload.task_result_id as string}`,
        ]);
      expectStatus(await callback(payload, result('running')), 200);
      clock.pass({ minutes: 9 });
      await sendRequests();
      expect(await statusOf(run)).toBe('pre_plan_running');
      clock.pass({ minutes: 1 });
      await sendRequests();
      expect(await statusOf(run)).toBe('errored');
    },
  );

  it('that has accepted no request fails after an hour', async () => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    service.answer(503);
    await takeRequest(run);
    clock.pass({ minutes: 60 });
    await sendRequests();
    service.answer(200);
    expect(await statusOf(run)).toBe('errored');
  });

  it('that never answers does not delay the other services of its organization', async () => {
    const dead = await startTaskService();
    const waiting: string[] = [];
    for (let n = 0; n < 10; n += 1) waiting.push((await aRun({ stages: ['pre_plan'], of: dead })).run);
    clock.pass({ seconds: 1 });
    const { run } = await aRun({ stages: ['pre_plan'] });
    dead.answer(null);
    const stopped = new AbortController();
    const round = createJob().run({ signal: stopped.signal, done: () => undefined });
    await service.waitForRequest(run);
    await waitUntil(async () => (await readDue()) === waiting.length - 4, 'the metric counts the requests that wait');
    expect(dead.received.filter(({ payload }) => waiting.includes(payload.run_id as string)).length).toBeLessThan(5);
    stopped.abort();
    await round;
    expect(await readDue()).toBe(0);
    for (const one of [...waiting, run]) expectStatus(await act(one, 'cancel'), 202);
  });

  it('gets the request again if the process is killed while it waits for the answer', async () => {
    const { run } = await aRun({ stages: ['pre_plan'] });
    const killed = new AbortController();
    service.answer(null);
    const round = createJob().run({ signal: killed.signal, done: () => undefined });
    await service.waitForRequest(run);
    killed.abort();
    await round;
    service.answer(200);
    await sendRequests();
    expect(service.received.filter(({ payload }) => payload.run_id === run)).toHaveLength(1);
    clock.pass({ minutes: 1 });
    const { payload } = await takeRequest(run);
    expect(service.received.filter((one) => one.payload.run_id === run)).toHaveLength(2);
    expectStatus(await callback(payload, result('passed')), 200);
    expect(await statusOf(run)).toBe('plan_queued');
  });

  it('of a deleted task ends its result', async () => {
    const { run, task } = await aRun({ stages: ['pre_plan'] });
    expectStatus(await server.delete(`/api/v2/tasks/${task}`), 204);
    await sendRequests();
    expect(await statusOf(run)).toBe('errored');
    const [{ attributes }] = (await stagesOf(run)).included;
    expect(attributes.message).toBe('The run task was deleted');
  });

  it('whose key is damaged gets no request, and the operator finds the error in the log', async () => {
    const { run, task } = await aRun({ stages: ['pre_plan'] });
    await server.database.transaction([
      sql`update vault.secrets set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where id = ${task}`,
    ]);
    const warn = jest.fn();
    await runJobOnce(createJob({ ...quiet, warn }));
    expect(warn.mock.calls).toEqual([
      [{ err: expect.any(Error), task }, 'the key of a run task could not be decrypted'],
    ]);
    expect(await statusOf(run)).toBe('errored');
    const [{ attributes }] = (await stagesOf(run)).included;
    expect(attributes.message).toBe('The key could not be decrypted');
    expectStatus(await server.patch(`/api/v2/tasks/${task}`, resource('tasks', { url: `${service.url}/2` })), 422);
    expectStatus(await server.patch(`/api/v2/tasks/${task}`, resource('tasks', { 'hmac-key': 'a new key' })), 200);
  });
});

it('ends the other results if one cannot be ended', async () => {
  const [broken, sound] = [await aRun({ stages: ['pre_plan'] }), await aRun({ stages: ['pre_plan'] })];
  await sendRequests();
  clock.pass({ minutes: 10 });
  const later = await aRun({ stages: ['pre_plan'] });
  const restore = server.store.restore.bind(server.store);
  const restoring = jest
    .spyOn(server.store, 'restore')
    .mockImplementation((stream, decider, snapshot) =>
      stream === broken.run ? Promise.reject(new Error('damaged')) : restore(stream, decider, snapshot),
    );
  const warn = jest.fn();
  await runJobOnce(createJob({ ...quiet, warn }));
  restoring.mockRestore();
  expect(warn).toHaveBeenCalledWith(
    { err: expect.objectContaining({ message: 'damaged' }), run: broken.run, result: expect.any(String) },
    'the result of a run task could not be ended',
  );
  expect([await statusOf(broken.run), await statusOf(sound.run)]).toEqual(['pre_plan_running', 'errored']);
  expect(service.received.some(({ payload }) => payload.run_id === later.run)).toBe(true);
  await sendRequests();
  expect(await statusOf(broken.run)).toBe('errored');
  expectStatus(await act(later.run, 'cancel'), 202);
});

describe('the largest', () => {
  const fill = (bytes: number): string[] => {
    const list = Array.from({ length: 200 }, () => '"'.repeat(162));
    const rest = bytes - Buffer.byteLength(JSON.stringify([...list.slice(1), '']));
    return [...list.slice(1), 'x'.repeat(rest)];
  };

  it('run has 100 tasks in four stages, with the longest URLs', async () => {
    await makeOrganization(server, 'largest');
    const stages = ['pre_plan', 'post_plan', 'pre_apply', 'post_apply'];
    const global = { enabled: true, stages, 'enforcement-level': 'mandatory' };
    const url = `${service.url}?${'x'.repeat(2_047 - service.url.length)}`;
    const aTaskOf = (name: string, address: string) =>
      server.post(
        '/api/v2/organizations/largest/tasks',
        newRunTask(name, { url: address }, { 'global-configuration': global }),
      );
    expectStatus(await aTaskOf('longer', `${url.slice(0, -1)}"`), 422);
    const names = Array.from({ length: 100 }, (_, n) => `${n}-${'x'.repeat(200)}`);
    for (let n = 0; n < names.length; n += 4)
      for (const answer of await Promise.all(names.slice(n, n + 4).map((name) => aTaskOf(name, url))))
        expectStatus(answer, 201);
    const workspace = await makeWorkspace(server, 'largest', 'site');
    await makeConfigurationVersion(server, workspace);
    const lists = { 'target-addrs': fill(65_536), 'replace-addrs': fill(65_536), 'invoke-action-addrs': fill(65_536) };
    const variables = Array.from({ length: 392 }, (_, n) => ({ key: `${n}`.padStart(255, 'k'), value: '' }));
    const options = { ...lists, 'policy-paths': fill(65_536), message: '\u0001'.repeat(10_000), variables };
    const run = await makeRun(server, workspace, options);
    const answer = expectStatus(await server.get(`/api/v2/runs/${run}/task-stages?include=task_results`), 200).body;
    expect([answer.data.length, answer.included.length]).toEqual([4, 400]);
    expect(answer.included[0].attributes['task-url']).toBe(url);
    expectStatus(await act(run, 'cancel'), 202);
    const tooLong = runBody(workspace, { 'target-addrs': fill(65_537) });
    expect(expectStatus(await server.post('/api/v2/runs', tooLong), 422).body.errors[0]).toMatchObject({
      detail: 'Target addrs is too long (at most 65536 bytes in all)',
      source: { pointer: '/data/attributes/target-addrs' },
    });
  });

  it('report has 512 KiB of outcomes besides their texts', async () => {
    const { run } = await aRun({ stages: ['pre_plan'], options: { message: '\u0001'.repeat(10_000) } });
    const { payload } = await takeRequest(run);
    const tags = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [
        `${n}`,
        Array.from({ length: 3 }, () => ({ label: 'é'.repeat(25), level: 'error' })),
      ]),
    );
    const outcomes = (missing: number) => {
      const list = Array.from({ length: 100 }, (_, n) => ({ 'outcome-id': `${n}`, description: '', tags }));
      const rest = 512 * 1_024 - Buffer.byteLength(JSON.stringify(list)) - missing;
      const [first, ...others] = list.map((one, n) => ({
        ...one,
        description: 'x'.repeat(Math.floor(rest / 100) + (n === 0 ? rest % 100 : 0)),
      }));
      return [first, ...others].map((attributes) => ({
        type: 'task-result-outcomes',
        attributes: { ...attributes, body: 'Text' },
      }));
    };
    const message = 'é'.repeat(1_000);
    expect(
      expectStatus(await callback(payload, result('passed', { message }, outcomes(-1))), 422).body.errors[0],
    ).toMatchObject({
      detail: 'Outcomes: too long, at most 524288 bytes in all, without their bodies',
      source: { pointer: '/data/relationships/outcomes/data' },
    });
    expectStatus(await callback(payload, result('passed', { message }, outcomes(0))), 200);
    expect(await statusOf(run)).toBe('plan_queued');
    expectStatus(await act(run, 'cancel'), 202);
  });
});

it('leaves views that equal the views rebuilt from the log', async () => {
  await expectViewsMatchLog(server, [runsDefinition]);
});
