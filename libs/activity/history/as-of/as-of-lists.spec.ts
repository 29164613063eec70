import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { costOf } from '../../../../test/support/cost.js';
import {
  expectStatus,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganization,
  makeProject,
  makeRun,
  makeWorkspace,
  reportBody,
  resource,
} from '../../../../test/support/seeds.js';
import { FixedClock } from '../../../../test/support/clocks.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';

const clock = new FixedClock();
let server: TestServer;
let land: string;

const PATH = '/api/v2/organizations/acme/workspaces';

/** Queries of lists. Each runs after every step, and again at the end as of the time of that step. */
const queries = (): string[] => [
  '',
  'page[size]=2&page[number]=2',
  'sort=-name',
  'sort=latest-change-at',
  'sort=-latest-change-at',
  'sort=current-run.created-at',
  'sort=-current-run.created-at&page[size]=2',
  'search[name]=E',
  'search[wildcard-name]=*e',
  'search[wildcard-name]=t*&sort=-name',
  'search[tags]=flat',
  'search[tags]=flat,env',
  'search[exclude-tags]=flat',
  'filter[tagged][0][key]=env&filter[tagged][0][value]=prod',
  'filter[tagged][0][key]=env',
  // Tags that workspaces inherit from the project `land`.
  'filter[tagged][0][key]=region',
  'filter[tagged][0][key]=region&filter[tagged][0][value]=eu',
  'filter[tagged][0][key]=region&filter[tagged][0][value]=eu&filter[tagged][1][key]=env',
  `filter[project][id]=${land}`,
  `filter[project][id]=${land}&search[tags]=flat`,
  'filter[locked]=true',
  'filter[locked]=false',
  'filter[current-run][status]=planning,planned',
  'filter[current-run][status]=applied,errored',
  'filter[current-run][status]=plan_queued&sort=current-run.created-at',
];

type ListSummary = { readonly names: readonly string[]; readonly total: number };

const summarize = ({ body }: ApiResponse): ListSummary => ({
  names: body.data.map(({ attributes }: any) => attributes.name as string),
  total: body.meta.pagination['total-count'] as number,
});

const list = async (query: string): Promise<ListSummary> =>
  summarize(expectStatus(await server.get(`${PATH}?${query}`), 200));

const steps: { readonly at: string; readonly answers: ReadonlyMap<string, ListSummary> }[] = [];

const step = async (happens: () => Promise<unknown>): Promise<void> => {
  const at = clock.pass({ seconds: 60 });
  await happens();
  const answers = new Map<string, ListSummary>();
  for (const query of queries()) answers.set(query, await list(query));
  steps.push({ at, answers });
};

const tags = (...names: readonly string[]) => ({ data: names.map((name) => ({ type: 'tags', attributes: { name } })) });
const bound = (value: string, key = 'env') => ({ data: [{ type: 'tag-bindings', attributes: { key, value } }] });

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock });
  await makeOrganization(server, 'acme');
  land = await makeProject(server, 'acme', 'land');
  const agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
  const report = async (run: string, status: string): Promise<void> => {
    expectStatus(
      await agents.post(`/api/v2/runs/${run}/progress`, reportBody(status, { 'resource-additions': 1 })),
      200,
    );
  };
  const ids = new Map<string, string>();
  const ws = (name: string): string => `/api/v2/workspaces/${ids.get(name)}`;
  const inLand = { project: { data: { type: 'projects', id: land } } };
  const make = async (name: string, relationships?: object): Promise<void> => {
    ids.set(name, await makeWorkspace(server, 'acme', name, { 'auto-apply': true }, relationships));
    await makeConfigurationVersion(server, ids.get(name) ?? '');
  };
  const runs: string[] = [];
  const run = async (name: string): Promise<void> => void runs.push(await makeRun(server, ids.get(name) ?? ''));
  const patch = (name: string, attributes: object, relationships?: object): Promise<ApiResponse> =>
    server.patch(ws(name), resource('workspaces', attributes, relationships));
  await step(() => make('one', { tags: tags('flat'), ...inLand }));
  await step(() => make('two', { 'tag-bindings': bound('prod') }));
  await step(() => make('three', { tags: tags('flat'), 'tag-bindings': bound('test') }));
  await step(() => run('two'));
  await step(() => run('one'));
  await step(() => report(runs[0] ?? '', 'planning'));
  await step(() => report(runs[0] ?? '', 'planned'));
  await step(() => patch('two', { name: 'Tee' }, inLand));
  await step(() => server.patch(`/api/v2/projects/${land}/tag-bindings`, bound('eu', 'region')));
  await step(() => server.patch(`${ws('one')}/tag-bindings`, bound('us', 'region')));
  await step(() => server.patch(`${ws('three')}/tag-bindings`, bound('prod')));
  await step(() => server.delete(`${ws('one')}/relationships/tags`, tags('flat')));
  await step(() => report(runs[0] ?? '', 'applying'));
  await step(() => report(runs[0] ?? '', 'applied'));
  const sea = await makeProject(server, 'acme', 'sea');
  await step(() => patch('one', {}, { project: { data: { type: 'projects', id: sea } } }));
  await step(() => server.patch(`${ws('one')}/relationships/tag-bindings`, { data: [] }));
  await step(() => server.patch(`/api/v2/projects/${sea}/tag-bindings`, bound('eu', 'region')));
  await step(() => server.patch(`/api/v2/projects/${land}/tag-bindings`, bound('asia', 'region')));
  await step(() => server.patch(`/api/v2/projects/${land}/relationships/tag-bindings`, { data: [] }));
  await step(() => server.delete(ws('three')));
  await step(() => make('three'));
  await step(() => server.delete(ws('two')));
});

afterAll(() => server.close());

describe('a list as of a past time', () => {
  it('equals the list at that time for every search, filter, sorting and page', async () => {
    const different: unknown[] = [];
    for (const { at, answers } of steps) {
      for (const [query, was] of answers) {
        const is = await list(`${query}&as-of=${at}`);
        if (JSON.stringify(is) !== JSON.stringify(was)) different.push({ at, query, was, is });
      }
    }
    expect(different).toEqual([]);
  });

  it('has results at some step and other results at another step, for each query', () => {
    for (const query of queries()) {
      const counts = steps.map(({ answers }) => answers.get(query)?.names.length ?? 0);
      expect([query, Math.max(...counts) > 0, new Set(counts).size > 1]).toEqual([query, true, true]);
    }
  });

  it('takes two statements: one for the progress of the follower, one for the page', async () => {
    const page = () => server.get(`${PATH}?search[tags]=flat&as-of=${steps[3]?.at}`);
    expect(await costOf(server, page)).toMatchObject({ status: 200, statements: 2 });
  });
});
