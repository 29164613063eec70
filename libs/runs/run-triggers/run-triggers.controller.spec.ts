import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readWholeLog, waitForFollowers } from '../../../test/support/event-log.js';
import { runRequests, startRunSite } from '../../../test/support/runs.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeRun,
  makeRunTrigger,
  makeTeam,
  makeWorkspace,
  refusalOf,
  resource,
  runTriggerBody,
} from '../../../test/support/seeds.js';
import type { ApiResponse, ApiTestClient, TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { unprocessable } from '#platform/kernel';
import { ToolReleases } from '#workspaces/workspaces';
import { createTriggeredRunsFollower, runTriggersDefinition } from './index.js';

let server: TestServer;
/** An agent of a pool that serves all workspaces. */
let agents: ApiTestClient;

beforeAll(async () => {
  ({ server, agents } = await startRunSite());
});

afterAll(() => server.close());

const { aWorkspace, show, act, reported, queueCaughtUp } = runRequests(() => ({ server, agents }));

let names = 0;
/** A workspace without a configuration. */
const emptyWorkspace = (name = `empty-${(names += 1)}`): Promise<string> => makeWorkspace(server, 'acme', name);

const add = (workspace: string, source: string, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.post(`/api/v2/workspaces/${workspace}/run-triggers`, runTriggerBody(source));

const pathOf = (workspace: string, type: string, more = ''): string =>
  `/api/v2/workspaces/${workspace}/run-triggers?filter[run-trigger][type]=${type}${more}`;

const idsIn = ({ body: { data } }: ApiResponse): string[] => data.map(({ id }: { id: string }) => id);

const runsOf = async (workspace: string): Promise<any[]> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body.data;

const triggersCaughtUp = async (): Promise<void> => {
  await waitForFollowers(server.store, 'triggered_runs');
  await queueCaughtUp();
};

/** Applies a run in the workspace. */
const apply = async (workspace: string): Promise<string> => {
  const run = await makeRun(server, workspace, { 'auto-apply': true });
  await reported(run, 'planning', 'planned', 'applying', 'applied');
  await triggersCaughtUp();
  return run;
};

describe('a run trigger', () => {
  it('is created, shown, listed by both workspaces, and deleted', async () => {
    const [workspace, source] = [await emptyWorkspace('cluster'), await emptyWorkspace('network')];
    const { data } = expectStatus(await add(workspace, source), 201).body;
    expect(data).toMatchObject({
      type: 'run-triggers',
      id: expect.stringMatching(/^rt-/),
      attributes: { 'workspace-name': 'cluster', 'sourceable-name': 'network', permissions: { 'can-destroy': true } },
      relationships: {
        workspace: { data: { type: 'workspaces', id: workspace } },
        sourceable: { data: { type: 'workspaces', id: source } },
      },
    });
    expect(expectStatus(await server.get(`/api/v2/run-triggers/${data.id}`), 200).body.data).toEqual(data);
    expect(expectStatus(await server.get(pathOf(workspace, 'inbound')), 200).body.data).toEqual([data]);
    expect(expectStatus(await server.get(pathOf(source, 'outbound')), 200).body.data).toEqual([data]);
    expect(idsIn(expectStatus(await server.get(pathOf(workspace, 'outbound')), 200))).toEqual([]);
    expect(idsIn(expectStatus(await server.get('/api/v2/organizations/acme/run-triggers'), 200))).toContain(data.id);
    expectStatus(await server.delete(`/api/v2/run-triggers/${data.id}`), 204);
    expectStatus(await server.get(`/api/v2/run-triggers/${data.id}`), 404);
    expectStatus(await server.delete(`/api/v2/run-triggers/${data.id}`), 404);
  });

  it('includes its workspaces, and has pages as other lists', async () => {
    const workspace = await emptyWorkspace();
    const sources = [await emptyWorkspace(), await emptyWorkspace()];
    const triggers = [];
    for (const source of sources) triggers.push(await makeRunTrigger(server, workspace, source));
    const included = expectStatus(await server.get(pathOf(workspace, 'inbound', '&include=sourceable,workspace')), 200);
    expect(included.body.included.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      [workspace, ...sources].toSorted(),
    );
    const page = expectStatus(await server.get(pathOf(workspace, 'inbound', '&page[number]=999')), 200);
    expect([idsIn(page), page.body.meta.pagination['total-count']]).toEqual([[], 2]);
    const second = expectStatus(await server.get(pathOf(workspace, 'inbound', '&page[size]=1&page[number]=2')), 200);
    expect(idsIn(second)).toEqual([triggers[1]]);
    expectStatus(await server.get(`/api/v2/run-triggers/${triggers[0]}?include=secrets`), 400);
  });

  it.each(['', '?filter[run-trigger][type]=', '?filter[run-trigger][type]=sideways'])(
    'is listed only with a valid type: %s',
    async (query) => {
      const workspace = await emptyWorkspace();
      const answer = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/run-triggers${query}`), 400);
      expect(answer.body.errors[0].detail).toContain('must be one of inbound, outbound');
    },
  );
});

describe('the creation of a run trigger', () => {
  const SOURCEABLE = '/data/relationships/sourceable';

  it('is refused without a source, for the workspace itself, and for a source that it has', async () => {
    const [workspace, source] = [await emptyWorkspace(), await emptyWorkspace()];
    const path = `/api/v2/workspaces/${workspace}/run-triggers`;
    expect(refusalOf(await server.post(path, resource('run-triggers')))).toEqual([
      SOURCEABLE,
      "Sourceable can't be blank",
    ]);
    expect(refusalOf(await add(workspace, workspace))).toEqual([SOURCEABLE, 'Sourceable must be another workspace']);
    await makeRunTrigger(server, workspace, source);
    expect(refusalOf(await add(workspace, source))).toEqual([
      SOURCEABLE,
      expect.stringContaining('has already been taken'),
    ]);
  });

  it('returns 404 for a source of another organization, or an unknown one', async () => {
    await makeOrganization(server, 'foreign');
    const foreign = await makeWorkspace(server, 'foreign', 'one');
    const workspace = await emptyWorkspace();
    for (const source of [foreign, 'ws-none']) expectStatus(await add(workspace, source), 404);
    expectStatus(await add('ws-none', workspace), 404);
  });

  it('names the path of a cycle, without workspaces that the caller may not read', async () => {
    const [a, b, c] = [await emptyWorkspace('a'), await emptyWorkspace('b'), await emptyWorkspace('c')];
    await makeRunTrigger(server, b, a);
    await makeRunTrigger(server, c, b);
    expect(refusalOf(await add(a, c))).toEqual([SOURCEABLE, 'Run triggers must not form a cycle: a → b → c → a']);
    const team = await makeTeam(server, 'acme', 'of-both-ends');
    await grantWorkspaceAccess(server, team, a, 'admin');
    await grantWorkspaceAccess(server, team, c, 'read');
    const member = await makeMember(server, 'acme', 'at-both-ends', [team]);
    expect(refusalOf(await add(a, c, member))[1]).toBe(
      'Run triggers must not form a cycle: a → a workspace that you cannot read → c → a',
    );
  });

  it('is refused for more than 20 sources', async () => {
    const workspace = await emptyWorkspace();
    for (let count = 0; count < 20; count += 1) await makeRunTrigger(server, workspace, await emptyWorkspace());
    expect(refusalOf(await add(workspace, await emptyWorkspace()))[1]).toContain('at most 20 sources');
  });

  it('is refused for a source that starts runs in 100 workspaces', async () => {
    const source = await emptyWorkspace();
    for (let count = 0; count < 100; count += 1) await makeRunTrigger(server, await emptyWorkspace(), source);
    expect(refusalOf(await add(await emptyWorkspace(), source))[1]).toContain('in at most 100 workspaces');
  });

  it('forms no cycle if many callers create triggers at the same time', async () => {
    const workspaces: string[] = [];
    for (let count = 0; count < 5; count += 1) workspaces.push(await emptyWorkspace());
    const pairs = workspaces.flatMap((one) => workspaces.filter((other) => other !== one).map((other) => [one, other]));
    const answers = await Promise.all(pairs.map(([one, other]) => add(one as string, other as string)));
    // Without a cycle, the workspaces have an order, and exactly one of the two triggers of each pair fits to it.
    const created = answers.filter(({ status }) => status === 201);
    expect(created).toHaveLength(pairs.length / 2);
    expect(answers.filter(({ status }) => status !== 201).map(({ status }) => status)).toEqual(
      Array(pairs.length / 2).fill(422),
    );
    const edges = created.map(({ body: { data } }) => [
      data.relationships.sourceable.data.id,
      data.relationships.workspace.data.id,
    ]);
    let rest = new Set(workspaces);
    for (const _ of workspaces) {
      rest = new Set([...rest].filter((one) => edges.some(([source, target]) => target === one && rest.has(source))));
    }
    expect([...rest]).toEqual([]);
  });

  it('needs admin access to the workspace and read access to the source; lists show no other workspaces', async () => {
    const [workspace, source, hidden] = [await emptyWorkspace(), await emptyWorkspace(), await emptyWorkspace()];
    const team = await makeTeam(server, 'acme', 'readers');
    await grantWorkspaceAccess(server, team, workspace, 'read');
    await grantWorkspaceAccess(server, team, source, 'read');
    const reader = await makeMember(server, 'acme', 'reader-of-both', [team]);
    expectStatus(await add(workspace, source, reader), 404);
    const readable = await makeRunTrigger(server, workspace, source);
    const unreadable = await makeRunTrigger(server, workspace, hidden);
    const listed = expectStatus(await reader.get(pathOf(workspace, 'inbound')), 200);
    expect([idsIn(listed), listed.body.meta.pagination['total-count']]).toEqual([[readable], 1]);
    expectStatus(await reader.get(pathOf(hidden, 'outbound')), 404);
    const all = expectStatus(await reader.get('/api/v2/organizations/acme/run-triggers'), 200);
    expect(idsIn(all)).toEqual([readable]);
    const document = expectStatus(await reader.get(`/api/v2/run-triggers/${unreadable}`), 200).body.data.attributes;
    expect(document).toMatchObject({ 'sourceable-name': null, permissions: { 'can-destroy': false } });
    expectStatus(await reader.delete(`/api/v2/run-triggers/${readable}`), 404);
  });
});

describe('an apply', () => {
  it('starts a run in each workspace of which it is the source, which names it, and the chain continues', async () => {
    const [first, second, third] = [
      await aWorkspace({ 'auto-apply': true }),
      await aWorkspace({ 'auto-apply-run-trigger': true }),
      await aWorkspace({ 'auto-apply': true }),
    ];
    await makeRunTrigger(server, second, first);
    await makeRunTrigger(server, third, second);
    const run = await apply(first);
    const [started, ...more] = await runsOf(second);
    expect(more).toEqual([]);
    expect(started).toMatchObject({
      attributes: {
        source: 'tfe-run-trigger',
        message: `Triggered by the apply of ${run}`,
        'auto-apply': true,
        status: 'plan_queued',
        'triggering-source-name': expect.stringMatching(/^ws-/),
      },
      relationships: {
        'triggering-run': { data: { type: 'runs', id: run } },
        'triggering-source': { data: { type: 'workspaces', id: first } },
      },
    });
    expect(await runsOf(third)).toEqual([]);
    await reported(started.id, 'planning', 'planned', 'applying', 'applied');
    await triggersCaughtUp();
    // auto-apply of the workspace does not apply runs of triggers.
    const [last] = await runsOf(third);
    expect(last.attributes).toMatchObject({ 'auto-apply': false, source: 'tfe-run-trigger' });
    expect(last.relationships['triggering-run'].data.id).toBe(started.id);
    await reported(last.id, 'planning', 'planned');
    expect((await show(last.id)).attributes.actions['is-confirmable']).toBe(true);
    expectStatus(await act(last.id, 'discard'), 202);
  });

  it('shows the name of the source only to callers that may read its runs', async () => {
    const [source, target] = [await aWorkspace(), await aWorkspace()];
    await makeRunTrigger(server, target, source);
    await apply(source);
    const team = await makeTeam(server, 'acme', 'of-the-target');
    await grantWorkspaceAccess(server, team, target, 'read');
    const reader = await makeMember(server, 'acme', 'at-the-target', [team]);
    const [run] = await runsOf(target);
    expect((await show(run.id, reader)).attributes['triggering-source-name']).toBeNull();
    expect((await show(run.id)).attributes['triggering-source-name']).toMatch(/^ws-/);
  });

  it('starts exactly one run if the follower gets the event again, alone or at the same time in two processes', async () => {
    const [source, target] = [await aWorkspace(), await aWorkspace()];
    await makeRunTrigger(server, target, source);
    await apply(source);
    const follower = createTriggeredRunsFollower(new ToolReleases());
    const events = await readWholeLog(server.store);
    const session = { run: server.database.rows.bind(server.database) };
    await Promise.all([1, 2, 3].map(() => follower.follow(events, session, server.store)));
    expect(await runsOf(target)).toHaveLength(1);
  });

  it('starts no run before the trigger exists, after its deletion, or where no run can start', async () => {
    const [source, target, local, empty] = [
      await aWorkspace(),
      await aWorkspace(),
      await aWorkspace({ 'execution-mode': 'local' }),
      await emptyWorkspace(),
    ];
    await apply(source);
    const trigger = await makeRunTrigger(server, target, source);
    await makeRunTrigger(server, local, source);
    await makeRunTrigger(server, empty, source);
    // The log with the earlier apply again.
    const session = { run: server.database.rows.bind(server.database) };
    const follower = createTriggeredRunsFollower(new ToolReleases());
    await follower.follow(await readWholeLog(server.store), session, server.store);
    expect(await runsOf(target)).toEqual([]);
    await apply(source);
    expect(await runsOf(target)).toHaveLength(1);
    expect([await runsOf(local), await runsOf(empty)]).toEqual([[], []]);
    expectStatus(await server.delete(`/api/v2/run-triggers/${trigger}`), 204);
    await apply(source);
    expect(await runsOf(target)).toHaveLength(1);
  });

  it('starts no run if it destroys all resources', async () => {
    const [source, target] = [await aWorkspace(), await aWorkspace({ 'auto-apply-run-trigger': true })];
    await makeRunTrigger(server, target, source);
    const run = await makeRun(server, source, { 'auto-apply': true, 'is-destroy': true });
    await reported(run, 'planning', 'planned', 'applying', 'applied');
    await triggersCaughtUp();
    expect(await runsOf(target)).toEqual([]);
  });

  it.each([
    ['refuses its run, which gets none', unprocessable('no such release'), null],
    ['fails, after which the follower gets the events again', new Error('no connection'), 'no connection'],
  ])('starts the runs of the others if one workspace %s', async (_, error, failure) => {
    const [source, failed, other] = [await aWorkspace(), await aWorkspace(), await aWorkspace()];
    const run = await apply(source);
    await makeRunTrigger(server, failed, source);
    await makeRunTrigger(server, other, source);
    // As if the triggers had existed before the apply.
    const applied = (await readWholeLog(server.store))
      .filter(({ stream, type }) => stream === run && type === 'RunApplied')
      .map((event) => ({ ...event, time: new Date(Date.now() + 60_000).toISOString() }));
    const releases = new ToolReleases();
    const session = { run: server.database.rows.bind(server.database) };
    const failing: ToolReleases = Object.assign(new ToolReleases(), {
      with: (): ToolReleases => {
        failing.with = () => releases;
        throw error;
      },
    });
    const following = createTriggeredRunsFollower(failing).follow(applied, session, server.store);
    const outcome = following.then(
      () => null,
      ({ message }: Error) => message,
    );
    expect(await outcome).toBe(failure);
    expect([(await runsOf(failed)).length, (await runsOf(other)).length]).toEqual([0, 1]);
  });

  it('lets the started run wait while the workspace is locked', async () => {
    const [source, target] = [await aWorkspace(), await aWorkspace()];
    await makeRunTrigger(server, target, source);
    expectStatus(await server.post(`/api/v2/workspaces/${target}/actions/lock`), 200);
    await apply(source);
    expect((await runsOf(target))[0].attributes.status).toBe('pending');
    expectStatus(await server.post(`/api/v2/workspaces/${target}/actions/unlock`), 200);
    await queueCaughtUp();
    expect((await runsOf(target))[0].attributes.status).toBe('plan_queued');
  });

  it('starts no further run in a workspace in which 100 runs wait', async () => {
    const [source, target] = [await aWorkspace(), await aWorkspace()];
    await makeRunTrigger(server, target, source);
    expectStatus(await server.post(`/api/v2/workspaces/${target}/actions/lock`), 200);
    const countWaiting = async (): Promise<number> =>
      expectStatus(await server.get(`/api/v2/workspaces/${target}/runs?page[size]=1`), 200).body.meta.pagination[
        'total-count'
      ];
    for (let count = 0; count < 99; count += 1) await makeRun(server, target);
    await apply(source);
    expect(await countWaiting()).toBe(100);
    await apply(source);
    expect(await countWaiting()).toBe(100);
  });
});

describe('a deleted workspace', () => {
  const recover = (item: string): Promise<ApiResponse> =>
    server.post(`/api/v2/recoverable-items/${item}/actions/recover`);

  it('hides its triggers until it is recovered, and still counts for cycles', async () => {
    const [source, target] = [await emptyWorkspace(), await emptyWorkspace()];
    const trigger = await makeRunTrigger(server, target, source);
    expectStatus(await server.delete(`/api/v2/workspaces/${source}`), 204);
    expectStatus(await server.get(`/api/v2/run-triggers/${trigger}`), 404);
    expect(idsIn(await server.get(pathOf(target, 'inbound')))).toEqual([]);
    expectStatus(await recover(source), 200);
    expect(idsIn(await server.get(pathOf(target, 'inbound')))).toEqual([trigger]);
    const between = await emptyWorkspace();
    await makeRunTrigger(server, between, target);
    expectStatus(await server.delete(`/api/v2/workspaces/${target}`), 204);
    expect(refusalOf(await add(source, between))[1]).toContain('must not form a cycle');
  });
});

it('has views that equal the views rebuilt from the log', () => expectViewsMatchLog(server, [runTriggersDefinition]));
