import type { Table, Timestamp } from '#kernel';
import type { RunOptions } from './run-options.js';
import { isApplying, isFinal, isInHand, type RunStatus } from './run-status.js';
import type { RunEvent } from './run-event.js';

/** What the rules need to know of a run. */
export type KnownRun = {
  readonly status: RunStatus;
  readonly workspace: string;
  readonly planOnly: boolean;
  readonly savePlan: boolean;
  readonly autoApply: boolean;
  readonly allowEmptyApply: boolean;
  readonly hasChanges: boolean;
  /** Null until somebody has asked the executor to stop. */
  readonly forceCancelAvailableAt: Timestamp | null;
};

export type Run = { readonly status: 'absent' } | KnownRun;

/** Whether the workspace must be the run's own: from its turn to its end; saved plans want it only to be applied. */
export const holdsWorkspace = (run: Run): boolean => {
  if (run.status === 'absent' || run.status === 'pending' || isFinal(run.status) || run.planOnly) return false;
  return run.savePlan ? isApplying(run.status) : true;
};

/** Whether it waits for the workspace before it may be planned. */
export const waitsItsTurn = ({ planOnly, savePlan }: Pick<RunOptions, 'planOnly' | 'savePlan'>): boolean =>
  !planOnly && !savePlan;

/** Once it was asked to stop in vain, and has been given some time. */
export const isForceCancelable = (
  { status, forceCancelAvailableAt }: Pick<KnownRun, 'status' | 'forceCancelAvailableAt'>,
  at: Timestamp,
): boolean =>
  isInHand(status) && forceCancelAvailableAt !== null && Date.parse(forceCancelAvailableAt) <= Date.parse(at);

/** The status that each event brings a run into; RunStageReached says itself which, and the others leave it where it is. */
export const STATUS_AFTER = {
  RunCreated: 'pending',
  RunQueued: 'plan_queued',
  RunPlanStarted: 'planning',
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

const becoming = (run: Run, change: Partial<KnownRun>): Run => (run.status === 'absent' ? run : { ...run, ...change });

const becomes = (event: keyof typeof STATUS_AFTER) => {
  const change = { status: STATUS_AFTER[event] };
  return (_: unknown, state: Run): Run => becoming(state, change);
};

const unmoved = (_: unknown, state: Run): Run => state;

export const runEvolutions: Table<RunEvent, [state: Run], Run> = {
  RunCreated: ({ workspace, options: { planOnly, savePlan, autoApply, allowEmptyApply } }) => ({
    status: STATUS_AFTER.RunCreated,
    workspace,
    planOnly,
    savePlan,
    autoApply,
    allowEmptyApply,
    hasChanges: false,
    forceCancelAvailableAt: null,
  }),
  RunQueued: becomes('RunQueued'),
  RunStageReached: ({ stage }, state) => becoming(state, { status: stage }),
  RunPlanStarted: becomes('RunPlanStarted'),
  RunPlanned: ({ hasChanges }, state) => becoming(state, { status: STATUS_AFTER.RunPlanned, hasChanges }),
  RunPlannedAndFinished: becomes('RunPlannedAndFinished'),
  RunPlanSaved: becomes('RunPlanSaved'),
  RunConfirmed: becomes('RunConfirmed'),
  RunApplyQueued: becomes('RunApplyQueued'),
  RunApplyStarted: becomes('RunApplyStarted'),
  RunApplied: becomes('RunApplied'),
  RunErrored: becomes('RunErrored'),
  RunDiscarded: becomes('RunDiscarded'),
  RunCancelRequested: ({ forceCancelAvailableAt }, state) => becoming(state, { forceCancelAvailableAt }),
  RunCanceled: becomes('RunCanceled'),
  RunForceCanceled: becomes('RunForceCanceled'),
  RunForceExecuted: unmoved,
  RunCommented: unmoved,
};
