import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Database } from '#platform/postgres';
import { sql } from '#platform/kernel';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import {
  hasCapability,
  PROJECT_FIELDS,
  PROJECT_LEVELS,
  WORKSPACE_FIELDS,
  WORKSPACE_LEVELS,
  type Capability,
  type CustomProjectAccess,
  type Grant,
  type WorkspaceAccess,
} from './grants.js';
import { getRequiredCapability, permissions, type Permission } from './permissions.js';
import { buildCapabilityCondition } from './permitted-scopes.queries.js';

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await freshDatabase();
  database = new Database({ url: home.url, connections: 1, applicationName: 'test' });
});

afterAll(async () => {
  await database.close();
  await home.drop();
});

const CAPABILITIES = [
  ...new Set(
    (Object.keys(permissions) as Permission[]).flatMap((name): Capability[] =>
      [getRequiredCapability(name) ?? []].flat(),
    ),
  ),
];

const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values);

const inWorkspaces = {
  runs: oneOf(WORKSPACE_FIELDS.runs),
  variables: oneOf(WORKSPACE_FIELDS.variables),
  stateVersions: oneOf(WORKSPACE_FIELDS.stateVersions),
  sentinelMocks: oneOf(WORKSPACE_FIELDS.sentinelMocks),
  runTasks: fc.boolean(),
  policyOverrides: fc.boolean(),
};
const onWorkspace: fc.Arbitrary<WorkspaceAccess> = fc.record({ ...inWorkspaces, workspaceLocking: fc.boolean() });
const onProject: fc.Arbitrary<CustomProjectAccess> = fc.record({
  ...inWorkspaces,
  locking: fc.boolean(),
  create: fc.boolean(),
  delete: fc.boolean(),
  move: fc.boolean(),
  project: fc.record({
    settings: oneOf(PROJECT_FIELDS.settings),
    teams: oneOf(PROJECT_FIELDS.teams),
    variableSets: oneOf(PROJECT_FIELDS.variableSets),
  }),
});

const FIXED: readonly Grant[] = [
  ...WORKSPACE_LEVELS.flatMap((level): Grant[] => (level === 'custom' ? [] : [{ on: 'workspace', level }])),
  ...PROJECT_LEVELS.flatMap((level): Grant[] => (level === 'custom' ? [] : [{ on: 'project', level }])),
  { on: 'project', level: 'passage' },
  { on: 'team', level: 'member' },
  { on: 'run', level: 'own' },
  { on: 'run', level: 'applying' },
  { on: 'run', level: 'consumer' },
];

const grants = fc.oneof(
  onWorkspace.map((custom): Grant => ({ on: 'workspace', level: 'custom', custom })),
  onProject.map((custom): Grant => ({ on: 'project', level: 'custom', custom })),
);

it('evaluates in SQL like the permission table, for every capability and level, and for custom access', async () => {
  const lists: readonly (readonly Grant[])[] = [
    [],
    ...FIXED.map((grant) => [grant]),
    ...fc.sample(fc.array(grants, { minLength: 1, maxLength: 2 }), { numRuns: 500, seed: 14 }),
  ];
  for (const capability of CAPABILITIES) {
    const condition = buildCapabilityCondition(sql.raw('listed.grants'), capability);
    const rows = await database.rows<{ given: boolean }>(sql`
      select ${condition} as given
        from jsonb_array_elements(${sql.json(lists)}::jsonb) with ordinality listed (grants, n) order by n`);
    const expected = lists.map((list) => hasCapability(list, capability));
    expect({ capability, given: rows.map(({ given: isGiven }) => isGiven) }).toEqual({ capability, given: expected });
    // Every capability is given by some lists and not by others.
    expect(new Set(expected)).toEqual(new Set([true, false]));
  }
});
