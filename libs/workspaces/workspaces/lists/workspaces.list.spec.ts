import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TickingClock } from '../../../../test/support/clocks.js';
import {
  expectStatus,
  bindTags,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeProject,
  makeRun,
  makeTeam,
  makeWorkspace,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { listNames } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';

const PATH = '/api/v2/organizations/listed/workspaces';
let server: TestServer;
let elsewhere: string;
let few: SeededMember;

type Seed = { readonly tags?: readonly string[]; readonly bound?: Readonly<Record<string, string>> };

const seed = (name: string, { tags = [], bound = {} }: Seed = {}, project?: string): Promise<string> =>
  makeWorkspace(
    server,
    'listed',
    name,
    {},
    {
      tags: { data: tags.map((tag) => ({ type: 'tags', attributes: { name: tag } })) },
      'tag-bindings': {
        data: Object.entries(bound).map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
      },
      ...(project ? { project: { data: { type: 'projects', id: project } } } : {}),
    },
  );

const runIn = async (workspace: string): Promise<string> => {
  await makeConfigurationVersion(server, workspace);
  return makeRun(server, workspace);
};

/** Uploads a new current state, which changes `latest-change-at`. */
const change = async (workspace: string): Promise<void> => {
  const at = `/api/v2/workspaces/${workspace}`;
  expectStatus(await server.post(`${at}/actions/lock`), 200);
  expectStatus(await server.post(`${at}/state-versions`, newStateVersion(stateFile(), { inline: true })), 201);
  expectStatus(await server.post(`${at}/actions/unlock`), 200);
};

beforeAll(async () => {
  server = await startTestServer({ clock: new TickingClock() });
  await makeOrganization(server, 'listed');
  elsewhere = await makeProject(server, 'listed', 'elsewhere');
  await bindTags(server, `projects/${elsewhere}`, { region: 'eu', tier: '9' });
  const alpha = await seed('alpha-prod', { tags: ['red', 'blue'], bound: { env: 'prod', tier: '1' } });
  const beta = await seed('Beta_prod', { tags: ['red'], bound: { env: 'test', tier: '2' } }, elsewhere);
  const gamma = await seed('gamma-test', {}, elsewhere);
  const delta = await seed('delta', { tags: ['blue', 'env'] });
  await change(gamma);
  const first = await runIn(delta);
  await runIn(alpha);
  expectStatus(await server.post(`/api/v2/runs/${first}/actions/cancel`), 202);
  await change(beta);
  // The current run of alpha-prod has locked it.
  expectStatus(await server.post(`/api/v2/workspaces/${gamma}/actions/lock`), 200);
  await makeOrganization(server, 'next-door');
  await makeWorkspace(server, 'next-door', 'alpha-prod');

  const [team, otherTeam] = [await makeTeam(server, 'listed', 'few'), await makeTeam(server, 'listed', 'others')];
  await grantProjectAccess(server, team, elsewhere, 'read');
  await grantWorkspaceAccess(server, team, alpha, 'read');
  await grantWorkspaceAccess(server, team, beta, 'read');
  await grantWorkspaceAccess(server, otherTeam, delta, 'admin');
  few = await makeMember(server, 'listed', 'fay', [team]);
  for (const key of ['env', 'tier']) {
    const body = resource('reserved-tag-keys', { key });
    expectStatus(await server.post('/api/v2/organizations/listed/reserved-tag-keys', body), 201);
  }
  const keys = '/api/v2/organizations/listed/ssh-keys';
  const key = await server.post(keys, resource('ssh-keys', { name: 'modules', value: 'a private key' }));
  const { id: sshKey } = expectStatus(key, 201).body.data;
  const path = `/api/v2/workspaces/${gamma}/relationships/ssh-key`;
  expectStatus(await server.patch(path, resource('workspaces', { id: sshKey })), 200);
  ids = { ELSEWHERE: elsewhere, ALPHA: alpha, DELTA: delta, SSHKEY: sshKey };
});

afterAll(() => server.close());

const list = async (query: string, api: ApiTestClient = server): Promise<ApiResponse> =>
  expectStatus(await api.get(`${PATH}?${query}`), 200);

let ids: Readonly<Record<string, string>>;

/** Replaces capitals with ids. */
const fillIn = (query: string): string =>
  query.replaceAll(/\b(?:ELSEWHERE|ALPHA|DELTA|SSHKEY)\b/g, (name) => ids[name] ?? name);

const IN_PROJECT = 'filter[project][id]=ELSEWHERE';

/** Queries with the names that they find, in order. Names are ordered by their bytes: capitals first. */
const ANSWERS: readonly (readonly [query: string, names: readonly string[]])[] = [
  ['', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],
  ['unheard-of=1&search=x&filter=x', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],
  ['sort=name', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],
  ['sort=-name', ['gamma-test', 'delta', 'alpha-prod', 'Beta_prod']],
  ['sort=latest-change-at', ['alpha-prod', 'delta', 'gamma-test', 'Beta_prod']],
  ['sort=-latest-change-at', ['Beta_prod', 'gamma-test', 'delta', 'alpha-prod']],
  // Workspaces without a run come last in either direction.
  ['sort=current-run.created-at', ['delta', 'alpha-prod', 'Beta_prod', 'gamma-test']],
  ['sort=-current-run.created-at', ['alpha-prod', 'delta', 'gamma-test', 'Beta_prod']],

  ['search[name]=', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],
  ['search[name]=PROD', ['Beta_prod', 'alpha-prod']],
  ['search[name]=a-', ['alpha-prod', 'gamma-test']],
  ['search[name]=_', ['Beta_prod']],
  ['search[name]=*', []],
  ['search[name]=%25', []],
  ['search[name]=\\', []],
  ['search[name]=%F0%9F%A6%86', []],
  ['search[wildcard-name]=*', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],
  ['search[wildcard-name]=*prod', ['Beta_prod', 'alpha-prod']],
  ['search[wildcard-name]=ga*', ['gamma-test']],
  ['search[wildcard-name]=*ta*', ['Beta_prod', 'delta']],
  ['search[wildcard-name]=delta', ['delta']],
  ['search[wildcard-name]=lta', []],
  ['search[wildcard-name]=beta*', ['Beta_prod']],
  ['search[wildcard-name]=%25', []],
  ['search[wildcard-name]=Beta?prod', []],

  ['search[tags]=red', ['Beta_prod', 'alpha-prod']],
  ['search[tags]=red, blue', ['alpha-prod']],
  ['search[tags]=red,red', ['Beta_prod', 'alpha-prod']],
  ['search[tags]=Red', []],
  ['search[tags]=env', ['Beta_prod', 'alpha-prod', 'delta']],
  ['search[tags]=red,blue,env,tier', ['alpha-prod']],
  ['search[tags]=red,blue,env,tier,unknown', []],
  ['search[exclude-tags]=blue', ['Beta_prod', 'gamma-test']],
  ['search[exclude-tags]=blue,env', ['gamma-test']],
  ['search[exclude-tags]=unknown', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],
  ['filter[tagged][0][key]=env', ['Beta_prod', 'alpha-prod', 'delta']],
  ['filter[tagged][0][key]=env&filter[tagged][0][value]=', ['Beta_prod', 'alpha-prod', 'delta']],
  ['filter[tagged][0][key]=env&filter[tagged][0][value]=prod', ['alpha-prod']],
  ['filter[tagged][3][value]=prod&filter[tagged][3][key]=env&filter[tagged][17][key]=red', ['alpha-prod']],
  ['filter[tagged][0][key]=env&filter[tagged][1][key]=env&filter[tagged][1][value]=test', ['Beta_prod']],
  ['filter[tagged][0][key]=env&filter[tagged][0][value]=a&filter[tagged][1][key]=env&filter[tagged][1][value]=b', []],
  ['filter[tagged]=env', ['Beta_prod', 'alpha-prod', 'delta']],
  ['filter[tagged]=env,red', ['Beta_prod', 'alpha-prod']],
  ['filter[tagged]=region,tier', ['Beta_prod', 'gamma-test']],
  ['filter[tagged]=env&filter[tagged][0][value]=2', ['Beta_prod']],
  // A value alone, of any key.
  ['filter[tagged][0][value]=prod', ['alpha-prod']],
  ['filter[tagged][2][key]=&filter[tagged][2][value]=2', ['Beta_prod']],
  ['filter[tagged][0][value]=prod&filter[tagged][1][value]=1', ['alpha-prod']],
  ['filter[tagged][0][value]=eu', ['Beta_prod', 'gamma-test']],
  // Beta overrides the tier of its project.
  ['filter[tagged][0][value]=9', ['gamma-test']],
  ['filter[tagged][0][value]=eu&sort=-name', ['gamma-test', 'Beta_prod']],
  ['filter[tagged][0][value]=nothing-such', []],
  // Inherited tags count too, unless the workspace overrides them.
  ['filter[tagged][0][key]=region', ['Beta_prod', 'gamma-test']],
  ['filter[tagged][0][key]=region&filter[tagged][0][value]=us', []],
  ['filter[tagged][0][key]=tier', ['Beta_prod', 'alpha-prod', 'gamma-test']],
  ['filter[tagged][0][key]=tier&filter[tagged][0][value]=9', ['gamma-test']],
  ['filter[tagged][0][key]=tier&filter[tagged][0][value]=2&filter[tagged][4][key]=region', ['Beta_prod']],
  ['filter[tagged][0][key]=tier&filter[tagged][1][key]=region&sort=-name', ['gamma-test', 'Beta_prod']],
  ['filter[tagged][0][key]=region&filter[tagged][1][key]=tier&filter[tagged][2][key]=env', ['Beta_prod']],
  [
    'filter[tagged][0][key]=region&filter[tagged][1][key]=tier&filter[tagged][2][key]=region',
    ['Beta_prod', 'gamma-test'],
  ],
  ['filter[tagged][0][key]=tier&sort=latest-change-at', ['alpha-prod', 'gamma-test', 'Beta_prod']],
  ['filter[tagged][0][key]=tier&sort=current-run.created-at', ['alpha-prod', 'Beta_prod', 'gamma-test']],
  [`${IN_PROJECT}&filter[tagged][0][key]=tier`, ['Beta_prod', 'gamma-test']],
  ['filter[tagged][0][key]=tier&search[tags]=red', ['Beta_prod', 'alpha-prod']],
  ['filter[tagged][0][key]=tier&search[exclude-tags]=tier', ['gamma-test']],
  ['filter[tagged][0][key]=tier&filter[current-run][status]=plan_queued', ['alpha-prod']],
  // As terraform sends `tags = { tier = "9" }` and `tags = { tier = "2", region = "eu" }` of a `cloud` block.
  ['filter[tagged][0][key]=tier&filter[tagged][0][value]=9&search[tags]=tier', ['gamma-test']],
  [
    'filter[tagged][0][key]=tier&filter[tagged][0][value]=2&filter[tagged][1][key]=region&filter[tagged][1][value]=eu&search[tags]=tier,region',
    ['Beta_prod'],
  ],
  ['search[tags]=region', []],
  ['search[exclude-tags]=region', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],
  ['filter[tagged][0][key]=&filter[tagged][0][value]=', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],

  [IN_PROJECT, ['Beta_prod', 'gamma-test']],
  ['filter[project][id]=prj-nowhere', []],
  ['filter[ssh-key][id]=SSHKEY', ['gamma-test']],
  ['filter[ssh-key][id]=sshkey-none', []],
  ['filter[current-run][status]=plan_queued', ['alpha-prod']],
  ['filter[current-run][status]=canceled,plan_queued', ['alpha-prod', 'delta']],
  ['filter[current-run][status]=applied', []],

  ['filter[id]=DELTA,ALPHA,DELTA,ws-unknown', ['alpha-prod', 'delta']],
  ['filter[id]=', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],
  ['filter[id]=ws-unknown', []],
  ['filter[id]=DELTA,ALPHA&search[name]=prod', ['alpha-prod']],
  // A flat tag is no value; an inherited value is one.
  ['filter[tag-gaps]=true', ['delta', 'gamma-test']],
  ['filter[tag-gaps]=', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],
  ['filter[tag-gaps]=true&sort=-latest-change-at', ['gamma-test', 'delta']],
  [`filter[tag-gaps]=true&${IN_PROJECT}`, ['gamma-test']],
  ['filter[tag-gaps]=true&filter[tagged][0][key]=tier', ['gamma-test']],
  ['filter[tag-gaps]=true&search[name]=delta', ['delta']],

  ['filter[locked]=true', ['alpha-prod', 'gamma-test']],
  ['filter[locked]=false', ['Beta_prod', 'delta']],
  ['filter[locked]=', ['Beta_prod', 'alpha-prod', 'delta', 'gamma-test']],
  ['filter[locked]=true&sort=-name', ['gamma-test', 'alpha-prod']],
  ['filter[locked]=true&sort=current-run.created-at', ['alpha-prod', 'gamma-test']],
  ['filter[locked]=false&sort=latest-change-at', ['delta', 'Beta_prod']],
  ['filter[locked]=false&sort=-current-run.created-at', ['delta', 'Beta_prod']],
  [`filter[locked]=true&${IN_PROJECT}`, ['gamma-test']],
  [`filter[locked]=false&${IN_PROJECT}`, ['Beta_prod']],
  ['filter[locked]=true&search[name]=prod', ['alpha-prod']],
  ['filter[locked]=false&search[tags]=blue', ['delta']],
  ['filter[locked]=false&search[exclude-tags]=blue', ['Beta_prod']],
  ['filter[locked]=false&filter[tagged][0][key]=tier', ['Beta_prod']],
  ['filter[locked]=true&filter[tag-gaps]=true', ['gamma-test']],
  ['filter[locked]=true&filter[id]=ALPHA,DELTA', ['alpha-prod']],
  ['filter[locked]=true&filter[current-run][status]=canceled,plan_queued', ['alpha-prod']],

  ['search[name]=a&search[tags]=blue&search[exclude-tags]=red', ['delta']],
  [`${IN_PROJECT}&search[name]=prod`, ['Beta_prod']],
  [`${IN_PROJECT}&search[tags]=red&sort=-latest-change-at`, ['Beta_prod']],
  ['search[name]=prod&filter[tagged][0][key]=tier&filter[tagged][0][value]=2', ['Beta_prod']],
  ['search[tags]=blue&sort=-current-run.created-at', ['alpha-prod', 'delta']],
  ['search[name]=a&sort=current-run.created-at', ['delta', 'alpha-prod', 'Beta_prod', 'gamma-test']],
  ['filter[current-run][status]=canceled,plan_queued&sort=current-run.created-at', ['delta', 'alpha-prod']],
  ['search[wildcard-name]=*prod&search[exclude-tags]=blue&filter[current-run][status]=plan_queued', []],
];

describe('the list of workspaces', () => {
  it.each(ANSWERS)('answers %s', async (query, expected) => {
    const answer = await list(fillIn(query));
    expect(listNames(answer)).toEqual(expected);
    expect(answer.body.meta.pagination['total-count']).toBe(expected.length);
  });

  it.each(ANSWERS)(
    'has and counts only the workspaces that a member may read, for the query %s',
    async (query, expected) => {
      const visible = expected.filter((name) => name !== 'delta');
      const answer = await list(fillIn(query), few);
      expect(listNames(answer)).toEqual(visible);
      expect(answer.body.meta.pagination['total-count']).toBe(visible.length);
    },
  );

  it.each(ANSWERS)('pages through %s, and shows each workspace once', async (query, expected) => {
    const filter = fillIn(query);
    const paged: string[] = [];
    let next: string | null = `${PATH}?${filter}&page[size]=1`;
    while (next !== null) {
      const { body }: ApiResponse = expectStatus(await server.get(next), 200);
      paged.push(...listNames({ body } as ApiResponse));
      next = body.links.next;
    }
    expect(paged).toEqual(expected);
  });

  it('has on request only workspaces that changed at a time or later', async () => {
    const all = (await list('sort=-latest-change-at')).body.data;
    const [newest, second] = all.map(({ attributes }: any) => attributes['latest-change-at'] as string);
    const since = async (time: string) => {
      const { data, meta } = (await list(`sort=-latest-change-at&filter[changed-since]=${encodeURIComponent(time)}`))
        .body;
      return [data.map(({ id }: any) => id as string), meta.pagination['total-count']];
    };
    expect(await since(second)).toEqual([[all[0].id, all[1].id], 2]);
    expect(await since(newest)).toEqual([[all[0].id], 1]);
    expect(await since('2999-01-01T00:00:00+14:00')).toEqual([[], 0]);
    const refused = expectStatus(await server.get(`${PATH}?filter[changed-since]=today`), 400);
    expect(refused.body.errors[0]).toMatchObject({
      detail: 'filter[changed-since] is not a valid ISO 8601 timestamp, such as 2026-01-31T12:30:15.123Z',
      source: { parameter: 'filter[changed-since]' },
    });
  });

  it('has the documents of the workspaces’ own endpoints', async () => {
    for (const api of [server, few]) {
      const { body } = await list('search[name]=alpha', api);
      const { body: workspace } = expectStatus(await api.get(`${PATH}/alpha-prod`), 200);
      expect(body.data).toEqual([workspace.data]);
    }
  });

  it.each([
    ['sort=colour', 'sort'],
    ['sort=-', 'sort'],
    ['page[number]=0', 'page[number]'],
    ['filter[tag-gaps]=yes', 'filter[tag-gaps]'],
    ['filter[locked]=yes', 'filter[locked]'],
    ['filter[locked]=true,false', 'filter[locked]'],
    [`filter[id]=${'a,'.repeat(101)}`, 'filter[id]'],
    ['page[size]=many', 'page[size]'],
    ['filter[colour]=red', 'filter[colour]'],
    ['filter[tagged][0][name]=env', 'filter[tagged][0][name]'],
    ['search[anything]=prod', 'search[anything]'],
    [`filter[tagged]=${'a,'.repeat(11)}`, 'filter[tagged]'],
  ])('refuses %s', async (query, name) => {
    const { body } = expectStatus(await server.get(`${PATH}?${query}`), 400);
    expect(body.errors[0].source).toEqual({ parameter: name });
  });

  it('uses the last value of a parameter that is sent twice', async () => {
    expect(listNames(await list('search[name]=delta&search[name]=gamma'))).toEqual(['gamma-test']);
  });

  it('links to its other pages with all parameters', async () => {
    const parameters = 'search[name]=a&search%5Btags%5D=red%2Cblue&filter[tagged][0][key]=env&sort=-name';
    const { body } = await list(`page[size]=1&${parameters}&page[number]=1`);
    const address = `${server.runtime.settings.publicUrl}${PATH}`;
    const escaped = parameters.replaceAll('[', '%5B').replaceAll(']', '%5D');
    const to = (number: number) => `${address}?${escaped}&page%5Bnumber%5D=${number}&page%5Bsize%5D=1`;
    expect(body.links).toEqual({ self: to(1), first: to(1), prev: null, next: null, last: to(1) });
    const all = await list('page[size]=3&page[number]=2');
    expect(all.body.links.prev).toBe(`${address}?page%5Bnumber%5D=1&page%5Bsize%5D=3`);
    expect(all.body.meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 3,
      'prev-page': 1,
      'next-page': null,
      'total-pages': 2,
      'total-count': 4,
    });
  });

  it.each(['', 'search[tags]=red', 'sort=current-run.created-at', 'filter[project][id]=prj-nowhere'])(
    'is empty past its end, with the true count: %s',
    async (query) => {
      const total = (await list(query)).body.meta.pagination['total-count'];
      const { body } = await list(`${query}&page[number]=999999999&page[size]=100`);
      expect(body.data).toEqual([]);
      expect(body.meta.pagination).toMatchObject({ 'current-page': 999_999_999, 'total-count': total });
    },
  );

  it('has a hundred items on a page at most', async () => {
    expect((await list('page[size]=5000')).body.meta.pagination['page-size']).toBe(100);
  });

  it('is empty for a member without access, and not found for other callers', async () => {
    const nobody = await makeMember(server, 'listed', 'ned');
    const { body } = await list('', nobody);
    expect([body.data, body.meta.pagination['total-count']]).toEqual([[], 0]);
    const stranger = await makeMember(server, 'next-door', 'sam');
    expectStatus(await stranger.get(PATH), 404);
    expectStatus(await stranger.get(`${PATH}?search[name]=alpha`), 404);
  });

  it('shows all workspaces of one organization and some of another, by the caller’s roles', async () => {
    const managers = await makeTeam(server, 'next-door', 'managers', {
      'organization-access': { 'read-workspaces': true },
    });
    const email = { email: few.email };
    const into = { teams: { data: [{ type: 'teams', id: managers }] } };
    const memberships = '/api/v2/organizations/next-door/organization-memberships';
    const invited = await server.post(memberships, resource('organization-memberships', email, into));
    expectStatus(
      await server.post(`/api/v2/organization-memberships/${expectStatus(invited, 201).body.data.id}/actions/accept`),
      200,
    );
    expect(listNames(await list('', few))).toEqual(['Beta_prod', 'alpha-prod', 'gamma-test']);
    expect(listNames(await list('search[tags]=red&sort=-name', few))).toEqual(['alpha-prod', 'Beta_prod']);
    const there = expectStatus(await few.get('/api/v2/organizations/next-door/workspaces?search[name]=PROD'), 200);
    expect(listNames(there)).toEqual(['alpha-prod']);
  });
});
