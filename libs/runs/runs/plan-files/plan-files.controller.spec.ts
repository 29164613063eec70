import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RandomIds } from '#platform/host';
import type { TickingClock } from '../../../../test/support/clocks.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { executorRequests } from '../../../../test/support/executors.js';
import { getDetail } from '../../../../test/support/responses.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { expectStatus, makeAgentPool, makeAgentToken, makeRun } from '../../../../test/support/seeds.js';
import type { ApiResponse, ApiTestClient, TestServer } from '../../../../test/support/server.js';
import { pathOf } from '../../../../test/support/state-file.js';
import { RUN_FILES } from '../run-files/run.files.js';
import { createLostExecutorsJob } from '../run-leases/lost-executors.job.js';

let server: TestServer;
let agents: ApiTestClient;
let pool: string;
let clock: TickingClock;

beforeAll(async () => {
  ({ server, agents, pool, clock } = await startRunSite({ CADASTRE_PLAN_FILE_MAX_MIB: '1' }));
});

afterAll(() => server.close());

const { aWorkspace, act, report, statusOf } = runRequests(() => ({ server, agents }));
const { claim, jobOf } = executorRequests(() => ({ agents, pool }));

const SECRET = 'secret of a plan';

const upload = (run: string, content: string | Buffer, fence: number | null = 1, api = agents): Promise<ApiResponse> =>
  api.put(`/api/v2/plans/${run.replace('run-', 'plan-')}/plan-file${fence === null ? '' : `?fence=${fence}`}`, content);

const aClaimedRun = async (attributes: object = {}): Promise<string> => {
  const run = await makeRun(server, await aWorkspace(), attributes);
  expect((await claim()).id).toBe(run);
  return run;
};

const plan = (run: string, fence = 1) => report(run, 'planned', { fence, 'has-changes': true });

const keysOf = async (run: string): Promise<string[]> => {
  await waitForFollowers(server.store, 'run_file_sweeper');
  const keys: string[] = [];
  for await (const { key } of server.runtime.blobs.list(`${RUN_FILES}/${run}`)) keys.push(key);
  return keys.filter((key) => key.includes('plan-file'));
};

describe('a plan file', () => {
  it('reaches the executor that applies the run, and nobody else', async () => {
    const run = await aClaimedRun();
    expectStatus(await upload(run, SECRET), 204);
    // An executor that got no response sends it again.
    expectStatus(await upload(run, SECRET), 204);
    expect(getDetail(expectStatus(await upload(run, 'another plan'), 409))).toBe(
      'Another file was uploaded for this plan',
    );
    expectStatus(await plan(run), 200);
    expectStatus(await upload(run, SECRET), 409);
    expectStatus(await act(run, 'apply'), 202);
    expect((await claim()).attributes).toMatchObject({ fence: 2, phase: 'apply' });
    const path = pathOf((await jobOf(run, { fence: 2 }))['plan-file-url'] as string);
    const nobody = server.as(null);
    expect(expectStatus(await nobody.get(path), 200).text).toBe(SECRET);
    // Some last characters of base64 differ only in bits that mean nothing.
    expectStatus(await nobody.get(`${path.slice(0, -1)}${path.endsWith('A') ? 'E' : 'A'}`), 403);
    expectStatus(await report(run, 'applied', { fence: 2 }), 200);
    expectStatus(await nobody.get(path), 404);
    expect(await keysOf(run)).toEqual([]);
  });

  it('is encrypted in the file store', async () => {
    const run = await aClaimedRun();
    expectStatus(await upload(run, SECRET), 204);
    const [key = ''] = await keysOf(run);
    const stored = await server.runtime.blobs.get(key);
    const pieces: Buffer[] = [];
    for await (const piece of stored?.content ?? []) pieces.push(piece as Buffer);
    const bytes = Buffer.concat(pieces);
    expect(bytes.length).toBeGreaterThan(SECRET.length);
    expect(bytes.includes(SECRET)).toBe(false);
    expectStatus(await report(run, 'errored', { fence: 1 }), 200);
  });

  it.each([
    ['discard', 'discarded'],
    ['cancel', 'canceled'],
  ])('is deleted when a person ends the run by %s', async (action, status) => {
    const run = await aClaimedRun();
    expectStatus(await upload(run, SECRET), 204);
    expect(await keysOf(run)).toHaveLength(1);
    if (action === 'discard') expectStatus(await plan(run), 200);
    expectStatus(await act(run, action), 202);
    if (action === 'cancel') expectStatus(await report(run, 'canceled', { fence: 1 }), 200);
    expect(await statusOf(run)).toBe(status);
    expect(await keysOf(run)).toEqual([]);
  });

  it('is deleted when an administrator cancels the run by force, and with the workspace', async () => {
    const run = await aClaimedRun();
    expectStatus(await upload(run, SECRET), 204);
    expectStatus(await act(run, 'cancel'), 202);
    clock.pass({ seconds: 11 });
    expectStatus(await act(run, 'force-cancel'), 202);
    expect(await keysOf(run)).toEqual([]);
    const workspace = await aWorkspace();
    const second = await makeRun(server, workspace, { 'plan-only': true });
    expect((await claim()).id).toBe(second);
    expectStatus(await upload(second, SECRET), 204);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expect(await keysOf(second)).toEqual([]);
  });

  it('of a lost executor is not the one that is applied', async () => {
    const run = await aClaimedRun({ 'auto-apply': true });
    expectStatus(await upload(run, 'plan of the lost executor'), 204);
    clock.pass({ seconds: 61 });
    await runJobOnce(createLostExecutorsJob(server.store, clock, new RandomIds(), 0));
    expect((await claim()).attributes).toMatchObject({ fence: 2, phase: 'plan' });
    expectStatus(await upload(run, 'plan of the lost executor'), 409);
    expectStatus(await upload(run, SECRET, 2), 204);
    expect(await keysOf(run)).toEqual([expect.stringMatching(/plan-file-2$/)]);
    expectStatus(await plan(run, 2), 200);
    expect((await claim()).attributes).toMatchObject({ fence: 3, phase: 'apply' });
    const path = pathOf((await jobOf(run, { fence: 3 }))['plan-file-url'] as string);
    expect((await server.as(null).get(path)).text).toBe(SECRET);
    expectStatus(await report(run, 'errored', { fence: 3 }), 200);
  });

  it('is refused without a claim, from other pools, and if it is too large', async () => {
    const run = await aClaimedRun();
    expectStatus(await upload(run, SECRET, null), 400);
    expectStatus(await upload(run, SECRET, 2), 409);
    const other = server.as(await makeAgentToken(server, await makeAgentPool(server, 'acme', 'other')));
    expectStatus(await upload(run, SECRET, 1, other), 404);
    expectStatus(await upload(run, SECRET, 1, server), 404);
    expectStatus(await upload(run, Buffer.alloc(1024 * 1024 + 1)), 413);
    expect(await keysOf(run)).toEqual([]);
    expectStatus(await upload(run, Buffer.alloc(1024 * 1024)), 204);
    expectStatus(await report(run, 'errored', { fence: 1 }), 200);
    const unclaimed = await makeRun(server, await aWorkspace());
    expectStatus(await upload(unclaimed, SECRET), 409);
  });
});
