import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixedClock } from '../../../../test/support/clocks.js';
import { costOf } from '../../../../test/support/cost.js';
import { runRequests } from '../../../../test/support/runs.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeAgentToken,
  makeMember,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeTeam,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';

const PATH = '/api/v2/organizations/acme/run-statistics';
const NO_RUNS = { applied: 0, 'planned-and-finished': 0, failed: 0, stopped: 0, open: 0 };

const clock = new FixedClock();
let server: TestServer;
let agents: ApiTestClient;
let workspaces: readonly [string, string];

const { aWorkspace, act, report } = runRequests(() => ({ server, agents }));

/** Creates a run that is planned for 10 s and applied for 20 s. */
const applyRun = async (workspace: string): Promise<void> => {
  const run = await makeRun(server, workspace, { 'auto-apply': true });
  for (const status of ['planning', 'planned', 'applying', 'applied']) {
    expectStatus(await report(run, status, { 'resource-additions': 1, 'has-changes': true }), 200);
    clock.pass({ seconds: status === 'planning' ? 10 : status === 'applying' ? 20 : 0 });
  }
};

const failRun = async (workspace: string): Promise<void> => {
  const run = await makeRun(server, workspace);
  expectStatus(await report(run, 'planning'), 200);
  clock.pass({ seconds: 30 });
  expectStatus(await report(run, 'errored'), 200);
};

const readDays = async (path: string, api: ApiTestClient = server): Promise<readonly any[]> =>
  expectStatus(await api.get(path), 200).body.data.attributes.days;

beforeAll(async () => {
  server = await startTestServer({ clock });
  await makeOrganization(server, 'acme');
  agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
  workspaces = [await aWorkspace(), await aWorkspace()];
  const [one, other] = workspaces;
  // 2026-11-21T12:00Z, and two days later half an hour before midnight of UTC.
  await applyRun(one);
  await failRun(one);
  clock.pass({ days: 2, minutes: 11 * 60 + 28 });
  await failRun(other);
  expectStatus(await act(await makeRun(server, other), 'cancel'), 202);
  await makeRun(server, other);
});

afterAll(() => server.close());

describe('the statistics of runs', () => {
  it('have all days of the time zone with the numbers of runs by result', async () => {
    const days = await readDays(`${PATH}?filter[days]=4`);
    expect(days.map(({ date, start, end }) => [date, start, end])).toEqual([
      ['2026-11-20', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
      ['2026-11-21', '2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
      ['2026-11-22', '2026-11-22T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
      ['2026-11-23', '2026-11-23T00:00:00.000Z', '2026-11-24T00:00:00.000Z'],
    ]);
    expect(days[0]).toMatchObject({ ...NO_RUNS, 'plan-duration-average': null, 'apply-duration-average': null });
    expect(days[1]).toMatchObject({ ...NO_RUNS, applied: 1, failed: 1 });
    expect(days[2]).toMatchObject(NO_RUNS);
    expect(days[3]).toMatchObject({ ...NO_RUNS, failed: 1, stopped: 1, open: 1 });
  });

  it('have the average times of plans and applies', async () => {
    const [day] = await readDays(`${PATH}?filter[days]=3`);
    expect([day['plan-duration-average'], day['apply-duration-average']]).toEqual([20_000, 20_000]);
  });

  it('count a run on the day on which it was created in the time zone', async () => {
    const days = await readDays(`${PATH}?filter[days]=2&filter[time-zone]=Europe/Berlin`);
    expect(days.map(({ date, failed }) => [date, failed])).toEqual([
      ['2026-11-23', 0],
      ['2026-11-24', 1],
    ]);
  });

  it('have 30 days if the request names no number', async () => {
    expect(await readDays(PATH)).toHaveLength(30);
  });

  it('of a workspace have its runs only', async () => {
    const days = await readDays(`/api/v2/workspaces/${workspaces[0]}/run-statistics?filter[days]=3`);
    expect(days.map(({ applied, failed, open }) => [applied, failed, open])).toEqual([
      [1, 1, 0],
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });

  it('count the runs that the caller may read', async () => {
    const team = await makeTeam(server, 'acme', 'readers');
    await grantWorkspaceAccess(server, team, workspaces[0], 'read');
    const reader = await makeMember(server, 'acme', 'reader', [team]);
    const counted = async (api: ApiTestClient): Promise<number> =>
      (await readDays(PATH, api)).reduce((sum, day) => sum + day.applied + day.failed + day.stopped + day.open, 0);
    expect(await counted(server)).toBe(5);
    expect(await counted(reader)).toBe(2);
    expect(await counted(await makeMember(server, 'acme', 'nobody'))).toBe(0);
    expectStatus(await reader.get(`/api/v2/workspaces/${workspaces[1]}/run-statistics`), 404);
  });

  it('do not exist for people outside the organization', async () => {
    await makeOrganization(server, 'neighbour');
    const stranger = await makeMember(server, 'neighbour', 'stranger');
    expectStatus(await stranger.get(PATH), 404);
    expectStatus(await stranger.get(`/api/v2/workspaces/${workspaces[0]}/run-statistics`), 404);
  });

  it.each(['filter[days]=0', 'filter[days]=91', 'filter[time-zone]=Mars', 'filter[day]=3'])(
    'are refused with the query "%s"',
    async (query) => {
      expect((await server.get(`${PATH}?${query}`)).status).toBe(400);
    },
  );

  it('are read with one statement', async () => {
    for (const path of [PATH, `/api/v2/workspaces/${workspaces[0]}/run-statistics`])
      expect(await costOf(server, () => server.get(path))).toMatchObject({ status: 200, statements: 1, roundTrips: 1 });
  });
});

describe('the list of runs', () => {
  it.each([
    ['filter[created-since]=2026-11-23T00:00:00Z', 3],
    ['filter[created-before]=2026-11-23T00:00:00Z', 2],
    [
      'filter[created-since]=2026-11-21T00:00:00Z&filter[created-before]=2026-11-22T00:00:00Z&filter[status]=errored',
      1,
    ],
    ['filter[created-since]=2026-11-23T00:00:00Z&filter[timeframe]=2025', 0],
  ])('is limited to the time of the query "%s"', async (query, total) => {
    const { meta } = expectStatus(await server.get(`/api/v2/organizations/acme/runs?${query}`), 200).body;
    expect(meta.pagination['total-count']).toBe(total);
  });

  it('refuses a time that is none', async () => {
    const answer = await server.get('/api/v2/organizations/acme/runs?filter[created-since]=yesterday');
    expect([answer.status, answer.body.errors[0].source]).toEqual([400, { parameter: 'filter[created-since]' }]);
  });
});
