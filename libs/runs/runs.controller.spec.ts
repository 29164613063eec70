import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Clock, sql } from '#kernel';
import { caughtUp, verify, viewsOf, type StatementCounter } from '#event-store';
import {
  answered,
  makeAgentPool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  related,
  reportBody,
  resource,
  runBody,
} from '../../test/support/seeds.js';
import { startTestServer, type Answer, type Api, type TestServer } from '../../test/support/server.js';
import { runsSlice } from './index.js';
import { withoutSignals } from '../../test/support/log.js';
import { countingApart, type CountedApart } from '../../test/support/recording.js';

/** Never twice the same time, and further ahead where a test says so. */
class MovedClock extends Clock {
  private ahead = 0;
  override now(): Date {
    return new Date(Date.now() + (this.ahead += 1));
  }
  pass(ms: number): void {
    this.ahead += ms;
  }
}

const clock = new MovedClock();
let server: TestServer;
let organization: Awaited<ReturnType<typeof makeOrganization>>;
/** Of a pool that all workspaces may use. */
let agents: Api;
let pool: string;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  organization = await makeOrganization(server, 'acme');
  pool = await makeAgentPool(server, 'acme', 'edge');
  agents = server.as(await makeAgentToken(server, pool));
});

afterAll(() => server.close());

let count = 0;
const aWorkspace = async (attributes: object = {}): Promise<string> => {
  const id = await makeWorkspace(server, 'acme', `ws-${(count += 1)}`, attributes);
  await makeConfigurationVersion(server, id);
  return id;
};

const show = async (id: string, api: Api = server) => answered(await api.get(`/api/v2/runs/${id}`), 200).body.data;
const statusOf = async (id: string): Promise<string> => (await show(id)).attributes.status as string;
const act = (id: string, action: string, body?: unknown, api: Api = server): Promise<Answer> =>
  api.post(`/api/v2/runs/${id}/actions/${action}`, body);
const report = (id: string, status: string, attributes: object = {}, api: Api = agents): Promise<Answer> =>
  api.post(`/api/v2/runs/${id}/progress`, reportBody(status, attributes));
const reported = async (id: string, ...statuses: readonly string[]): Promise<void> => {
  for (const status of statuses) answered(await report(id, status, { 'has-changes': true }), 200);
};
const workspaceOf = async (id: string) => answered(await server.get(`/api/v2/workspaces/${id}`), 200).body.data;
const holderOf = async (id: string): Promise<unknown> => (await workspaceOf(id)).relationships['locked-by'].data;
const queueCaughtUp = (): Promise<void> => caughtUp(server.database, 'run_queue');
const detailOf = ({ body }: Answer): string => body.errors[0].detail as string;
const isLocked = (run: string) => ({ type: 'runs', id: run });

describe('a run', () => {
  it('is made of the workspace’s latest configuration, and rendered alike everywhere', async () => {
    const workspace = await aWorkspace({ 'auto-apply': true });
    const configuration = await makeConfigurationVersion(server, workspace);
    const made = answered(await server.post('/api/v2/runs', runBody(workspace, { message: 'Custom' })), 201).body.data;
    expect(made.id).toMatch(/^run-[A-Za-z0-9]{16}$/);
    const suffix = (made.id as string).slice(4);
    expect(made).toMatchObject({
      type: 'runs',
      attributes: {
        actions: {
          'is-cancelable': true,
          'is-confirmable': false,
          'is-discardable': false,
          'is-force-cancelable': false,
        },
        'allow-empty-apply': false,
        'auto-apply': true,
        'canceled-at': null,
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        'has-changes': false,
        'is-destroy': false,
        message: 'Custom',
        permissions: {
          'can-apply': true,
          'can-cancel': true,
          'can-comment': true,
          'can-discard': true,
          'can-force-execute': true,
          'can-force-cancel': true,
          'can-override-policy-check': false,
        },
        'plan-only': false,
        'position-in-queue': 0,
        refresh: true,
        'refresh-only': false,
        'replace-addrs': null,
        'target-addrs': null,
        source: 'tfe-api',
        status: 'plan_queued',
        'status-timestamps': { 'plan-queueable-at': expect.any(String), 'plan-queued-at': expect.any(String) },
        'trigger-reason': 'manual',
        variables: [],
      },
      relationships: {
        apply: { data: { type: 'applies', id: `apply-${suffix}` } },
        'configuration-version': { data: { type: 'configuration-versions', id: configuration } },
        'cost-estimate': { data: null },
        'created-by': { data: { type: 'users', id: expect.stringMatching(/^user-/) } },
        plan: { data: { type: 'plans', id: `plan-${suffix}` } },
        workspace: { data: { type: 'workspaces', id: workspace } },
      },
      links: { self: `/api/v2/runs/${made.id}` },
    });
    expect(made.attributes).not.toHaveProperty('force-cancel-available-at');
    const list = answered(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body;
    expect([await show(made.id), list.data]).toEqual([made, [made]]);
    expect(list.meta.pagination['total-count']).toBe(1);
  });

  it('does what it is told to', async () => {
    const workspace = await aWorkspace();
    const asked = {
      'is-destroy': true,
      refresh: false,
      'target-addrs': ['aws_a.b'],
      'replace-addrs': ['aws_c.d[0]'],
      'plan-only': true,
      'terraform-version': '1.13.4',
      'allow-config-generation': true,
      'debugging-mode': true,
      'allow-empty-apply': true,
    };
    const { attributes } = answered(await server.post('/api/v2/runs', runBody(workspace, asked)), 201).body.data;
    expect(attributes).toMatchObject(asked);
  });

  it('has variables of its own, whose values are in no event', async () => {
    const variables = [{ key: 'access_key', value: '"a-secret-of-mine"' }];
    const run = await makeRun(server, await aWorkspace(), { variables });
    expect((await show(run)).attributes.variables).toEqual(variables);
    const log = JSON.stringify(await server.store.stream(run));
    expect([log.includes('access_key'), log.includes('a-secret-of-mine')]).toEqual([true, false]);
    const { workspace } = (await show(run)).relationships;
    const listed = answered(await server.get(`/api/v2/workspaces/${workspace.data.id}/runs`), 200).body.data;
    expect(listed[0].attributes.variables).toEqual(variables);
    const kept = () => server.database.rows(sql`select 1 as one from vault.secrets where id = ${run}`);
    expect(await kept()).toHaveLength(1);
    answered(await server.delete(`/api/v2/workspaces/${workspace.data.id}`), 204);
    expect(await kept()).toEqual([]);
  });

  it.each([
    ['no workspace', () => resource('runs', {}), 422, /Workspace can't be blank/],
    ['an unknown one', () => runBody('ws-nowhere'), 404, /Not found/],
    ['another type', () => ({ data: { type: 'plans', relationships: {} } }), 422, /Type must be runs/],
    ['a flag that is none', () => runBody('ws-nowhere', { 'is-destroy': 'yes' }), 422, /Is destroy must be/],
    ['a list that is none', () => runBody('ws-nowhere', { 'target-addrs': 'a.b' }), 422, /Target addrs must be/],
  ])('is refused with %s', async (_, body, status, detail) => {
    const answer = await server.post('/api/v2/runs', body());
    expect([answer.status, detailOf(answer)]).toEqual([status, expect.stringMatching(detail)]);
  });

  it.each([
    [{ 'is-destroy': true, 'refresh-only': true }, /Refresh only/, 'refresh-only'],
    [{ 'plan-only': true, 'save-plan': true }, /Save plan/, 'save-plan'],
    [{ 'terraform-version': '1.13.4' }, /only valid for plan-only/, 'terraform-version'],
  ])('is refused with %j', async (attributes, detail, pointer) => {
    const answer = await server.post('/api/v2/runs', runBody(await aWorkspace(), attributes));
    expect([answer.status, detailOf(answer)]).toEqual([422, expect.stringMatching(detail)]);
    expect(answer.body.errors[0].source.pointer).toBe(`/data/attributes/${pointer}`);
  });

  it('wants a configuration that has been uploaded, of the same organization', async () => {
    const empty = await makeWorkspace(server, 'acme', 'empty');
    const pending = answered(
      await server.post(`/api/v2/workspaces/${empty}/configuration-versions`, resource('configuration-versions')),
      201,
    ).body.data.id as string;
    const withVersion = (id: string) =>
      server.post('/api/v2/runs', runBody(empty, {}, { 'configuration-version': { data: { id } } }));
    const none = await server.post('/api/v2/runs', runBody(empty));
    expect([none.status, detailOf(none)]).toEqual([422, expect.stringContaining('Configuration version is missing')]);
    expect(detailOf(await withVersion(pending))).toContain('has not been uploaded');
    expect(detailOf(await withVersion('cv-nowhere'))).toContain('does not exist');
    const other = await makeConfigurationVersion(server, await aWorkspace());
    expect((await withVersion(other)).status).toBe(201);
    await makeOrganization(server, 'foreign');
    const foreign = await makeConfigurationVersion(server, await makeWorkspace(server, 'foreign', 'one'));
    expect(detailOf(await withVersion(foreign))).toContain('does not exist');
  });

  it('is speculative with a speculative configuration', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'speculative');
    const id = await makeConfigurationVersion(server, workspace, { speculative: true });
    const relationships = { 'configuration-version': { data: { id } } };
    const answer = answered(await server.post('/api/v2/runs', runBody(workspace, {}, relationships)), 201);
    expect(answer.body.data.attributes['plan-only']).toBe(true);
    const refused = await server.post('/api/v2/runs', runBody(workspace, { 'plan-only': false }, relationships));
    expect([refused.status, detailOf(refused)]).toEqual([422, expect.stringContaining('speculative')]);
  });

  it('is not made where the workspace runs elsewhere, or destroys nothing', async () => {
    const local = await aWorkspace({ 'execution-mode': 'local' });
    const refused = await server.post('/api/v2/runs', runBody(local));
    expect([refused.status, detailOf(refused)]).toEqual([422, expect.stringContaining('local execution mode')]);
    const kept = await aWorkspace({ 'allow-destroy-plan': false });
    const destroy = await server.post('/api/v2/runs', runBody(kept, { 'is-destroy': true }));
    expect([destroy.status, detailOf(destroy)]).toEqual([422, expect.stringContaining('Destroy plans')]);
  });
});

describe('who may', () => {
  it('read, queue and apply follows the permission table', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace);
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    expect((await show(run, token)).attributes.permissions).toMatchObject({ 'can-apply': false, 'can-comment': false });
    expect((await token.post('/api/v2/runs', runBody(workspace))).status).toBe(404);
    expect((await act(run, 'cancel', undefined, token)).status).toBe(404);
    const stranger = await makeMember(server, 'acme', 'stranger');
    const suffix = run.slice(4);
    for (const path of [
      `runs/${run}`,
      `workspaces/${workspace}/runs`,
      `runs/${run}/comments`,
      `runs/${run}/run-events`,
      `runs/${run}/task-stages`,
      `runs/${run}/plan`,
      `plans/plan-${suffix}`,
      `plans/plan-${suffix}/json-output`,
      `applies/apply-${suffix}`,
      `agent-pools/${pool}/runs`,
    ]) {
      expect([path, (await stranger.get(`/api/v2/${path}`)).status]).toEqual([path, 404]);
    }
    expect((await stranger.post('/api/v2/runs', runBody(workspace))).status).toBe(404);
    for (const action of ['apply', 'cancel', 'discard', 'force-cancel', 'force-execute']) {
      expect([action, (await act(run, action, undefined, stranger)).status]).toEqual([action, 404]);
    }
    expect((await report(run, 'planning', {}, stranger)).status).toBe(404);
    const listed = answered(await stranger.get('/api/v2/organizations/acme/runs'), 200);
    expect([listed.body.data, listed.body.meta.pagination['total-count']]).toEqual([[], 0]);
  });

  it('plan in one workspace sees its runs alone, and starts none that is applied without a question', async () => {
    const workspace = await aWorkspace({ 'auto-apply': true });
    const elsewhere = await makeRun(server, await aWorkspace());
    const team = await makeTeam(server, 'acme', 'planners');
    const member = await makeMember(server, 'acme', 'planner', [team]);
    const places = { team: { data: { id: team } }, workspace: { data: { id: workspace } } };
    answered(
      await server.post('/api/v2/team-workspaces', resource('team-workspaces', { access: 'plan' }, places)),
      201,
    );
    const run = await makeRun(member, workspace, { 'auto-apply': true });
    expect((await show(run, member)).attributes).toMatchObject({
      'auto-apply': false,
      permissions: { 'can-apply': false, 'can-comment': true, 'can-force-cancel': false },
    });
    const listed = answered(await member.get('/api/v2/organizations/acme/runs'), 200);
    expect([listed.body.data.map(({ id }: { id: string }) => id), listed.body.meta.pagination['total-count']]).toEqual([
      [run],
      1,
    ]);
    expect((await member.get(`/api/v2/runs/${elsewhere}`)).status).toBe(404);
    for (const action of ['apply', 'cancel', 'discard', 'force-cancel', 'force-execute']) {
      expect([action, (await act(run, action, undefined, member)).status]).toEqual([action, 404]);
    }
    const comment = resource('comments', { body: 'please' });
    expect((await member.post(`/api/v2/runs/${run}/comments`, comment)).status).toBe(201);
    expect((await member.post(`/api/v2/runs/${elsewhere}/comments`, comment)).status).toBe(404);
  });

  it('does not know of what is nowhere', async () => {
    const lost = ['runs/run-0', 'workspaces/ws-0/runs', 'organizations/nowhere/runs', 'plans/run-0', 'applies/apply-0'];
    const more = [
      'comments/wsc-0',
      'run-events/re-0',
      'runs/run-0/comments',
      'runs/run-0/run-events',
      'runs/run-0/task-stages',
    ];
    for (const path of [...lost, ...more]) {
      expect([path, (await server.get(`/api/v2/${path}`)).status]).toEqual([path, 404]);
    }
    expect((await act('run-0', 'apply')).status).toBe(404);
  });

  it('applies by itself only what somebody has queued who may apply', async () => {
    const team = server.as(await makeToken(server, `/api/v2/teams/${organization.ownersTeam}/authentication-token`));
    const run = await makeRun(team, await aWorkspace({ 'auto-apply': true }));
    expect((await show(run)).attributes['auto-apply']).toBe(true);
    // Clients know users alone as those who run something.
    expect((await show(run)).relationships['created-by'].data.type).toBe('users');
  });
});

describe('the queue of a workspace', () => {
  it('lets one run after the other have the workspace', async () => {
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
    answered(await act(first, 'discard', { comment: 'not this one' }), 202);
    await queueCaughtUp();
    expect(await holderOf(workspace)).toEqual(isLocked(second));
    // Somebody who waits goes: the one behind moves up.
    answered(await act(second, 'cancel'), 202);
    await queueCaughtUp();
    expect(await Promise.all([first, second, third].map(statusOf))).toEqual(['discarded', 'canceled', 'plan_queued']);
    answered(await act(third, 'cancel'), 202);
    expect(await holderOf(workspace)).toBeNull();
  });

  it('goes on behind a run that left it before its turn', async () => {
    const workspace = await aWorkspace();
    answered(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    const [first, second] = [await makeRun(server, workspace), await makeRun(server, workspace)];
    expect(await Promise.all([first, second].map(statusOf))).toEqual(['pending', 'pending']);
    answered(await act(first, 'discard'), 202);
    answered(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
    await queueCaughtUp();
    expect(await Promise.all([first, second].map(statusOf))).toEqual(['discarded', 'plan_queued']);
  });

  it('is passed by what is only speculative, and by plans that are to be saved', async () => {
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
    expect([refused.status, detailOf(refused)]).toEqual([409, expect.stringContaining(`locked by Run ${first}`)]);
    answered(await act(first, 'cancel'), 202);
    answered(await act(saved, 'apply'), 202);
    expect(await holderOf(workspace)).toEqual(isLocked(saved));
    await reported(saved, 'applying', 'applied');
    expect(await holderOf(workspace)).toBeNull();
  });

  it('keeps users from unlocking, but not administrators from force; the run goes on', async () => {
    const workspace = await aWorkspace();
    const [run, next] = [await makeRun(server, workspace), await makeRun(server, workspace)];
    const unlock = await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`);
    expect([unlock.status, detailOf(unlock)]).toEqual([409, expect.stringContaining(`is locked by Run ${run}`)]);
    answered(await server.post(`/api/v2/workspaces/${workspace}/actions/force-unlock`), 200);
    await queueCaughtUp();
    expect(await holderOf(workspace)).toEqual(isLocked(next));
    await reported(run, 'planning', 'planned');
    answered(await act(run, 'apply'), 202);
    await reported(run, 'applying', 'applied');
    expect(await holderOf(workspace)).toEqual(isLocked(next));
  });

  it('lets a run be executed before those that wait for confirmation', async () => {
    const workspace = await aWorkspace();
    const [first, second, third] = [
      await makeRun(server, workspace),
      await makeRun(server, workspace),
      await makeRun(server, workspace),
    ];
    const busy = await act(third, 'force-execute');
    expect([busy.status, detailOf(busy)]).toEqual([409, expect.stringContaining(`${first} before it is plan_queued`)]);
    await reported(first, 'planning', 'planned');
    answered(await act(third, 'force-execute'), 202);
    expect(await Promise.all([first, second, third].map(statusOf))).toEqual(['discarded', 'discarded', 'plan_queued']);
    expect(await holderOf(workspace)).toEqual(isLocked(third));
    const again = await act(third, 'force-execute');
    expect([again.status, detailOf(again)]).toEqual([409, 'Run is plan_queued: force-execute is not possible']);
    answered(await act(third, 'cancel'), 202);
    answered(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    const fourth = await makeRun(server, workspace);
    const locked = await act(fourth, 'force-execute');
    expect([locked.status, detailOf(locked)]).toEqual([409, expect.stringContaining('not locked by another run')]);
  });

  it('lets one of many who come at once have the workspace, and nobody be forgotten', async () => {
    const workspace = await aWorkspace();
    const runs = await Promise.all(Array.from({ length: 6 }, () => makeRun(server, workspace)));
    for (const _ of runs) {
      await queueCaughtUp();
      const statuses = await Promise.all(runs.map(statusOf));
      expect(statuses.filter((status) => status === 'plan_queued')).toHaveLength(1);
      const at = runs[statuses.indexOf('plan_queued')] as string;
      expect(await holderOf(workspace)).toEqual(isLocked(at));
      answered(await act(at, 'cancel'), 202);
    }
    expect(await holderOf(workspace)).toBeNull();
  });
});

describe('an executor', () => {
  const waiting = async (api: Api = agents, of = pool): Promise<string[]> =>
    (
      answered(await api.get(`/api/v2/agent-pools/${of}/runs?page%5Bsize%5D=100`), 200).body.data as { id: string }[]
    ).map(({ id }) => id);

  it('finds a run, plans it, waits for a user, and applies it', async () => {
    const run = await makeRun(server, await aWorkspace());
    expect(await waiting()).toContain(run);
    answered(await report(run, 'planning'), 200);
    expect(await waiting()).not.toContain(run);
    const second = await report(run, 'planning');
    expect([second.status, detailOf(second)]).toEqual([409, 'Run is planning: it cannot become planning']);
    const plan = { 'resource-additions': 2, 'resource-changes': 1, 'resource-imports': 3 };
    const planned = answered(await report(run, 'planned', plan), 200).body.data;
    expect(planned.attributes).toMatchObject({
      status: 'planned',
      'has-changes': true,
      actions: { 'is-confirmable': true, 'is-discardable': true, 'is-cancelable': false },
      // The token is an agent's: what people may do it may not.
      permissions: { 'can-apply': false },
    });
    const suffix = run.slice(4);
    const { attributes } = answered(await server.get(`/api/v2/plans/plan-${suffix}`), 200).body.data;
    expect(attributes).toMatchObject({
      ...plan,
      'has-changes': true,
      'resource-destructions': 0,
      'log-read-url': null,
      status: 'finished',
      'execution-details': { mode: 'remote' },
      'status-timestamps': { 'queued-at': expect.any(String), 'finished-at': expect.any(String) },
    });
    expect((await server.get(`/api/v2/plans/plan-${suffix}/json-output`)).status).toBe(404);
    answered(await act(run, 'apply', { comment: 'Looks good' }), 202);
    expect((await show(run)).attributes.status).toBe('apply_queued');
    expect(await waiting()).toContain(run);
    await reported(run, 'applying');
    answered(await report(run, 'applied', { 'resource-additions': 2 }), 200);
    const applied = answered(await server.get(`/api/v2/applies/apply-${suffix}`), 200).body.data;
    expect(applied).toMatchObject({
      type: 'applies',
      attributes: { status: 'finished', 'resource-additions': 2, 'resource-changes': 0 },
    });
    expect(answered(await server.get(`/api/v2/runs/${run}/apply`), 200).body.data).toEqual(applied);
  });

  it('is not waited for where the run says so', async () => {
    const auto = await makeRun(server, await aWorkspace({ 'auto-apply': true }));
    await reported(auto, 'planning', 'planned');
    expect(await statusOf(auto)).toBe('apply_queued');
    const without = await makeRun(server, await aWorkspace({ 'auto-apply': true }));
    answered(await report(without, 'planning'), 200);
    answered(await report(without, 'planned'), 200);
    expect(await statusOf(without)).toBe('planned_and_finished');
    const asked = await makeRun(server, await aWorkspace({ 'auto-apply': true }), { 'auto-apply': false });
    await reported(asked, 'planning', 'planned');
    expect(await statusOf(asked)).toBe('planned');
  });

  it('is asked to stop, answers, or is given up by force', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace);
    answered(await report(run, 'planning'), 200);
    const early = await act(run, 'force-cancel');
    expect([early.status, detailOf(early)]).toEqual([409, expect.stringContaining('it must be canceled first')]);
    answered(await act(run, 'cancel', { comment: 'stuck' }), 202);
    const { attributes } = await show(run);
    expect(attributes).toMatchObject({
      status: 'planning',
      'canceled-at': expect.any(String),
      actions: { 'is-cancelable': false, 'is-force-cancelable': false },
    });
    const available = Date.parse(attributes['force-cancel-available-at'] as string);
    expect(available - Date.parse(attributes['canceled-at'] as string)).toBeGreaterThanOrEqual(9_900);
    expect(await waiting()).toContain(run);
    expect((await act(run, 'cancel')).status).toBe(409);
    expect(detailOf(await act(run, 'force-cancel'))).toContain('not before');
    clock.pass(15_000);
    expect((await show(run)).attributes.actions['is-force-cancelable']).toBe(true);
    answered(await act(run, 'force-cancel'), 202);
    expect([await statusOf(run), await holderOf(workspace)]).toEqual(['force_canceled', null]);
    const late = await report(run, 'planned');
    expect([late.status, detailOf(late)]).toEqual([409, 'Run is force_canceled: it cannot become planned']);

    const polite = await makeRun(server, workspace);
    answered(await report(polite, 'planning'), 200);
    answered(await act(polite, 'cancel'), 202);
    answered(await report(polite, 'canceled', { message: 'interrupted' }), 200);
    expect(await holderOf(workspace)).toBeNull();
    const plan = answered(await server.get(`/api/v2/runs/${polite}/plan`), 200).body.data;
    expect(plan.attributes.status).toBe('canceled');
  });

  it('gives the workspace back with an error', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace);
    await reported(run, 'planning');
    answered(await report(run, 'errored', { message: 'no provider' }), 200);
    expect([await statusOf(run), await holderOf(workspace)]).toEqual(['errored', null]);
    const { data } = answered(await server.get(`/api/v2/runs/${run}/run-events`), 200).body;
    expect(data.at(-1).attributes).toMatchObject({ action: 'errored', description: 'no provider' });
  });

  it('sees only what is its own to execute', async () => {
    const own = await makeAgentPool(server, 'acme', 'own');
    const mine = server.as(await makeAgentToken(server, own));
    const workspace = await aWorkspace({ 'execution-mode': 'agent', 'agent-pool-id': own });
    const run = await makeRun(server, workspace);
    expect(await waiting(mine, own)).toContain(run);
    expect(await waiting()).not.toContain(run);
    expect((await report(run, 'planning')).status).toBe(404);
    expect((await mine.get(`/api/v2/agent-pools/${pool}/runs`)).status).toBe(404);
    expect((await server.get(`/api/v2/agent-pools/${pool}/runs`)).status).toBe(404);
    answered(await report(run, 'planning', {}, mine), 200);
    const plan = answered(await server.get(`/api/v2/runs/${run}/plan`), 200).body.data;
    expect(plan.attributes['execution-details']).toEqual({ mode: 'agent', 'agent-pool-id': own });
    // It executes runs; it does not read about them.
    expect((await mine.get(`/api/v2/runs/${run}`)).status).toBe(404);
  });

  it('of a pool that is not for a workspace gets none of it', async () => {
    const narrow = await makeAgentPool(server, 'acme', 'narrow', { 'organization-scoped': false });
    const run = await makeRun(server, await aWorkspace());
    const agent = server.as(await makeAgentToken(server, narrow));
    expect(await waiting(agent, narrow)).toEqual([]);
    expect((await report(run, 'planning', {}, agent)).status).toBe(404);
  });

  it('gets nothing of a workspace that its pool leaves out, whatever brought the workspace to it', async () => {
    const own = await makeAgentPool(server, 'acme', 'leaving-out');
    const agent = server.as(await makeAgentToken(server, own));
    const defaults = { name: 'Brought', 'default-execution-mode': 'agent', 'default-agent-pool-id': own };
    const made = await server.post('/api/v2/organizations/acme/projects', resource('projects', defaults));
    const project = { data: { type: 'projects', id: answered(made, 201).body.data.id } };
    const brought = await makeWorkspace(server, 'acme', 'brought-by-default', {}, { project });
    await makeConfigurationVersion(server, brought);
    const chosen = await aWorkspace({ 'execution-mode': 'agent', 'agent-pool-id': own });
    const runs = [await makeRun(server, brought), await makeRun(server, chosen)];
    expect(await waiting(agent, own)).toEqual(expect.arrayContaining(runs));
    const without = resource('agent-pools', {}, { 'excluded-workspaces': related('workspaces', brought, chosen) });
    answered(await server.patch(`/api/v2/agent-pools/${own}`, without), 200);
    const left = await waiting(agent, own);
    for (const run of runs) {
      expect(left).not.toContain(run);
      answered(await report(run, 'planning', {}, agent), 404);
    }
  });

  it('is shown nothing that people say of a run', async () => {
    const run = await makeRun(server, await aWorkspace());
    answered(await server.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'between us' })), 201);
    const path = `/api/v2/agent-pools/${pool}/runs?include=comments&page%5Bsize%5D=100`;
    expect(answered(await agents.get(path), 200).body.included).toEqual([]);
  });

  it.each([
    [{}, /Status/],
    [{ status: 'done' }, /Status must be one of/],
    [{ status: 'planned', 'resource-additions': -1 }, /Resource additions/],
    [{ status: 'planned', 'has-changes': 'yes' }, /Has changes must be/],
  ])('is told what is wrong with %j', async (attributes, detail) => {
    const answer = await agents.post('/api/v2/runs/run-0/progress', resource('run-progress', attributes));
    expect([answer.status, detailOf(answer)]).toEqual([422, expect.stringMatching(detail)]);
  });
});

describe('what is told of a run', () => {
  it('are comments, of their own or with an action', async () => {
    const run = await makeRun(server, await aWorkspace());
    const comments = `/api/v2/runs/${run}/comments`;
    const made = answered(await server.post(comments, resource('comments', { body: 'first' })), 201).body.data;
    expect(made).toMatchObject({ type: 'comments', id: expect.stringMatching(/^wsc-/), attributes: { body: 'first' } });
    answered(await act(run, 'cancel', { comment: 'second' }), 202);
    const list = answered(await server.get(comments), 200).body.data;
    expect(list.map(({ attributes }: typeof made) => attributes.body)).toEqual(['first', 'second']);
    expect([list[0], answered(await server.get(`/api/v2/comments/${made.id}`), 200).body.data]).toEqual([made, made]);
    expect((await show(run)).relationships.comments.data).toHaveLength(2);
    for (const body of [resource('comments', {}), resource('comments', { body: '' }), {}]) {
      expect((await server.post(comments, body)).status).toBe(422);
    }
  });

  it('is its history, with who did it', async () => {
    const run = await makeRun(server, await aWorkspace(), { message: 'why' });
    await reported(run, 'planning', 'planned');
    answered(await act(run, 'apply', { comment: 'go' }), 202);
    const { data, included } = answered(
      await server.get(`/api/v2/runs/${run}/run-events?include=actor,comment`),
      200,
    ).body;
    expect(data.map(({ attributes }: { attributes: { action: string } }) => attributes.action)).toEqual([
      'created',
      'queued',
      'planning',
      'planned',
      'confirmed',
      'apply_queued',
      'commented',
    ]);
    expect(data[0]).toMatchObject({
      type: 'run-events',
      attributes: { description: 'why', 'created-at': expect.stringMatching(/Z$/) },
    });
    expect(data[2].relationships.actor.data.id).toBe(pool);
    const types = (included as { type: string }[]).map(({ type }) => type).toSorted();
    expect(types).toEqual(['comments', 'users', 'users']);
    const shown = answered(await server.get(`/api/v2/run-events/${data[0].id}`), 200).body.data;
    expect(shown).toEqual(data[0]);
    expect((await server.get(`/api/v2/runs/${run}/run-events?include=plan`)).status).toBe(400);
  });

  it('goes into the audit trail once for each deed', async () => {
    await makeOrganization(server, 'audited');
    const workspace = await makeWorkspace(server, 'audited', 'one');
    await makeConfigurationVersion(server, workspace);
    const [run, next] = [await makeRun(server, workspace), await makeRun(server, workspace)];
    answered(await server.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'x' })), 201);
    answered(await act(run, 'cancel'), 202);
    await queueCaughtUp();
    answered(await act(next, 'cancel'), 202);
    const token = server.as(await makeOrganizationToken(server, 'audited'));
    const trail = answered(await token.get('/api/v2/organization/audit-trail'), 200).body.data as {
      resource: { id: string; type: string; action: string; meta: unknown };
    }[];
    const told = trail.map(({ resource: { id, type, action, meta } }) => ({ id, type, action, meta })).toReversed();
    expect(told.filter(({ type }) => type === 'run')).toEqual([
      { id: run, type: 'run', action: 'create', meta: expect.objectContaining({ workspace_id: workspace }) },
      { id: next, type: 'run', action: 'create', meta: expect.objectContaining({ workspace_id: workspace }) },
      { id: run, type: 'run', action: 'cancel', meta: null },
      { id: next, type: 'run', action: 'cancel', meta: null },
    ]);
    expect(told.filter(({ type }) => type === 'workspace_comment')).toEqual([
      expect.objectContaining({ action: 'create', meta: { resource: run } }),
    ]);
  });
});

describe('stages of run tasks', () => {
  it('are none, told as a list: the tfe provider asks for them before it waits for a run', async () => {
    const run = await makeRun(server, await aWorkspace());
    const { body } = answered(await server.get(`/api/v2/runs/${run}/task-stages`), 200);
    expect(body).toMatchObject({
      data: [],
      meta: { pagination: { 'current-page': 1, 'next-page': null, 'total-pages': 0, 'total-count': 0 } },
    });
  });
});

describe('lists of runs', () => {
  const PATH = '/api/v2/organizations/listed/runs';
  let workspaces: readonly string[];
  let runs: readonly string[];

  beforeAll(async () => {
    await makeOrganization(server, 'listed');
    workspaces = [await makeWorkspace(server, 'listed', 'alpha'), await makeWorkspace(server, 'listed', 'beta')];
    for (const workspace of workspaces) await makeConfigurationVersion(server, workspace);
    const [alpha, beta] = workspaces as [string, string];
    runs = [
      await makeRun(server, alpha, { message: 'Grow the net' }),
      await makeRun(server, alpha, { 'plan-only': true }),
      await makeRun(server, beta, { 'is-destroy': true }),
    ];
    answered(await act(runs[1] as string, 'cancel'), 202);
  });

  const found = async (query: string): Promise<(number | string)[]> => {
    const { data } = answered(await server.get(`${PATH}?${encodeURI(query)}`), 200).body;
    return (data as { id: string }[]).map(({ id }) => runs.indexOf(id)).toSorted();
  };

  it.each([
    ['', [0, 1, 2]],
    ['filter[status]=plan_queued', [0, 2]],
    ['filter[status]=canceled,applied', [1]],
    ['filter[operation]=plan_only', [1]],
    ['filter[operation]=destroy,plan_and_apply', [0, 2]],
    ['filter[source]=tfe-api', [0, 1, 2]],
    ['filter[source]=tfe-ui', []],
    ['filter[status_group]=non_final', [0, 2]],
    ['filter[status_group]=final', [1]],
    ['filter[status_group]=final&filter[status]=plan_queued', []],
    ['filter[workspace_names]=beta', [2]],
    ['filter[agent_pool_names]=edge', []],
    ['filter[timeframe]=year', [0, 1, 2]],
    ['filter[timeframe]=1999', []],
    ['search[basic]=GROW', [0]],
    ['search[basic]=nothing', []],
    ['search[user]=admin', [0, 1, 2]],
    ['search[user]=nobody&search[basic]=grow', []],
    ['search[commit]=abc', []],
  ])('are narrowed by %s', async (query, expected) => {
    expect(await found(query)).toEqual(expected);
  });

  it('go newest first, in pages', async () => {
    const { data, meta } = answered(await server.get(`${PATH}?page%5Bsize%5D=2`), 200).body;
    expect((data as { id: string }[]).map(({ id }) => id)).toEqual([runs[2], runs[1]]);
    expect(meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2, 'next-page': 2 });
    const past = answered(await server.get(`/api/v2/workspaces/${workspaces[0]}/runs?page%5Bnumber%5D=9`), 200).body;
    expect([past.data, past.meta.pagination['total-count']]).toEqual([[], 2]);
  });

  it.each(['filter[timeframe]=soon', 'filter[status_group]=odd', 'include=friends', 'page[size]=x'])(
    'refuse %s',
    async (query) => {
      expect((await server.get(`${PATH}?${encodeURI(query)}`)).status).toBe(400);
    },
  );

  it('bring what belongs to the runs along', async () => {
    const include =
      'plan,apply,created_by,confirmed_by,comments,configuration_version,configuration-version.ingress-attributes,workspace,cost_estimate';
    const { included } = answered(await server.get(`${PATH}?include=${include}`), 200).body;
    const types = new Set((included as { type: string }[]).map(({ type }) => type));
    expect([...types].toSorted()).toEqual(['applies', 'configuration-versions', 'plans', 'users', 'workspaces']);
    const { included: one } = answered(await server.get(`/api/v2/runs/${runs[0]}?include=plan`), 200).body;
    expect(one).toHaveLength(1);
  });

  it('have a queue, the oldest first, of what waits and what is in hand; and say how much that is', async () => {
    const worker = server.as(await makeAgentToken(server, await makeAgentPool(server, 'listed', 'work')));
    const capacity = async (api: Api = server) =>
      answered(await api.get('/api/v2/organizations/listed/capacity'), 200).body.data;
    const [first] = runs as [string];
    expect(await capacity()).toEqual({
      id: 'listed',
      type: 'organization-capacity',
      attributes: { pending: 2, running: 0 },
    });
    answered(await report(first, 'planning', {}, worker), 200);
    expect((await capacity()).attributes).toEqual({ pending: 1, running: 1 });
    const { data, meta } = answered(await server.get(`${PATH}/queue?page%5Bsize%5D=1&include=plan`), 200).body;
    expect([data[0].id, meta.pagination['total-count']]).toEqual([first, 2]);
    answered(await report(first, 'planned', { 'has-changes': true }, worker), 200);
    expect((await capacity()).attributes).toEqual({ pending: 1, running: 0 });
    const stranger = await makeMember(server, 'listed', 'unconcerned');
    expect((await capacity(stranger)).attributes).toEqual({ pending: 0, running: 0 });
    expect(answered(await stranger.get(`${PATH}/queue`), 200).body.data).toEqual([]);
  });
});

describe('a workspace', () => {
  it('shows its current run, and is found by it', async () => {
    await makeOrganization(server, 'shown');
    const [one, two, three] = [
      await makeWorkspace(server, 'shown', 'one'),
      await makeWorkspace(server, 'shown', 'two'),
      await makeWorkspace(server, 'shown', 'three'),
    ];
    await makeConfigurationVersion(server, one);
    await makeConfigurationVersion(server, two);
    const later = await makeRun(server, two);
    const run = await makeRun(server, one);
    const waits = await makeRun(server, one);
    const { relationships } = await workspaceOf(one);
    expect([relationships['current-run'].data.id, relationships['latest-run'].data.id]).toEqual([run, run]);
    expect((await workspaceOf(three)).relationships['current-run'].data).toBeNull();
    const list = async (query: string): Promise<string[]> =>
      (
        answered(await server.get(`/api/v2/organizations/shown/workspaces?${encodeURI(query)}`), 200).body.data as {
          id: string;
        }[]
      ).map(({ id }) => id);
    expect(await list('sort=current-run.created-at')).toEqual([two, one, three]);
    expect(await list('sort=-current-run.created-at')).toEqual([one, two, three]);
    answered(await act(later, 'cancel'), 202);
    expect(await list('filter[current-run][status]=canceled')).toEqual([two]);
    expect(await list('filter[current-run][status]=plan_queued,canceled')).toEqual([one, two]);
    answered(await act(run, 'cancel'), 202);
    await queueCaughtUp();
    expect((await workspaceOf(one)).relationships['current-run'].data.id).toBe(waits);
    const include = 'current_run,current_run.plan,current_run.configuration_version,locked_by';
    const { included } = answered(await server.get(`/api/v2/workspaces/${one}?include=${include}`), 200).body;
    expect((included as { type: string }[]).map(({ type }) => type).toSorted()).toEqual([
      'configuration-versions',
      'plans',
      'runs',
    ]);
    expect(included[0]).toEqual(await show(waits));
  });

  it('takes its runs along when it goes', async () => {
    const workspace = await aWorkspace();
    const [run, next] = [await makeRun(server, workspace), await makeRun(server, workspace)];
    answered(await server.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'x' })), 201);
    answered(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expect((await server.get(`/api/v2/runs/${run}`)).status).toBe(404);
    expect((await act(next, 'cancel')).status).toBe(404);
    expect((await report(run, 'planning')).status).toBe(404);
    await queueCaughtUp();
    const left = await server.database.rows(sql`
      select id from runs where workspace = ${workspace}
      union all select id from run_events where workspace = ${workspace}
      union all select id from run_comments where workspace = ${workspace}
      union all select current_run from workspace_runs where workspace = ${workspace}`);
    expect(left).toEqual([]);
  });
});

describe('the cost', () => {
  let count: () => CountedApart;
  const counted = async (request: () => Promise<Answer>): Promise<StatementCounter & { status: number }> => {
    const before = count();
    const { status } = await request();
    const { statements, roundTrips } = count();
    return { status, statements: statements - before.statements, roundTrips: roundTrips - before.roundTrips };
  };
  let quiet: TestServer;
  let workspace: string;

  beforeAll(async () => {
    quiet = await startTestServer();
    await makeOrganization(quiet, 'acme');
    // The signal to followers goes out after the answer: it belongs to no request.
    withoutSignals(quiet.store);
    count = countingApart(quiet);
    workspace = await makeWorkspace(quiet, 'acme', 'one');
    await makeConfigurationVersion(quiet, workspace);
    for (let n = 0; n < 100; n += 1) await makeRun(quiet, workspace, { 'plan-only': n % 2 === 0 });
  });

  afterAll(() => quiet.close());

  it.each([1, 20, 100])('of a page of %i runs is one statement', async (size) => {
    for (const path of [`workspaces/${workspace}/runs`, 'organizations/acme/runs']) {
      const url = `/api/v2/${path}?page%5Bsize%5D=${size}`;
      expect((await quiet.get(url)).body.data).toHaveLength(size);
      expect(await counted(() => quiet.get(url))).toEqual({ status: 200, statements: 1, roundTrips: 1 });
      expect(await counted(() => quiet.get(`${url}&include=plan,apply`))).toMatchObject({ statements: 1 });
      const more = '&include=created_by,workspace,configuration_version,comments';
      expect(await counted(() => quiet.get(`${url}${more}`))).toMatchObject({ statements: 2 });
    }
  });

  it('of a command is two round trips', async () => {
    const one = await makeWorkspace(quiet, 'acme', 'measured');
    await makeConfigurationVersion(quiet, one);
    let run = '';
    const create = async (): Promise<Answer> => {
      const answer = await quiet.post('/api/v2/runs', runBody(one));
      run = answer.body.data.id as string;
      return answer;
    };
    expect(await counted(create)).toMatchObject({ status: 201, roundTrips: 2 });
    const comment = () => quiet.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'x' }));
    expect(await counted(comment)).toMatchObject({ status: 201, roundTrips: 2 });
    expect(await counted(() => quiet.post(`/api/v2/runs/${run}/actions/cancel`))).toMatchObject({
      status: 202,
      roundTrips: 2,
    });
    expect(await counted(() => quiet.post(`/api/v2/runs/${run}/actions/apply`))).toMatchObject({
      status: 409,
      roundTrips: 1,
    });
  });
});

it('can be made anew from the log: the views say the same', async () => {
  for (const view of viewsOf([runsSlice])) {
    expect([view.name, await verify(server.store, view, new Date())]).toEqual([view.name, []]);
  }
});
