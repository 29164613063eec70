import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '#platform/postgres';
import { sql, type Sql } from '#platform/kernel';
import {
  captureStatement,
  planFor,
  readWhole,
  rowsRead,
  countScans,
  startCrowd,
  type PlanSeed,
} from '../../../../test/support/plans.js';
import type { TestServer } from '../../../../test/support/server.js';
import { listTagComplianceGaps, type GapFilter } from '../compliance/tag-compliance-gaps.queries.js';
import { listReservedTagKeys } from './reserved-tag-keys.view.js';
import { loadReservationPreview } from '../compliance/tag-overrides.queries.js';

/**
 * Plans for checking a tagging policy in a large organization: 100,000 workspaces in a hundred projects, beside a
 * thousand small organizations with the same policy.
 */
const LARGE = 'large';
const WITH_TAGS = `select 'env' as key where n % 1000 = 17
  union all select 'cost-center'
  union all select 'owner' where n % 1000 <> 17`;

/** Fills the views directly: appending the events would take a quarter of an hour. */
const fill = (large: string): readonly Sql[] => {
  const workspaces = sql`
    create temporary table made as
    select 'ws-' || md5(o || '.' || n) as id, case o when 0 then ${large} else 'org-tenant-' || o end as organization,
           'prj-' || o || '-' || n % 100 as project, o = 0 as large, n, 'network-' || lpad(n::text, 6, '0') as name
      from generate_series(0, 1000) o cross join lateral generate_series(1, case o when 0 then 100000 else 25 end) n`;
  const inserts = [
    `insert into organizations (id, name, email, feature_set, default_project, owners_team, settings, created_at)
     select 'org-tenant-' || o, 'tenant-' || o, 'ops@tenant.test', feature_set, '', '', settings, now()
       from organizations, generate_series(1, 1000) o where name = '${LARGE}'`,
    `insert into projects (id, organization, name, settings, created_at)
     select distinct project, organization, project, '{}'::jsonb, now() from made`,
    // As wide as real rows, so that a plan that reads rows instead of an index is expensive.
    `insert into workspaces (id, organization, project, name, settings, created_at, updated_at, latest_change_at)
     select id, organization, project, name, jsonb_build_object('description', repeat('wide', 100)), now(), now(), now()
       from made`,
    `insert into workspace_counts (organization, project, shard, workspaces)
     select organization, project, 0, count(*) from made group by organization, project`,
    // Projects bind \`env\`, and a few workspaces override it. Nearly all workspaces bind the other keys themselves.
    `insert into project_tags (project, organization, key, value, added_in, created_at, set_at, set_by)
     select distinct project, organization, 'env', 'prod', 1, now(), now(), '{}'::jsonb from made`,
    `insert into workspace_tags (workspace, organization, key, value, added_in, ordinal, created_at, set_at)
     select id, organization, key, case when key = 'env' then null else 'v' || n % 7 end, 1, 1, now(), now()
       from made cross join lateral (${WITH_TAGS}) own`,
    `insert into reserved_tag_keys (id, organization, key, disable_overrides, created_at, updated_at)
     select 'rtk-' || key || organization, organization, key, true, now(), now()
       from (select distinct organization from made) o, unnest(array['env', 'cost-center', 'owner', 'new']) key`,
    `insert into team_projects (id, organization, team, project, access, created_at)
     select distinct 'tprj-few', organization, 'team-few', project, 'read', now() from made where project = 'prj-0-17'`,
  ];
  const tables = ['organizations', 'projects', 'workspaces', 'workspace_tags', 'workspace_counts', 'team_projects'];
  const vacuumed = [...tables, 'project_tags', 'reserved_tag_keys'].map((table) => sql.raw(`vacuum analyze ${table}`));
  return [workspaces, ...inserts.map((text) => sql.raw(text)), ...vacuumed];
};

let server: TestServer;
let actors: PlanSeed['actors'];

beforeAll(async () => {
  ({ server, actors } = await startCrowd(LARGE, fill));
});

afterAll(() => server.close());

type CallerKind = keyof typeof actors;

const TABLES = ['workspaces', 'workspace_tags', 'project_tags', 'workspace_counts'];
const PAGE = { number: 1, size: 20 };

const expectRead = async <T>(read: (database: Database) => Promise<T>, most: number): Promise<T> => {
  const { result, statement } = await captureStatement(server.database, read);
  const plan = await planFor(server.database, statement);
  expect(readWhole(plan, TABLES)).toEqual([]);
  expect(rowsRead(plan, TABLES)).toBeLessThanOrEqual(most);
  // Reads by project, and by workspace only for results.
  expect(countScans(plan, TABLES)).toBeLessThanOrEqual(MAX_READS);
  return result;
};

/** Rows for a page of twenty workspaces, the projects, and the tags of the page. */
const FEW_ROWS = 2_000;
/** A few reads for each project, and for each of a thousand workspaces if the caller sees no more. */
const MAX_READS = 3_000;
/** One index entry for each workspace and one for its tag. */
const ONE_ROW_EACH = 100_000;

describe('a list in an organization', () => {
  it('is counted once, not for each row of the page', async () => {
    const list = (database: Database) => listReservedTagKeys(database, actors.administrator, LARGE, PAGE);
    const { result, statement } = await captureStatement(server.database, list);
    expect([result.total, result.rows.length]).toEqual([4, 4]);
    expect(countScans(await planFor(server.database, statement), ['reserved_tag_keys'])).toBe(2);
  });
});

describe('100,000 workspaces', () => {
  const gapsOf = (caller: CallerKind, filter: Partial<GapFilter>, organization = LARGE) => {
    const all = { project: undefined, key: undefined, proposedKey: undefined, ...filter };
    return (database: Database) => listTagComplianceGaps(database, actors[caller], organization, PAGE, all);
  };

  it.each<[string, CallerKind, Partial<GapFilter>, total: number, reads: number]>([
    ['a key that projects bind', 'administrator', { key: 'env' }, 100, FEW_ROWS],
    ['a key that all of them bind', 'administrator', { key: 'cost-center' }, 0, 2 * ONE_ROW_EACH + FEW_ROWS],
    ['a key that nearly all bind', 'administrator', { key: 'owner' }, 100, 2 * ONE_ROW_EACH + FEW_ROWS],
    ['a key that nobody binds', 'administrator', { key: 'new' }, 100_000, ONE_ROW_EACH + FEW_ROWS],
    ['any of these keys', 'administrator', {}, 100_000, 5 * ONE_ROW_EACH + FEW_ROWS],
    ['one key, in one project', 'administrator', { project: 'prj-0-18', key: 'new' }, 1_000, 1_000 + FEW_ROWS],
    ['one key, in visible workspaces', 'member', { key: 'env' }, 100, 10_000],
  ])(
    'are not read completely to find workspaces that lack %s, for the %s: %j',
    async (_, caller, filter, total, reads) => {
      const page = await expectRead(gapsOf(caller, filter), reads);
      expect(page.total).toBe(total);
      expect(page.rows).toHaveLength(Math.min(total, 20));
    },
  );

  it('are not read for the gaps of a small organization', async () => {
    const page = await expectRead(gapsOf('administrator', { key: 'owner' }, 'tenant-7'), FEW_ROWS);
    expect(page.total).toBe(1);
  });

  it.each<[key: string, who: CallerKind, total: number, workspaces: number, reads: number]>([
    ['env', 'administrator', 100, 100_000, ONE_ROW_EACH + FEW_ROWS],
    ['env', 'member', 100, 1_000, ONE_ROW_EACH + 10_000],
    ['cost-center', 'administrator', 0, 0, FEW_ROWS],
    ['unheard-of', 'administrator', 0, 0, FEW_ROWS],
  ])('are not read completely to find overrides of %s, for the %s', async (key, caller, total, workspaces, reads) => {
    const proposal = { id: null, key, disableOverrides: true };
    const read = (database: Database) => loadReservationPreview(database, actors[caller], LARGE, proposal, PAGE);
    const { overrides, after } = await expectRead(read, reads);
    expect([overrides.total, after.reach.workspaces]).toEqual([total, workspaces]);
    expect(overrides.rows).toHaveLength(Math.min(total, 20));
  });
});
