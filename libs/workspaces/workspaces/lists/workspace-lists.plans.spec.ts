import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parsePage, type QueryParameters } from '#api/json-api';
import { sql, type Sql } from '#platform/kernel';
import {
  anybody,
  captureStatement,
  indexesOf,
  planFor,
  planForAny,
  readWhole,
  refusedStatement,
  rowsRead,
  startCrowd,
  vacuumUntilVisible,
  type PlanSeed,
} from '../../../../test/support/plans.js';
import type { TestServer } from '../../../../test/support/server.js';
import { listAdministeredWorkspaces } from '../administration/admin-workspaces.queries.js';
import { findWorkspace } from '../workspaces/workspaces.queries.js';
import { listWorkspaces } from './workspace-lists.queries.js';
import { parseWorkspaceFilter } from './workspaces.filter.js';

/** Plans of lists in large views: an organization of 100,000 workspaces, among a thousand small ones. */
const LARGE = 'large';
const SMALL = 'tenant-17';

/** Writes into the views directly: the log would take a quarter of an hour. */
const fill = (large: string): readonly Sql[] => {
  const rows = sql`
    create temporary table made as
    select 'ws-' || md5(o || '.' || n) as id, case o when 0 then ${large} else 'org-tenant-' || o end as organization,
           'prj-' || o || '-' || n % 100 as project, o = 0 as large, n,
           case n % 4 when 0 then 'network' when 1 then 'billing' when 2 then 'ledger' else 'mail' end
             || case n % 5 when 0 then '-prod-' else '-test-' end || lpad(n::text, 6, '0') as name
      from generate_series(0, 1000) o cross join lateral generate_series(1, case o when 0 then 100000 else 25 end) n`;
  const statements = [
    `insert into organizations (id, name, email, feature_set, default_project, owners_team, settings, created_at)
     select 'org-tenant-' || o, 'tenant-' || o, 'ops@tenant.test', feature_set, '', '', settings, now()
       from organizations, generate_series(1, 1000) o where name = '${LARGE}'`,
    `insert into projects (id, organization, name, settings, created_at)
     select distinct made.project, made.organization, made.project, '{}'::jsonb, now() from made`,
    // As wide as real rows, so that a plan that reads rows instead of an index is visible in the cost.
    `insert into workspaces (id, organization, project, name, settings, created_at, updated_at, latest_change_at)
     select id, organization, project, name, jsonb_build_object('description', repeat('wide', 100)), now(), now(),
            now() - n * 7919::bigint % 1000003 * interval '1 s' from made`,
    `insert into workspace_tags (workspace, organization, key, value, added_in, ordinal, created_at, set_at)
     select id, organization, 'common', case when n % 1000 = 7 then null when n % 2 = 0 then 'even' else 'odd' end, 1, 0, now(), now() from made
     union all select id, organization, 'cost-center', 'cc-' || n / 10, 1, 1, now(), now() from made where large
     union all select id, organization, 'rare', null, 1, 2, now(), now() from made
                where n % 5000 = 17 and (large or organization = 'org-${SMALL}')`,
    `insert into workspace_runs (workspace, organization, current_run, status, created_at)
     select id, organization, 'run-' || id,
            case when large and n % 1000 = 3 then 'planned' when n % 10 = 1 then 'errored' else 'applied' end,
            now() - n * 104729::bigint % 1000003 * interval '1 s' from made where n % 10 <> 5`,
    // The keys of the large organization: projects have a value for one, and few workspaces lack a value for the other.
    `insert into project_tags (project, organization, key, value, added_in, created_at, set_at, set_by)
     select distinct project, organization, 'region', 'eu', 1, now(), now(), '{}'::jsonb from made`,
    `insert into reserved_tag_keys (id, organization, key, disable_overrides, created_at, updated_at)
     select 'rtk-' || key || organization, organization, key, false, now(), now()
       from (select distinct organization from made) o, unnest(array['region', 'common']) key`,
    `insert into workspace_counts (organization, project, shard, workspaces)
     select organization, project, 0, count(*) from made group by organization, project`,
    // Ten of the large organization, and most of the others.
    `insert into workspace_locks (organization, workspace)
     select organization, id from made where case when large then n % 10000 = 4201 else n % 5 > 0 end`,
    // A member sees one project of a thousand workspaces and ten more; many others see other ones.
    `insert into team_projects (id, organization, team, project, access, created_at)
     select 'tprj-' || o, 'org-tenant-' || o, 'team-' || o, 'prj-' || o || '-1', 'read', now() from generate_series(1, 1000) o
     union all select 'tprj-few', organization, 'team-few', project, 'read', now()
                 from made where name = 'billing-test-000001' and large`,
    `insert into team_workspaces (id, organization, team, workspace, access, created_at)
     select 'tws-' || id, organization, 'team-' || n % 100, id, 'read', now() from made where n % 10 = 0
     union all select 'tws-few-' || id, organization, 'team-few', id, 'read', now()
                 from made where large and n % 10000 = 4242`,
  ];
  const tables = ['organizations', 'projects', 'workspaces', 'workspace_tags', 'workspace_runs', 'workspace_counts'];
  const others = ['workspace_locks', 'team_projects', 'team_workspaces'];
  const vacuumed = [...tables, ...others].map((table) => sql.raw(`vacuum analyze ${table}`));
  return [rows, ...statements.map((text) => sql.raw(text)), ...vacuumed];
};

let server: TestServer;
let actors: PlanSeed['actors'];

beforeAll(async () => {
  ({ server, actors } = await startCrowd(LARGE, fill));
});

afterAll(() => server.close());

type Who = keyof typeof actors;

/** Returns the result of a list, and its statement. */
const listed = async (query: string, caller: Who, organization: string) => {
  const parameters: QueryParameters = Object.fromEntries(new URLSearchParams(query));
  const { result, statement } = await captureStatement(server.database, (database) =>
    listWorkspaces(database, actors[caller], organization, parsePage(parameters), parseWorkspaceFilter(parameters)),
  );
  return { total: result.total, statement };
};

const LARGE_TABLES = ['workspaces', 'workspace_tags', 'workspace_runs', 'team_workspaces', 'team_projects'];
/** Its rows can nearly all belong to one organization. Then a scan of the whole table is as good as one of its index. */
const COUNTED_TABLES = [...LARGE_TABLES, 'workspace_locks'];

type Case = {
  readonly query: string;
  readonly by: string;
  readonly total: number;
  /** Largest number of rows that the statement may read. */
  readonly reads: number;
};

const expectIndexed = async ({ query, by, total, reads }: Case, caller: Who, organization: string): Promise<void> => {
  const result = await listed(query, caller, organization);
  const plan = await planFor(server.database, result.statement);
  expect({ total: result.total, readWhole: readWhole(plan, LARGE_TABLES), by: indexesOf(plan).has(by) }).toEqual({
    total,
    readWhole: [],
    by: true,
  });
  expect(rowsRead(plan, COUNTED_TABLES)).toBeLessThanOrEqual(reads);
};

/** A page of twenty reads little more than its own rows and their tags. */
const A_PAGE = 500;
/** The total count must count them in an index. */
const COUNTED = 110_000;
/** The tags with a value are read for the count and for the page, each with its workspace. */
const VALUES = 2 * COUNTED;
/** As many locks, among those of other organizations. */
const LOCKED = 125_000;
/** All workspaces have a tag of their own for a reserved key: their index entries are read for the count and the page. */
const GAPS = 450_000;
/** The grants of the member are looked up a few times, for the page and for the count. */
const GRANTED = 20_000;

const NAMES = 'workspaces_organization_name_key';
const FOLDED_NAMES = 'workspaces_by_folded_name';
const PART_OF_NAME = 'workspaces_by_part_of_name';
const CHANGES = 'workspaces_by_change';
const TAGS = 'workspace_tags_by_key';
const TAG_VALUES = 'workspace_tags_by_value';
const RUNS = 'workspace_runs_by_creation';
const STATUSES = 'workspace_runs_by_status';
const PROJECTS = 'workspaces_by_project';
const LOCKS = 'workspace_locks_pkey';
const NAMES_IN_SITE = 'workspaces_by_name_in_site';
const RUNS_IN_SITE = 'workspace_runs_by_creation_in_site';
/** The id of a workspace of the large organization. */
const ID = `ws-${createHash('md5').update('0.1').digest('hex')}`;

const IN_PROJECT = 'filter[project][id]=prj-0-1';
const centered = (value: string): string => `filter[tagged][0][key]=cost-center&filter[tagged][0][value]=${value}`;

describe('the list of a site with 125,000 workspaces', () => {
  const listSite = (query: QueryParameters, options: Partial<Parameters<typeof listAdministeredWorkspaces>[3]> = {}) =>
    captureStatement(server.database, (database) =>
      listAdministeredWorkspaces(database, actors.administrator, parsePage(query), {
        search: undefined,
        currentRunStatuses: [],
        sort: 'name',
        descending: false,
        ...options,
      }),
    );

  it.each([
    [{}, false],
    [{}, true],
    [{ 'page[number]': '5' }, false],
  ] as const)('reads little more than the page %j by name, descending: %j', async (query, descending) => {
    const { result, statement } = await listSite(query, { descending });
    expect(result.total).toBe(125_000);
    const plan = await planFor(server.database, statement);
    expect(readWhole(plan, LARGE_TABLES)).toEqual([]);
    expect(indexesOf(plan)).toContain(NAMES_IN_SITE);
    expect(rowsRead(plan, COUNTED_TABLES)).toBeLessThanOrEqual(A_PAGE);
  });

  it.each([
    ['PROD-0123', 20],
    ['Tenant-17', 275],
    ['nothing', 0],
    [ID, 1],
  ])('reads little more than the matches of the search for %s', async (search, total) => {
    const { result, statement } = await listSite({}, { search });
    expect(result.total).toBe(total);
    const plan = await planFor(server.database, statement);
    expect(readWhole(plan, LARGE_TABLES)).toEqual([]);
    expect(indexesOf(plan)).toContain(PART_OF_NAME);
    expect(rowsRead(plan, COUNTED_TABLES)).toBeLessThanOrEqual(2 * A_PAGE + 2 * total);
  });

  it.each([
    [{}, false],
    [{}, true],
    [{ 'page[number]': '5' }, true],
  ] as const)('reads little more than the page %j by run, descending: %j', async (query, descending) => {
    const { result, statement } = await listSite(query, { sort: 'current-run.created-at', descending });
    expect(result.total).toBe(125_000);
    const plan = await planFor(server.database, statement);
    expect(readWhole(plan, LARGE_TABLES)).toEqual([]);
    expect(indexesOf(plan)).toContain(RUNS_IN_SITE);
    expect(rowsRead(plan, COUNTED_TABLES)).toBeLessThanOrEqual(2 * A_PAGE);
  });

  it('reads the runs with a status, not those of all workspaces', async () => {
    const { result, statement } = await listSite({}, { currentRunStatuses: ['planned'] });
    expect(result.total).toBe(100);
    const plan = await planFor(server.database, statement);
    expect(readWhole(plan, ['workspaces'])).toEqual([]);
    expect(rowsRead(plan, ['workspaces'])).toBeLessThanOrEqual(1_000);
  });
});

describe('a list of 100,000 workspaces', () => {
  it.each<Case>([
    { query: '', by: NAMES, total: 100_000, reads: A_PAGE },
    { query: 'page[number]=5', by: NAMES, total: 100_000, reads: A_PAGE },
    { query: 'sort=-name', by: NAMES, total: 100_000, reads: A_PAGE },
    { query: 'sort=latest-change-at', by: CHANGES, total: 100_000, reads: A_PAGE },
    { query: 'sort=-latest-change-at', by: CHANGES, total: 100_000, reads: A_PAGE },
    { query: 'sort=current-run.created-at', by: RUNS, total: 100_000, reads: A_PAGE },
    { query: 'sort=-current-run.created-at', by: RUNS, total: 100_000, reads: A_PAGE },
    { query: 'search[name]=PROD-0123', by: PART_OF_NAME, total: 20, reads: 1_000 },
    // The estimate is 831, so the planner would not start from it by itself.
    { query: 'search[name]=prod-000005', by: PART_OF_NAME, total: 1, reads: A_PAGE },
    { query: 'search[name]=prod', by: NAMES, total: 20_000, reads: COUNTED },
    { query: 'search[name]=l', by: NAMES, total: 75_000, reads: COUNTED },
    { query: 'search[wildcard-name]=*-012345', by: PART_OF_NAME, total: 1, reads: A_PAGE },
    { query: 'search[wildcard-name]=MAIL-prod-01*', by: FOLDED_NAMES, total: 500, reads: 5_000 },
    { query: 'search[tags]=rare', by: TAGS, total: 20, reads: A_PAGE },
    { query: 'search[tags]=common', by: TAGS, total: 100_000, reads: COUNTED },
    { query: 'search[tags]=common,rare', by: TAGS, total: 20, reads: 1_000 },
    { query: 'search[tags]=common,rare,cost-center,unknown', by: TAGS, total: 0, reads: 1_000 },
    { query: 'search[tags]=unknown', by: TAGS, total: 0, reads: A_PAGE },
    { query: centered('cc-77'), by: TAGS, total: 10, reads: A_PAGE },
    {
      query: `${centered('cc-77')}&filter[tagged][1][key]=common&filter[tagged][1][value]=odd`,
      by: TAGS,
      total: 5,
      reads: A_PAGE,
    },
    { query: 'filter[tagged][0][value]=cc-77', by: TAG_VALUES, total: 10, reads: A_PAGE },
    { query: 'filter[tagged][0][value]=odd', by: TAG_VALUES, total: 49_900, reads: VALUES },
    { query: 'filter[tag-gaps]=true', by: TAGS, total: 100, reads: GAPS },
    { query: 'filter[tag-gaps]=true&sort=-latest-change-at', by: TAGS, total: 100, reads: GAPS },
    { query: `filter[tag-gaps]=true&${IN_PROJECT}`, by: TAGS, total: 0, reads: GAPS },
    { query: 'search[exclude-tags]=rare', by: NAMES, total: 99_980, reads: COUNTED },
    { query: IN_PROJECT, by: PROJECTS, total: 1_000, reads: A_PAGE },
    { query: 'filter[current-run][status]=planned', by: STATUSES, total: 100, reads: 1_000 },
    { query: 'filter[current-run][status]=planned,errored', by: STATUSES, total: 10_100, reads: 20_000 },
    { query: 'filter[current-run][status]=applied', by: STATUSES, total: 79_900, reads: COUNTED },
    { query: 'search[tags]=rare&sort=-current-run.created-at', by: TAGS, total: 20, reads: A_PAGE },
    { query: 'search[tags]=rare&sort=latest-change-at', by: TAGS, total: 20, reads: A_PAGE },
    { query: 'search[name]=prod-0123&sort=-latest-change-at', by: PART_OF_NAME, total: 20, reads: 1_000 },
    {
      query: 'filter[current-run][status]=planned&sort=-current-run.created-at',
      by: STATUSES,
      total: 100,
      reads: 1_000,
    },
    { query: 'filter[locked]=true', by: LOCKS, total: 10, reads: A_PAGE },
    { query: 'filter[locked]=true&sort=-latest-change-at', by: LOCKS, total: 10, reads: A_PAGE },
    { query: 'filter[locked]=false', by: LOCKS, total: 99_990, reads: A_PAGE },
    { query: 'filter[locked]=false&sort=-current-run.created-at', by: RUNS, total: 99_990, reads: A_PAGE },
    { query: `filter[locked]=false&${IN_PROJECT}`, by: PROJECTS, total: 990, reads: 5_000 },
    { query: `${IN_PROJECT}&search[name]=test-09`, by: PROJECTS, total: 100, reads: 5_000 },
    {
      query: 'filter[project][id]=prj-0-17&search[tags]=rare&sort=latest-change-at',
      by: TAGS,
      total: 20,
      // By the twenty that have the tag, or by the thousand of the project: the planner's costs are the same.
      reads: 2_000,
    },
  ])('$query starts from $by', async (each) => {
    await expectIndexed(each, 'administrator', LARGE);
  });

  it.each(['', 'sort=-name', 'sort=latest-change-at', 'sort=-current-run.created-at', 'page[number]=5'])(
    'has one plan for all values of %s, which is no worse',
    async (query) => {
      const { statement } = await listed(query, 'administrator', LARGE);
      expect(statement.isPrepared).toBe(true);
      const plan = await planForAny(server.database, statement);
      expect(readWhole(plan, LARGE_TABLES)).toEqual([]);
      expect([NAMES, CHANGES, RUNS].some((index) => indexesOf(plan).has(index))).toBe(true);
    },
  );

  it.each<Case>([
    { query: '', by: PROJECTS, total: 1_010, reads: GRANTED },
    { query: 'sort=-latest-change-at', by: PROJECTS, total: 1_010, reads: GRANTED },
    { query: 'sort=current-run.created-at', by: PROJECTS, total: 1_010, reads: GRANTED },
    { query: 'search[name]=billing-test-0123', by: PART_OF_NAME, total: 1, reads: GRANTED },
    { query: 'search[tags]=common', by: PROJECTS, total: 1_010, reads: GRANTED },
    { query: centered('cc-430'), by: TAGS, total: 1, reads: GRANTED },
    { query: 'filter[current-run][status]=errored', by: PROJECTS, total: 1_000, reads: GRANTED },
    { query: IN_PROJECT, by: PROJECTS, total: 1_000, reads: GRANTED },
    { query: 'filter[locked]=true', by: LOCKS, total: 10, reads: GRANTED },
    { query: 'filter[locked]=false', by: PROJECTS, total: 1_000, reads: GRANTED },
  ])('$query, for a caller that sees a few of them, does not read the others', async (each) => {
    await expectIndexed(each, 'member', LARGE);
  });
});

describe('a list of 25 workspaces in another organization', () => {
  // Any index will do. Which one the planner chooses depends on the rows that `analyze` has sampled.
  it.each([
    { query: '', total: 25 },
    { query: 'sort=-latest-change-at', total: 25 },
    { query: 'sort=current-run.created-at', total: 25 },
    { query: 'search[name]=prod-0000', total: 5 },
    { query: 'search[tags]=rare', total: 1 },
    { query: 'search[tags]=common', total: 25 },
    { query: 'filter[current-run][status]=applied', total: 19 },
  ])('$query reads no workspaces of the large organization', async ({ query, total }) => {
    const result = await listed(query, 'administrator', SMALL);
    const plan = await planFor(server.database, result.statement);
    expect({ total: result.total, readWhole: readWhole(plan, LARGE_TABLES) }).toEqual({ total, readWhole: [] });
    expect(rowsRead(plan, LARGE_TABLES)).toBeLessThanOrEqual(A_PAGE);
  });
});

describe('a list of 100,000 workspaces, nearly all of them locked', () => {
  beforeAll(async () => {
    const session = await server.database.session();
    await session.run(sql`
      insert into workspace_locks (organization, workspace)
      select o.id, w.id from organizations o join workspaces w on w.organization = o.id
       where o.name = ${LARGE} and right(w.name, 4) <> '2345'
      on conflict do nothing`);
    await session.run(sql`vacuum analyze workspace_locks`);
    await vacuumUntilVisible(session);
    await session.close();
  });

  it.each<Case>([
    { query: 'filter[locked]=true', by: NAMES, total: 99_990, reads: LOCKED },
    { query: 'filter[locked]=true&sort=-latest-change-at', by: CHANGES, total: 99_990, reads: LOCKED },
    { query: `filter[locked]=true&${IN_PROJECT}`, by: PROJECTS, total: 1_000, reads: 5_000 },
    // The locks are counted, and compared with all workspaces.
    { query: 'filter[locked]=false', by: LOCKS, total: 10, reads: 2 * LOCKED + COUNTED },
    { query: 'filter[locked]=false&sort=-latest-change-at', by: LOCKS, total: 10, reads: 2 * LOCKED + COUNTED },
  ])('$query starts from $by', async (each) => {
    await expectIndexed(each, 'administrator', LARGE);
  });
});

describe('a workspace', () => {
  it.each([
    ['as it is written', 'billing-prod-000005'],
    ['in another case', 'Billing-PROD-000005'],
  ])('is found by an index if its name is %s', async (_, name) => {
    const { result, statement } = await captureStatement(server.database, (database) =>
      findWorkspace(database, actors.administrator, 'read-workspace', { organization: LARGE.toUpperCase(), name }),
    );
    expect(result.name).toBe('billing-prod-000005');
    const tables = ['organizations', 'workspaces', 'projects'];
    for (const plan of [await planFor(server.database, statement), await planForAny(server.database, statement)]) {
      expect(readWhole(plan, tables)).toEqual([]);
      expect(indexesOf(plan)).toContain(FOLDED_NAMES);
      expect(indexesOf(plan)).toContain('organizations_by_folded_name');
    }
    expect(rowsRead(await planFor(server.database, statement), tables)).toBeLessThanOrEqual(8);
  });
});

describe('a list that the caller may not read', () => {
  it.each([
    ['an organization of others', LARGE],
    ['an organization that does not exist', 'nowhere'],
  ])('reads no rows: %s', async (_, organization) => {
    const rolesByOrganization = new Map([['org-tenant-3', new Set(['owner'] as const)]]);
    const stranger = anybody({ siteAdmin: false, teams: ['team-3'], rolesByOrganization });
    const tags = Array.from({ length: 10 }, (_tag, n) => `filter[tagged][${n}][key]=k${n}`).join('&');
    const parameters: QueryParameters = Object.fromEntries(
      new URLSearchParams(`${tags}&search[name]=prod&search[tags]=common`),
    );
    const statement = await refusedStatement(server.database, (database) =>
      listWorkspaces(database, stranger, organization, parsePage(parameters), parseWorkspaceFilter(parameters)),
    );
    expect(rowsRead(await planFor(server.database, statement), LARGE_TABLES)).toBe(0);
  });
});
