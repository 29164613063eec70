import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { ToolReleases } from '#workspaces/workspaces';
import { FixedClock } from '../../../../test/support/clocks.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import {
  makeNotificationConfiguration,
  REACHES_RECEIVERS,
  startReceiver,
  type NotificationReceiver,
} from '../../../../test/support/notification-receiver.js';
import { runRequests } from '../../../../test/support/runs.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import {
  expectStatus,
  makeAgentToken,
  makeOrganization,
  makeRemotePool,
  makeRun,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { createLostExecutorsJob } from '../run-leases/lost-executors.job.js';
import { createAssessmentsJob } from './assessments.job.js';

let server: TestServer;
let agents: ApiTestClient;
let pool: string;
let clock: FixedClock;
let receiver: NotificationReceiver;

const ENABLED = { 'assessments-enabled': true };
const NONE = { 'resources-drifted': 0, 'resources-undrifted': 3, 'checks-passed': 2 };

beforeAll(async () => {
  clock = new FixedClock();
  receiver = await startReceiver();
  server = await startTestServer({ clock, followers: true, env: REACHES_RECEIVERS });
  await makeOrganization(server, 'acme');
  pool = await makeRemotePool(server, 'acme', 'edge');
  agents = server.as(await makeAgentToken(server, pool));
});

afterAll(async () => {
  await server.close();
  await receiver.close();
});

const { aWorkspace, act, differences, holderOf, report, reported, statusOf } = runRequests(() => ({ server, agents }));

const createJob = () =>
  createAssessmentsJob({ ...server.runtime, store: server.store, clock, releases: new ToolReleases() }, 24);
const runJob = async (): Promise<void> => {
  await runJobOnce(createJob());
  await caughtUp();
};
const caughtUp = async (): Promise<void> => {
  for (const follower of ['assessments', 'run_queue']) await waitForFollowers(server.store, follower);
};
const pass = (hours: number): void => void clock.pass({ minutes: hours * 60 });

/** Applies a run in the workspace. */
const applied = async (workspace: string): Promise<void> => {
  const id = await makeRun(server, workspace, { 'auto-apply': true });
  await reported(id, 'planning', 'planned', 'applying', 'applied');
  await caughtUp();
};
const anAppliedWorkspace = async (attributes: object = ENABLED): Promise<string> => {
  const id = await aWorkspace(attributes);
  await applied(id);
  return id;
};

const listRuns = async (workspace: string, query = ''): Promise<any[]> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs${query}`), 200).body.data;
const assessmentsOf = (workspace: string): Promise<any[]> => listRuns(workspace, '?filter[source]=assessment');
const latestOf = async (workspace: string): Promise<string> => (await assessmentsOf(workspace))[0].id;

/** Ends the assessment of the workspace that is due. */
const assess = async (workspace: string, counts: object = NONE): Promise<string> => {
  await runJob();
  const id = await latestOf(workspace);
  await reported(id, 'planning');
  expectStatus(await report(id, 'planned', counts), 200);
  await caughtUp();
  return id;
};
const currentResult = async (workspace: string): Promise<any> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}/current-assessment-result`), 200).body.data;

describe('a health assessment', () => {
  it('is a plan that only refreshes, takes no lock, and is in no list that does not name its source', async () => {
    const id = await anAppliedWorkspace();
    await Promise.all([createJob(), createJob(), createJob()].map(runJobOnce));
    const [run, ...more] = await assessmentsOf(id);
    expect(more).toEqual([]);
    expect(run.attributes).toMatchObject({
      source: 'assessment',
      'plan-only': true,
      'refresh-only': true,
      status: 'plan_queued',
    });
    expect([await holderOf(id), (await listRuns(id)).map(({ attributes }) => attributes.status)]).toEqual([
      null,
      ['applied'],
    ]);
    const { body } = await server.get('/api/v2/organizations/acme/runs');
    expect(body.data.map(({ attributes }: any) => attributes.source)).not.toContain('assessment');
    const { attributes } = (await server.get('/api/v2/organizations/acme/capacity')).body.data;
    expect(attributes).toMatchObject({ pending: 0, running: 0 });
  });

  it('begins only in remote workspaces with an apply whose latest run ended well, and that want it', async () => {
    const skipped = [
      await aWorkspace(ENABLED),
      await anAppliedWorkspace({}),
      await anAppliedWorkspace({ ...ENABLED, 'terraform-version': '0.15.3' }),
    ];
    const failed = await anAppliedWorkspace();
    clock.pass({ seconds: 1 });
    await reported(await makeRun(server, failed), 'planning', 'errored');
    const locked = await anAppliedWorkspace();
    expectStatus(await server.post(`/api/v2/workspaces/${locked}/actions/lock`), 200);
    const local = await anAppliedWorkspace();
    const mode = resource('workspaces', { 'execution-mode': 'local' });
    expectStatus(await server.patch(`/api/v2/workspaces/${local}`, mode), 200);
    const busy = await anAppliedWorkspace();
    await makeRun(server, busy);
    await runJob();
    for (const id of [...skipped, failed, locked, local, busy]) expect(await assessmentsOf(id)).toEqual([]);
  });

  it('begins in all workspaces if the organization enforces it', async () => {
    const enforced = (value: boolean) =>
      server.patch('/api/v2/organizations/acme', resource('organizations', { 'assessments-enforced': value }));
    const id = await anAppliedWorkspace({});
    await runJob();
    expect(await assessmentsOf(id)).toEqual([]);
    expectStatus(await enforced(true), 200);
    await runJob();
    expectStatus(await enforced(false), 200);
    expect(await assessmentsOf(id)).toHaveLength(1);
  });

  it('is canceled by a run that is created, also while an executor works', async () => {
    const [waiting, working] = [await anAppliedWorkspace(), await anAppliedWorkspace()];
    await runJob();
    const [first, second] = [await latestOf(waiting), await latestOf(working)];
    await reported(second, 'planning');
    // A plan that changes nothing does not matter.
    await makeRun(server, waiting, { 'plan-only': true });
    await caughtUp();
    expect(await statusOf(first)).toBe('plan_queued');
    const runs = [await makeRun(server, waiting), await makeRun(server, working)];
    await caughtUp();
    expect([await statusOf(first), await statusOf(second)]).toEqual(['canceled', 'planning']);
    for (const run of runs) expect(await statusOf(run)).toBe('plan_queued');
    await reported(second, 'canceled');
    await caughtUp();
    for (const id of [waiting, working]) {
      expectStatus(await server.get(`/api/v2/workspaces/${id}/current-assessment-result`), 404);
    }
  });

  it('is planned again by another executor if its own was killed, and never holds the lock', async () => {
    const id = await anAppliedWorkspace();
    await runJob();
    const run = await latestOf(id);
    const claimed = expectStatus(await agents.post(`/api/v2/agent-pools/${pool}/agents`), 201).body.data.id as string;
    const claim = async (): Promise<void> => {
      const { body } = await agents.post(`/api/v2/agents/${claimed}/actions/claim`);
      if (body.data.id !== run) await claim();
    };
    await claim();
    expect([await statusOf(run), await holderOf(id)]).toEqual(['planning', null]);
    clock.pass({ minutes: 2 });
    await runJobOnce(createLostExecutorsJob(server.store, clock, server.runtime.ids, 0));
    expect([await statusOf(run), await holderOf(id)]).toEqual(['plan_queued', null]);
    await claim();
    expectStatus(await report(run, 'planned', { ...NONE, fence: 1 }), 409);
    expectStatus(await report(run, 'planned', { ...NONE, fence: 2 }), 200);
    await caughtUp();
    expect((await currentResult(id)).attributes.succeeded).toBe(true);
  });

  it('happens once a day in a month, at an hour of its own for each workspace', async () => {
    const ids = [await anAppliedWorkspace(), await anAppliedWorkspace(), await anAppliedWorkspace()];
    await runJob();
    for (const id of ids) await assess(id);
    const hours = new Map<string, Set<number>>();
    for (let hour = 1; hour <= 30 * 24; hour += 1) {
      pass(1);
      await runJobOnce(createJob());
      const open = await server.database.rows<{ id: string; workspace: string }>(sql`
        select id, workspace from runs where status = 'plan_queued' and workspace = any (${ids}::text[])`);
      for (const { id, workspace } of open) {
        hours.set(workspace, (hours.get(workspace) ?? new Set()).add(hour % 24));
        await reported(id, 'planning');
        expectStatus(await report(id, 'planned', NONE), 200);
      }
    }
    await caughtUp();
    const numbers = await Promise.all(ids.map(async (id) => (await listAll(id)).length));
    expect(numbers).toEqual([31, 31, 31]);
    expect(ids.map((id) => hours.get(id)?.size)).toEqual([1, 1, 1]);
  });

  const listAll = (id: string) =>
    server.database.rows(sql`select id from assessment_results where workspace = ${id} and succeeded`);
});

describe('the result of a health assessment', () => {
  it('is in the document of the workspace, and among its includes', async () => {
    const id = await anAppliedWorkspace();
    const path = `/api/v2/workspaces/${id}`;
    expectStatus(await server.get(`${path}/current-assessment-result`), 404);
    const before = expectStatus(await server.get(path), 200).body.data;
    expect(before.relationships['current-assessment-result'].data).toBeNull();
    const run = await assess(id, { ...NONE, 'resources-drifted': 1, 'checks-failed': 1, 'checks-unknown': 1 });
    const result = await currentResult(id);
    expect(result).toMatchObject({
      id: run.replace('run-', 'asmtres-'),
      attributes: {
        succeeded: true,
        drifted: true,
        'resources-drifted': 1,
        'resources-undrifted': 3,
        'all-checks-succeeded': false,
        'checks-passed': 2,
        'checks-failed': 1,
        'checks-errored': 0,
        'checks-unknown': 1,
        'error-msg': null,
        'drifted-since': clock.now().toISOString(),
      },
    });
    expect(expectStatus(await server.get(`/api/v2/assessment-results/${result.id}`), 200).body.data).toEqual(result);
    const { data, included } = expectStatus(await server.get(`${path}?include=current_assessment_result`), 200).body;
    expect(data.relationships['current-assessment-result'].data.id).toBe(result.id);
    expect(data.attributes['last-assessment-result-at']).toBe(result.attributes['created-at']);
    expect(included).toEqual([result]);
    expect(await differences()).toEqual([]);
  });

  it('names the failure of the plan, and an executor that reports nothing', async () => {
    const id = await anAppliedWorkspace();
    await runJob();
    const run = await latestOf(id);
    await reported(run, 'planning');
    expectStatus(await report(run, 'errored', { message: 'no credentials' }), 200);
    await caughtUp();
    expect((await currentResult(id)).attributes).toMatchObject({
      succeeded: false,
      drifted: false,
      'all-checks-succeeded': false,
      'error-msg': 'no credentials',
      'error-message': 'no credentials',
    });
    pass(24);
    await assess(id, {});
    expect((await currentResult(id)).attributes['error-msg']).toMatch(/executor is too old/);
  });

  it('notifies when something changes, and about nothing else', async () => {
    const id = await anAppliedWorkspace();
    const triggers = ['assessment:drifted', 'assessment:check_failure', 'assessment:failed', 'run:created'];
    const settings = { url: receiver.url, enabled: true, triggers };
    const configuration = await makeNotificationConfiguration(server, `workspaces/${id}`, 'health', settings);
    const sent = async () => {
      await waitForFollowers(server.store, 'notifications');
      const rows = await server.database.rows<{ trigger: string }>(sql`
        select trigger from notifications.deliveries where configuration = ${configuration} and trigger <> 'verification'
         order by created_at, trigger`);
      return rows.map(({ trigger }) => trigger);
    };
    const bad = { ...NONE, 'resources-drifted': 2, 'checks-failed': 1 };
    await assess(id);
    expect(await sent()).toEqual([]);
    for (let day = 0; day < 2; day += 1) {
      pass(24);
      await assess(id, bad);
    }
    expect(await sent()).toEqual(['assessment:check_failure', 'assessment:drifted']);
    pass(24);
    await assess(id, {});
    pass(24);
    await assess(id, bad);
    expect((await sent()).slice(2)).toEqual(['assessment:failed']);
  });

  it('leads to the documents and the log of the plan, for administrators of the workspace', async () => {
    const id = await anAppliedWorkspace();
    await runJob();
    const run = await latestOf(id);
    await reported(run, 'planning');
    const plan = `/api/v2/plans/${run.replace('run-', 'plan-')}`;
    expectStatus(await agents.put(`${plan}/json-schema`, { format_version: '1.0', provider_schemas: {} }), 204);
    expectStatus(await agents.put(`${plan}/json-output`, { format_version: '1.2' }), 204);
    expectStatus(await report(run, 'planned', NONE), 200);
    await caughtUp();
    const result = `/api/v2/assessment-results/${(await currentResult(id)).id}`;
    for (const [name, text] of [
      ['json-output', 'format_version'],
      ['json-schema', 'provider_schemas'],
      ['log-output', ''],
    ] as const) {
      const { headers } = expectStatus(await server.get(`${result}/${name}`), 307);
      const { pathname } = new URL(headers.get('location') ?? '');
      expect(expectStatus(await server.as(null).get(pathname), 200).text).toContain(text);
    }
    expectStatus(await act(run, 'apply'), 409);
  });
});
