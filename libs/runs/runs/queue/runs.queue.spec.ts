import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectStatus, makeRun } from '../../../../test/support/seeds.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import { getDetail } from '../../../../test/support/responses.js';
import type { ApiTestClient, TestServer } from '../../../../test/support/server.js';

let server: TestServer;
/** An agent of a pool that serves all workspaces. */
let agents: ApiTestClient;

beforeAll(async () => {
  ({ server, agents } = await startRunSite());
});

afterAll(() => server.close());

const { aWorkspace, show, statusOf, act, reported, holderOf, queueCaughtUp, differences } = runRequests(() => ({
  server,
  agents,
}));
const isLocked = (run: string) => ({ type: 'runs', id: run });

describe('the queue of a workspace', () => {
  it('gives the workspace to one run after the other', async () => {
    const workspace = await aWorkspace();
    const [first, second, third] = [
      await makeRun(server, workspace),
      await makeRun(server, workspace),
      await makeRun(server, workspace),
    ];
    expect(await holderOf(workspace)).toEqual(isLocked(first));
    expect(await Promise.all([first, second, third].map(statusOf))).toEqual(['plan_queued', 'pending', 'pending']);
    expect(
      await Promise.all([first, second, third].map(async (id) => (await show(id)).attributes['position-in-queue'])),
    ).toEqual([0, 1, 2]);
    await reported(first, 'planning', 'planned');
    expect(await holderOf(workspace)).toEqual(isLocked(first));
    expectStatus(await act(first, 'discard', { comment: 'not this one' }), 202);
    await queueCaughtUp();
    expect(await holderOf(workspace)).toEqual(isLocked(second));
    // A waiting run leaves the queue, and the run behind it moves up.
    expectStatus(await act(second, 'cancel'), 202);
    await queueCaughtUp();
    expect(await Promise.all([first, second, third].map(statusOf))).toEqual(['discarded', 'canceled', 'plan_queued']);
    expectStatus(await act(third, 'cancel'), 202);
    expect(await holderOf(workspace)).toBeNull();
  });

  it('continues after a run that left before its turn', async () => {
    const workspace = await aWorkspace();
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    const [first, second] = [await makeRun(server, workspace), await makeRun(server, workspace)];
    expect(await Promise.all([first, second].map(statusOf))).toEqual(['pending', 'pending']);
    expectStatus(await act(first, 'discard'), 202);
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
    await queueCaughtUp();
    expect(await Promise.all([first, second].map(statusOf))).toEqual(['discarded', 'plan_queued']);
  });

  it('does not delay speculative runs and runs that save their plan', async () => {
    const workspace = await aWorkspace();
    const first = await makeRun(server, workspace);
    const speculative = await makeRun(server, workspace, { 'plan-only': true });
    const saved = await makeRun(server, workspace, { 'save-plan': true });
    expect(await Promise.all([speculative, saved].map(statusOf))).toEqual(['plan_queued', 'plan_queued']);
    await reported(speculative, 'planning', 'planned');
    await reported(saved, 'planning', 'planned');
    expect(await Promise.all([speculative, saved].map(statusOf))).toEqual([
      'planned_and_finished',
      'planned_and_saved',
    ]);
    const refused = await act(saved, 'apply');
    expect([refused.status, getDetail(refused)]).toEqual([409, expect.stringContaining(`locked by Run ${first}`)]);
    expectStatus(await act(first, 'cancel'), 202);
    expectStatus(await act(saved, 'apply'), 202);
    expect(await holderOf(workspace)).toEqual(isLocked(saved));
    await reported(saved, 'applying', 'applied');
    expect(await holderOf(workspace)).toBeNull();
  });

  it('prevents unlocking by users, but not force-unlocking by administrators; the run continues', async () => {
    const workspace = await aWorkspace();
    const [run, next] = [await makeRun(server, workspace), await makeRun(server, workspace)];
    const unlock = await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`);
    expect([unlock.status, getDetail(unlock)]).toEqual([409, expect.stringContaining(`is locked by Run ${run}`)]);
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/force-unlock`), 200);
    await queueCaughtUp();
    expect(await holderOf(workspace)).toEqual(isLocked(next));
    await reported(run, 'planning', 'planned');
    expectStatus(await act(run, 'apply'), 202);
    await reported(run, 'applying', 'applied');
    expect(await holderOf(workspace)).toEqual(isLocked(next));
  });

  it('starts a run before runs that wait for a confirmation if the run is force-executed', async () => {
    const workspace = await aWorkspace();
    const [first, second, third] = [
      await makeRun(server, workspace),
      await makeRun(server, workspace),
      await makeRun(server, workspace),
    ];
    const busy = await act(third, 'force-execute');
    expect([busy.status, getDetail(busy)]).toEqual([409, expect.stringContaining(`${first} before it is plan_queued`)]);
    await reported(first, 'planning', 'planned');
    expectStatus(await act(third, 'force-execute'), 202);
    expect(await Promise.all([first, second, third].map(statusOf))).toEqual(['discarded', 'discarded', 'plan_queued']);
    expect(await holderOf(workspace)).toEqual(isLocked(third));
    const repeatedRequest = await act(third, 'force-execute');
    expect([repeatedRequest.status, getDetail(repeatedRequest)]).toEqual([
      409,
      'Run is plan_queued: force-execute is not possible',
    ]);
    expectStatus(await act(third, 'cancel'), 202);
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    const fourth = await makeRun(server, workspace);
    const locked = await act(fourth, 'force-execute');
    expect([locked.status, getDetail(locked)]).toEqual([409, expect.stringContaining('not locked by another run')]);
  });

  it('gives the workspace to one of many runs that are created at the same time, and loses none', async () => {
    const workspace = await aWorkspace();
    const runs = await Promise.all(Array.from({ length: 6 }, () => makeRun(server, workspace)));
    for (const _ of runs) {
      await queueCaughtUp();
      const statuses = await Promise.all(runs.map(statusOf));
      expect(statuses.filter((status) => status === 'plan_queued')).toHaveLength(1);
      const at = runs[statuses.indexOf('plan_queued')] as string;
      expect(await holderOf(workspace)).toEqual(isLocked(at));
      expectStatus(await act(at, 'cancel'), 202);
    }
    expect(await holderOf(workspace)).toBeNull();
  });
});

it('has views that equal the views rebuilt from the log', async () => {
  expect(await differences()).toEqual([]);
});
