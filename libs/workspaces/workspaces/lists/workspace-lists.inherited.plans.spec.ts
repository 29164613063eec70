import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parsePage, type QueryParameters } from '#api/json-api';
import { sql, type Sql } from '#platform/kernel';
import {
  captureStatement,
  indexesOf,
  planFor,
  readWhole,
  rowsRead,
  startCrowd,
  type PlanSeed,
} from '../../../../test/support/plans.js';
import type { TestServer } from '../../../../test/support/server.js';
import { listWorkspaces } from './workspace-lists.queries.js';
import { parseWorkspaceFilter } from './workspaces.filter.js';

/**
 * Plans of lists filtered by inherited tags: 100,000 workspaces in one project with ten bindings, beside a project of
 * 100 with one, and a thousand organizations whose projects bind the same keys. A few workspaces have their own values.
 */
const ORGANIZATION = 'wide';
const WIDE = 'prj-wide';
const NARROW = 'prj-narrow';

/** Writes into the views directly: the log would take a quarter of an hour. */
const fill = (organization: string): readonly Sql[] => {
  const rows = sql`
    create temporary table made as
    select 'ws-' || md5(n::text) as id, ${organization} as organization, n,
           case when n <= 100000 then ${WIDE} else ${NARROW} end as project, 'network-' || lpad(n::text, 6, '0') as name
      from generate_series(1, 100100) n`;
  const statements = [
    `insert into projects (id, organization, name, settings, created_at)
     select distinct made.project, made.organization, made.project, '{}'::jsonb, now() from made`,
    `insert into workspaces (id, organization, project, name, settings, created_at, updated_at, latest_change_at)
     select id, organization, project, name, jsonb_build_object('description', repeat('wide', 100)), now(), now(),
            now() - n * 7919::bigint % 1000003 * interval '1 s' from made`,
    `insert into project_tags (project, organization, key, value, added_in, created_at, set_at, set_by)
     select p.project, p.organization, 'key-' || n, p.value, n, now(), now(), '{}'::jsonb
       from (select distinct project, organization, replace(project, 'prj-', '') as value from made) p,
            generate_series(0, 9) n
      where p.project = '${WIDE}' or n = 0
     union all select 'prj-' || o || '-' || n, 'org-tenant-' || o, 'key-' || n, 'wide', 1, now(), now(), '{}'::jsonb
                 from generate_series(1, 1000) o, generate_series(0, 9) n`,
    // Overrides: a few workspaces with another value, and one in ten of them for key-2.
    `insert into workspace_tags (workspace, organization, key, value, added_in, ordinal, created_at, set_at)
     select id, organization, 'common', case n % 2 when 0 then 'even' else 'odd' end, 1, 0, now(), now() from made
     union all select id, organization, 'rare', null, 1, 1, now(), now() from made where n % 5000 = 17
     union all select id, organization, 'key-1', 'other', 1, 2, now(), now() from made where n % 2500 = 17
     union all select id, organization, 'key-2', 'other', 1, 3, now(), now() from made where n % 10 = 7`,
    `insert into workspace_runs (workspace, organization, current_run, status, created_at)
     select id, organization, 'run-' || id, 'applied', now() - n * 104729::bigint % 1000003 * interval '1 s'
       from made where n % 10 <> 5`,
    `insert into workspace_counts (organization, project, shard, workspaces)
     select organization, project, n % 16, count(*) from made group by organization, project, n % 16`,
    `insert into team_workspaces (id, organization, team, workspace, access, created_at)
     select 'tws-' || id, organization, 'team-few', id, 'read', now() from made where n % 5000 in (17, 18)
     union all select 'tws-other-' || id, organization, 'team-' || n % 100, id, 'read', now() from made where n % 10 = 0`,
    `insert into team_projects (id, organization, team, project, access, created_at)
     select 'tprj-' || o, 'org-tenant-' || o, 'team-' || o, 'prj-' || o || '-1', 'read', now() from generate_series(1, 1000) o`,
  ];
  const tables = ['organizations', 'projects', 'workspaces', 'workspace_tags', 'workspace_runs', 'workspace_counts'];
  const vacuumed = [...tables, 'project_tags', 'team_workspaces', 'team_projects'].map((table) =>
    sql.raw(`vacuum analyze ${table}`),
  );
  return [rows, ...statements.map((text) => sql.raw(text)), ...vacuumed];
};

let server: TestServer;
let actors: PlanSeed['actors'];

beforeAll(async () => {
  ({ server, actors } = await startCrowd(ORGANIZATION, fill));
});

afterAll(() => server.close());

const TABLES = ['workspaces', 'workspace_tags', 'workspace_runs', 'project_tags', 'team_workspaces'];

type Case = {
  readonly query: string;
  readonly by: string;
  readonly total: number;
  /** Largest number of rows that the statement may read. */
  readonly reads: number;
};

const expectIndexed = async ({ query, by, total, reads }: Case, caller: keyof typeof actors): Promise<void> => {
  const parameters: QueryParameters = Object.fromEntries(new URLSearchParams(query));
  const { result, statement } = await captureStatement(server.database, (database) =>
    listWorkspaces(database, actors[caller], ORGANIZATION, parsePage(parameters), parseWorkspaceFilter(parameters)),
  );
  const plan = await planFor(server.database, statement);
  expect({ total: result.total, readWhole: readWhole(plan, TABLES), by: indexesOf(plan).has(by) }).toEqual({
    total,
    readWhole: [],
    by: true,
  });
  expect(rowsRead(plan, TABLES)).toBeLessThanOrEqual(reads);
};

/** A page of twenty reads little more than its own rows and their tags. */
const A_PAGE = 1_500;
/** The total count must count them in an index. */
const COUNTED = 110_000;

const NAMES = 'workspaces_organization_name_key';
const CHANGES = 'workspaces_by_change';
const TAGS = 'workspace_tags_by_key';
const RUNS = 'workspace_runs_by_creation';
const PROJECTS = 'workspaces_by_project';

const tagged = (...terms: readonly string[]): string =>
  terms
    .map((each, index) => {
      const [key, value = ''] = each.split('=');
      return `filter[tagged][${index}][key]=${key}&filter[tagged][${index}][value]=${value}`;
    })
    .join('&');

describe('a list of 100,000 workspaces that inherit tags', () => {
  it.each<Case>([
    { query: tagged('key-3'), by: NAMES, total: 100_000, reads: A_PAGE },
    { query: tagged('key-3=wide'), by: NAMES, total: 100_000, reads: A_PAGE },
    { query: tagged('key-3=wide', 'key-4=wide'), by: NAMES, total: 100_000, reads: A_PAGE },
    { query: `${tagged('key-3', 'key-4')}&page[number]=4`, by: NAMES, total: 100_000, reads: A_PAGE },
    { query: `${tagged('key-3', 'key-4')}&sort=-latest-change-at`, by: CHANGES, total: 100_000, reads: A_PAGE },
    { query: `${tagged('key-3', 'key-4')}&sort=current-run.created-at`, by: RUNS, total: 100_000, reads: A_PAGE },
    { query: tagged('key-1=wide', 'key-4=wide'), by: NAMES, total: 99_960, reads: A_PAGE },
    { query: tagged('key-1', 'key-4=wide'), by: NAMES, total: 100_000, reads: A_PAGE },
    { query: tagged('key-1=other', 'key-4=wide'), by: TAGS, total: 40, reads: A_PAGE },
    { query: tagged('key-2=wide', 'key-4=wide'), by: NAMES, total: 90_000, reads: COUNTED + A_PAGE },
    { query: tagged('rare', 'key-4=wide'), by: TAGS, total: 20, reads: A_PAGE },
    { query: tagged('key-4=wide', 'rare'), by: TAGS, total: 20, reads: A_PAGE },
    { query: tagged('common=even', 'key-4=wide'), by: NAMES, total: 50_000, reads: 3 * COUNTED },
    { query: tagged('key-3=wide', 'key-4=wide', 'key-5=wide'), by: NAMES, total: 100_000, reads: COUNTED },
    { query: tagged('key-0'), by: NAMES, total: 100_100, reads: A_PAGE },
    { query: tagged('key-0=narrow'), by: NAMES, total: 100, reads: COUNTED },
    { query: tagged('key-0=narrow', 'key-3=wide'), by: TAGS, total: 0, reads: A_PAGE },
    { query: tagged('key-3=unknown', 'key-4'), by: TAGS, total: 0, reads: A_PAGE },
    { query: tagged('unknown', 'key-4'), by: TAGS, total: 0, reads: A_PAGE },
    { query: `filter[project][id]=${NARROW}&${tagged('key-0', 'key-3')}`, by: PROJECTS, total: 0, reads: A_PAGE },
    { query: `${tagged('key-3', 'key-4')}&search[tags]=rare`, by: TAGS, total: 20, reads: A_PAGE },
  ])('$query starts from $by', async (each) => {
    await expectIndexed(each, 'administrator');
  });

  it.each<Case>([
    { query: tagged('key-3=wide', 'key-4=wide'), by: PROJECTS, total: 40, reads: 5_000 },
    { query: tagged('rare', 'key-4=wide'), by: TAGS, total: 20, reads: 5_000 },
  ])('$query, for a caller that sees a few of them, does not read the others', async (each) => {
    await expectIndexed(each, 'member');
  });
});
