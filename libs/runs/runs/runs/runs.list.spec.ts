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
  resource,
  runBody,
} from '../../../../test/support/seeds.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { costOf } from '../../../../test/support/cost.js';

let server: TestServer;
/** An agent of a pool that serves all workspaces. */
let agents: ApiTestClient;

beforeAll(async () => {
  ({ server, agents } = await startRunSite());
});

afterAll(() => server.close());

const { act, report } = runRequests(() => ({ server, agents }));

describe('a list of runs', () => {
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
    expectStatus(await act(runs[1] as string, 'cancel'), 202);
  });

  const listMessages = async (query: string): Promise<(number | string)[]> => {
    const { data } = expectStatus(await server.get(`${PATH}?${encodeURI(query)}`), 200).body;
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
  ])('is filtered by %s', async (query, expected) => {
    expect(await listMessages(query)).toEqual(expected);
  });

  it('finds runs by the name of a secret team only for callers that may see the team', async () => {
    await makeOrganization(server, 'searched');
    const id = await makeWorkspace(server, 'searched', 'alpha');
    await makeConfigurationVersion(server, id);
    const secret = await makeTeam(server, 'searched', 'moonlight');
    const visible = await makeTeam(server, 'searched', 'daylight', { visibility: 'organization' });
    for (const team of [secret, visible]) await grantWorkspaceAccess(server, team, id, 'write');
    await makeRun(server.as(await makeToken(server, `/api/v2/teams/${secret}/authentication-token`)), id);
    const member = await makeMember(server, 'searched', 'mia', [visible]);
    const paths = [`/api/v2/workspaces/${id}/runs`, '/api/v2/organizations/searched/runs'];
    const counts = (api: ApiTestClient) =>
      Promise.all(
        paths
          .flatMap((path) => [`${path}?search[user]=Moonlight`, `${path}?search[basic]=moonlight`])
          .map(async (path) => expectStatus(await api.get(path), 200).body.data.length as number),
      );
    expect([await counts(server), await counts(member)]).toEqual([
      [1, 1, 1, 1],
      [0, 0, 0, 0],
    ]);
  });

  it('finds the runs that wait for the caller, and those that wait for others', async () => {
    await makeOrganization(server, 'decided');
    const worker = server.as(await makeAgentToken(server, await makeRemotePool(server, 'decided', 'work')));
    const team = await makeTeam(server, 'decided', 'appliers');
    const make = async (name: string, access: string, status: string): Promise<string> => {
      const id = await makeWorkspace(server, 'decided', name);
      await grantWorkspaceAccess(server, team, id, access);
      await makeConfigurationVersion(server, id);
      const run = await makeRun(server, id);
      for (const each of ['planning', 'planned', 'policy_checking', status].slice(0, status === 'planned' ? 2 : 4))
        expectStatus(await report(run, each, { 'has-changes': true }, worker), 200);
      return run;
    };
    const writable = await make('writable', 'write', 'planned');
    const readable = await make('readable', 'read', 'planned');
    const overridable = await make('overridable', 'write', 'policy_override');
    await makeRun(server, (await server.get('/api/v2/organizations/decided/workspaces/writable')).body.data.id);
    const member = await makeMember(server, 'decided', 'mia', [team]);
    const find = async (decider: string, api: ApiTestClient): Promise<readonly string[]> => {
      const path = `/api/v2/organizations/decided/runs?filter[waits-for]=${decider}`;
      return expectStatus(await api.get(path), 200).body.data.map(({ id }: { id: string }) => id);
    };
    expect(await find('me', member)).toEqual([writable]);
    expect(await find('others', member)).toEqual([overridable, readable]);
    expect(await find('me', server)).toEqual([readable, writable]);
    expect(await find('others', server)).toEqual([overridable]);
  });

  it('is sorted newest first, in pages', async () => {
    const { data, meta } = expectStatus(await server.get(`${PATH}?page%5Bsize%5D=2`), 200).body;
    expect((data as { id: string }[]).map(({ id }) => id)).toEqual([runs[2], runs[1]]);
    expect(meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2, 'next-page': 2 });
    const past = expectStatus(
      await server.get(`/api/v2/workspaces/${workspaces[0]}/runs?page%5Bnumber%5D=9`),
      200,
    ).body;
    expect([past.data, past.meta.pagination['total-count']]).toEqual([[], 2]);
  });

  it.each([
    'filter[timeframe]=soon',
    'filter[status_group]=odd',
    'filter[waits-for]=nobody',
    'filter[status_group]=constructor',
    'filter[status_group]=__proto__',
    'include=friends',
    'page[size]=x',
  ])('refuses %s', async (query) => {
    expect((await server.get(`${PATH}?${encodeURI(query)}`)).status).toBe(400);
  });

  it('includes related resources', async () => {
    const include =
      'plan,apply,created_by,confirmed_by,comments,configuration_version,configuration-version.ingress-attributes,workspace,cost_estimate';
    const { included } = expectStatus(await server.get(`${PATH}?include=${include}`), 200).body;
    const types = new Set((included as { type: string }[]).map(({ type }) => type));
    expect([...types].toSorted()).toEqual(['applies', 'configuration-versions', 'plans', 'users', 'workspaces']);
    const { included: one } = expectStatus(await server.get(`/api/v2/runs/${runs[0]}?include=plan`), 200).body;
    expect(one).toHaveLength(1);
  });

  it('of the queue has waiting runs and runs in progress, oldest first; the capacity counts them', async () => {
    const worker = server.as(await makeAgentToken(server, await makeRemotePool(server, 'listed', 'work')));
    const capacity = async (api: ApiTestClient = server) =>
      expectStatus(await api.get('/api/v2/organizations/listed/capacity'), 200).body.data;
    const [first] = runs as [string];
    expect(await capacity()).toEqual({
      id: 'listed',
      type: 'organization-capacity',
      attributes: { pending: 2, running: 0 },
    });
    expectStatus(await report(first, 'planning', {}, worker), 200);
    expect((await capacity()).attributes).toEqual({ pending: 1, running: 1 });
    const { data, meta } = expectStatus(await server.get(`${PATH}/queue?page%5Bsize%5D=1&include=plan`), 200).body;
    expect([data[0].id, meta.pagination['total-count']]).toEqual([first, 2]);
    expectStatus(await report(first, 'planned', { 'has-changes': true }, worker), 200);
    expect((await capacity()).attributes).toEqual({ pending: 1, running: 0 });
    const stranger = await makeMember(server, 'listed', 'unconcerned');
    expect((await capacity(stranger)).attributes).toEqual({ pending: 0, running: 0 });
    expect(expectStatus(await stranger.get(`${PATH}/queue`), 200).body.data).toEqual([]);
  });
});

describe('the cost', () => {
  let quiet: TestServer;
  let workspace: string;

  beforeAll(async () => {
    quiet = await startTestServer();
    await makeOrganization(quiet, 'acme');
    workspace = await makeWorkspace(quiet, 'acme', 'one');
    await makeConfigurationVersion(quiet, workspace);
    for (let n = 0; n < 100; n += 1) await makeRun(quiet, workspace, { 'plan-only': n % 2 === 0 });
  });

  afterAll(() => quiet.close());

  it.each([1, 20, 100])('of a page of %i runs is one statement', async (size) => {
    for (const path of [`workspaces/${workspace}/runs`, 'organizations/acme/runs']) {
      const url = `/api/v2/${path}?page%5Bsize%5D=${size}`;
      expect((await quiet.get(url)).body.data).toHaveLength(size);
      expect(await costOf(quiet, () => quiet.get(url))).toMatchObject({ status: 200, statements: 1, roundTrips: 1 });
      expect(await costOf(quiet, () => quiet.get(`${url}&include=plan,apply`))).toMatchObject({ statements: 1 });
      const more = '&include=created_by,workspace,configuration_version,comments';
      expect(await costOf(quiet, () => quiet.get(`${url}${more}`))).toMatchObject({ statements: 2 });
    }
  });

  it('of a command is two round trips', async () => {
    const one = await makeWorkspace(quiet, 'acme', 'measured');
    await makeConfigurationVersion(quiet, one);
    let run = '';
    const create = async (): Promise<ApiResponse> => {
      const answer = await quiet.post('/api/v2/runs', runBody(one));
      run = answer.body.data.id as string;
      return answer;
    };
    expect(await costOf(quiet, create)).toMatchObject({ status: 201, roundTrips: 2 });
    const comment = () => quiet.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'x' }));
    expect(await costOf(quiet, comment)).toMatchObject({ status: 201, roundTrips: 2 });
    expect(await costOf(quiet, () => quiet.post(`/api/v2/runs/${run}/actions/cancel`))).toMatchObject({
      status: 202,
      roundTrips: 2,
    });
    expect(await costOf(quiet, () => quiet.post(`/api/v2/runs/${run}/actions/apply`))).toMatchObject({
      status: 409,
      roundTrips: 1,
    });
  });
});
