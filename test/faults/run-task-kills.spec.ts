import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import {
  expectStatus,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeWorkspace,
  reportBody,
} from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import {
  makeRunTask,
  makeWorkspaceTask,
  openTestTaskService,
  taskReportOf,
  type TaskService,
} from '../support/task-service.js';

// The product is the gateway and the projector in one process, so each kill ends both at the same moment.

const LONG = 600_000;
/** The server sends a request again 30 seconds after it died. */
const STEP = 150_000;

let product: Product;
let service: TaskService;
let api: ApiTestClient;
let agents: ApiTestClient;
let workspace: string;

beforeAll(async () => {
  service = await openTestTaskService();
  product = await launchProduct({ CADASTRE_OUTBOUND_PRIVATE_HOSTS: '127.0.0.1' });
  await product.start();
  api = createApiTestClient(product.url, product.adminToken);
  await makeOrganization(api, 'acme');
  agents = api.as(await makeAgentToken(api, await makeRemotePool(api, 'acme', 'edge')));
  workspace = await makeWorkspace(api, 'acme', 'app');
  await makeConfigurationVersion(api, workspace);
  await makeWorkspaceTask(api, workspace, await makeRunTask(api, 'acme', 'scanner'), {
    stages: ['pre_plan', 'post_plan', 'pre_apply'],
  });
}, LONG);

afterAll(async () => {
  service.answer(200);
  await product?.remove();
}, LONG);

const restart = async (): Promise<void> => {
  await product.kill();
  await product.start();
};

const listRequests = (run: string, stage: string) =>
  service.received.map(({ payload }) => payload).filter(({ run_id: id, stage: of }) => id === run && of === stage);

/** Returns the newest request about the stage, when there are this many. */
const waitForRequests = async (run: string, stage: string, count: number) => {
  await waitUntil(
    () => listRequests(run, stage).length >= count,
    `the service has ${count} requests of ${stage}`,
    STEP,
  );
  return listRequests(run, stage).at(-1);
};

const report = (payload: any) =>
  api
    .as(payload.access_token as string)
    .patch(new URL(payload.task_result_callback_url as string).pathname, taskReportOf('passed'));

const waitForStatus = (run: string, status: string): Promise<void> =>
  waitUntil(
    async () => expectStatus(await api.get(`/api/v2/runs/${run}`), 200).body.data.attributes.status === status,
    `the run is ${status}`,
    STEP,
  );

/** Returns how often the run reached each status. */
const listReached = async (run: string): Promise<readonly string[]> =>
  expectStatus(await api.get(`/api/v2/runs/${run}/run-events`), 200).body.data.map(
    ({ attributes }: any) => attributes.action as string,
  );

const listStages = async (run: string) =>
  expectStatus(await api.get(`/api/v2/runs/${run}/task-stages`), 200).body.data.map(
    ({ attributes }: any) => attributes.status as string,
  );

describe('kill -9 of the gateway and of the projector around the stages of a run', () => {
  it(
    'sends a request again that got no answer, counts a report once, and lets the run continue',
    async () => {
      // Delivery: the kill comes while the service works on the request.
      service.answer(null);
      const run = await makeRun(api, workspace, { 'auto-apply': true });
      await waitForRequests(run, 'pre_plan', 1);
      service.answer(200);
      await restart();
      const again = await waitForRequests(run, 'pre_plan', 2);
      expect(new Set(listRequests(run, 'pre_plan').map((payload) => payload.task_result_id)).size).toBe(1);

      // Callback: the kill comes while the server works on the reports. The service repeats them.
      const reports = Promise.allSettled([report(again), report(again), report(again)]);
      await product.kill();
      await reports;
      await product.start();
      expect([200, 409]).toContain((await report(again)).status);
      await waitForStatus(run, 'plan_queued');

      // Continuation: the kill follows the answers.
      for (const status of ['planning', 'planned'])
        expectStatus(
          await agents.post(`/api/v2/runs/${run}/progress`, reportBody(status, { 'has-changes': true })),
          200,
        );
      await restart();
      const afterPlan = await waitForRequests(run, 'post_plan', 1);
      expectStatus(await report(afterPlan), 200);
      await restart();
      expectStatus(await report(afterPlan), 409);
      const beforeApply = await waitForRequests(run, 'pre_apply', 1);
      expectStatus(await report(beforeApply), 200);
      await restart();
      await waitForStatus(run, 'apply_queued');
      expect(await listStages(run)).toEqual(['passed', 'passed', 'passed']);
      const reached = await listReached(run);
      for (const status of ['pre_plan_completed', 'post_plan_completed', 'pre_apply_completed'])
        expect(reached.filter((each) => each === status)).toHaveLength(1);
    },
    LONG,
  );
});
