import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor } from '#api/access';
import type { Database } from '#platform/postgres';
import { sql } from '#platform/kernel';
import {
  anybody,
  captureStatement,
  indexesOf,
  planFor,
  readWhole,
  rowsRead,
  vacuumUntilVisible,
  type Plan,
} from '../../../../test/support/plans.js';
import { makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { selectTagNames, deriveTagId } from '#organizations/tag-bindings';
import { listTags, listWorkspaceTags, type TagRow } from './tags.queries.js';

/**
 * Plans for reading tags of a large organization: 50,000 workspaces with ten bindings each, all of them with one flat
 * tag and a few with more, beside as many workspaces in other organizations.
 */
let server: TestServer;
let organization: string;
let actors: Readonly<Record<'administrator' | 'member', Actor>>;

beforeAll(async () => {
  server = await startTestServer();
  ({ id: organization } = await makeOrganization(server, 'large'));
  const session = await server.database.session();
  await session.run(sql`
    create temporary table made as
    select 'ws-' || n as id, n, case when n <= 50000 then ${organization} else 'org-' || n % 1000 end as organization
      from generate_series(1, 100000) n`);
  for (const text of [
    `insert into workspaces (id, organization, project, name, settings, created_at, updated_at, latest_change_at)
     select id, organization, 'prj-' || n % 100, id, '{}'::jsonb, now(), now(), now() from made`,
    `insert into workspace_tags (workspace, organization, key, value, added_in, ordinal, created_at, set_at)
     select id, organization, 'key-' || k, 'v', 1, k, now(), now() from made, generate_series(0, 9) k where n <= 50000
     union all select id, organization, 'everywhere', null, 1, 10, now(), now() from made
     union all select id, organization, 'tag-' || n / 1000, null, 1, 11, now(), now() from made where n % 1000 < 10`,
    `insert into team_workspaces (id, organization, team, workspace, access, created_at)
     select 'tws-' || id, organization, 'team-' || n % 5000, id, 'read', now() from made`,
    `insert into team_projects (id, organization, team, project, access, created_at)
     select 'tprj-' || n, 'org-' || n, 'team-x-' || n, 'prj-x-' || n, 'read', now() from generate_series(1, 1000) n`,
    ...['workspaces', 'workspace_tags', 'team_workspaces', 'team_projects'].map((table) => `vacuum analyze ${table}`),
  ]) {
    await session.run(sql.raw(text));
  }
  await vacuumUntilVisible(session);
  await session.close();
  actors = {
    administrator: anybody({ siteAdmin: true, teams: [], rolesByOrganization: new Map() }),
    member: anybody({
      siteAdmin: false,
      teams: ['team-1'],
      rolesByOrganization: new Map([[organization, new Set(['member'] as const)]]),
    }),
  };
});

afterAll(() => server.close());

const TABLES = ['workspaces', 'workspace_tags', 'team_workspaces'];

type TagPage = { readonly rows: readonly TagRow[]; readonly total: number };

/** Returns the names with their counts, the plan, and the number of rows read. */
const measure = async (readPage: (database: Database) => Promise<TagPage>) => {
  const { result: page, statement } = await captureStatement(server.database, readPage);
  const plan = await planFor(server.database, statement);
  const counts = page.rows.map(({ name, instanceCount }) => [name, instanceCount]);
  return { total: page.total, counts, plan, read: rowsRead(plan, TABLES) };
};

const expectIndexed = (plan: Plan, index: string): void => {
  expect([readWhole(plan, TABLES), indexesOf(plan).has(index)]).toEqual([[], true]);
};

const FLAT = 'workspace_tags_flat';
const PAGE = { number: 1, size: 20 };
const ALL = { search: undefined, without: undefined };

describe('half a million bindings beside fifty thousand flat tags', () => {
  it('are not read for a page of tags, only the flat tags', async () => {
    const { total, counts, plan, read } = await measure((database) =>
      listTags(database, actors.administrator, 'large', PAGE, ALL),
    );
    expect([total, counts.slice(0, 2)]).toEqual([
      52,
      [
        ['everywhere', 50_000],
        ['tag-0', 9],
      ],
    ]);
    expectIndexed(plan, FLAT);
    // Once for the number of tags, and once for the page.
    expect(read).toBeLessThan(2 * 51_000);
  });

  it('are not read for a caller that sees a few workspaces, only their tags', async () => {
    const { total, counts, read } = await measure((database) => listTags(database, actors.member, 'large', PAGE, ALL));
    expect([total, counts[0]]).toEqual([11, ['everywhere', 10]]);
    expect(read).toBeLessThan(2_000);
  });

  it('are not read to count the tags of a workspace, only the index of flat tags', async () => {
    const { counts, plan, read } = await measure((database) =>
      listWorkspaceTags(database, actors.administrator, 'ws-1', PAGE, undefined),
    );
    expect(counts).toEqual([
      ['everywhere', 50_000],
      ['tag-0', 9],
    ]);
    expectIndexed(plan, FLAT);
    expect(read).toBeLessThan(51_000);
  });

  it.each([
    ['administrator', 'everywhere', 20],
    ['administrator', 'tag-17', 20],
    ['administrator', 'unknown', 20],
    ['member', 'tag-5', 1_000],
    ['member', 'unknown', 1_000],
  ] as const)('are not read to find an id for an %s: %s', async (caller, name, reads) => {
    const id = deriveTagId(organization, name);
    const statement = sql`select ${selectTagNames(actors[caller], [id], sql`${organization}`)} as names`;
    const row = await server.database.row(statement);
    expect(row).toEqual({ names: name === 'unknown' ? {} : { [id]: name } });
    const plan = await planFor(server.database, statement);
    expectIndexed(plan, 'workspace_tags_by_id');
    expect(rowsRead(plan, TABLES)).toBeLessThan(reads);
  });
});
