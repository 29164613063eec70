import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  reportBody,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { FixedClock } from '../../../../test/support/clocks.js';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import type { TestHistoryResource } from '../spec.js';

const clock = new FixedClock();
let server: TestServer;
let admin: string;
let ada: SeededMember;
let team: string;

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock });
  await makeOrganization(server, 'acme');
  admin = expectStatus(await server.get('/api/v2/account/details'), 200).body.data.id as string;
  team = await makeTeam(server, 'acme', 'core');
  ada = await makeMember(server, 'acme', 'ada', [team]);
});

afterAll(() => server.close());

const act = async (id: string, action: string, api: ApiTestClient = server, body?: object): Promise<ApiResponse> =>
  expectStatus(await api.post(`/api/v2/workspaces/${id}/actions/${action}`, body), 200);

const readCurrentLocks = async (query = '', api: ApiTestClient = server): Promise<ApiResponse> =>
  expectStatus(await api.get(`/api/v2/organizations/acme/locks?${query}`), 200);

const historyOf = async (id: string, query = ''): Promise<ApiResponse> =>
  expectStatus(await server.get(`/api/v2/workspaces/${id}/lock-history?${query}`), 200);

const namesIn = ({ body }: ApiResponse): string[] =>
  body.data.map(({ attributes }: TestHistoryResource) => attributes['workspace-name']);

const shared = async (name: string): Promise<string> => {
  const id = await makeWorkspace(server, 'acme', name);
  await grantWorkspaceAccess(server, team, id, 'admin');
  return id;
};

describe('a secret team that holds a lock', () => {
  it('is named to callers that can see the team, and to no others', async () => {
    const id = await shared('discreet');
    const secret = await makeTeam(server, 'acme', 'moonlight');
    await grantWorkspaceAccess(server, secret, id, 'admin');
    await act(id, 'lock', server.as(await makeToken(server, `/api/v2/teams/${secret}/authentication-token`)));
    const path = `/api/v2/workspaces/${id}`;
    const requestAll = (api: ApiTestClient): Promise<ApiResponse>[] => [
      api.post(`${path}/actions/lock`),
      api.post(`${path}/actions/unlock`),
      api.post(`${path}/state-versions`, newStateVersion(stateFile(), { inline: true })),
      api.get(`${path}?include=locked_by`),
      readCurrentLocks('', api),
      api.get(`${path}/lock-history`),
      api.get(`${path}/history`),
    ];
    for (const response of requestAll(ada)) expect((await response).text).not.toContain('moonlight');
    const refused = expectStatus(await ada.post(`${path}/actions/unlock`), 409).body.errors[0];
    expect(refused.detail).toContain('is locked by Team (not visible to you)');
    expect(refused.meta.lock.holder).toEqual({ type: 'teams', id: secret, name: null });
    const containsName = await Promise.all(
      requestAll(server).map(async (request) => (await request).text.includes('moonlight')),
    );
    expect(containsName).toEqual([true, true, false, true, true, true, true]);
    await act(id, 'force-unlock');
  });
});

describe('a refused lock', () => {
  it('names holder, time and reason in the text and in the metadata', async () => {
    const id = await shared('told');
    const since = clock.pass({ seconds: 60 });
    await act(id, 'lock', ada, { reason: 'applying the network' });
    clock.pass({ seconds: 60 });
    const lock = { holder: { type: 'users', id: ada.id, name: ada.username }, since, reason: 'applying the network' };
    const why = `locked by User ${ada.username} since ${since}: applying the network`;
    const refused = await server.post(`/api/v2/workspaces/${id}/actions/lock`);
    expect(refused.body.errors).toEqual([
      {
        status: '409',
        title: 'conflict',
        detail: `Unable to lock workspace. The workspace is already ${why}`,
        meta: { lock },
      },
    ]);
    const unlock = await server.post(`/api/v2/workspaces/${id}/actions/unlock`);
    expect(unlock.status).toBe(409);
    expect(unlock.body.errors[0]).toMatchObject({
      detail: `Unable to unlock workspace. The workspace is ${why}`,
      meta: { lock },
    });
    await act(id, 'unlock', ada);
    const open = await server.post(`/api/v2/workspaces/${id}/actions/unlock`);
    expect(open.status).toBe(409);
    expect(open.text).not.toContain('is locked by');
    expect(open.body.errors[0].meta).toBeUndefined();
  });

  it('names them also if a run is refused because somebody holds the lock', async () => {
    const id = await makeWorkspace(server, 'acme', 'saved');
    await makeConfigurationVersion(server, id);
    const agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
    const run = await makeRun(server, id, { 'save-plan': true });
    for (const status of ['planning', 'planned']) {
      const body = reportBody(status, { 'resource-additions': 1 });
      expectStatus(await agents.post(`/api/v2/runs/${run}/progress`, body), 200);
    }
    const since = clock.pass({ seconds: 60 });
    await act(id, 'lock', server, { reason: 'by hand' });
    const refused = await server.post(`/api/v2/runs/${run}/actions/apply`);
    expect(refused.status).toBe(409);
    expect(refused.body.errors[0]).toMatchObject({
      detail: expect.stringContaining(`locked by User admin since ${since}: by hand`),
      meta: { lock: { since, reason: 'by hand' } },
    });
    await act(id, 'unlock');
  });
});

describe('the current locks of an organization', () => {
  it('are listed oldest first, with pages and a count', async () => {
    const ids: string[] = [];
    for (const name of ['b', 'c', 'a']) ids.push(await makeWorkspace(server, 'acme', name));
    for (const id of ids) {
      clock.pass({ seconds: 10 });
      await act(id, 'lock', server, { reason: `for ${id}` });
    }
    const all = await readCurrentLocks();
    expect(namesIn(all)).toEqual(['b', 'c', 'a']);
    expect(all.body.meta.pagination['total-count']).toBe(3);
    expect(namesIn(await readCurrentLocks('page[size]=2&page[number]=2'))).toEqual(['a']);
    const beyond = await readCurrentLocks('page[number]=5');
    expect([namesIn(beyond), beyond.body.meta.pagination['total-count']]).toEqual([[], 3]);
    clock.pass({ seconds: 5 });
    const [oldest] = (await readCurrentLocks()).body.data as TestHistoryResource[];
    expect(oldest).toMatchObject({
      type: 'workspace-locks',
      attributes: {
        reason: `for ${ids[0]}`,
        'locked-by-name': 'admin',
        'unlocked-at': null,
        'unlocked-by-name': null,
        forced: null,
        'duration-seconds': 25,
      },
      relationships: {
        workspace: { data: { type: 'workspaces', id: ids[0] } },
        'locked-by': { data: { type: 'users', id: admin } },
        'unlocked-by': { data: null },
      },
    });
    await act(ids[0] ?? '', 'unlock');
    expectStatus(await server.delete(`/api/v2/workspaces/${ids[1]}`), 204);
    expect(namesIn(await readCurrentLocks())).toEqual(['a']);
    await act(ids[2] ?? '', 'unlock');
    const none = await readCurrentLocks();
    expect([none.body.data, none.body.meta.pagination['total-count']]).toEqual([[], 0]);
  });

  it('are filtered by the kind of their holders', async () => {
    await makeAgentToken(server, await makeRemotePool(server, 'acme', 'filtered'));
    const [manual, queued] = [
      await makeWorkspace(server, 'acme', 'manual'),
      await makeWorkspace(server, 'acme', 'queued'),
    ];
    await makeConfigurationVersion(server, queued);
    await act(manual, 'lock');
    const run = await makeRun(server, queued);
    const people = await readCurrentLocks('filter[locked-by]=users,teams');
    expect([namesIn(people), people.body.meta.pagination['total-count']]).toEqual([['manual'], 1]);
    expect(namesIn(await readCurrentLocks('filter[locked-by]=runs'))).toEqual(['queued']);
    const refused = expectStatus(await server.get('/api/v2/organizations/acme/locks?filter[locked-by]=robots'), 400);
    expect(refused.body.errors[0]).toMatchObject({
      detail: 'filter[locked-by]: must be one or more of users, teams, runs, got "robots"',
      source: { parameter: 'filter[locked-by]' },
    });
    expectStatus(await server.post(`/api/v2/runs/${run}/actions/cancel`), 202);
    await act(manual, 'unlock');
  });

  it('contain only those of workspaces that the caller can read', async () => {
    const [open, closed] = [await shared('open'), await makeWorkspace(server, 'acme', 'closed')];
    await act(open, 'lock');
    await act(closed, 'lock');
    expect(namesIn(await readCurrentLocks('', server))).toEqual(['open', 'closed']);
    const visible = await readCurrentLocks('', ada);
    expect([namesIn(visible), visible.body.meta.pagination['total-count']]).toEqual([['open'], 1]);
    const stranger = await makeMember(server, (await makeOrganization(server, 'rival')).name, 'eve');
    expect((await stranger.get('/api/v2/organizations/acme/locks')).status).toBe(404);
    await act(open, 'unlock');
    await act(closed, 'unlock');
  });
});

describe('the lock history of a workspace', () => {
  it('shows holder, start, end and reason of each lock, and who ended it', async () => {
    const id = await shared('held');
    const times: string[] = [];
    const then = (seconds: number): void => void times.push(clock.pass({ seconds }));
    then(10);
    await act(id, 'lock', ada, { reason: 'first' });
    then(90);
    await act(id, 'unlock', ada);
    then(10);
    await act(id, 'lock', ada);
    then(3_600);
    await act(id, 'force-unlock');
    then(10);
    await act(id, 'lock', server, { reason: 'third' });
    clock.pass({ seconds: 7 });
    const entries = (await historyOf(id)).body.data as TestHistoryResource[];
    const locks = entries.map(({ attributes, relationships }) => [
      attributes.reason,
      attributes['locked-at'],
      attributes['unlocked-at'],
      attributes.forced,
      attributes['duration-seconds'],
      relationships['locked-by'].data.id,
      relationships['unlocked-by'].data?.id ?? null,
    ]);
    expect(locks).toEqual([
      ['third', times[4], null, null, 7, admin, null],
      ['', times[2], times[3], true, 3_600, ada.id, admin],
      ['first', times[0], times[1], false, 90, ada.id, ada.id],
    ]);
    const pages = await Promise.all([1, 2].map((n) => historyOf(id, `page[size]=2&page[number]=${n}`)));
    expect(pages.flatMap(({ body }) => body.data)).toEqual(entries);
    expect(pages[1]?.body.meta.pagination['total-count']).toBe(3);
    const [current] = (await readCurrentLocks()).body.data as TestHistoryResource[];
    expect(current).toEqual(entries[0]);
  });

  it('ends with the workspace and can be read afterwards', async () => {
    const id = await makeWorkspace(server, 'acme', 'gone');
    await act(id, 'lock', server, { reason: 'for good' });
    const end = clock.pass({ seconds: 30 });
    expectStatus(await server.delete(`/api/v2/workspaces/${id}`), 204);
    const [last] = (await historyOf(id)).body.data as TestHistoryResource[];
    expect(last?.attributes).toMatchObject({
      'workspace-name': null,
      'unlocked-at': end,
      'unlocked-by-name': 'admin',
      forced: true,
      'duration-seconds': 30,
    });
  });

  it('names runs, which lock and unlock workspaces themselves', async () => {
    const id = await makeWorkspace(server, 'acme', 'run');
    await makeConfigurationVersion(server, id);
    const run = await makeRun(server, id);
    const discard = async (one: string): Promise<ApiResponse> => server.post(`/api/v2/runs/${one}/actions/cancel`);
    clock.pass({ seconds: 12 });
    expectStatus(await discard(run), 202);
    const [entry] = (await historyOf(id)).body.data as TestHistoryResource[];
    expect(entry).toMatchObject({
      attributes: { forced: false, 'duration-seconds': 12, 'locked-by-name': run },
      relationships: {
        'locked-by': { data: { type: 'runs', id: run } },
        'unlocked-by': { data: { type: 'runs', id: run } },
      },
    });
  });
});
