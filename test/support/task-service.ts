import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRunTasksJob } from '#runs/runs';
import { runJobOnce } from './scheduled-jobs.js';
import { expectStatus, makeRun, resource } from './seeds.js';
import type { ApiTestClient, TestServer } from './server.js';

/** A request that the service of a run task has got. */
type ReceivedTaskRequest = {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The parsed body. */
  readonly payload: any;
};

export type TaskService = {
  readonly url: string;
  readonly received: ReceivedTaskRequest[];
  /** The status of all answers from now on, 200 at first; null for a service that does not answer. */
  answer(status: number | null): void;
  /** Resolves when the service has got a request about the run. */
  waitForRequest(run: string): Promise<void>;
};

const startService = async (): Promise<TaskService> => {
  const received: ReceivedTaskRequest[] = [];
  let status: number | null = 200;
  const waiting: { readonly run: string; readonly resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const payload = JSON.parse(body);
      received.push({ headers: request.headers, body, payload });
      for (const { run, resolve } of waiting) if (run === payload.run_id) resolve();
      if (status !== null) response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It does not keep the worker alive.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/task`,
    received,
    answer: (next) => void (status = next),
    waitForRequest: async (run) => {
      if (received.some(({ payload }) => payload.run_id === run)) return;
      await new Promise<void>((resolve) => waiting.push({ run, resolve }));
    },
  };
};

let shared: Promise<TaskService> | null = null;

/** Returns a service that answers 200 and is the same for all files of a worker. */
export const openTestTaskService = (): Promise<TaskService> => (shared ??= startService());

/** Starts a service of a test's own. */
export const startTaskService = startService;

export const signTaskBody = (body: string, key: string): string => createHmac('sha512', key).update(body).digest('hex');

export const newRunTask = (name: string, { url }: { readonly url: string }, attributes: object = {}): object =>
  resource('tasks', { name, url, category: 'task', ...attributes });

/** Creates a run task. Returns its id. */
export const makeRunTask = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  attributes: object = {},
): Promise<string> => {
  const body = newRunTask(name, await openTestTaskService(), attributes);
  return expectStatus(await api.post(`/api/v2/organizations/${organization}/tasks`, body), 201).body.data.id as string;
};

export const newWorkspaceTask = (task: string, attributes: object = {}): object =>
  resource(
    'workspace-tasks',
    { 'enforcement-level': 'mandatory', ...attributes },
    { task: { data: { type: 'tasks', id: task } } },
  );

/** Adds the task to the workspace. Returns the id of the workspace task. */
export const makeWorkspaceTask = async (
  api: ApiTestClient,
  workspace: string,
  task: string,
  attributes: object = {},
): Promise<string> => {
  const answer = await api.post(`/api/v2/workspaces/${workspace}/tasks`, newWorkspaceTask(task, attributes));
  return expectStatus(answer, 201).body.data.id as string;
};

/** Sends the requests of run tasks that are due. */
export const sendTaskRequests = ({ runtime, store }: TestServer, clock = runtime.clock): Promise<number> =>
  runJobOnce(createRunTasksJob({ ...runtime, ...runtime.settings, store, clock }));

export const taskReportOf = (status: string, attributes: object = {}, outcomes: readonly object[] = []): object =>
  resource('task-results', { status, ...attributes }, { outcomes: { data: outcomes } });

/** Creates a plan-only run whose task has passed, with an outcome. Deletes the task afterwards. */
export const makeTaskReport = async (server: TestServer, workspace: string) => {
  const task = await makeRunTask(server, 'acme', 'reporting-task');
  await makeWorkspaceTask(server, workspace, task, { stages: ['pre_plan'] });
  const run = await makeRun(server, workspace, { 'plan-only': true });
  await sendTaskRequests(server);
  const request = (await openTestTaskService()).received.findLast(({ payload }) => payload.run_id === run);
  const { access_token: token, task_result_id: result, task_result_callback_url: url } = request?.payload ?? {};
  const outcome = { type: 'task-result-outcomes', attributes: { 'outcome-id': 'PORT-22', body: '# Port 22' } };
  const answer = await server
    .as(token as string)
    .patch(new URL(url as string).pathname, taskReportOf('passed', {}, [outcome]));
  expectStatus(answer, 200);
  const relationships = expectStatus(await server.get(`/api/v2/task-results/${result}`), 200).body.data.relationships;
  expectStatus(await server.delete(`/api/v2/tasks/${task}`), 204);
  return {
    run,
    result: result as string,
    stage: relationships['task-stage'].data.id as string,
    outcome: relationships['task-result-outcomes'].data[0].id as string,
  };
};
