import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '#postgres';
import { sql, type Sql } from '#kernel';
import {
  captureStatement,
  planFor,
  readWhole,
  rowsRead,
  timesAsked,
  startCrowd,
  type PlanSeed,
} from '../../../test/support/plans.js';
import type { TestServer } from '../../../test/support/server.js';
import { listTagComplianceGaps, type GapFilter } from '../compliance/tag-compliance-gaps.queries.js';
import { loadReservationPreview } from '../compliance/tag-overrides.queries.js';

/**
 * How a tagging policy is looked after where there is much: an organization of 100,000 workspaces in a hundred projects,
 * among a thousand small ones that have the same policy.
 */
const LARGE = 'large';
const WITH_TAGS = `select 'env' as key where n % 1000 = 17
  union all select 'cost-center'
  union all select 'owner' where n % 1000 <> 17`;

/** Straight into the views: the log would take a quarter of an hour. */
const fill = (large: string): readonly Sql[] => {
  const made = sql`
    create temporary table made as
    select 'ws-' || md5(o || '.' || n) as id, case o when 0 then ${large} else 'org-tenant-' || o end as organization,
           'prj-' || o || '-' || n % 100 as project, o = 0 as large, n, 'network-' || lpad(n::text, 6, '0') as name
      from generate_series(0, 1000) o cross join lateral generate_series(1, case o when 0 then 100000 else 25 end) n`;
  const others = [
    `insert into organizations (id, name, email, feature_set, default_project, owners_team, settings, created_at)
     select 'org-tenant-' || o, 'tenant-' || o, 'ops@tenant.test', feature_set, '', '', settings, now()
       from organizations, generate_series(1, 1000) o where name = '${LARGE}'`,
    `insert into projects (id, organization, name, settings, created_at)
     select distinct project, organization, project, '{}'::jsonb, now() from made`,
    // As wide as real ones: whoever reads rows instead of an index is to pay for it.
    `insert into workspaces (id, organization, project, name, settings, created_at, updated_at, latest_change_at)
     select id, organization, project, name, jsonb_build_object('description', repeat('wide', 100)), now(), now(), now()
       from made`,
    `insert into workspace_counts (organization, project, shard, workspaces)
     select organization, project, 0, count(*) from made group by organization, project`,
    // \`env\` comes from the projects and a few override it; the others are for each workspace to say, and a few do not.
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
  return [made, ...others.map((text) => sql.raw(text)), ...vacuumed];
};

let server: TestServer;
let actors: PlanSeed['actors'];

beforeAll(async () => {
  ({ server, actors } = await startCrowd(LARGE, fill));
});

afterAll(() => server.close());

type Who = keyof typeof actors;

const TABLES = ['workspaces', 'workspace_tags', 'project_tags', 'workspace_counts'];
const PAGE = { number: 1, size: 20 };

const expectRead = async <T>(ask: (database: Database) => Promise<T>, most: number): Promise<T> => {
  const { found, statement } = await captureStatement(server.database, ask);
  const plan = await planFor(server.database, statement);
  expect(readWhole(plan, TABLES)).toEqual([]);
  expect(rowsRead(plan, TABLES)).toBeLessThanOrEqual(most);
  // By project, and never by workspace but for those that are found.
  expect(timesAsked(plan, TABLES)).toBeLessThanOrEqual(TIMES);
  return found;
};

/** A page of twenty, the projects, and the tags of those that are shown. */
const LITTLE = 2_000;
/** A few for each project, and for each of a thousand workspaces where no more are seen. */
const TIMES = 3_000;
/** Each workspace and its tag once, in an index. */
const EACH_ONCE = 100_000;

describe('of 100,000 workspaces', () => {
  const gapsOf = (who: Who, filter: Partial<GapFilter>, organization = LARGE) => {
    const all = { project: undefined, key: undefined, ...filter };
    return (database: Database) => listTagComplianceGaps(database, actors[who], organization, PAGE, all);
  };

  it.each<[string, Who, Partial<GapFilter>, total: number, reads: number]>([
    ['a key that projects bind', 'administrator', { key: 'env' }, 100, LITTLE],
    ['a key that all of them bind', 'administrator', { key: 'cost-center' }, 0, 2 * EACH_ONCE + LITTLE],
    ['a key that nearly all bind', 'administrator', { key: 'owner' }, 100, 2 * EACH_ONCE + LITTLE],
    ['a key that nobody binds', 'administrator', { key: 'new' }, 100_000, EACH_ONCE + LITTLE],
    ['all of these', 'administrator', {}, 100_000, 5 * EACH_ONCE + LITTLE],
    ['one, in one project', 'administrator', { project: 'prj-0-18', key: 'new' }, 1_000, 1_000 + LITTLE],
    ['one, in what is seen', 'member', { key: 'env' }, 100, 10_000],
  ])('those that lack %s are found in indexes, for the %s: %j', async (_, who, filter, total, reads) => {
    const found = await expectRead(gapsOf(who, filter), reads);
    expect(found.total).toBe(total);
    expect(found.rows).toHaveLength(Math.min(total, 20));
  });

  it('those of a small organization are found among its own', async () => {
    const found = await expectRead(gapsOf('administrator', { key: 'owner' }, 'tenant-7'), LITTLE);
    expect(found.total).toBe(1);
  });

  it.each<[key: string, who: Who, total: number, workspaces: number, reads: number]>([
    ['env', 'administrator', 100, 100_000, EACH_ONCE + LITTLE],
    ['env', 'member', 100, 1_000, EACH_ONCE + 10_000],
    ['cost-center', 'administrator', 0, 0, LITTLE],
    ['unheard-of', 'administrator', 0, 0, LITTLE],
  ])('those that override %s are found in indexes, for the %s', async (key, who, total, workspaces, reads) => {
    const proposal = { id: null, key, disableOverrides: true };
    const ask = (database: Database) => loadReservationPreview(database, actors[who], LARGE, proposal, PAGE);
    const { overrides, after } = await expectRead(ask, reads);
    expect([overrides.total, after.reach.workspaces]).toEqual([total, workspaces]);
    expect(overrides.rows).toHaveLength(Math.min(total, 20));
  });
});
