import {
  conflict,
  fold,
  notFound,
  type DataOf,
  type Decider,
  type Message,
  type Somebody,
  type Table,
  type Timestamp,
} from '#kernel';
import type { Counts, RunEvent, Stage } from './run-event.js';
import { checkOptions } from './run-options.js';
import { isForceCancelable, runEvolutions, type KnownRun, type Run } from './run-state.js';
import { allows, isInHand, isSettling, reported, type RunAction, type RunStatus } from './run-status.js';

/**
 * A run: the record of one plan and its apply. Nothing is executed here; executors report what they did (docs/how-to/executors.md).
 * What may follow on what is a table, run-status.ts.
 */
export type Progress = {
  readonly status: RunStatus;
  readonly hasChanges: boolean;
  readonly resources: Counts;
  readonly message: string | null;
};

export type RunCommand =
  | Message<'CreateRun', DataOf<RunEvent, 'RunCreated'>>
  | Message<'QueueRun', Record<never, never>>
  | Message<'ReportProgress', Progress>
  | Message<'ConfirmRun', { confirmedBy: Somebody }>
  | Message<'DiscardRun', Record<never, never>>
  | Message<'CancelRun', { forceCancelAvailableAt: Timestamp }>
  | Message<'ForceCancelRun', { at: Timestamp }>
  | Message<'ForceExecuteRun', Record<never, never>>
  | Message<'CommentRun', { id: string; body: string; author: Somebody }>;

/** Every command but the first wants a run that is there. */
const whenKnown =
  <D>(decide: (data: D, run: KnownRun) => readonly RunEvent[]) =>
  (data: D, run: Run): readonly RunEvent[] => {
    if (run.status === 'absent') throw notFound();
    return decide(data, run);
  };

const demandAllowed = ({ status }: KnownRun, action: RunAction): void => {
  if (!allows(status, action)) throw conflict(`Run is ${status}: ${action} is not possible`);
};

/** What it means that a run has come to a status; all others are stages. */
const REPORTS: Partial<Readonly<Record<RunStatus, (progress: Progress) => RunEvent>>> = {
  planning: ({ message }) => ({ type: 'RunPlanStarted', data: { message } }),
  planned: ({ hasChanges, resources, message }) => ({ type: 'RunPlanned', data: { hasChanges, resources, message } }),
  applying: ({ message }) => ({ type: 'RunApplyStarted', data: { message } }),
  applied: ({ resources, message }) => ({ type: 'RunApplied', data: { resources, message } }),
  errored: ({ message }) => ({ type: 'RunErrored', data: { message } }),
  canceled: ({ message }) => ({ type: 'RunCanceled', data: { message } }),
};

const eventOf = (status: RunStatus, progress: Progress): RunEvent =>
  REPORTS[status]?.(progress) ?? {
    type: 'RunStageReached',
    data: { stage: status as Stage, message: progress.message },
  };

/** Where a run goes on by itself when its plan and the checks of it are done: nowhere where a user is waited for. */
const settled = (run: Run): readonly RunEvent[] => {
  if (run.status === 'absent' || !isSettling(run.status)) return [];
  if (run.forceCancelAvailableAt !== null) return [{ type: 'RunCanceled', data: { message: null } }];
  if (run.planOnly || (!run.hasChanges && !run.allowEmptyApply)) return [{ type: 'RunPlannedAndFinished', data: {} }];
  if (run.savePlan) return [{ type: 'RunPlanSaved', data: {} }];
  return run.autoApply ? [{ type: 'RunApplyQueued', data: {} }] : [];
};

const decideProgress = (progress: Progress, current: KnownRun): readonly RunEvent[] => {
  const way = reported(current.status, progress.status);
  if (!way) throw conflict(`Run is ${current.status}: it cannot become ${progress.status}`);
  if (progress.status === 'canceled' && current.forceCancelAvailableAt === null) {
    throw conflict(`Run is ${current.status}: nobody has asked to cancel it`);
  }
  // A soft failure ends what would not be applied anyway; everything else waits to be overridden.
  if (progress.status === (current.planOnly ? 'policy_override' : 'policy_soft_failed')) {
    const [kind, other] = current.planOnly ? ['plan-only', 'policy_soft_failed'] : ['not plan-only', 'policy_override'];
    throw conflict(
      `Run is ${current.status}, and ${kind}: it cannot become ${progress.status}, but it can become ${other}`,
    );
  }
  const events = way.map((status) => eventOf(status, progress));
  return [...events, ...settled(fold({ evolve: runEvolutions }, current as Run, events))];
};

const decideCancel = (data: DataOf<RunCommand, 'CancelRun'>, run: KnownRun): readonly RunEvent[] => {
  demandAllowed(run, 'cancel');
  if (run.forceCancelAvailableAt !== null) throw conflict(`Run is ${run.status}: it is being canceled already`);
  const requested = { type: 'RunCancelRequested', data } as const;
  return isInHand(run.status) ? [requested] : [requested, { type: 'RunCanceled', data: { message: null } }];
};

const decideForceCancel = ({ at }: DataOf<RunCommand, 'ForceCancelRun'>, run: KnownRun): readonly RunEvent[] => {
  if (!isForceCancelable(run, at)) {
    const why =
      run.forceCancelAvailableAt === null ? 'it must be canceled first' : `not before ${run.forceCancelAvailableAt}`;
    throw conflict(`Run is ${run.status}: force-cancel is not possible${isInHand(run.status) ? `, ${why}` : ''}`);
  }
  return [{ type: 'RunForceCanceled', data: {} }];
};

const decisions: Table<RunCommand, [run: Run], readonly RunEvent[]> = {
  CreateRun: (data, run) => {
    if (run.status !== 'absent') throw conflict('Run exists already');
    checkOptions(data.options);
    return [{ type: 'RunCreated', data }];
  },
  QueueRun: whenKnown((_, run) => {
    if (run.status !== 'pending') throw conflict(`Run is ${run.status}: it cannot be queued`);
    return [{ type: 'RunQueued', data: {} }];
  }),
  ReportProgress: whenKnown(decideProgress),
  ConfirmRun: whenKnown((data, run) => {
    demandAllowed(run, 'apply');
    return [
      { type: 'RunConfirmed', data },
      { type: 'RunApplyQueued', data: {} },
    ];
  }),
  DiscardRun: whenKnown((_, run) => {
    demandAllowed(run, 'discard');
    return [{ type: 'RunDiscarded', data: {} }];
  }),
  CancelRun: whenKnown(decideCancel),
  ForceCancelRun: whenKnown(decideForceCancel),
  ForceExecuteRun: whenKnown((_, run) => {
    demandAllowed(run, 'force-execute');
    return [
      { type: 'RunForceExecuted', data: {} },
      { type: 'RunQueued', data: {} },
    ];
  }),
  CommentRun: whenKnown((data) => [{ type: 'RunCommented', data }]),
};

export const run: Decider<Run, RunCommand, RunEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: decisions,
  evolve: runEvolutions,
};
