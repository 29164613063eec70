import type { Message, Principal, Timestamp } from '#platform/kernel';
import type { RunOptions } from './run-options.js';
import type { RunStatus } from './run-status.js';

export const RUN_SOURCES = ['tfe-api', 'tfe-ui', 'tfe-configuration-version'] as const;
export type RunSource = (typeof RUN_SOURCES)[number];

/** Resources that a plan would change, or that an apply changed. */
export type PlannedCounts = {
  readonly additions: number;
  readonly changes: number;
  readonly destructions: number;
  readonly imports: number;
};

type MessageData = { readonly message: string | null };

/** Statuses that the rules only record. */
export type RunStage = Exclude<
  RunStatus,
  | 'pending'
  | 'plan_queued'
  | 'planning'
  | 'planned'
  | 'planned_and_finished'
  | 'planned_and_saved'
  | 'confirmed'
  | 'apply_queued'
  | 'applying'
  | 'applied'
  | 'discarded'
  | 'errored'
  | 'canceled'
  | 'force_canceled'
>;

export type RunEvent =
  | Message<
      'RunCreated',
      {
        workspace: string;
        configurationVersion: string;
        message: string;
        source: RunSource;
        createdBy: Principal;
        options: RunOptions;
      }
    >
  /** From here on the run has the workspace, unless it is speculative. */
  | Message<'RunQueued', Record<never, never>>
  | Message<'RunStageReached', { stage: RunStage } & MessageData>
  | Message<'RunPlanStarted', MessageData>
  | Message<'RunPlanned', { hasChanges: boolean; resources: PlannedCounts } & MessageData>
  | Message<'RunPlannedAndFinished', Record<never, never>>
  | Message<'RunPlanSaved', Record<never, never>>
  | Message<'RunConfirmed', { confirmedBy: Principal }>
  | Message<'RunApplyQueued', Record<never, never>>
  | Message<'RunApplyStarted', MessageData>
  | Message<'RunApplied', { resources: PlannedCounts } & MessageData>
  | Message<'RunErrored', MessageData>
  | Message<'RunDiscarded', Record<never, never>>
  /** Requests the executor to stop; without an executor the run is canceled at once. */
  | Message<'RunCancelRequested', { forceCancelAvailableAt: Timestamp }>
  | Message<'RunCanceled', MessageData>
  | Message<'RunForceCanceled', Record<never, never>>
  /** The run overtakes all runs before it in the queue. */
  | Message<'RunForceExecuted', Record<never, never>>
  | Message<'RunCommented', { id: string; body: string; author: Principal }>;
