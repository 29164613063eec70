import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import {
  expectStatus,
  bindTags,
  makeOrganization,
  makeProject,
  makeWorkspace,
  resource,
  tagBindings,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';
import { costOf } from '../../../../test/support/cost.js';

const MANY = 100_000;
const BATCH_SIZE = 5_000;

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
  // Inserted directly into the view, because the binding of tags to the project reads only this view. In batches,
  // because a statement of a request may take at most 15 s.
  for (let first = 2; first <= MANY; first += BATCH_SIZE) {
    await server.database.rows(sql`
      insert into workspaces (id, organization, project, name, settings, created_at, updated_at, latest_change_at)
      select 'ws-' || n, organization, project, 'ws-' || n, settings, created_at, updated_at, latest_change_at
        from workspaces, generate_series(${first}::integer, least(${first + BATCH_SIZE - 1}::integer, ${MANY}::integer)) n
       where id = ${widest}`);
  }
  await server.database.rows(sql`
    update workspace_counts set workspaces = workspaces + ${MANY - 1} where project = ${wide}`);
});

afterAll(() => server.close());

/** Returns the number of rows that the last transaction of a stream wrote, by view. */
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

/** Returns the statements of a request and the rows that it wrote. */
const costIn = async (project: string, request: () => Promise<ApiResponse>): Promise<object> => ({
  ...(await costOf(server, request)),
  wrote: await rowsOf(project),
});

describe('tag bindings of a project with many workspaces', () => {
  it('cost one row if one of ten bindings changes', async () => {
    const change = (project: string) =>
      costIn(project, () =>
        server.patch(`/api/v2/projects/${project}/tag-bindings`, tagBindings({ 'key-3': 'after' })),
      );
    const ofOne = await change(narrow);
    expect(ofOne).toMatchObject({ status: 200, roundTrips: 2, wrote: { project_tags: 1 } });
    expect(await change(wide)).toEqual(ofOne);
  });

  it('cost one row each if all of them are replaced', async () => {
    const body = resource('projects', {}, { 'tag-bindings': tagBindings({ 'key-3': 'last', other: 'new' }) });
    const change = (project: string) => costIn(project, () => server.patch(`/api/v2/projects/${project}`, body));
    const ofOne = await change(narrow);
    expect(ofOne).toMatchObject({ status: 200, roundTrips: 2, wrote: { project_tags: 2 } });
    expect(await change(wide)).toEqual(ofOne);
  });

  it('apply to each workspace at once', async () => {
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
