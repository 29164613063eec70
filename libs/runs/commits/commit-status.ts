/** The state of a check at a Git host. */
type CommitState = 'pending' | 'success' | 'failure' | 'error';

/** A run of a commit, as far as its status matters. */
export type RunOfCommit = {
  readonly id: string;
  readonly workspaceName: string;
  readonly status: string;
  /** Whether its plan has ended without an error. What comes later does not change the state, as in HCP Terraform. */
  readonly isPlanned: boolean;
  /** Whether somebody has confirmed its plan, so that all checks of the plan have passed. */
  readonly isConfirmed: boolean;
};

export type CommitStatus = { readonly state: CommitState; readonly description: string };

const CANCELED = ['canceled', 'force_canceled', 'discarded'];
const FAILED = ['errored', 'policy_soft_failed'];
const FINISHED = ['planned_and_finished', 'planned_and_saved', 'applied'];

const toCommitState = ({ status, isPlanned, isConfirmed }: RunOfCommit): CommitState => {
  // Tasks and policies can fail a run after its plan.
  if (FAILED.includes(status) && !isConfirmed) return 'failure';
  if (isPlanned || FINISHED.includes(status)) return 'success';
  return CANCELED.includes(status) ? 'error' : 'pending';
};

const DESCRIPTIONS: Readonly<Record<CommitState, string>> = {
  pending: 'Planning',
  success: 'Planned',
  failure: 'The plan has failed',
  error: 'The plan was canceled',
};

/** The status of a commit that starts no plan in a workspace, because no changed file concerns it. */
export const UNTRIGGERED: CommitStatus = { state: 'success', description: 'Not planned: no changed file matches' };

/** Whether the plan of the run has ended well. */
export const isRunPlanned = (run: RunOfCommit): boolean => toCommitState(run) === 'success';

export const describeRun = (run: RunOfCommit): string => DESCRIPTIONS[toCommitState(run)];

/** The states by their weight: the status of several runs is that of the first one that occurs. */
const BY_WEIGHT: readonly CommitState[] = ['pending', 'failure', 'error', 'success'];

const COUNTED: Readonly<Record<CommitState, string>> = {
  pending: 'planning',
  success: 'planned',
  failure: 'failed',
  error: 'canceled',
};

/** Returns one status for all runs of a commit. */
export const summarizeRuns = (runs: readonly RunOfCommit[]): CommitStatus => {
  const counts = Map.groupBy(runs, toCommitState);
  const state = BY_WEIGHT.find((one) => counts.has(one)) ?? 'success';
  if (runs.length < 2) return { state, description: DESCRIPTIONS[state] };
  const parts = BY_WEIGHT.flatMap((one) => (counts.has(one) ? `${counts.get(one)?.length} ${COUNTED[one]}` : []));
  return { state, description: `${runs.length} workspaces: ${parts.join(', ')}` };
};
