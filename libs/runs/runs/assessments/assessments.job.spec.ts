import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { ToolReleases } from '#workspaces/workspaces';
import { FixedClock } from '../../../../test/support/clocks.js';
import { assessmentRequests, setViewVersion } from '../../../../test/support/assessments.js';
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
  makeOrganizationToken,
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
  await setViewVersion(server, 1);
  // From now on, this site assesses workspaces.
  await runJob();
});

/** Workspaces of other tests must not take part. */
const assessedWorkspaces: string[] = [];
afterEach(async () => {
  const off = resource('workspaces', { 'assessments-enabled': false });
  for (const id of assessedWorkspaces.splice(0)) expectStatus(await server.patch(`/api/v2/workspaces/${id}`, off), 200);
  await runJob(null);
});

afterAll(async () => {
  await server.close();
  await receiver.close();
});

const site = () => ({ server, agents });
const runs = runRequests(site);
const { aWorkspace, act, differences, holderOf, report, reported, statusOf } = runs;
const requests = assessmentRequests(site, runs);
const { storeResources, assessmentsOf } = requests;

const createJob = (hours: number | null = 24) =>
  createAssessmentsJob(
    { ...server.runtime, store: server.store, clock, releases: new ToolReleases(), siteRunsPerOrganization: null },
    hours,
  );
const runJob = async (hours?: number | null): Promise<void> => {
  // It starts nothing while the follower is behind.
  await caughtUp();
  await runJobOnce(createJob(hours));
  await caughtUp();
};
const DAY_SECONDS = 86_400;
/** Moves the clock to the next time at which the workspace is due. */
const passUntilDue = async (workspace: string): Promise<void> => {
  const row = await server.database.row<{ hash: number }>(sql`select hashtext(${workspace}) & 2147483647 as hash`);
  const offset = ((row?.hash ?? 0) / 2 ** 31) * DAY_SECONDS + 60;
  const present = (clock.time / 1_000) % DAY_SECONDS;
  clock.pass({ seconds: Math.ceil((offset - present + DAY_SECONDS) % DAY_SECONDS) || DAY_SECONDS });
};
/** Runs the job when the workspace is due. */
const runWhenDue = async (...workspaces: readonly string[]): Promise<void> => {
  for (const workspace of workspaces) {
    await passUntilDue(workspace);
    await runJob();
  }
};
const caughtUp = async (): Promise<void> => {
  // The queue of runs appends events that the follower of assessments reads.
  for (const follower of ['run_queue', 'assessments']) await waitForFollowers(server.store, follower);
};
const pass = (hours: number): void => void clock.pass({ minutes: hours * 60 });

const anAppliedWorkspace = async (attributes?: object): Promise<string> => {
  const id = await requests.anAppliedWorkspace(attributes);
  assessedWorkspaces.push(id);
  await caughtUp();
  return id;
};

const listRuns = async (workspace: string, query = ''): Promise<any[]> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs${query}`), 200).body.data;
const latestOf = async (workspace: string): Promise<string> => (await assessmentsOf(workspace))[0].id;

const cancelAllBut = async (run: string): Promise<void> => {
  const waiting = await server.database.rows<{ id: string }>(
    sql`select id from runs where status in ('pending', 'plan_queued') and id <> ${run}`,
  );
  for (const { id } of waiting) expectStatus(await act(id, 'cancel'), 202);
};

/** Ends the next assessment of the workspace. */
const assess = async (workspace: string, counts: object = NONE): Promise<string> => {
  await runWhenDue(workspace);
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
    await passUntilDue(id);
    await caughtUp();
    await Promise.all([createJob(), createJob(), createJob()].map((job) => runJobOnce(job)));
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
    const empty = await anAppliedWorkspace();
    await storeResources(empty, 0);
    const skipped = [
      empty,
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
    const begun = await anAppliedWorkspace();
    await runWhenDue(...skipped, failed, locked, local, busy, begun);
    expect((await assessmentsOf(begun)).length).toBeGreaterThan(0);
    for (const id of [...skipped, failed, locked, local, busy]) expect(await assessmentsOf(id)).toEqual([]);
  });

  it('begins in all workspaces if the organization enforces it', async () => {
    const enforced = (value: boolean) =>
      server.patch('/api/v2/organizations/acme', resource('organizations', { 'assessments-enforced': value }));
    const id = await anAppliedWorkspace({});
    await runWhenDue(id);
    expect(await assessmentsOf(id)).toEqual([]);
    expectStatus(await enforced(true), 200);
    await runWhenDue(id);
    expectStatus(await enforced(false), 200);
    expect(await assessmentsOf(id)).toHaveLength(1);
  });

  it('begins only while fewer than 20 wait in the organization, and fewer than 500 at the site', async () => {
    const [first, id] = [await anAppliedWorkspace(), await anAppliedWorkspace()];
    await runWhenDue(first);
    const run = await latestOf(first);
    const copy = (count: number, organization: string) =>
      server.database.rows(sql`
        insert into runs select (jsonb_populate_record(r, jsonb_build_object(
          'id', 'run-copy' || n, 'created_at', 'infinity', 'organization', coalesce(nullif(${organization}, ''), r.organization)))).*
          from runs r cross join generate_series(1, ${count}::integer) n where r.id = ${run}`);
    for (const [count, organization] of [
      [20, ''],
      [500, 'org-other'],
    ] as const) {
      await copy(count, organization);
      await runWhenDue(id);
      await server.database.rows(sql`delete from runs where id like 'run-copy%'`);
      expect(await assessmentsOf(id)).toEqual([]);
    }
    await runWhenDue(id);
    expect(await assessmentsOf(id)).toHaveLength(1);
  });

  it('begins not before the upgrade of the site is complete', async () => {
    const id = await anAppliedWorkspace();
    await setViewVersion(server, 0);
    await runWhenDue(id);
    await setViewVersion(server, 1);
    expect(await assessmentsOf(id)).toEqual([]);
    await runJob();
    expect(await assessmentsOf(id)).toHaveLength(1);
  });

  it('begins by itself in no workspace of a restored site, before somebody has queued a run in it', async () => {
    const [quiet, used] = [await anAppliedWorkspace(), await anAppliedWorkspace()];
    await server.database.rows(sql`delete from runs.assessments_begun`);
    clock.pass({ seconds: 1 });
    await runJob();
    const run = await makeRun(server, used, { 'plan-only': true });
    await reported(run, 'planning', 'planned');
    expect(await statusOf(run)).toBe('planned_and_finished');
    await runWhenDue(quiet, used);
    expect([await assessmentsOf(quiet), (await assessmentsOf(used)).length]).toEqual([[], 1]);
  });

  it('is canceled if no executor has claimed it in a day, if nobody wants it any more, or if the operator wants none', async () => {
    const [late, unwanted, any] = [await anAppliedWorkspace(), await anAppliedWorkspace(), await anAppliedWorkspace()];
    await runWhenDue(late);
    const first = await latestOf(late);
    await runWhenDue(unwanted);
    const second = await latestOf(unwanted);
    const off = resource('workspaces', { 'assessments-enabled': false });
    expectStatus(await server.patch(`/api/v2/workspaces/${unwanted}`, off), 200);
    pass(24);
    await runJob();
    expect([await statusOf(first), await statusOf(second)]).toEqual(['canceled', 'canceled']);
    await runWhenDue(any);
    const third = await latestOf(any);
    expect(await statusOf(third)).toBe('plan_queued');
    await runJob(null);
    expect(await statusOf(third)).toBe('canceled');
    const { length } = await assessmentsOf(any);
    pass(24);
    await runJob(null);
    expect(await assessmentsOf(any)).toHaveLength(length);
  });

  it('has no entries in the audit trail, except for what executors read', async () => {
    const id = await anAppliedWorkspace();
    await runWhenDue(id);
    const run = await latestOf(id);
    await makeRun(server, id);
    await caughtUp();
    expect(await statusOf(run)).toBe('canceled');
    const token = await makeOrganizationToken(server, 'acme');
    const { body } = await server.as(token).get('/api/v2/organization/audit-trail?page[size]=1000');
    const actions = body.data.filter(({ resource: { id: about } }: any) => about === run);
    expect([body.data.length > 10, actions]).toEqual([true, []]);
  });

  it('takes the executor of no run', async () => {
    const [assessed, other] = [await anAppliedWorkspace(), await anAppliedWorkspace({})];
    await runJob(null);
    await runWhenDue(assessed);
    const run = await latestOf(assessed);
    await cancelAllBut(run);
    const agent = expectStatus(await agents.post(`/api/v2/agent-pools/${pool}/agents`), 201).body.data.id as string;
    const ended = async (id: string, status: string) => expectStatus(await report(id, status, { fence: 1 }), 200);
    const claim = async () => (await agents.post(`/api/v2/agents/${agent}/actions/claim`)).body?.data?.id;
    const before = await makeRun(server, other, { 'plan-only': true });
    expect(await claim()).toBe(before);
    await ended(before, 'planned');
    expect(await claim()).toBe(run);
    const after = await makeRun(server, other, { 'plan-only': true });
    await caughtUp();
    const { attributes } = expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data;
    expect([attributes.status, attributes['status-timestamps']['force-canceled-at']]).toEqual(['planning', undefined]);
    expect(await isCancelRequested(run)).toBe(true);
    await ended(run, 'canceled');
    expect(await claim()).toBe(after);
    await ended(after, 'planned');
  });

  /** Starts an executor. Returns its claim, which resolves to the id of the run. */
  const startExecutor = async (): Promise<() => Promise<string | undefined>> => {
    const id = expectStatus(await agents.post(`/api/v2/agent-pools/${pool}/agents`), 201).body.data.id as string;
    return async () => (await agents.post(`/api/v2/agents/${id}/actions/claim`)).body?.data?.id;
  };

  /** Returns the only assessment that waits, and the claim of an executor. */
  const aWaitingAssessment = async (id: string) => {
    await runJob(null);
    await runWhenDue(id);
    const run = await latestOf(id);
    await cancelAllBut(run);
    return { run, claim: await startExecutor() };
  };

  it('is neither claimed nor finished at a restored site', async () => {
    const { run, claim } = await aWaitingAssessment(await anAppliedWorkspace());
    const [begun] = await server.database.rows<{ at: string }>(
      sql`delete from runs.assessments_begun returning begun_at as at`,
    );
    expect(await claim()).toBeUndefined();
    await server.database.rows(
      sql`insert into runs.assessments_begun (begun_at) values (${begun?.at ?? ''}::timestamptz)`,
    );
    expect(await claim()).toBe(run);
    await server.database.rows(sql`delete from runs.assessments_begun`);
    clock.pass({ seconds: 1 });
    await runJob();
    expect(await isCancelRequested(run)).toBe(true);
    expectStatus(await report(run, 'canceled', { fence: 1 }), 200);
  });

  it.each(['workspace', 'operator'] as const)('is neither claimed nor finished if the %s wants none', async (who) => {
    const id = await anAppliedWorkspace();
    const { run, claim } = await aWaitingAssessment(id);
    const enable = async (value: boolean) =>
      expectStatus(
        await server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', { 'assessments-enabled': value })),
        200,
      );
    await enable(false);
    expect(await claim()).toBeUndefined();
    await enable(true);
    expect(await claim()).toBe(run);
    await runJob();
    expect(await isCancelRequested(run)).toBe(false);
    if (who === 'workspace') await enable(false);
    await runJob(who === 'workspace' ? 24 : null);
    expect(await isCancelRequested(run)).toBe(true);
    expectStatus(await report(run, 'canceled', { fence: 1 }), 200);
  });

  it('is canceled if a run waits although another executor seems to be idle', async () => {
    const [id, other] = [await anAppliedWorkspace(), await anAppliedWorkspace({})];
    const { run, claim } = await aWaitingAssessment(id);
    expect(await claim()).toBe(run);
    // It never claims, as if it was killed.
    await startExecutor();
    const waiting = await makeRun(server, other, { 'plan-only': true });
    await runJob();
    expect(await isCancelRequested(run)).toBe(false);
    clock.pass({ seconds: 30 });
    await runJob();
    expect(await isCancelRequested(run)).toBe(true);
    expectStatus(await report(run, 'canceled', { fence: 1 }), 200);
    expect(await claim()).toBe(waiting);
    expectStatus(await report(waiting, 'planned', { fence: 1 }), 200);
  });

  it('begins after a failed plan of a pull request, and while one waits', async () => {
    const [failed, waiting] = [await anAppliedWorkspace(), await anAppliedWorkspace()];
    clock.pass({ seconds: 1 });
    await reported(await makeRun(server, failed, { 'plan-only': true }), 'planning', 'errored');
    await makeRun(server, waiting, { 'plan-only': true });
    await runWhenDue(failed, waiting);
    await runJob();
    for (const id of [failed, waiting]) {
      expect((await assessmentsOf(id)).map(({ attributes }) => attributes.status)).toEqual(['plan_queued']);
    }
  });

  const isCancelRequested = async (id: string): Promise<boolean> =>
    (await server.database.row(sql`select 1 from runs where id = ${id} and cancel_requested_at is not null`)) !==
    undefined;

  it('keeps the logs and documents of the newest five of a workspace', async () => {
    const id = await anAppliedWorkspace();
    for (let day = 0; day < 7; day += 1) await assess(id);
    const stored = await server.database.rows<{ id: string }>(sql`
      select id from runs where workspace = ${id} and source = 'assessment' and data_deleted_at is null`);
    const newest = (await assessmentsOf(id)).slice(0, 5).map((run) => run.id);
    expect(stored.map((run) => run.id).toSorted()).toEqual(newest.toSorted());
  });

  it('is canceled by a run that is created, also while an executor works', async () => {
    const [waiting, working] = [await anAppliedWorkspace(), await anAppliedWorkspace()];
    await runWhenDue(waiting, working);
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
    await runJob(null);
    await runWhenDue(id);
    const run = await latestOf(id);
    await cancelAllBut(run);
    const claimed = expectStatus(await agents.post(`/api/v2/agent-pools/${pool}/agents`), 201).body.data.id as string;
    const claim = async (): Promise<void> => {
      const { body } = await agents.post(`/api/v2/agents/${claimed}/actions/claim`);
      expect(body.data.id).toBe(run);
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

  it('happens once a day, at an hour of its own for each workspace', async () => {
    const ids = [await anAppliedWorkspace(), await anAppliedWorkspace(), await anAppliedWorkspace()];
    await caughtUp();
    const hours = new Map<string, Set<number>>();
    for (let hour = 1; hour <= 5 * 24; hour += 1) {
      pass(1);
      await caughtUp();
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
    expect(numbers).toEqual([5, 5, 5]);
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
    await runWhenDue(id);
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
    for (let day = 0; day < 2; day += 1) await assess(id, bad);
    expect(await sent()).toEqual(['assessment:check_failure', 'assessment:drifted']);
    // An executor that does not report drift is no news.
    await assess(id, {});
    await assess(id, bad);
    expect((await sent()).slice(2)).toEqual([]);
    const [delivery] = await server.database.rows<{ subject: any }>(sql`
      select subject from notifications.deliveries where configuration = ${configuration} and trigger = 'assessment:drifted'`);
    expect(delivery?.subject.assessment).toMatchObject({
      now: { drifted: true, counts: { resourcesDrifted: 2 } },
      before: { drifted: false, counts: { resourcesDrifted: 0 } },
    });
  });

  it('leads to the documents and the log of the plan, for administrators of the workspace', async () => {
    const id = await anAppliedWorkspace();
    await runWhenDue(id);
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
