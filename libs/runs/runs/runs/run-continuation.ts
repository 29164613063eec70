import { conflict, fold, forbidden, unprocessable, type DataOf, type Refusal } from '#platform/kernel';
import type { TaskStageName } from '#runs/run-tasks/rules';
import type { OverrideObstacle } from '../policy-evaluations/override-obstacle.js';
import type { RunEvent, RunStage } from './run-event.js';
import { concludeUnevaluated } from './run-policy-events.js';
import {
  concludeStage,
  isOpenResult,
  MAX_OUTCOMES,
  MAX_REPORTS,
  type TaskStage,
} from '../task-stages/run-task-stage.js';
import { runEvolutions, type ExistingRun, type RunState } from './run-state.js';
import { isSettling, type RunStatus } from './run-status.js';

/**
 * What follows by itself in a run: its stages of run tasks, and the next phase. A stage begins where it belongs, and what would
 * have followed there follows at its end. Checks that an executor reports with the plan come before post_plan:
 *
 *   queued ─► pre_plan ─► plan_queued … planned ─► post_plan ─► (confirmed) ─► pre_apply ─► apply_queued … applied ─► post_apply
 *
 * A mandatory failure ends the run, except after the apply. Policies of the plan count in the stage after it, and a person can
 * override their failure.
 */

/** Returns the stage that the run waits for. */
const findOpenStage = (run: ExistingRun): TaskStage | undefined =>
  run.stages.find(({ status }) => status === 'running' || status === 'awaiting_override');

const reach = (stage: RunStage): RunEvent => ({ type: 'RunStageReached', data: { stage, message: null } });

/** Returns the events that begin the stage; null if the run has no such stage, or has left it behind. */
const beginStage = (run: ExistingRun, name: TaskStageName): readonly RunEvent[] | null => {
  const stage = run.stages.find((one) => one.stage === name && one.status === 'pending');
  if (!stage) return null;
  const begun = { type: 'RunTaskStageStarted', data: { taskStage: stage.id } } as const;
  // The run has ended before its last stage, which changes nothing.
  return name === 'post_apply' ? [begun] : [begun, reach(`${name}_running`)];
};

/** Returns the events of a run whose turn it is. */
export const queuePlan = (run: ExistingRun): readonly RunEvent[] => [
  { type: 'RunQueued', data: {} },
  ...(beginStage(run, 'pre_plan') ?? []),
];

export const queueApply = (run: ExistingRun): readonly RunEvent[] =>
  beginStage(run, 'pre_apply') ?? [{ type: 'RunApplyQueued', data: {} }];

/** Returns the events that follow when the plan and its checks are done: none if a user must decide. */
const decideAfterChecks = (run: ExistingRun): readonly RunEvent[] => {
  if (!isSettling(run.status)) return [];
  if (run.forceCancelAvailableAt !== null) return [{ type: 'RunCanceled', data: { message: null } }];
  if (run.planOnly || (!run.hasChanges && !run.allowEmptyApply)) return [{ type: 'RunPlannedAndFinished', data: {} }];
  if (run.savePlan) return [{ type: 'RunPlanSaved', data: {} }];
  return run.autoApply ? queueApply(run) : [];
};

/** Returns the events that follow the report of an executor. */
export const continueAfterReport = (run: RunState): readonly RunEvent[] => {
  if (run.status === 'absent') return [];
  if (run.status === 'applied') return beginStage(run, 'post_apply') ?? [];
  // An executor can report checks together with the plan. The stage then follows them, so that it ends before an automatic apply.
  const begins = isSettling(run.status) && run.forceCancelAvailableAt === null;
  const begun = begins ? beginStage(run, 'post_plan') : null;
  return begun ? addConclusion(run, begun) : decideAfterChecks(run);
};

const continueAfterStage = (run: ExistingRun, { stage: name }: TaskStage): readonly RunEvent[] => {
  if (name === 'post_apply') return [];
  if (name === 'pre_plan') return [reach('pre_plan_completed'), { type: 'RunPlanQueued', data: {} }];
  if (name === 'pre_apply') return [reach('pre_apply_completed'), { type: 'RunApplyQueued', data: {} }];
  return [reach('post_plan_completed'), ...decideAfterChecks({ ...run, status: 'post_plan_completed' })];
};

/** Returns how the policies of a stage end it; null without policies. */
const concludePoliciesOf = (run: ExistingRun, { stage }: TaskStage) => {
  if (stage !== 'post_plan' || run.policies === null) return null;
  const conclusion = run.policies.conclusion ?? concludeUnevaluated(run.policies);
  if (conclusion.status !== 'failed' || !conclusion.isOverridable || run.planOnly) return conclusion;
  // A plan that changes nothing needs no decision.
  return run.hasChanges || run.allowEmptyApply
    ? ({ status: 'awaiting_override' } as const)
    : ({ status: 'passed' } as const);
};

/** Returns how a stage ends: null while a result is open. Run tasks count first. */
const concludeWithPolicies = (run: ExistingRun, stage: TaskStage) => {
  const tasks = concludeStage(stage, run.tasks);
  return tasks?.status === 'passed' ? (concludePoliciesOf(run, stage) ?? tasks) : tasks;
};

/** Returns the events with what follows if no result of the running stage is open after them. */
const addConclusion = (run: ExistingRun, events: readonly RunEvent[]): readonly RunEvent[] => {
  const after = fold({ evolve: runEvolutions }, run as RunState, events);
  const stage = after.status === 'absent' ? undefined : findOpenStage(after);
  if (after.status === 'absent' || !stage) return events;
  const conclusion = concludeWithPolicies(after, stage);
  if (!conclusion) return events;
  if (conclusion.status === 'awaiting_override') return [...events, reach('post_plan_awaiting_decision')];
  const ended = { type: 'RunTaskStageEnded', data: { taskStage: stage.id, status: conclusion.status } } as const;
  if (conclusion.status === 'passed') return [...events, ended, ...continueAfterStage(after, stage)];
  if (stage.stage === 'post_apply') return [...events, ended];
  return [...events, ended, { type: 'RunErrored', data: { message: conclusion.message } }];
};

export type PolicyOverride = Omit<DataOf<RunEvent, 'RunPoliciesOverridden'>, 'evaluation'> & {
  readonly obstacle: OverrideObstacle;
};

const OVERRIDE_REFUSALS: Readonly<Record<NonNullable<OverrideObstacle>, string>> = {
  'no-person': 'Only people can override policies: use the token of a user',
  author:
    'You or one of your teams created this run, its configuration, or a run that triggered it: another person must override its policies',
  'unknown-authors':
    'The server cannot find the first run of the triggers that created this run: discard it, and queue a new run',
};

/** Refuses tokens of teams, which can belong to the author of the run, and the author: people do not check their own work. */
export const decideOverride = (
  { taskStage, overriddenBy, comment, obstacle }: PolicyOverride,
  run: ExistingRun,
): readonly RunEvent[] => {
  const waiting = run.stages.find(({ id, status }) => id === taskStage && status === 'awaiting_override');
  if (!waiting || run.policies === null)
    throw conflict(`Run is ${run.status}: the task stage ${taskStage} does not wait for an override`);
  if (obstacle !== null) throw forbidden(OVERRIDE_REFUSALS[obstacle]);
  const { evaluation } = run.policies;
  return [
    { type: 'RunPoliciesOverridden', data: { taskStage, evaluation, overriddenBy, comment } },
    { type: 'RunTaskStageEnded', data: { taskStage, status: 'passed' } },
    ...continueAfterStage(run, waiting),
  ];
};

const findOpenResult = (run: ExistingRun, id: string) => {
  const stage = findOpenStage(run);
  const result = stage?.results.find((one) => one.id === id && isOpenResult(one.status));
  return stage && result ? { stage, result } : null;
};

export type TaskReport = Pick<
  DataOf<RunEvent, 'RunTaskResultReported'>,
  'result' | 'status' | 'message' | 'url' | 'outcomes' | 'reportedRun'
>;

/** The result is final, or its stage does not run. */
export const createEndedResultRefusal = (status: RunStatus, result: string): Refusal =>
  conflict(`Run is ${status}: it does not wait for the task result ${result}`);

export const decideTaskReport = (report: TaskReport, run: ExistingRun): readonly RunEvent[] => {
  const open = findOpenResult(run, report.result);
  if (!open) throw createEndedResultRefusal(run.status, report.result);
  const { task: id, enforcementLevel, reports, outcomes } = open.result;
  const task = run.tasks.find((one) => one.task === id);
  if (!task) throw new Error(`The run has no task ${id}`);
  if (reports + 1 >= MAX_REPORTS && isOpenResult(report.status)) {
    throw conflict(`Task result ${report.result} has ${reports} reports: the next one must be passed or failed`);
  }
  if (outcomes + report.outcomes.length > MAX_OUTCOMES) {
    throw unprocessable(
      `A task result can have at most ${MAX_OUTCOMES} outcomes, and has ${outcomes} already`,
      'outcomes',
    );
  }
  const about = { stage: open.stage.stage, ...task, enforcementLevel };
  return addConclusion(run, [
    { type: 'RunTaskResultReported', data: { ...report, ...about, workspace: run.workspace } },
  ]);
};

/** The job that decides on it may be late, so that a result which has ended meanwhile is no conflict. */
export const decideErroredResult = (
  data: DataOf<RunEvent, 'RunTaskResultErrored'>,
  run: ExistingRun,
): readonly RunEvent[] =>
  findOpenResult(run, data.result) ? addConclusion(run, [{ type: 'RunTaskResultErrored', data }]) : [];

/** Returns the event that ends the stage of a run which is being canceled. */
export const cancelStage = (run: ExistingRun): readonly RunEvent[] => {
  const stage = findOpenStage(run);
  return stage ? [{ type: 'RunTaskStageEnded', data: { taskStage: stage.id, status: 'canceled' } }] : [];
};

/** Refuses reports of executors about the stages that the server itself runs. */
export const requireStagesOfServer = (run: ExistingRun, reached: readonly RunStatus[]): void => {
  if (findOpenStage(run)) throw conflict(`Run is ${run.status}: it waits for the results of its run tasks or policies`);
  const reported = reached.find((status) => run.stages.some(({ stage }) => status.startsWith(`${stage}_`)));
  if (reported)
    throw conflict(`Run is ${run.status}: the server reports ${reported} itself, because it has run tasks or policies`);
};
