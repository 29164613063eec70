import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { startAssessment } from '../../../../test/support/assessments.js';
import { TickingClock } from '../../../../test/support/clocks.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganization,
  makeRun,
  makeSitePool,
  makeWorkspace,
  reportBody,
  resource,
} from '../../../../test/support/seeds.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiTestClient,
  type TestGateway,
  type TestServer,
} from '../../../../test/support/server.js';

const LIMIT = 3;

let server: TestServer;
let gateway: TestGateway;
type Executor = { readonly api: ApiTestClient; readonly agent: string };
/** Two executors of one pool of the site. Each one asks another gateway. */
let executors: readonly Executor[];

/** Speculative runs do not wait for the workspace. */
const makeRuns = async (organization: string, count: number): Promise<readonly string[]> => {
  await makeOrganization(server, organization);
  const workspace = await makeWorkspace(server, organization, 'app');
  await makeConfigurationVersion(server, workspace);
  const runs = [];
  for (let n = 0; n < count; n += 1) runs.push(await makeRun(server, workspace, { 'plan-only': true }));
  return runs;
};

beforeAll(async () => {
  const env = { CADASTRE_MAX_SITE_RUNS_PER_ORGANIZATION: String(LIMIT) };
  server = await startTestServer({ clock: new TickingClock(), followers: true, env });
  gateway = await startAnotherGateway(server);
  const pool = await makeSitePool(server, 'site');
  const token = await makeAgentToken(server, pool);
  executors = await Promise.all(
    [server.as(token), gateway.as(token)].map(async (api) => {
      const { data } = expectStatus(await api.post(`/api/v2/agent-pools/${pool}/agents`), 201).body;
      return { api, agent: data.id as string };
    }),
  );
});

afterAll(async () => {
  await gateway.close();
  await server.close();
});

type Claimed = { readonly run: string; readonly fence: number };

const claim = async ({ api, agent }: Executor, attributes: object = {}): Promise<Claimed | null> => {
  const response = await api.post(`/api/v2/agents/${agent}/actions/claim`, resource('agents', attributes));
  const { data } = expectStatus(response, 200).body;
  return data && { run: data.id as string, fence: data.attributes.fence as number };
};

const end = async ({ api }: Executor, { run, fence }: Claimed): Promise<void> => {
  expectStatus(await api.post(`/api/v2/runs/${run}/progress`, reportBody('planned', { fence })), 200);
};

/** Executes runs one by one, until none waits. Returns them. */
const work = async (executor: Executor): Promise<readonly string[]> => {
  const runs = [];
  for (let claimed = await claim(executor); claimed; claimed = await claim(executor)) {
    await end(executor, claimed);
    runs.push(claimed.run);
  }
  return runs;
};

const workAll = async (): Promise<readonly string[]> => (await Promise.all(executors.map(work))).flat();

/** The organizations of all claims, in the order of the log. */
const listClaims = async (): Promise<readonly string[]> => {
  const rows = await server.database.rows<{ organization: string }>(sql`
    select organization from event_store.events where type = 'RunPlanStarted' order by position`);
  return rows.map(({ organization }) => organization);
};

describe('executors of the site', () => {
  it('execute each run once, and serve organizations in turn', async () => {
    const organizations = Array.from({ length: 10 }, (_, n) => `turn-${n}`);
    // The first organization has all its runs before the others have any.
    const runs = [];
    for (const organization of organizations) runs.push(...(await makeRuns(organization, 10)));
    expect((await workAll()).toSorted()).toEqual(runs.toSorted());
    const claims = await listClaims();
    expect(claims).toHaveLength(100);
    for (let n = 0; n + 10 <= claims.length; n += 10) expect(new Set(claims.slice(n, n + 10)).size).toBe(10);
  });

  it('execute the oldest health assessment first, whatever else the organizations execute', async () => {
    await server.database.rows(sql`insert into runs.assessments_begun (begun_at) values ('-infinity')`);
    // The first organization has had a turn, so that a run of the other one would be first.
    await makeRuns('assessed-often', 1);
    await makeRuns('assessed-once', 0);
    await workAll();
    const runs = [];
    for (const organization of ['assessed-often', 'assessed-once']) {
      const workspace = await makeWorkspace(server, organization, 'assessed', { 'assessments-enabled': true });
      await makeConfigurationVersion(server, workspace);
      runs.push(`run-of-${organization}`);
      await startAssessment(server.store, workspace, `run-of-${organization}`);
    }
    await waitForFollowers(server.store, 'run_queue');
    const [executor] = executors as readonly [Executor];
    expect(await work(executor)).toEqual(runs);
  });

  it('execute no more runs of an organization at once than the setting allows', async () => {
    await makeRuns('many', LIMIT + 3);
    const [few] = await makeRuns('few', 1);
    const answers = await Promise.all(
      [...executors, ...executors, ...executors, ...executors].map((one) => claim(one)),
    );
    const claimed = answers.flatMap((one) => one ?? []);
    expect(claimed).toHaveLength(LIMIT + 1);
    expect(claimed.map(({ run }) => run)).toContain(few);
    const [first, ...others] = claimed.filter(({ run }) => run !== few);
    const [executor, another] = executors;
    if (!first || !executor || !another) throw new Error('a claim or an executor is missing');
    const waiting = claim(another, { 'wait-seconds': 30 });
    await end(executor, first);
    const next = await waiting;
    if (!next) throw new Error('the executor got no run although one has ended');
    expect(await claim(executor)).toBeNull();
    for (const one of [...others, next]) await end(executor, one);
    expect(await workAll()).toHaveLength(2);
  });

  it('leave no lease of a workspace that is deleted', async () => {
    const [run] = await makeRuns('leaving', 1);
    const claims = await Promise.all(executors.map((one) => claim(one)));
    expect(claims.flatMap((one) => one?.run ?? [])).toEqual([run]);
    const { relationships } = expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data;
    expectStatus(await server.delete(`/api/v2/workspaces/${relationships.workspace.data.id as string}`), 204);
    expect(await server.database.rows<{ run: string }>(sql`select run from runs.leases where run = ${run}`)).toEqual(
      [],
    );
  });
});
