import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RandomIds } from '#platform/host';
import type { TickingClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { executorRequests } from '../../../../test/support/executors.js';
import { getDetail } from '../../../../test/support/responses.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeAgentPool,
  makeAgentToken,
  makeMember,
  makeRun,
  makeTeam,
} from '../../../../test/support/seeds.js';
import type { ApiResponse, ApiTestClient, TestServer } from '../../../../test/support/server.js';
import { createLostExecutorsJob } from '../run-leases/lost-executors.job.js';

let server: TestServer;
let agents: ApiTestClient;
let pool: string;
let clock: TickingClock;

beforeAll(async () => {
  ({ server, agents, pool, clock } = await startRunSite());
});

afterAll(() => server.close());

const { aWorkspace, act, report, statusOf, differences } = runRequests(() => ({ server, agents }));
const { claim } = executorRequests(() => ({ agents, pool }));

const STATE = JSON.stringify({ version: 4, serial: 7, outputs: {} });

const pathFor = (run: string): string => `/api/v2/applies/${run.replace('run-', 'apply-')}`;
const upload = (run: string, content: string | Buffer, fence = 2, api = agents): Promise<ApiResponse> =>
  api.put(`${pathFor(run)}/errored-state?fence=${fence}`, content);
const download = (run: string, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.get(`${pathFor(run)}/errored-state`);
const linksOf = async (run: string) => expectStatus(await server.get(pathFor(run)), 200).body.data.links;

/** A run that an executor applies with the fence 2. */
const anApply = async (workspace?: string): Promise<string> => {
  const run = await makeRun(server, workspace ?? (await aWorkspace()), { 'auto-apply': true });
  expect((await claim()).id).toBe(run);
  expectStatus(await report(run, 'planned', { fence: 1, 'has-changes': true }), 200);
  expect((await claim()).attributes).toMatchObject({ fence: 2, phase: 'apply' });
  return run;
};

const countEvents = async (type: string, run: string): Promise<number> =>
  (await readWholeLog(server.store)).filter((event) => event.type === type && JSON.stringify(event).includes(run))
    .length;

describe('an errored state', () => {
  it('is kept once, and read by a link of a minute', async () => {
    const run = await anApply();
    expect(await linksOf(run)).toEqual({ self: pathFor(run) });
    expectStatus(await download(run), 404);
    expectStatus(await upload(run, STATE), 204);
    // An executor that got no response sends it again.
    expectStatus(await upload(run, STATE), 204);
    expect(getDetail(expectStatus(await upload(run, '{}'), 409))).toBe('Another state was uploaded for this apply');
    expect(await countEvents('RunErroredStateStored', run)).toBe(1);
    expectStatus(await report(run, 'errored', { fence: 2 }), 200);
    expect(await linksOf(run)).toEqual({ self: pathFor(run), 'errored-state': `${pathFor(run)}/errored-state` });
    const link = expectStatus(await download(run), 307).headers.get('location') ?? '';
    const nobody = server.as(null);
    const response = expectStatus(await nobody.get(link), 200);
    expect(response.text).toBe(STATE);
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="errored.tfstate"');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await countEvents('ErroredStateDownloaded', run)).toBe(2);
    clock.pass({ seconds: 61 });
    expectStatus(await nobody.get(link), 403);
  });

  it('is accepted from an executor that was lost, and after a person has canceled the run by force', async () => {
    const lost = await anApply();
    clock.pass({ seconds: 61 });
    await runJobOnce(createLostExecutorsJob(server.store, clock, new RandomIds(), 0));
    expect(await statusOf(lost)).toBe('errored');
    expectStatus(await upload(lost, STATE), 204);
    expectStatus(await download(lost), 307);
    const canceled = await anApply();
    expectStatus(await act(canceled, 'cancel'), 202);
    clock.pass({ seconds: 11 });
    expectStatus(await act(canceled, 'force-cancel'), 202);
    expectStatus(await upload(canceled, STATE), 204);
    expectStatus(await download(canceled), 307);
  });

  it('is refused for another claim, other pools, other phases and above the size of states', async () => {
    const run = await anApply();
    for (const fence of [1, 3]) expectStatus(await upload(run, STATE, fence), 409);
    expectStatus(await agents.put(`${pathFor(run)}/errored-state`, STATE), 400);
    const other = server.as(await makeAgentToken(server, await makeAgentPool(server, 'acme', 'other')));
    expectStatus(await upload(run, STATE, 2, other), 404);
    expectStatus(await upload(run, STATE, 2, server), 404);
    expectStatus(await report(run, 'applied', { fence: 2 }), 200);
    const planned = await makeRun(server, await aWorkspace(), { 'plan-only': true });
    expect((await claim()).id).toBe(planned);
    expectStatus(await upload(planned, STATE, 1), 409);
    expectStatus(await report(planned, 'errored', { fence: 1 }), 200);
    expect(await linksOf(run)).toEqual({ self: pathFor(run) });
  });

  it('is read only by callers that may read the state of the workspace', async () => {
    const workspace = await aWorkspace();
    const run = await anApply(workspace);
    expectStatus(await upload(run, STATE), 204);
    const team = await makeTeam(server, 'acme', 'readers');
    const eve = await makeMember(server, 'acme', 'eve', [team]);
    expectStatus(await download(run, eve), 404);
    await grantWorkspaceAccess(server, team, workspace, 'read');
    expectStatus(await download(run, eve), 307);
    expectStatus(await download(run, agents), 404);
    expectStatus(await report(run, 'errored', { fence: 2 }), 200);
  });
});

it('the views of runs with errored states match the log', async () => {
  expect(await differences()).toEqual([]);
});
