import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#kernel';
import {
  expectStatus,
  bindTags,
  makeOrganization,
  makeProject,
  makeWorkspace,
  resource,
  tagBindings,
} from '../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../test/support/server.js';
import { costOf } from '../../../test/support/cost.js';

const MANY = 100_000;
const AT_ONCE = 5_000;

let server: TestServer;
let narrow: string;
let wide: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  const ten = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`key-${n}`, 'before']));
  [narrow, wide] = [await makeProject(server, 'acme', 'narrow'), await makeProject(server, 'acme', 'wide')];
  let widest = '';
  for (const project of [narrow, wide]) {
    await bindTags(server, `projects/${project}`, ten);
    widest = await makeWorkspace(
      server,
      'acme',
      `in-${project}`,
      {},
      { project: { data: { type: 'projects', id: project } } },
    );
  }
  // Straight into the views: what is bound to their project looks at no more than these. In many statements, because a
  // request's, which these go out like, may take 15 s.
  for (let first = 2; first <= MANY; first += AT_ONCE) {
    await server.database.rows(sql`
      insert into workspaces (id, organization, project, name, settings, created_at, updated_at, latest_change_at)
      select 'ws-' || n, organization, project, 'ws-' || n, settings, created_at, updated_at, latest_change_at
        from workspaces, generate_series(${first}::integer, least(${first + AT_ONCE - 1}::integer, ${MANY}::integer)) n
       where id = ${widest}`);
  }
  await server.database.rows(sql`
    update workspace_counts set workspaces = workspaces + ${MANY - 1} where project = ${wide}`);
});

afterAll(() => server.close());

/** Rows of each view that the last transaction of a stream has written. */
const rowsOf = async (stream: string): Promise<Record<string, number>> => {
  const tables = await server.database.rows<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'views' order by name`,
  );
  const counts = tables.map(({ name }) =>
    sql.raw(`select '${name}' as name, count(*) as n from views.${name} v, last where v.xmin = last.id`),
  );
  const rows = await server.database.rows<{ name: string; n: number }>(sql`
    with last as (select transaction::xid as id from event_store.events where stream = ${stream}
                   order by version desc limit 1)
    ${sql.join(counts, ' union all ')}`);
  return Object.fromEntries(rows.filter(({ n }) => n > 0).map(({ name, n }) => [name, n]));
};

/** What a request sends to Postgres, and what it writes there. */
const costIn = async (project: string, request: () => Promise<ApiResponse>): Promise<object> => ({
  ...(await costOf(server, request)),
  wrote: await rowsOf(project),
});

describe('what a project binds is written once, however many workspaces inherit it', () => {
  it('where one of ten bindings gets another value', async () => {
    const change = (project: string) =>
      costIn(project, () =>
        server.patch(`/api/v2/projects/${project}/tag-bindings`, tagBindings({ 'key-3': 'after' })),
      );
    const ofOne = await change(narrow);
    expect(ofOne).toMatchObject({ status: 200, roundTrips: 2, wrote: { project_tags: 1 } });
    expect(await change(wide)).toEqual(ofOne);
  });

  it('where all of them are replaced', async () => {
    const body = resource('projects', {}, { 'tag-bindings': tagBindings({ 'key-3': 'last', other: 'new' }) });
    const change = (project: string) => costIn(project, () => server.patch(`/api/v2/projects/${project}`, body));
    const ofOne = await change(narrow);
    expect(ofOne).toMatchObject({ status: 200, roundTrips: 2, wrote: { project_tags: 2 } });
    expect(await change(wide)).toEqual(ofOne);
  });

  it('and each of them has it at once', async () => {
    const effective = async (id: string) => {
      const { body } = expectStatus(await server.get(`/api/v2/workspaces/${id}/effective-tag-bindings`), 200);
      return body.data.map(({ attributes }: { attributes: object }) => attributes);
    };
    const [first] = await effective('ws-2');
    expect(first).toMatchObject({ key: 'key-3', value: 'last' });
    expect(await effective(`ws-${MANY}`)).toEqual(await effective('ws-2'));
    const tagged = 'filter[tagged][0][key]=key-3&filter[tagged][0][value]=last&filter[tagged][1][key]=other';
    const { body } = expectStatus(await server.get(`/api/v2/organizations/acme/workspaces?${tagged}`), 200);
    expect([body.data.length, body.meta.pagination['total-count']]).toEqual([20, MANY + 1]);
  });
});
