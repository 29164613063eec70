import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decideCommit,
  decidePullRequest,
  type CommitTarget,
  type ProposedCommit,
  type PushedCommit,
} from './commit-decision.js';

const TARGET: CommitTarget = {
  branch: '',
  tagsRegex: null,
  fileTriggersEnabled: true,
  triggerPrefixes: [],
  triggerPatterns: [],
  workingDirectory: null,
  queueAllRuns: false,
  speculativeEnabled: true,
  isLocked: false,
  hasRuns: true,
  usesCommit: false,
  isFirst: false,
};

const PUSH: PushedCommit = {
  ref: { type: 'branch', name: 'main' },
  defaultBranch: 'main',
  sha: 'c0ffee',
  files: ['network/main.tf'],
};

const TAG = { type: 'tag', name: 'v1.2.3' } as const;

const decide = (target: Partial<CommitTarget>, push: Partial<PushedCommit> = {}) =>
  decideCommit({ ...TARGET, ...target }, { ...PUSH, ...push });

const RUNS = { fetches: true, runs: true };
const skips = (reason: string) => ({ fetches: false, runs: false, reason: expect.stringContaining(reason) });
const fetchesOnly = (reason: string) => ({ fetches: true, runs: false, reason: expect.stringContaining(reason) });

describe('a push', () => {
  it.each<[string, Partial<CommitTarget>, Partial<PushedCommit>, object]>([
    ['to the default branch starts a run', {}, {}, RUNS],
    ['that deletes the branch starts none', {}, { sha: null }, skips('deleted')],
    ['to another branch starts none', {}, { ref: { type: 'branch', name: 'x' } }, skips('follows the branch main')],
    ['to the branch of the workspace starts a run', { branch: 'x' }, { ref: { type: 'branch', name: 'x' } }, RUNS],
    ['to the default branch starts none if the workspace has another', { branch: 'x' }, {}, skips('branch x')],
    ['of a tag starts none without a tags regex', {}, { ref: TAG }, skips('Tags start no runs')],
    ['of a tag that matches starts a run', { tagsRegex: String.raw`^v\d+.\d+.\d+$` }, { ref: TAG }, RUNS],
    ['of a tag whose part matches starts a run', { tagsRegex: String.raw`\d+\.2` }, { ref: TAG }, RUNS],
    ['of another tag starts none', { tagsRegex: '^x' }, { ref: TAG }, skips('does not match')],
    ['to a branch starts none with a tags regex', { tagsRegex: '.' }, {}, skips('Only tags')],
    ['of a tag starts none with an invalid regex', { tagsRegex: '(' }, { ref: TAG }, skips('does not match')],
    ['below the working directory starts a run', { workingDirectory: 'network' }, {}, RUNS],
    ['outside of the working directory starts none', { workingDirectory: 'net' }, {}, skips('No changed file')],
    ['below a prefix starts a run', { workingDirectory: 'x', triggerPrefixes: ['/network/'] }, {}, RUNS],
    ['outside of the prefixes starts none', { workingDirectory: 'x', triggerPrefixes: ['y'] }, {}, skips('No changed')],
    [
      'outside of the prefixes starts none without a working directory',
      { triggerPrefixes: ['y'] },
      {},
      skips('No changed'),
    ],
    ['that matches a pattern starts a run', { workingDirectory: 'x', triggerPatterns: ['**/*.tf'] }, {}, RUNS],
    ['that matches no pattern starts none', { triggerPatterns: ['*.tf'] }, {}, skips('No changed file')],
    ['of any file starts a run without file triggers', { fileTriggersEnabled: false, workingDirectory: 'x' }, {}, RUNS],
    ['with an unknown list of files starts a run', { workingDirectory: 'x' }, { files: null }, RUNS],
    [
      'with more files than are compared starts a run',
      { triggerPatterns: ['*.tf'] },
      { files: Array.from({ length: 5_001 }, (_, number) => `a/${number}`) },
      RUNS,
    ],
    [
      'with files that take too long to compare starts a run',
      { triggerPatterns: ['x'.repeat(20_000)] },
      { files: Array.from({ length: 1_000 }, (_, number) => `a/${number}`) },
      RUNS,
    ],
    ['without changed files starts none', {}, { files: [] }, skips('No changed file')],
    ['of a commit that the workspace uses starts none', { usesCommit: true }, {}, skips('duplicate commit SHA')],
    ['starts none before the first run', { hasRuns: false }, {}, fetchesOnly('queue-all-runs')],
    ['starts a run with queue-all-runs', { hasRuns: false, queueAllRuns: true }, {}, RUNS],
    ['starts none in a locked workspace', { isLocked: true }, {}, fetchesOnly('locked')],
    [
      'is fetched first, whatever it changes',
      { isFirst: true, workingDirectory: 'x' },
      {},
      fetchesOnly('first commit'),
    ],
    ['starts the first run with queue-all-runs', { isFirst: true, hasRuns: false, queueAllRuns: true }, {}, RUNS],
  ])('%s', (_, target, push, expected) => {
    expect(decide(target, push)).toEqual(expected);
  });

  it('starts no run that it does not fetch, and never one in a locked workspace', () => {
    const path = fc.constantFrom('a/x.tf', 'b/y.tf', 'z.tf');
    const target = fc.record({
      branch: fc.constantFrom('', 'main', 'other'),
      tagsRegex: fc.option(fc.constantFrom('^v', 'x', '(')),
      fileTriggersEnabled: fc.boolean(),
      triggerPrefixes: fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }),
      triggerPatterns: fc.array(fc.constantFrom('**', 'a/*'), { maxLength: 2 }),
      workingDirectory: fc.option(fc.constantFrom('a', 'b')),
      queueAllRuns: fc.boolean(),
      speculativeEnabled: fc.boolean(),
      isLocked: fc.boolean(),
      hasRuns: fc.boolean(),
      usesCommit: fc.boolean(),
      isFirst: fc.boolean(),
    });
    const push = fc.record({
      ref: fc.constantFrom({ type: 'branch', name: 'main' } as const, { type: 'branch', name: 'other' } as const, TAG),
      defaultBranch: fc.constant('main'),
      sha: fc.option(fc.constant('c0ffee')),
      files: fc.option(fc.array(path, { maxLength: 3 })),
    });
    fc.assert(
      fc.property(target, push, (workspace, commit) => {
        const decision = decideCommit(workspace, commit);
        const mayRun = commit.sha !== null && !workspace.isLocked && !workspace.usesCommit;
        expect(decision.runs && !(mayRun && decision.fetches)).toBe(false);
        // More changed files never stop a run.
        const more = decideCommit(workspace, { ...commit, files: commit.files && [...commit.files, 'a/x.tf'] });
        expect(decision.runs && !more.runs).toBe(false);
      }),
    );
  });
});

const PROPOSAL: ProposedCommit = {
  baseBranch: 'main',
  defaultBranch: 'main',
  isFork: false,
  files: ['network/main.tf'],
};

describe('a pull request', () => {
  it.each<[string, Partial<CommitTarget>, Partial<ProposedCommit>, object]>([
    ['to the default branch starts a plan', {}, {}, RUNS],
    ['to the branch of the workspace starts a plan', { branch: 'x' }, { baseBranch: 'x' }, RUNS],
    ['to another branch starts none', {}, { baseBranch: 'x' }, skips('follows the branch main')],
    ['starts none if the workspace wants none', { speculativeEnabled: false }, {}, skips('no plans in this workspace')],
    ['of a fork starts none', {}, { isFork: true }, skips('other repositories')],
    ['outside of the working directory starts none', { workingDirectory: 'x' }, {}, skips('No changed file')],
    ['of unknown files starts a plan', { workingDirectory: 'x' }, { files: null }, RUNS],
    ['starts one plan for a commit', { usesCommit: true }, {}, skips('duplicate commit SHA')],
    ['starts none before the first run', { hasRuns: false }, {}, skips('queue-all-runs is false')],
    ['starts one before the first run if all runs are queued', { hasRuns: false, queueAllRuns: true }, {}, RUNS],
    ['starts a plan in a locked workspace', { isLocked: true }, {}, RUNS],
  ])('%s', (_, target, proposal, decision) => {
    expect(decidePullRequest({ ...TARGET, ...target }, { ...PROPOSAL, ...proposal })).toEqual(decision);
  });
});

describe('a tags regex', () => {
  it('takes linear time', () => {
    const tag = `${'a'.repeat(999)}!`;
    expect(decide({ tagsRegex: '^(a+)+$' }, { ref: { type: 'tag', name: tag } })).toEqual(skips('does not match'));
  });
});
