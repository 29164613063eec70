import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';

type Sources = Readonly<Record<string, string>>;

/** Pairs of folders that still import each other. Add none: move the file that the other folder needs. */
const REMAINING: readonly string[] = [
  'apps/console/src/layout <-> apps/console/src/palette',
  'apps/console/src/screens/access <-> apps/console/src/screens/teams',
  'apps/console/src/screens/people <-> apps/console/src/screens/tokens',
  'apps/console/src/screens/reserved-keys <-> apps/console/src/screens/tags',
  'apps/console/src/screens/teams <-> apps/console/src/screens/why-access',
  'libs/activity/notifications/configurations <-> libs/activity/notifications/deliveries',
  'libs/identity/people/authentication-tokens <-> libs/identity/people/teams',
  'libs/identity/people/memberships <-> libs/identity/people/teams',
  'libs/identity/people/memberships <-> libs/identity/people/users',
  'libs/identity/people/team-access <-> libs/identity/people/teams',
  'libs/identity/people/teams <-> libs/identity/people/users',
  'libs/organizations/organizations/entitlements <-> libs/organizations/organizations/organizations',
  'libs/organizations/organizations/organizations <-> libs/organizations/organizations/projects',
  'libs/registry/registry/platforms <-> libs/registry/registry/release-files',
  'libs/registry/registry/platforms <-> libs/registry/registry/versions',
  'libs/registry/registry/providers <-> libs/registry/registry/versions',
  'libs/registry/registry/release-files <-> libs/registry/registry/versions',
  'libs/runs/runs/configuration-versions <-> libs/runs/runs/runs',
  'libs/workspaces/state/files <-> libs/workspaces/state/state-versions',
  'libs/workspaces/state/state-versions <-> libs/workspaces/state/uploads',
  'libs/workspaces/workspaces/lists <-> libs/workspaces/workspaces/workspaces',
  'libs/workspaces/workspaces/lock <-> libs/workspaces/workspaces/workspaces',
  'libs/workspaces/workspaces/remote-state-consumers <-> libs/workspaces/workspaces/workspaces',
  'libs/workspaces/workspaces/tags <-> libs/workspaces/workspaces/workspaces',
  'libs/workspaces/workspaces/tool-versions <-> libs/workspaces/workspaces/workspaces',
];

const readSources = (): Sources =>
  Object.fromEntries(
    globSync('{apps,libs}/**/*.{ts,tsx}', { cwd: ROOT })
      .filter((file) => !/[./]spec\.tsx?$/.test(file))
      .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
  );

/** Returns the two folders beside each other that contain the files; null if one file lies beside the folder of the other. */
const findSiblings = (from: string, to: string): readonly [string, string] | null => {
  const [one, other] = [dirname(from).split('/'), dirname(to).split('/')];
  const depth = one.findIndex((segment, index) => segment !== other[index]);
  if (depth < 0 || depth >= other.length) return null;
  return [one.slice(0, depth + 1).join('/'), other.slice(0, depth + 1).join('/')];
};

/** Returns `libs/a/one <-> libs/a/two` for each pair of folders beside each other whose files import each other. */
const listCycles = (sources: Sources): readonly string[] => {
  const edges = new Set<string>();
  for (const [file, source] of Object.entries(sources))
    for (const [, path = ''] of source.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const siblings = findSiblings(file, normalize(join(dirname(file), path)));
      if (siblings) edges.add(siblings.join(' -> '));
    }
  return [...edges]
    .map((edge) => edge.split(' -> '))
    .filter(([from, to]) => from !== undefined && to !== undefined && from < to && edges.has(`${to} -> ${from}`))
    .map((pair) => pair.join(' <-> '))
    .toSorted();
};

describe('folders beside each other', () => {
  it('import each other in one direction only', () => {
    expect(listCycles(readSources())).toEqual(REMAINING.toSorted());
  });

  it('are reported if each imports the other one, at any depth', () => {
    const planted = {
      'libs/runs/runs/plans/deep/plan.ts': `import { run } from '../../runs/run.js';`,
      'libs/runs/runs/runs/run.ts': `import type { Plan } from '../plans/plan.js';`,
      'libs/runs/runs/index.ts': `export * from './runs/run.js';`,
      'libs/runs/runs/runs/above.ts': `import { events } from '../runs.events.js';`,
      'libs/runs/runs/comments/comment.ts': `import { run } from '../runs/run.js';`,
    };
    expect(listCycles(planted)).toEqual(['libs/runs/runs/plans <-> libs/runs/runs/runs']);
  });
});
