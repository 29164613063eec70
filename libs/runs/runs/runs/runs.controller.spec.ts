import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import {
  expectStatus,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  resource,
  runBody,
} from '../../../../test/support/seeds.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import { getDetail } from '../../../../test/support/responses.js';
import type { ApiTestClient, TestServer } from '../../../../test/support/server.js';

let server: TestServer;
let organization: Awaited<ReturnType<typeof makeOrganization>>;
/** An agent of a pool that serves all workspaces. */
let agents: ApiTestClient;
let pool: string;

beforeAll(async () => {
  ({ server, organization, agents, pool } = await startRunSite());
});

afterAll(() => server.close());

const { aWorkspace, show, act, report, reported, workspaceOf, queueCaughtUp, differences } = runRequests(() => ({
  server,
  agents,
}));

describe('a run', () => {
  it('uses the workspace’s latest configuration, and every endpoint renders the same document', async () => {
    const workspace = await aWorkspace({ 'auto-apply': true });
    const configuration = await makeConfigurationVersion(server, workspace);
    const createdRun = expectStatus(await server.post('/api/v2/runs', runBody(workspace, { message: 'Custom' })), 201)
      .body.data;
    expect(createdRun.id).toMatch(/^run-[A-Za-z0-9]{16}$/);
    const suffix = (createdRun.id as string).slice(4);
    expect(createdRun).toMatchObject({
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
        'invoke-action-addrs': null,
        'policy-paths': null,
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
      links: { self: `/api/v2/runs/${createdRun.id}` },
    });
    expect(createdRun.attributes).not.toHaveProperty('force-cancel-available-at');
    const list = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body;
    expect([await show(createdRun.id), list.data]).toEqual([createdRun, [createdRun]]);
    expect(list.meta.pagination['total-count']).toBe(1);
  });

  it('applies the requested options', async () => {
    const workspace = await aWorkspace();
    const options = {
      'is-destroy': true,
      refresh: false,
      'target-addrs': ['aws_a.b'],
      'replace-addrs': ['aws_c.d[0]'],
      'invoke-action-addrs': ['action.aws_lambda_invoke.a'],
      'policy-paths': ['./policies', './more'],
      'plan-only': true,
      'terraform-version': '1.13.4',
      'allow-config-generation': true,
      'debugging-mode': true,
      'allow-empty-apply': true,
    };
    const { attributes } = expectStatus(await server.post('/api/v2/runs', runBody(workspace, options)), 201).body.data;
    expect(attributes).toMatchObject(options);
  });

  it('has variables of its own, whose values are in no event', async () => {
    const variables = [{ key: 'access_key', value: '"a-secret-of-mine"' }];
    const run = await makeRun(server, await aWorkspace(), { variables });
    expect((await show(run)).attributes.variables).toEqual(variables);
    const log = JSON.stringify(await server.store.log.stream(run));
    expect([log.includes('access_key'), log.includes('a-secret-of-mine')]).toEqual([true, false]);
    const { workspace } = (await show(run)).relationships;
    const listed = expectStatus(await server.get(`/api/v2/workspaces/${workspace.data.id}/runs`), 200).body.data;
    expect(listed[0].attributes.variables).toEqual(variables);
    const readSecrets = () => server.database.rows(sql`select 1 as one from vault.secrets where id = ${run}`);
    expect(await readSecrets()).toHaveLength(1);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace.data.id}`), 204);
    expect(await readSecrets()).toEqual([]);
  });

  it.each([
    ['no workspace', () => resource('runs', {}), 422, /Workspace can't be blank/],
    ['an unknown one', () => runBody('ws-nowhere'), 404, /Not found/],
    ['another type', () => ({ data: { type: 'plans', relationships: {} } }), 422, /Type must be runs/],
    ['a flag that is none', () => runBody('ws-nowhere', { 'is-destroy': 'yes' }), 422, /Is destroy must be/],
    ['a list that is none', () => runBody('ws-nowhere', { 'target-addrs': 'a.b' }), 422, /Target addrs must be/],
    [
      'variables of more than 100,000 bytes together',
      () => runBody('ws-nowhere', { variables: ['a', 'b'].map((key) => ({ key, value: 'ä'.repeat(25_000) })) }),
      422,
      /Variables: too long, at most 100000 bytes in all keys and values together/,
    ],
  ])('is refused with %s', async (_, body, status, detail) => {
    const answer = await server.post('/api/v2/runs', body());
    expect([answer.status, getDetail(answer)]).toEqual([status, expect.stringMatching(detail)]);
  });

  it.each([
    [{ 'is-destroy': true, 'refresh-only': true }, /Refresh only/, 'refresh-only'],
    [{ 'plan-only': true, 'save-plan': true }, /Save plan/, 'save-plan'],
    [{ 'terraform-version': '1.13.4' }, /only valid for plan-only/, 'terraform-version'],
  ])('is refused with %j', async (attributes, detail, pointer) => {
    const answer = await server.post('/api/v2/runs', runBody(await aWorkspace(), attributes));
    expect([answer.status, getDetail(answer)]).toEqual([422, expect.stringMatching(detail)]);
    expect(answer.body.errors[0].source.pointer).toBe(`/data/attributes/${pointer}`);
  });

  it('requires an uploaded configuration of the same organization', async () => {
    const empty = await makeWorkspace(server, 'acme', 'empty');
    const pending = expectStatus(
      await server.post(`/api/v2/workspaces/${empty}/configuration-versions`, resource('configuration-versions')),
      201,
    ).body.data.id as string;
    const withVersion = (id: string) =>
      server.post('/api/v2/runs', runBody(empty, {}, { 'configuration-version': { data: { id } } }));
    const none = await server.post('/api/v2/runs', runBody(empty));
    expect([none.status, getDetail(none)]).toEqual([422, expect.stringContaining('Configuration version is missing')]);
    expect(getDetail(await withVersion(pending))).toContain('has not been uploaded');
    expect(getDetail(await withVersion('cv-nowhere'))).toContain('does not exist');
    const otherConfiguration = await makeConfigurationVersion(server, await aWorkspace());
    expect((await withVersion(otherConfiguration)).status).toBe(201);
    await makeOrganization(server, 'foreign');
    const foreign = await makeConfigurationVersion(server, await makeWorkspace(server, 'foreign', 'one'));
    expect(getDetail(await withVersion(foreign))).toContain('does not exist');
  });

  it('is speculative if its configuration is speculative', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'speculative');
    const id = await makeConfigurationVersion(server, workspace, { speculative: true });
    const relationships = { 'configuration-version': { data: { id } } };
    const answer = expectStatus(await server.post('/api/v2/runs', runBody(workspace, {}, relationships)), 201);
    expect(answer.body.data.attributes['plan-only']).toBe(true);
    const refused = await server.post('/api/v2/runs', runBody(workspace, { 'plan-only': false }, relationships));
    expect([refused.status, getDetail(refused)]).toEqual([422, expect.stringContaining('speculative')]);
  });

  it('is refused if the workspace executes locally or forbids destroy plans', async () => {
    const local = await aWorkspace({ 'execution-mode': 'local' });
    const refused = await server.post('/api/v2/runs', runBody(local));
    expect([refused.status, getDetail(refused)]).toEqual([422, expect.stringContaining('local execution mode')]);
    const withoutDestroyPlans = await aWorkspace({ 'allow-destroy-plan': false });
    const destroy = await server.post('/api/v2/runs', runBody(withoutDestroyPlans, { 'is-destroy': true }));
    expect([destroy.status, getDetail(destroy)]).toEqual([422, expect.stringContaining('Destroy plans')]);
  });
});

describe('permissions on runs', () => {
  it('to read, queue and apply follow the permission table', async () => {
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
    const listed = expectStatus(await stranger.get('/api/v2/organizations/acme/runs'), 200);
    expect([listed.body.data, listed.body.meta.pagination['total-count']]).toEqual([[], 0]);
  });

  it('to plan in one workspace show its runs alone, and allow no run that is applied automatically', async () => {
    const workspace = await aWorkspace({ 'auto-apply': true });
    const elsewhere = await makeRun(server, await aWorkspace());
    const team = await makeTeam(server, 'acme', 'planners');
    const member = await makeMember(server, 'acme', 'planner', [team]);
    const relationships = { team: { data: { id: team } }, workspace: { data: { id: workspace } } };
    expectStatus(
      await server.post('/api/v2/team-workspaces', resource('team-workspaces', { access: 'plan' }, relationships)),
      201,
    );
    const run = await makeRun(member, workspace, { 'auto-apply': true });
    expect((await show(run, member)).attributes).toMatchObject({
      'auto-apply': false,
      permissions: { 'can-apply': false, 'can-comment': true, 'can-force-cancel': false },
    });
    const listed = expectStatus(await member.get('/api/v2/organizations/acme/runs'), 200);
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

  it('do not reveal resources that do not exist', async () => {
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

  it('to apply are required of the creator for an automatic apply', async () => {
    const team = server.as(await makeToken(server, `/api/v2/teams/${organization.ownersTeam}/authentication-token`));
    const run = await makeRun(team, await aWorkspace({ 'auto-apply': true }));
    expect((await show(run)).attributes['auto-apply']).toBe(true);
    // Clients expect a user as the creator of a run.
    expect((await show(run)).relationships['created-by'].data.type).toBe('users');
  });
});

describe('the records of a run', () => {
  it('include comments, alone or with an action', async () => {
    const run = await makeRun(server, await aWorkspace());
    const comments = `/api/v2/runs/${run}/comments`;
    const comment = expectStatus(await server.post(comments, resource('comments', { body: 'first' })), 201).body.data;
    expect(comment).toMatchObject({
      type: 'comments',
      id: expect.stringMatching(/^wsc-/),
      attributes: { body: 'first' },
    });
    expectStatus(await act(run, 'cancel', { comment: 'second' }), 202);
    const list = expectStatus(await server.get(comments), 200).body.data;
    expect(list.map(({ attributes }: typeof comment) => attributes.body)).toEqual(['first', 'second']);
    expect([list[0], expectStatus(await server.get(`/api/v2/comments/${comment.id}`), 200).body.data]).toEqual([
      comment,
      comment,
    ]);
    expect((await show(run)).relationships.comments.data).toHaveLength(2);
    for (const body of [resource('comments', {}), resource('comments', { body: '' }), {}]) {
      expect((await server.post(comments, body)).status).toBe(422);
    }
  });

  it('have 500 comments and 1 MiB of them at most, because clients read all of them in one request', async () => {
    const run = await makeRun(server, await aWorkspace());
    const comment = async (body: string) =>
      await server.post(`/api/v2/runs/${run}/comments`, resource('comments', { body }));
    const seed = (count: number, bytes: number) =>
      server.database.rows(sql`
        insert into run_comments (id, run, workspace, organization, run_event, version, body, author, created_at)
        select 'wsc-full' || n, r.id, r.workspace, r.organization, '', 1000 + n, repeat('x', ${bytes}::integer), '{}', now()
          from runs r, generate_series(1, ${count}::integer) n where r.id = ${run}`);
    const clear = () => server.database.rows(sql`delete from run_comments where id like 'wsc-full%'`);
    await seed(499, 1);
    expectStatus(await comment('the last one'), 201);
    expect(expectStatus(await comment('one more'), 422).text).toContain('A run can have at most 500 comments');
    await clear();
    await seed(1, 1_048_500);
    expect(expectStatus(await comment('é'.repeat(40)), 422).text).toContain('at most 1048576 bytes together');
    expectStatus(await act(run, 'cancel', { comment: 'still with an action' }), 202);
    await clear();
    expectStatus(await comment('é'.repeat(40)), 201);
  });

  it('make pages of lists smaller if the included comments have more than 4 MiB', async () => {
    const workspace = await aWorkspace();
    for (let n = 0; n < 5; n += 1) await makeRun(server, workspace);
    await server.database.rows(sql`
      insert into run_comments (id, run, workspace, organization, run_event, version, body, author, created_at)
      select 'wsc-long-' || r.id, r.id, r.workspace, r.organization, 're-long', 1000, repeat('x', 1000000), '{}', now()
        from runs r where r.workspace = ${workspace}`);
    const list = `/api/v2/workspaces/${workspace}/runs`;
    const short = expectStatus(await server.get(list), 200).body;
    expect(short.meta.pagination).toMatchObject({ 'page-size': 20, 'total-pages': 1, 'total-count': 5 });
    const { name } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data.attributes;
    for (const path of [`${list}?`, `/api/v2/organizations/acme/runs?filter[workspace_names]=${name}&`]) {
      const { body } = expectStatus(await server.get(`${path}include=comments`), 200);
      expect(body.meta.pagination).toMatchObject({ 'page-size': 4, 'total-pages': 2, 'total-count': 5 });
      expect([body.data.length, body.included.length]).toEqual([4, 4]);
    }
    const second = expectStatus(await server.get(`${list}?include=comments&page[number]=2`), 200).body;
    expect([second.data.length, second.included.length]).toEqual([1, 1]);
    expect(second.data[0].id).toBe(short.data[4].id);
    await server.database.rows(sql`delete from run_comments where id like 'wsc-long-%'`);
  });

  it('include its history, with the people who acted', async () => {
    const run = await makeRun(server, await aWorkspace(), { message: 'why' });
    await reported(run, 'planning', 'planned');
    expectStatus(await act(run, 'apply', { comment: 'go' }), 202);
    const { data, included } = expectStatus(
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
    const eventIdentifiers = (await show(run)).relationships['run-events'];
    expect(eventIdentifiers).toEqual({
      data: data.map(({ id }: { id: string }) => ({ type: 'run-events', id })),
      links: { related: `/api/v2/runs/${run}/run-events` },
    });
    const types = (included as { type: string }[]).map(({ type }) => type).toSorted();
    expect(types).toEqual(['comments', 'users', 'users']);
    const runEvent = expectStatus(await server.get(`/api/v2/run-events/${data[0].id}`), 200).body.data;
    expect(runEvent).toEqual(data[0]);
    expect((await server.get(`/api/v2/runs/${run}/run-events?include=plan`)).status).toBe(400);
  });

  it('appear in the audit trail once for each action', async () => {
    await makeOrganization(server, 'audited');
    const workspace = await makeWorkspace(server, 'audited', 'one');
    await makeConfigurationVersion(server, workspace);
    const [run, next] = [await makeRun(server, workspace), await makeRun(server, workspace)];
    expectStatus(await server.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'x' })), 201);
    expectStatus(await act(run, 'cancel'), 202);
    await queueCaughtUp();
    expectStatus(await act(next, 'cancel'), 202);
    const token = server.as(await makeOrganizationToken(server, 'audited'));
    const trail = expectStatus(await token.get('/api/v2/organization/audit-trail'), 200).body.data as {
      resource: { id: string; type: string; action: string; meta: unknown };
    }[];
    const entries = trail.map(({ resource: { id, type, action, meta } }) => ({ id, type, action, meta })).toReversed();
    expect(entries.filter(({ type }) => type === 'run')).toEqual([
      { id: run, type: 'run', action: 'create', meta: expect.objectContaining({ workspace_id: workspace }) },
      { id: next, type: 'run', action: 'create', meta: expect.objectContaining({ workspace_id: workspace }) },
      { id: run, type: 'run', action: 'cancel', meta: null },
      { id: next, type: 'run', action: 'cancel', meta: null },
    ]);
    expect(entries.filter(({ type }) => type === 'workspace_comment')).toEqual([
      expect.objectContaining({ action: 'create', meta: { resource: run } }),
    ]);
  });
});

describe('stages of run tasks', () => {
  it('are an empty list, because the tfe provider requests them before it waits for a run', async () => {
    const run = await makeRun(server, await aWorkspace());
    const { body } = expectStatus(await server.get(`/api/v2/runs/${run}/task-stages`), 200);
    expect(body).toMatchObject({
      data: [],
      meta: { pagination: { 'current-page': 1, 'next-page': null, 'total-pages': 0, 'total-count': 0 } },
    });
  });
});

describe('a workspace with runs', () => {
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
        expectStatus(await server.get(`/api/v2/organizations/shown/workspaces?${encodeURI(query)}`), 200).body.data as {
          id: string;
        }[]
      ).map(({ id }) => id);
    expect(await list('sort=current-run.created-at')).toEqual([two, one, three]);
    expect(await list('sort=-current-run.created-at')).toEqual([one, two, three]);
    expectStatus(await act(later, 'cancel'), 202);
    expect(await list('filter[current-run][status]=canceled')).toEqual([two]);
    expect(await list('filter[current-run][status]=plan_queued,canceled')).toEqual([one, two]);
    expectStatus(await act(run, 'cancel'), 202);
    await queueCaughtUp();
    expect((await workspaceOf(one)).relationships['current-run'].data.id).toBe(waits);
    const include = 'current_run,current_run.plan,current_run.configuration_version,locked_by';
    const { included } = expectStatus(await server.get(`/api/v2/workspaces/${one}?include=${include}`), 200).body;
    expect((included as { type: string }[]).map(({ type }) => type).toSorted()).toEqual([
      'configuration-versions',
      'plans',
      'runs',
    ]);
    expect(included[0]).toEqual(await show(waits));
  });

  it('is deleted with its runs', async () => {
    const workspace = await aWorkspace();
    const [run, next] = [await makeRun(server, workspace), await makeRun(server, workspace)];
    expectStatus(await server.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'x' })), 201);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expect((await server.get(`/api/v2/runs/${run}`)).status).toBe(404);
    expect((await act(next, 'cancel')).status).toBe(404);
    expect((await report(run, 'planning')).status).toBe(404);
    await queueCaughtUp();
    const remaining = await server.database.rows(sql`
      select id from runs where workspace = ${workspace}
      union all select id from run_events where workspace = ${workspace}
      union all select id from run_comments where workspace = ${workspace}
      union all select current_run from workspace_runs where workspace = ${workspace}`);
    expect(remaining).toEqual([]);
  });
});

it('the views of runs equal the views rebuilt from the log', async () => {
  expect(await differences()).toEqual([]);
});
