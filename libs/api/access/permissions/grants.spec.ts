import { describe, expect, it } from '@jest/globals';
import {
  expandCapabilities,
  hasCapability,
  PROJECT_FIELDS,
  PROJECT_LEVELS,
  WORKSPACE_FIELDS,
  WORKSPACE_LEVELS,
  type Capability,
  type Grant,
  type ProjectAccess,
  type ProjectWorkspaceAccess,
  type WorkspaceAccess,
} from './grants.js';

const LEAST: WorkspaceAccess = {
  runs: 'read',
  variables: 'none',
  stateVersions: 'none',
  sentinelMocks: 'none',
  workspaceLocking: false,
  runTasks: false,
  policyOverrides: false,
};
const MOST: WorkspaceAccess = {
  runs: 'apply',
  variables: 'write',
  stateVersions: 'write',
  sentinelMocks: 'read',
  workspaceLocking: true,
  runTasks: true,
  policyOverrides: true,
};

const { workspaceLocking: _, ...least } = LEAST;
const { workspaceLocking: __, ...most } = MOST;
const LEAST_IN_PROJECT = { ...least, create: false, locking: false, delete: false, move: false };
const MOST_IN_PROJECT = { ...most, create: true, locking: true, delete: true, move: true };
const LEAST_OF_PROJECT: ProjectAccess = { settings: 'read', teams: 'none', variableSets: 'none' };
const MOST_OF_PROJECT: ProjectAccess = { settings: 'delete', teams: 'manage', variableSets: 'write' };

const onWorkspace = (custom: WorkspaceAccess): Grant => ({ on: 'workspace', level: 'custom', custom });
const onProject = (custom: ProjectWorkspaceAccess, project: ProjectAccess): Grant => ({
  on: 'project',
  level: 'custom',
  custom: { ...custom, project },
});

const worth = (grant: Grant): Capability[] => [...expandCapabilities(grant)].toSorted();
const missing = (of: Grant, from: Grant): Capability[] => worth(of).filter((one) => !expandCapabilities(from).has(one));

describe('a fixed level', () => {
  const fixed = (on: 'workspace' | 'project', levels: readonly string[]): Grant[] =>
    levels.filter((level) => level !== 'custom').map((level) => ({ on, level }) as Grant);

  it.each([
    ['workspace', fixed('workspace', WORKSPACE_LEVELS)],
    ['project', fixed('project', PROJECT_LEVELS)],
  ] as const)('on a %s includes all lower levels', (on, levels) => {
    for (const [index, higher] of levels.entries()) {
      const lower = levels[index - 1];
      if (!lower) continue;
      expect([on, higher.level, missing(lower, higher)]).toEqual([on, higher.level, []]);
      expect(missing(higher, lower)).not.toEqual([]);
    }
  });

  it.each(['read', 'write', 'admin'] as const)(
    '%s on a project includes the same level on each workspace in it',
    (level) => {
      expect(missing({ on: 'workspace', level }, { on: 'project', level })).toEqual([]);
    },
  );

  it.each(['read', 'plan', 'write', 'admin'] as const)(
    '%s on a workspace includes no capability on its project',
    (level) => {
      expect(
        worth({ on: 'workspace', level }).filter((word) => /^(?:project|variable-sets)|create|move/.test(word)),
      ).toEqual([]);
    },
  );

  it('includes nothing if it is unknown', () => {
    expect(worth({ on: 'workspace', level: 'superuser' } as unknown as Grant)).toEqual([]);
  });
});

describe('custom access', () => {
  it('includes at least seeing the workspace', () => {
    expect(worth(onWorkspace(LEAST))).toEqual(['configurations:read', 'runs:read', 'see']);
  });

  it('does not include administration of the workspace, even with the highest values', () => {
    expect(missing({ on: 'workspace', level: 'admin' }, onWorkspace(MOST)).toSorted()).toEqual([
      'admin',
      'delete',
      'tags',
    ]);
  });

  it('does not include administration of workspaces if it is given on their project, even with the highest values', () => {
    expect(missing({ on: 'project', level: 'admin' }, onProject(MOST_IN_PROJECT, MOST_OF_PROJECT)).toSorted()).toEqual([
      'admin',
      'tags',
    ]);
  });

  it('grows with every field, and each value includes the lower ones', () => {
    for (const [field, scale] of Object.entries(WORKSPACE_FIELDS)) {
      const steps = scale.map((value) => onWorkspace({ ...LEAST, [field]: value }));
      expect(steps.map((step) => worth(step).length)).toEqual(
        scale.map((_value, index) => worth(onWorkspace(LEAST)).length + index),
      );
      for (const [index, step] of steps.entries()) expect(missing(steps[index - 1] ?? step, step)).toEqual([]);
    }
    for (const [field, scale] of Object.entries(PROJECT_FIELDS)) {
      const steps = scale.map((value) => onProject(LEAST_IN_PROJECT, { ...LEAST_OF_PROJECT, [field]: value }));
      const least = worth(onProject(LEAST_IN_PROJECT, LEAST_OF_PROJECT)).length;
      expect(steps.map((step) => worth(step).length)).toEqual(scale.map((_value, index) => least + index));
      for (const [index, step] of steps.entries()) expect(missing(steps[index - 1] ?? step, step)).toEqual([]);
    }
  });

  it.each([
    ['create', 'create'],
    ['locking', 'locking'],
    ['delete', 'delete'],
    ['move', 'move'],
    ['runTasks', 'run-tasks'],
  ] as const)('on a project gives exactly one capability for %s', (field, capability) => {
    const more = onProject({ ...LEAST_IN_PROJECT, [field]: true }, LEAST_OF_PROJECT);
    expect(missing(more, onProject(LEAST_IN_PROJECT, LEAST_OF_PROJECT))).toEqual([capability]);
  });
});

describe('a run', () => {
  const [own, applying, consumer] = [
    { on: 'run', level: 'own' },
    { on: 'run', level: 'applying' },
    { on: 'run', level: 'consumer' },
  ] as const satisfies readonly Grant[];

  it('has at most write access to its own workspace, without locking', () => {
    expect(missing(applying, { on: 'workspace', level: 'write' })).toEqual([]);
    expect(hasCapability([applying], 'locking')).toBe(false);
  });

  it('can add states only while it is applied, because callers that may plan can make it run any code', () => {
    expect(missing(own, { on: 'workspace', level: 'plan' })).toEqual([]);
    expect(missing(applying, own)).toEqual(['state-versions:write']);
  });

  it('has less access to workspaces that share their state with it, and can only read', () => {
    expect(missing(consumer, own)).toEqual([]);
    expect(worth(consumer)).toEqual(['see', 'state-versions:read', 'state-versions:read-outputs']);
  });
});

describe('several grants', () => {
  it('give the union of their capabilities', () => {
    const locker = onWorkspace({ ...LEAST, workspaceLocking: true });
    const reader: Grant = { on: 'project', level: 'read' };
    expect(hasCapability([reader, locker], 'locking')).toBe(true);
    expect(hasCapability([locker, reader], 'state-versions:read')).toBe(true);
    expect(hasCapability([locker, reader], 'state-versions:write')).toBe(false);
    expect(hasCapability([], 'runs:read')).toBe(false);
  });
});
