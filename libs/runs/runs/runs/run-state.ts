import type { DataOf, HandlersByType, Timestamp } from '#platform/kernel';
import type { RunOptions } from './run-options.js';
import { isApplying, isFinal, isExecuting, type RunStatus } from './run-status.js';
import { ASSESSMENT, type RunEvent } from './run-event.js';
import { concludePolicies, type RunPolicies } from '../policy-evaluations/run-policies.js';
import { createStage, setResult, setStage, type TaskOfRun, type TaskStage } from '../task-stages/run-task-stage.js';

/** The facts of a run that the rules need. */
export type ExistingRun = {
  readonly status: RunStatus;
  readonly workspace: string;
  /** Whether it is the plan of a health assessment. */
  readonly isAssessment: boolean;
  readonly planOnly: boolean;
  readonly savePlan: boolean;
  readonly autoApply: boolean;
  readonly allowEmptyApply: boolean;
  readonly hasChanges: boolean;
  /** The number of claims until now. */
  readonly fence: number;
  /** Whether the executor of the last phase that began has claimed it. */
  readonly isClaimed: boolean;
  /** The number of executors that were lost while they planned. */
  readonly lostPlans: number;
  /** The hash of the nonce with which the executor of the claim has read its job; null until then. */
  readonly jobNonce: string | null;
  /** Whether the executor has stored a state that the workspace did not accept. */
  readonly hasErroredState: boolean;
  /** Whether its logs and documents were deleted because of their age. */
  readonly isDataDeleted: boolean;
  /** Null until a user asks the executor to stop. */
  readonly forceCancelAvailableAt: Timestamp | null;
  readonly tasks: readonly TaskOfRun[];
  /** The stages of run tasks and policies. */
  readonly stages: readonly TaskStage[];
  /** Whether the policies of the plan are chosen, of which there may be none. */
  readonly hasChosenPolicies: boolean;
  /** The policies of the plan; null if there are none, or if they are not chosen. */
  readonly policies: RunPolicies | null;
};

export type RunState = { readonly status: 'absent' } | ExistingRun;

/** Whether the run needs the lock of the workspace: from its turn to its end; a saved plan only during its apply. */
export const needsWorkspaceLock = (run: RunState): boolean => {
  if (run.status === 'absent' || run.status === 'pending' || isFinal(run.status) || run.planOnly) return false;
  return run.savePlan ? isApplying(run.status) : true;
};

/** Whether the run waits for the workspace before its plan. */
export const waitsForWorkspace = ({ planOnly, savePlan }: Pick<RunOptions, 'planOnly' | 'savePlan'>): boolean =>
  !planOnly && !savePlan;

/** Whether an executor has claimed the phase of which it reports. A phase that still waits for an executor is not claimed. */
export const isPhaseClaimed = ({ status, isClaimed }: ExistingRun): boolean =>
  isClaimed && status !== 'plan_queued' && status !== 'apply_queued';

/** Whether an executor works on a phase that it has claimed, so that it must renew its lease. */
export const needsLease = (run: RunState): boolean =>
  run.status !== 'absent' && isPhaseClaimed(run) && (run.status === 'planning' || run.status === 'applying');

/** Whether the executor had enough time to answer a cancel request. */
export const isForceCancelable = (
  { status, forceCancelAvailableAt }: Pick<ExistingRun, 'status' | 'forceCancelAvailableAt'>,
  at: Timestamp,
): boolean =>
  isExecuting(status) && forceCancelAvailableAt !== null && Date.parse(forceCancelAvailableAt) <= Date.parse(at);

/** The status after each event. RunStageReached names its status itself, and the other events do not change it. */
export const STATUS_AFTER = {
  RunCreated: 'pending',
  RunQueued: 'plan_queued',
  RunPlanQueued: 'plan_queued',
  RunPlanStarted: 'planning',
  RunPlanRequeued: 'plan_queued',
  RunPlanned: 'planned',
  RunPlannedAndFinished: 'planned_and_finished',
  RunPlanSaved: 'planned_and_saved',
  RunConfirmed: 'confirmed',
  RunApplyQueued: 'apply_queued',
  RunApplyStarted: 'applying',
  RunApplied: 'applied',
  RunErrored: 'errored',
  RunDiscarded: 'discarded',
  RunCanceled: 'canceled',
  RunForceCanceled: 'force_canceled',
} as const satisfies Partial<Record<RunEvent['type'], RunStatus>>;

const updateRun = (run: RunState, change: Partial<ExistingRun>): RunState =>
  run.status === 'absent' ? run : { ...run, ...change };

const setStatusAfter = (event: keyof typeof STATUS_AFTER) => {
  const change = { status: STATUS_AFTER[event] };
  return (_: unknown, state: RunState): RunState => updateRun(state, change);
};

const startPhase =
  (event: 'RunPlanStarted' | 'RunApplyStarted') =>
  ({ execution }: DataOf<RunEvent, 'RunPlanStarted'>, state: RunState): RunState =>
    updateRun(state, {
      status: STATUS_AFTER[event],
      isClaimed: execution !== null,
      jobNonce: null,
      hasChosenPolicies: false,
      ...(execution ? { fence: execution.fence } : {}),
    });

const changeStages = (run: RunState, change: (stages: readonly TaskStage[]) => readonly TaskStage[]): RunState =>
  run.status === 'absent' ? run : { ...run, stages: change(run.stages) };

/** The running stage waits for the override of its policies. */
const awaitOverride = (stages: readonly TaskStage[]): readonly TaskStage[] =>
  stages.map((stage) => (stage.status === 'running' ? { ...stage, status: 'awaiting_override' } : stage));

const choosePolicies = (run: RunState, { workspace: _workspace, ...choice }: DataOf<RunEvent, 'RunPoliciesChosen'>) => {
  if (run.status === 'absent') return run;
  // The policies of the previous plan. Clients may wait for its stage, which then has nothing to do.
  if (choice.sets.length === 0) return { ...run, policies: null };
  const hasStage = run.stages.some(({ id }) => id === choice.taskStage);
  const added = hasStage ? [] : [createStage({ id: choice.taskStage, stage: 'post_plan', results: [] })];
  return { ...run, stages: [...run.stages, ...added], policies: { ...choice, conclusion: null } };
};

/** Without the sets, which nothing needs any more: every later event of the run stores the state again. */
const setPolicyOutcomes = ({ outcomes }: DataOf<RunEvent, 'RunPoliciesPassed'>, run: RunState): RunState =>
  run.status === 'absent' || run.policies === null
    ? run
    : { ...run, policies: { ...run.policies, sets: [], conclusion: concludePolicies(run.policies, outcomes) } };

const keepState = (_: unknown, state: RunState): RunState => state;

export const runEvolutions: HandlersByType<RunEvent, [state: RunState], RunState> = {
  RunCreated: ({ workspace, source, options: { planOnly, savePlan, autoApply, allowEmptyApply } }) => ({
    status: STATUS_AFTER.RunCreated,
    workspace,
    isAssessment: source === ASSESSMENT,
    planOnly,
    savePlan,
    autoApply,
    allowEmptyApply,
    hasChanges: false,
    fence: 0,
    isClaimed: false,
    lostPlans: 0,
    jobNonce: null,
    hasErroredState: false,
    isDataDeleted: false,
    forceCancelAvailableAt: null,
    tasks: [],
    stages: [],
    hasChosenPolicies: false,
    policies: null,
  }),
  RunQueued: setStatusAfter('RunQueued'),
  RunStageReached: ({ stage }, state) =>
    stage === 'post_plan_awaiting_decision'
      ? changeStages(updateRun(state, { status: stage }), awaitOverride)
      : updateRun(state, { status: stage }),
  RunPlanStarted: startPhase('RunPlanStarted'),
  RunExecutorLost: keepState,
  RunPlanRequeued: (_, state) =>
    state.status === 'absent'
      ? state
      : { ...state, status: STATUS_AFTER.RunPlanRequeued, isClaimed: false, lostPlans: state.lostPlans + 1 },
  RunJobRead: ({ nonceHash, hasChosenPolicies }, state) => updateRun(state, { jobNonce: nonceHash, hasChosenPolicies }),
  RunIdentityTokenIssued: keepState,
  RunPlanned: ({ hasChanges }, state) => updateRun(state, { status: STATUS_AFTER.RunPlanned, hasChanges }),
  RunPlanQueued: setStatusAfter('RunPlanQueued'),
  RunPlannedAndFinished: setStatusAfter('RunPlannedAndFinished'),
  RunPlanSaved: setStatusAfter('RunPlanSaved'),
  RunConfirmed: setStatusAfter('RunConfirmed'),
  RunApplyQueued: (_, state) => updateRun(state, { status: STATUS_AFTER.RunApplyQueued, isClaimed: false }),
  RunApplyStarted: startPhase('RunApplyStarted'),
  RunApplied: setStatusAfter('RunApplied'),
  RunErrored: setStatusAfter('RunErrored'),
  RunErroredStateStored: (_, state) => updateRun(state, { hasErroredState: true }),
  RunConfigurationGenerated: keepState,
  RunAssessed: keepState,
  RunDataDeleted: (_, state) => updateRun(state, { isDataDeleted: true }),
  RunDiscarded: setStatusAfter('RunDiscarded'),
  RunCancelRequested: ({ forceCancelAvailableAt }, state) => updateRun(state, { forceCancelAvailableAt }),
  RunCanceled: setStatusAfter('RunCanceled'),
  RunForceCanceled: setStatusAfter('RunForceCanceled'),
  RunForceExecuted: keepState,
  RunCommented: keepState,
  RunTaskStagesCreated: ({ tasks, stages }, state) => updateRun(state, { tasks, stages: stages.map(createStage) }),
  RunTaskStageStarted: ({ taskStage }, state) =>
    changeStages(state, (stages) => setStage(stages, taskStage, 'running')),
  RunTaskResultReported: ({ result, status, outcomes }, state) =>
    changeStages(state, (stages) => setResult(stages, result, status, outcomes.length)),
  RunTaskResultErrored: ({ result, status }, state) =>
    changeStages(state, (stages) => setResult(stages, result, status, null)),
  RunPoliciesChosen: (choice, state) => choosePolicies(state, choice),
  RunPoliciesPassed: setPolicyOutcomes,
  RunPoliciesFailed: setPolicyOutcomes,
  RunPoliciesErrored: setPolicyOutcomes,
  RunPoliciesOverridden: keepState,
  RunTaskStageEnded: ({ taskStage, status }, state) =>
    changeStages(state, (stages) => setStage(stages, taskStage, status)),
};
