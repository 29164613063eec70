import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { verifyView, listViews } from '#storage/event-store';
import { FixedClock } from '../../../../test/support/clocks.js';
import {
  expectStatus,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganization,
  makeRun,
  makeWorkspace,
  reportBody,
} from '../../../../test/support/seeds.js';
import { runRequests } from '../../../../test/support/runs.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { runsDefinition } from '../index.js';

const clock = new FixedClock();
let server: TestServer;
let agents: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ clock });
  await makeOrganization(server, 'acme');
  agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
});

afterAll(() => server.close());

const requests = runRequests(() => ({ server, agents }));
const aWorkspace = (): Promise<string> => requests.aWorkspace({ 'auto-apply': true });

/** A status that an executor reports, or an action of a user. */
type Step = readonly [status: string, afterMs: number];

const advance = async (run: string, ...steps: readonly Step[]): Promise<void> => {
  for (const [step, ms] of steps) {
    clock.pass({ ms });
    const isAction = ['cancel', 'discard', 'apply'].includes(step);
    expectStatus(
      isAction ? await requests.act(run, step) : await requests.report(run, step, { 'resource-additions': 1 }),
      isAction ? 202 : 200,
    );
  }
};

const aRun = async (workspace: string, attributes: object, ...steps: readonly Step[]): Promise<void> =>
  advance(await makeRun(server, workspace, attributes), ...steps);

const metricsOf = async (workspace: string): Promise<unknown> => {
  const { attributes } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data;
  return {
    runs: attributes['workspace-kpis-runs-count'],
    failures: attributes['run-failures'],
    byPolicy: attributes['policy-check-failures'],
    plan: attributes['plan-duration-average'],
    apply: attributes['apply-duration-average'],
  };
};

const NOTHING = { runs: null, failures: null, byPolicy: null, plan: null, apply: null };
const PLAN_ONLY = { 'plan-only': true };
const BY_HAND = { 'auto-apply': false };

const applied = (planMs: number, applyMs: number): readonly Step[] => [
  ['planning', 5_000],
  ['planned', planMs],
  ['applying', 7_000],
  ['applied', applyMs],
];

it('a workspace has no metrics if no counted run has ended', async () => {
  const workspace = await aWorkspace();
  expect(await metricsOf(workspace)).toEqual(NOTHING);
  await aRun(workspace, {}, ['cancel', 1]);
  await aRun(workspace, BY_HAND, ['planning', 1], ['planned', 10], ['discard', 1]);
  await aRun(workspace, PLAN_ONLY, ['planning', 1], ['planned', 10]);
  expect(await metricsOf(workspace)).toEqual(NOTHING);
});

it('measures each phase from its start to its end, and of a failed run the phases that it reached', async () => {
  const workspace = await aWorkspace();
  await aRun(workspace, {}, ...applied(1_000, 3_000));
  expect(await metricsOf(workspace)).toEqual({ runs: 1, failures: 0, byPolicy: 0, plan: 1_000, apply: 3_000 });
  // It fails before the plan, during the plan, and during the apply.
  await aRun(workspace, {}, ['errored', 500_000]);
  expect(await metricsOf(workspace)).toEqual({ runs: 2, failures: 1, byPolicy: 0, plan: 1_000, apply: 3_000 });
  await aRun(workspace, {}, ['planning', 1], ['errored', 2_000]);
  expect(await metricsOf(workspace)).toEqual({ runs: 3, failures: 2, byPolicy: 0, plan: 1_500, apply: 3_000 });
  await aRun(workspace, {}, ['planning', 1], ['planned', 6_001], ['applying', 1], ['errored', 1_000]);
  expect(await metricsOf(workspace)).toEqual({ runs: 4, failures: 3, byPolicy: 0, plan: 3_000, apply: 2_000 });
  // The time before a user confirms belongs to neither phase.
  const thought = [
    ['planning', 1],
    ['planned', 3_000],
    ['apply', 900_000],
    ['applying', 1],
    ['applied', 2_000],
  ] as const;
  await aRun(workspace, BY_HAND, ...thought);
  expect(await metricsOf(workspace)).toEqual({ runs: 5, failures: 3, byPolicy: 0, plan: 3_000, apply: 2_000 });
});

it('separates failures of policy checks from other failures', async () => {
  const workspace = await aWorkspace();
  const checking: readonly Step[] = [
    ['planning', 1],
    // Planned, without auto-apply.
    ['policy_checking', 100],
  ];
  await aRun(workspace, BY_HAND, ...checking, ['errored', 1]);
  expect(await metricsOf(workspace)).toMatchObject({ runs: 1, failures: 1, byPolicy: 1 });
  await aRun(workspace, BY_HAND, ...checking, ['policy_override', 1], ['errored', 1]);
  expect(await metricsOf(workspace)).toMatchObject({ runs: 2, failures: 2, byPolicy: 2 });
  await aRun(workspace, PLAN_ONLY, ...checking, ['policy_soft_failed', 1]);
  expect(await metricsOf(workspace)).toMatchObject({ runs: 3, failures: 3, byPolicy: 3, plan: 100 });
  // The failure is overridden, and the run fails later or succeeds.
  const passed = [...checking, ['policy_override', 1], ['policy_checked', 1], ['applying', 1]] as const;
  await aRun(workspace, {}, ...passed, ['errored', 1]);
  await aRun(workspace, {}, ...passed, ['applied', 1]);
  expect(await metricsOf(workspace)).toMatchObject({ runs: 5, failures: 4, byPolicy: 3 });
  // Discarded while it waited for an override.
  await aRun(workspace, BY_HAND, ...checking, ['policy_override', 1], ['discard', 1]);
  expect(await metricsOf(workspace)).toMatchObject({ runs: 5, failures: 4, byPolicy: 3 });
});

const average = (values: readonly number[]): number =>
  Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);

it('covers the newest 30 counted runs, and stores no others', async () => {
  const workspace = await aWorkspace();
  const ended: { readonly planMs: number | null; readonly applyMs: number | null; readonly failed: boolean }[] = [];
  for (let n = 1; n <= 36; n += 1) {
    if (n % 9 === 0) {
      await aRun(workspace, PLAN_ONLY, ['errored', 1_000]);
      ended.push({ planMs: null, applyMs: null, failed: true });
    } else {
      await aRun(workspace, {}, ...applied(n * 1_000 + 7, n * 100));
      ended.push({ planMs: n * 1_000 + 7, applyMs: n * 100, failed: false });
    }
    if (n % 4 === 0) await aRun(workspace, PLAN_ONLY, ['cancel', 1]);
    if (n % 5 === 0) await aRun(workspace, BY_HAND, ['planning', 1], ['planned', 90_000], ['discard', 1]);
  }
  const newest = ended.slice(-30);
  expect(await metricsOf(workspace)).toEqual({
    runs: 30,
    failures: newest.filter(({ failed }) => failed).length,
    byPolicy: 0,
    plan: average(newest.flatMap(({ planMs }) => planMs ?? [])),
    apply: average(newest.flatMap(({ applyMs }) => applyMs ?? [])),
  });
  const countFinishedRuns = sql`select count(*) as n from finished_runs where workspace = ${workspace}`;
  expect(await server.database.row(countFinishedRuns)).toEqual({ n: 30 });
});

it('counts all runs that end at the same time', async () => {
  const workspace = await aWorkspace();
  const runs = await Promise.all(Array.from({ length: 20 }, () => makeRun(server, workspace, PLAN_ONLY)));
  await Promise.all(runs.map((run) => advance(run, ['errored', 0])));
  expect(await metricsOf(workspace)).toMatchObject({ runs: 20, failures: 20 });
});

it('is deleted with the workspace and with the organization', async () => {
  const readRemaining = async (where: string): Promise<unknown> =>
    server.database.rows(sql`
      select run from finished_runs where ${where} in (workspace, organization)
      union all select workspace from workspace_metrics where ${where} in (workspace, organization)`);
  const workspace = await aWorkspace();
  await aRun(workspace, PLAN_ONLY, ['errored', 1]);
  expect(await readRemaining(workspace)).toHaveLength(2);
  expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
  expect(await readRemaining(workspace)).toEqual([]);
  const { id } = await makeOrganization(server, 'gone');
  const its = await makeWorkspace(server, 'gone', 'one');
  await makeConfigurationVersion(server, its);
  const token = await makeAgentToken(server, await makeRemotePool(server, 'gone', 'edge'));
  const run = await makeRun(server, its, PLAN_ONLY);
  expectStatus(await server.as(token).post(`/api/v2/runs/${run}/progress`, reportBody('errored')), 200);
  expect(await readRemaining(id)).toHaveLength(2);
  expectStatus(await server.delete('/api/v2/organizations/gone'), 204);
  expect(await readRemaining(id)).toEqual([]);
});

it('equals the metrics rebuilt from the log', async () => {
  const [view] = listViews([runsDefinition]).filter(({ tables }) => tables.includes('workspace_metrics'));
  expect(view && (await verifyView(server.store, view, clock.now()))).toEqual([]);
});
