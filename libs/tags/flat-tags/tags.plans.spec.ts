import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor } from '#access';
import type { Database } from '#postgres';
import { sql } from '#kernel';
import {
  anybody,
  captureStatement,
  indexesOf,
  planFor,
  readWhole,
  rowsRead,
  type Plan,
} from '../../../test/support/plans.js';
import { makeOrganization } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { selectTagNames, deriveTagId } from '#tag-bindings';
import { listTags, listWorkspaceTags, type TagRow } from './tags.queries.js';

/**
 * How tags are listed and looked up where there are many: 50,000 workspaces that bind ten keys each, all with one flat tag,
 * a few with others, beside as many in other organizations.
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
  await session.close();
  actors = {
    administrator: anybody({ siteAdmin: true, teams: [], standings: new Map() }),
    member: anybody({
      siteAdmin: false,
      teams: ['team-1'],
      standings: new Map([[organization, new Set(['member'] as const)]]),
    }),
  };
});

afterAll(() => server.close());

const TABLES = ['workspaces', 'workspace_tags', 'team_workspaces'];

type Answered = { readonly rows: readonly TagRow[]; readonly total: number };

/** What was found, each name with its count, and how. */
const seen = async (ask: (database: Database) => Promise<Answered>) => {
  const { found, statement } = await captureStatement(server.database, ask);
  const plan = await planFor(server.database, statement);
  const counts = found.rows.map(({ name, instanceCount }) => [name, instanceCount]);
  return { total: found.total, counts, plan, read: rowsRead(plan, TABLES) };
};

const expectIndexed = (plan: Plan, index: string): void => {
  expect([readWhole(plan, TABLES), indexesOf(plan).has(index)]).toEqual([[], true]);
};

const FLAT = 'workspace_tags_flat';
const PAGE = { number: 1, size: 20 };
const ALL = { search: undefined, without: undefined };

describe('of half a million bindings beside fifty thousand flat tags', () => {
  it('a page of tags looks at the flat ones alone', async () => {
    const { total, counts, plan, read } = await seen((database) =>
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
    // Once to tell how many tags there are, and once for those that are shown.
    expect(read).toBeLessThan(2 * 51_000);
  });

  it('one for who sees a few workspaces looks at theirs', async () => {
    const { total, counts, read } = await seen((database) => listTags(database, actors.member, 'large', PAGE, ALL));
    expect([total, counts[0]]).toEqual([11, ['everywhere', 10]]);
    expect(read).toBeLessThan(2_000);
  });

  it('the tags of a workspace are counted in the same index', async () => {
    const { counts, plan, read } = await seen((database) =>
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
  ] as const)('an id is looked up for an %s: %s', async (who, name, reads) => {
    const id = deriveTagId(organization, name);
    const statement = sql`select ${selectTagNames(actors[who], [id], sql`${organization}`)} as names`;
    const row = await server.database.row(statement);
    expect(row).toEqual({ names: name === 'unknown' ? {} : { [id]: name } });
    const plan = await planFor(server.database, statement);
    expectIndexed(plan, 'workspace_tags_by_id');
    expect(rowsRead(plan, TABLES)).toBeLessThan(reads);
  });
});
