import { describe, expect, it } from '@jest/globals';
import { summarizeRuns, type RunOfCommit } from './commit-status.js';

const run = (status: string, isPlanned = false, isConfirmed = false): RunOfCommit => ({
  id: 'run-1',
  workspaceName: 'network',
  status,
  isPlanned,
  isConfirmed,
});

describe('the status of a commit', () => {
  it.each<[string, readonly RunOfCommit[], string, string]>([
    ['is pending while its run waits', [run('pending')], 'pending', 'Planning'],
    ['is pending while its run is planned', [run('planning')], 'pending', 'Planning'],
    ['is a success after the plan', [run('planned', true)], 'success', 'Planned'],
    ['is a success if its plan has no changes', [run('planned_and_finished')], 'success', 'Planned'],
    ['stays a success if the apply fails', [run('errored', true, true)], 'success', 'Planned'],
    ['is a failure if a task fails after the plan', [run('errored', true)], 'failure', 'The plan has failed'],
    ['is a failure if a policy fails', [run('policy_soft_failed', true)], 'failure', 'The plan has failed'],
    ['stays a success if the plan is discarded', [run('discarded', true)], 'success', 'Planned'],
    ['is a failure if the plan fails', [run('errored')], 'failure', 'The plan has failed'],
    ['is an error if the plan is canceled', [run('canceled')], 'error', 'The plan was canceled'],
    [
      'counts all workspaces, and is pending until all have planned',
      [run('planning'), run('errored'), run('planned', true), run('applied')],
      'pending',
      '4 workspaces: 1 planning, 1 failed, 2 planned',
    ],
    [
      'is a failure if one of several plans fails',
      [run('canceled'), run('errored')],
      'failure',
      '2 workspaces: 1 failed, 1 canceled',
    ],
  ])('%s', (_, runs, state, description) => {
    expect(summarizeRuns(runs)).toEqual({ state, description });
  });
});
