import {
  conflict,
  fold,
  notFound,
  type DataOf,
  type Decider,
  type Message,
  type Principal,
  type Refusal,
  type HandlersByType,
  type Timestamp,
} from '#platform/kernel';
import type { PolicyChoice, PolicyResult } from '../policy-evaluations/run-policies.js';
import type { AssessedCounts, PlannedCounts, PolicySubject, RunEvent, RunExecution, RunStage } from './run-event.js';
import type { PhaseName } from './phases.js';
import {
  cancelStage,
  continueAfterReport,
  decideErroredResult,
  decideOverride,
  decideTaskReport,
  queueApply,
  queuePlan,
  requireStagesOfServer,
  type PolicyOverride,
  type TaskReport,
} from './run-continuation.js';
import { choosePolicies, recordPolicyResults, requireEvaluatedPolicies } from './run-policy-events.js';
import { checkOptions } from './run-options.js';
import { requireFence } from './run-fence.js';
import {
  isForceCancelable,
  isPhaseClaimed,
  needsLease,
  runEvolutions,
  type ExistingRun,
  type RunState,
} from './run-state.js';
import {
  isActionAllowed,
  isExecuting,
  isFinal,
  resolveReportedTransitions,
  type RunAction,
  type RunStatus,
} from './run-status.js';

/**
 * The decider of a run: the record of one plan and its apply. Executors execute it, and report what they
 * did (docs/reference/executor-protocol.md). The allowed transitions are a table in run-status.ts.
 */
export type RunProgress = {
  /** The fence of the claim; null if the executor has not claimed the phase. */
  readonly fence: number | null;
  readonly status: RunStatus;
  readonly hasChanges: boolean;
  readonly hasGeneratedConfiguration: boolean;
  readonly resources: PlannedCounts;
  /** Null if the executor has reported nothing about drift. Recorded only for health assessments. */
  readonly assessed: AssessedCounts | null;
  readonly message: string | null;
  /** The results of policies of a plan; none from executors that cannot evaluate any. */
  readonly policyResults: readonly PolicyResult[];
};

/** The policies of a workspace, and what the trail says about its run. */
type ReportedPolicies = PolicySubject & { readonly choice: PolicyChoice };

export type RunCommand =
  | Message<'CreateRun', DataOf<RunEvent, 'RunCreated'>>
  /** The new run has these stages, each with a task. */
  | Message<'AddTaskStages', Omit<DataOf<RunEvent, 'RunTaskStagesCreated'>, 'workspace'>>
  | Message<'QueueRun', Record<never, never>>
  /** An executor takes the phase that the run waits for. */
  | Message<'ClaimRun', Omit<RunExecution, 'fence'>>
  /** The executor that has claimed the run has not renewed its lease. */
  | Message<'ExpireLease', { agent: string; fence: number; message: string }>
  /** The executor of the claimed phase reads what it needs. */
  | Message<'ReadJob', { fence: number; nonceHash: string; choice: PolicyChoice }>
  | Message<'IssueIdentityToken', { fence: number; audience: string }>
  /** The executor of the apply has stored a state of `size` bytes. */
  | Message<'StoreErroredState', { fence: number; size: number }>
  /** A retention policy deletes the logs and documents of a run that has ended. */
  | Message<'DeleteRunData', Record<never, never>>
  /** `policies`: those that the plan must pass if its executor has not read its job. */
  | Message<'ReportProgress', RunProgress & { policies: ReportedPolicies }>
  | Message<'ConfirmRun', { confirmedBy: Principal }>
  | Message<'DiscardRun', Record<never, never>>
  | Message<'CancelRun', { forceCancelAvailableAt: Timestamp }>
  /** `at` is null for administrators of the site, who cancel any run at once. */
  | Message<'ForceCancelRun', { at: Timestamp | null }>
  | Message<'ForceExecuteRun', Record<never, never>>
  | Message<'CommentRun', { id: string; body: string; author: Principal }>
  /** A person lets the run continue although policies have failed. */
  | Message<'OverridePolicies', PolicyOverride>
  /** The service of a run task reports a result. */
  | Message<'ReportTaskResult', TaskReport>
  /** The server ends the result of a service that has been silent, or could not be reached. */
  | Message<'EndTaskResult', DataOf<RunEvent, 'RunTaskResultErrored'>>;

/** Refuses a command if the run does not exist. */
const whenRunExists =
  <D>(decide: (data: D, run: ExistingRun) => readonly RunEvent[]) =>
  (data: D, run: RunState): readonly RunEvent[] => {
    if (run.status === 'absent') throw notFound();
    return decide(data, run);
  };

const requireActionAllowed = ({ status }: ExistingRun, action: RunAction): void => {
  if (!isActionAllowed(status, action)) throw conflict(`Run is ${status}: ${action} is not possible`);
};

/** Events of statuses that the rules depend on; every other status is recorded as a stage. */
const REPORTS: Partial<Readonly<Record<RunStatus, (progress: RunProgress) => RunEvent>>> = {
  planning: ({ message }) => ({ type: 'RunPlanStarted', data: { message, execution: null } }),
  planned: ({ hasChanges, resources, message }) => ({ type: 'RunPlanned', data: { hasChanges, resources, message } }),
  applying: ({ message }) => ({ type: 'RunApplyStarted', data: { message, execution: null } }),
  applied: ({ resources, message }) => ({ type: 'RunApplied', data: { resources, message } }),
  errored: ({ message }) => ({ type: 'RunErrored', data: { message } }),
  canceled: ({ message }) => ({ type: 'RunCanceled', data: { message } }),
};

const toRunEvent = (status: RunStatus, progress: RunProgress): RunEvent =>
  REPORTS[status]?.(progress) ?? {
    type: 'RunStageReached',
    data: { stage: status as RunStage, message: progress.message },
  };

const CLAIM_EVENTS: Partial<Readonly<Record<RunStatus, 'RunPlanStarted' | 'RunApplyStarted'>>> = {
  plan_queued: 'RunPlanStarted',
  apply_queued: 'RunApplyStarted',
};

const decideClaim = (executor: DataOf<RunCommand, 'ClaimRun'>, run: ExistingRun): readonly RunEvent[] => {
  const type = CLAIM_EVENTS[run.status];
  if (!type) throw conflict(`Run is ${run.status}: it does not wait for an executor`);
  return [{ type, data: { message: null, execution: { ...executor, fence: run.fence + 1 } } }];
};

const foldRun = (run: ExistingRun, events: readonly RunEvent[]): ExistingRun =>
  fold({ evolve: runEvolutions }, run as RunState, events) as ExistingRun;

/** Executors that can be lost while they plan one run. */
const MAX_LOST_PLANS = 3;

/**
 * A plan changes nothing outside, so that another executor can plan again. An apply may have changed anything, so that
 * nobody applies a second time.
 */
const decideLostExecutor = (
  { agent, fence, message }: DataOf<RunCommand, 'ExpireLease'>,
  run: ExistingRun,
): readonly RunEvent[] => {
  if (fence !== run.fence || !needsLease(run)) return [];
  const phase = run.status === 'applying' ? 'apply' : 'plan';
  const lost = { type: 'RunExecutorLost', data: { phase, agent, fence } } as const;
  if (run.forceCancelAvailableAt !== null) return [lost, { type: 'RunCanceled', data: { message } }];
  if (phase === 'apply') return [lost, { type: 'RunErrored', data: { message } }];
  // A configuration that ends its executor must not end all others too.
  if (run.lostPlans + 1 >= MAX_LOST_PLANS) return [lost, { type: 'RunErrored', data: { message } }];
  return [lost, { type: 'RunPlanRequeued', data: { fence, message } }];
};

const CLAIMED_PHASE: Partial<Readonly<Record<RunStatus, PhaseName>>> = { planning: 'plan', applying: 'apply' };

/** Refuses everybody but the executor of the claimed phase. */
const requireClaimedPhase = (fence: number, run: ExistingRun): PhaseName => {
  requireFence(run.status, fence, isPhaseClaimed(run) ? run.fence : null);
  const phase = CLAIMED_PHASE[run.status];
  if (!phase) throw conflict(`Run is ${run.status}: it has no job`);
  return phase;
};

const decideJobRead = (
  { fence, nonceHash, choice }: DataOf<RunCommand, 'ReadJob'>,
  run: ExistingRun,
): readonly RunEvent[] => {
  const phase = requireClaimedPhase(fence, run);
  if (run.jobNonce === null) {
    const hasChosenPolicies = phase === 'plan';
    const chosen = hasChosenPolicies ? choosePolicies(run, choice) : [];
    return [{ type: 'RunJobRead', data: { phase, fence, nonceHash, hasChosenPolicies } }, ...chosen];
  }
  // An executor that got no response sends the same nonce again.
  if (run.jobNonce === nonceHash) return [];
  throw conflict(`Run is ${run.status}: its job was read with another nonce`);
};

export const createDeletedDataRefusal = (): Refusal =>
  notFound('A data retention policy has deleted the logs and documents of this run');

/** Also after the end of the apply: the server may have ended it because the executor did not answer. */
const decideErroredState = (data: DataOf<RunCommand, 'StoreErroredState'>, run: ExistingRun): readonly RunEvent[] => {
  requireFence(run.status, data.fence, isPhaseClaimed(run) ? run.fence : null);
  if (run.isDataDeleted) throw createDeletedDataRefusal();
  if (run.status !== 'applying' && !isFinal(run.status))
    throw conflict(`Run is ${run.status}: it has no errored state`);
  return run.hasErroredState ? [] : [{ type: 'RunErroredStateStored', data }];
};

const recordDrift = ({ assessed, status }: RunProgress, { isAssessment }: ExistingRun): readonly RunEvent[] =>
  isAssessment && assessed && status === 'planned' ? [{ type: 'RunAssessed', data: assessed }] : [];

/**
 * Returns the event with the policies of a plan that nobody has evaluated: its executor has not read its job, or a process of an
 * earlier release has served it.
 */
const chooseUnreadPolicies = ({ choice }: ReportedPolicies, run: ExistingRun): readonly RunEvent[] =>
  run.hasChosenPolicies ? [] : choosePolicies(run, choice);

const requirePolicyStatus = (current: ExistingRun, status: RunStatus): void => {
  // A soft policy failure ends a run that would not be applied; any other run waits for an override.
  if (status === (current.planOnly ? 'policy_override' : 'policy_soft_failed')) {
    const [kind, otherFlag] = current.planOnly
      ? ['plan-only', 'policy_soft_failed']
      : ['not plan-only', 'policy_override'];
    throw conflict(`Run is ${current.status}, and ${kind}: it cannot become ${status}, but it can become ${otherFlag}`);
  }
};

const decideProgress = (
  { policies, ...progress }: DataOf<RunCommand, 'ReportProgress'>,
  before: ExistingRun,
): readonly RunEvent[] => {
  requireFence(before.status, progress.fence, isPhaseClaimed(before) ? before.fence : null);
  const isPlanned = resolveReportedTransitions(before.status, progress.status)?.includes('planned') ?? false;
  const chosen = isPlanned ? chooseUnreadPolicies(policies, before) : [];
  const current = foldRun(before, chosen);
  const transitions = resolveReportedTransitions(current.status, progress.status);
  if (!transitions) throw conflict(`Run is ${current.status}: it cannot become ${progress.status}`);
  requireStagesOfServer(current, transitions);
  if (progress.status === 'canceled' && current.forceCancelAvailableAt === null) {
    throw conflict(`Run is ${current.status}: nobody has asked to cancel it`);
  }
  requirePolicyStatus(current, progress.status);
  const generated: readonly RunEvent[] =
    progress.hasGeneratedConfiguration && current.status === 'planning'
      ? [{ type: 'RunConfigurationGenerated', data: {} }]
      : [];
  const { workspaceName, runMessage } = policies;
  const evaluated = isPlanned
    ? recordPolicyResults(current, progress.policyResults, { workspaceName, runMessage })
    : [];
  const reached = transitions.map((status) => toRunEvent(status, progress));
  const events = [...generated, ...recordDrift(progress, current), ...reached, ...evaluated];
  return [...chosen, ...events, ...continueAfterReport(foldRun(current, events))];
};

const decideCancel = (data: DataOf<RunCommand, 'CancelRun'>, run: ExistingRun): readonly RunEvent[] => {
  requireActionAllowed(run, 'cancel');
  if (run.forceCancelAvailableAt !== null) throw conflict(`Run is ${run.status}: it is being canceled already`);
  const requested = { type: 'RunCancelRequested', data } as const;
  const stage = cancelStage(run);
  // No executor works on a run that waits for run tasks.
  if (stage.length === 0 && isExecuting(run.status)) return [requested];
  return [requested, ...stage, { type: 'RunCanceled', data: { message: null } }];
};

const decideForceCancel = ({ at }: DataOf<RunCommand, 'ForceCancelRun'>, run: ExistingRun): readonly RunEvent[] => {
  if (at === null ? isFinal(run.status) : !isForceCancelable(run, at)) {
    const why =
      run.forceCancelAvailableAt === null ? 'it must be canceled first' : `not before ${run.forceCancelAvailableAt}`;
    throw conflict(`Run is ${run.status}: force-cancel is not possible${isExecuting(run.status) ? `, ${why}` : ''}`);
  }
  return [...cancelStage(run), { type: 'RunForceCanceled', data: {} }];
};

const decisions: HandlersByType<RunCommand, [run: RunState], readonly RunEvent[]> = {
  CreateRun: (data, run) => {
    if (run.status !== 'absent') throw conflict('Run exists already');
    checkOptions(data.options);
    return [{ type: 'RunCreated', data }];
  },
  AddTaskStages: whenRunExists((added, run) => {
    if (run.status !== 'pending') throw conflict(`Run is ${run.status}: its run tasks are fixed`);
    return [{ type: 'RunTaskStagesCreated', data: { workspace: run.workspace, ...added } }];
  }),
  QueueRun: whenRunExists((_, run) => {
    if (run.status !== 'pending') throw conflict(`Run is ${run.status}: it cannot be queued`);
    return queuePlan(run);
  }),
  ClaimRun: whenRunExists(decideClaim),
  ExpireLease: whenRunExists(decideLostExecutor),
  ReadJob: whenRunExists(decideJobRead),
  IssueIdentityToken: whenRunExists(({ fence, audience }, run) => [
    { type: 'RunIdentityTokenIssued', data: { phase: requireClaimedPhase(fence, run), audience } },
  ]),
  StoreErroredState: whenRunExists(decideErroredState),
  DeleteRunData: whenRunExists((_, run) => {
    if (!isFinal(run.status)) throw conflict(`Run is ${run.status}: its logs and documents are needed`);
    return run.isDataDeleted ? [] : [{ type: 'RunDataDeleted', data: {} }];
  }),
  ReportProgress: whenRunExists(decideProgress),
  ConfirmRun: whenRunExists((data, run) => {
    requireActionAllowed(run, 'apply');
    requireEvaluatedPolicies(run);
    return [{ type: 'RunConfirmed', data }, ...queueApply(run)];
  }),
  DiscardRun: whenRunExists((_, run) => {
    requireActionAllowed(run, 'discard');
    return [...cancelStage(run), { type: 'RunDiscarded', data: {} }];
  }),
  CancelRun: whenRunExists(decideCancel),
  ForceCancelRun: whenRunExists(decideForceCancel),
  ForceExecuteRun: whenRunExists((_, run) => {
    requireActionAllowed(run, 'force-execute');
    return [{ type: 'RunForceExecuted', data: {} }, ...queuePlan(run)];
  }),
  CommentRun: whenRunExists((data) => [{ type: 'RunCommented', data }]),
  OverridePolicies: whenRunExists(decideOverride),
  ReportTaskResult: whenRunExists(decideTaskReport),
  EndTaskResult: whenRunExists(decideErroredResult),
};

export const run: Decider<RunState, RunCommand, RunEvent> = {
  version: 10,
  initial: { status: 'absent' },
  decide: decisions,
  evolve: runEvolutions,
};
