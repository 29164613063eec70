import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import {
  expectStatus,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganization,
  makeRun,
  makeToken,
  makeWorkspace,
} from '../../../../test/support/seeds.js';
import { runRequests } from '../../../../test/support/runs.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiTestClient,
  type TestGateway,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { runsDefinition } from '../index.js';
import { FINAL_STATUSES } from '../runs/run-status.js';

/** Advanced to the time at which a run can be force-canceled. */
const clock = new AdjustableClock();
let server: TestServer;
let otherGateway: TestGateway;
let agents: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ clock });
  otherGateway = await startAnotherGateway(server);
  await makeOrganization(server, 'acme');
  agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
});

afterAll(async () => {
  await otherGateway.close();
  await server.close();
});

let count = 0;
const { aWorkspace, act, report } = runRequests(() => ({ server, agents }));

const secretOf = (run: string, executor: ApiTestClient = agents): Promise<string> =>
  makeToken(executor, `/api/v2/runs/${run}/authentication-tokens`);
const asRun = async (run: string): Promise<ApiTestClient> => server.as(await secretOf(run));

describe('the end of a run', () => {
  const planned = async (run: string): Promise<void> => {
    expectStatus(await report(run, 'planning'), 200);
    expectStatus(await report(run, 'planned', { 'has-changes': true }), 200);
  };
  const ENDS: readonly (readonly [string, object, (run: string, workspace: string) => Promise<unknown>])[] = [
    [
      'applied',
      {},
      async (run) => {
        await planned(run);
        await act(run, 'apply');
        await report(run, 'applying');
        await report(run, 'applied');
      },
    ],
    [
      'planned_and_finished',
      {},
      async (run) => {
        await report(run, 'planning');
        await report(run, 'planned');
      },
    ],
    [
      'policy_soft_failed',
      { 'plan-only': true },
      async (run) => {
        for (const status of ['planning', 'policy_checking', 'policy_soft_failed']) await report(run, status);
      },
    ],
    ['errored', {}, (run) => report(run, 'errored')],
    [
      'discarded',
      {},
      async (run) => {
        await planned(run);
        await act(run, 'discard');
      },
    ],
    ['canceled', {}, (run) => act(run, 'cancel')],
    [
      'force_canceled',
      {},
      async (run) => {
        await report(run, 'planning');
        await act(run, 'cancel');
        clock.pass({ seconds: 20 });
        await act(run, 'force-cancel');
      },
    ],
  ];

  it('has these causes and no others', () => {
    expect(ENDS.map(([status]) => status).toSorted()).toEqual(FINAL_STATUSES.toSorted());
  });

  it.each(ENDS)(
    '%s revokes the run’s tokens from the next request on, on every gateway',
    async (status, attributes, end) => {
      const workspace = await aWorkspace();
      const run = await makeRun(server, workspace, attributes);
      const secrets = [await secretOf(run), await secretOf(run)];
      const readStatuses = (): Promise<number[]> =>
        Promise.all(
          secrets.flatMap((secret) =>
            [server, otherGateway].map(
              async (api) => (await api.as(secret).get(`/api/v2/workspaces/${workspace}`)).status,
            ),
          ),
        );
      expect(await readStatuses()).toEqual([200, 200, 200, 200]);
      await end(run, workspace);
      expect(expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data.attributes.status).toBe(status);
      expect(await readStatuses()).toEqual([401, 401, 401, 401]);
      expect(
        await server.database.rows(sql`
        select 1 from access.token_hashes h join authentication_tokens t on t.id = h.token where t.owner = ${run}`),
      ).toEqual([]);
    },
  );

  it('changes no access epoch, because no other caller is affected', async () => {
    const readEpochs = () => server.database.rows(sql`select * from access.epochs order by subject`);
    const [run, running] = [await makeRun(server, await aWorkspace()), await makeRun(server, await aWorkspace())];
    const [ended, going] = [await asRun(run), await asRun(running)];
    for (const api of [ended, going]) expectStatus(await api.get('/api/v2/account/details'), 200);
    const before = await readEpochs();
    expectStatus(await act(run, 'cancel'), 202);
    expectStatus(await ended.get('/api/v2/account/details'), 401);
    expectStatus(await going.get('/api/v2/account/details'), 200);
    expect(await readEpochs()).toEqual(before);
  });

  it('revokes the tokens of a run that another run replaces', async () => {
    const workspace = await aWorkspace();
    const [first, second] = [await makeRun(server, workspace), await makeRun(server, workspace)];
    await planned(first);
    const api = await asRun(first);
    expectStatus(await api.get('/api/v2/account/details'), 200);
    expectStatus(await act(second, 'force-execute'), 202);
    expect((await api.get('/api/v2/account/details')).status).toBe(401);
  });

  it.each(['workspaces', 'organizations'])('revokes the tokens if its %s is deleted', async (type) => {
    const name = `going-${(count += 1)}`;
    await makeOrganization(server, name);
    const workspace = await makeWorkspace(server, name, 'one');
    await makeConfigurationVersion(server, workspace);
    const run = await makeRun(server, workspace);
    const own = server.as(await makeAgentToken(server, await makeRemotePool(server, name, 'edge')));
    const api = server.as(await secretOf(run, own));
    expectStatus(await api.get(`/api/v2/workspaces/${workspace}`), 200);
    expectStatus(await server.delete(`/api/v2/${type}/${type === 'workspaces' ? workspace : name}`), 204);
    expect((await api.get(`/api/v2/workspaces/${workspace}`)).status).toBe(401);
  });

  it('leaves views that equal the views rebuilt from the log', async () => {
    await expectViewsMatchLog(server, [runsDefinition]);
  });
});
