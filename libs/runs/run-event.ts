import type { Message, Somebody, Timestamp } from '#kernel';
import type { RunOptions } from './run-options.js';
import type { RunStatus } from './run-status.js';

export const RUN_SOURCES = ['tfe-api', 'tfe-ui', 'tfe-configuration-version'] as const;
export type RunSource = (typeof RUN_SOURCES)[number];

/** Resources that a plan would touch, or an apply has touched. */
export type Counts = {
  readonly additions: number;
  readonly changes: number;
  readonly destructions: number;
  readonly imports: number;
};

type Said = { readonly message: string | null };

/** Stages that mean nothing to the rules but that the run has come to them. */
export type Stage = Exclude<
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
        createdBy: Somebody;
        options: RunOptions;
      }
    >
  /** The workspace is its own from here on, unless it is speculative. */
  | Message<'RunQueued', Record<never, never>>
  | Message<'RunStageReached', { stage: Stage } & Said>
  | Message<'RunPlanStarted', Said>
  | Message<'RunPlanned', { hasChanges: boolean; resources: Counts } & Said>
  | Message<'RunPlannedAndFinished', Record<never, never>>
  | Message<'RunPlanSaved', Record<never, never>>
  | Message<'RunConfirmed', { confirmedBy: Somebody }>
  | Message<'RunApplyQueued', Record<never, never>>
  | Message<'RunApplyStarted', Said>
  | Message<'RunApplied', { resources: Counts } & Said>
  | Message<'RunErrored', Said>
  | Message<'RunDiscarded', Record<never, never>>
  /** Where an executor has it in hand, it is asked to stop; else it is canceled at once. */
  | Message<'RunCancelRequested', { forceCancelAvailableAt: Timestamp }>
  | Message<'RunCanceled', Said>
  | Message<'RunForceCanceled', Record<never, never>>
  /** Past all that were before it. */
  | Message<'RunForceExecuted', Record<never, never>>
  | Message<'RunCommented', { id: string; body: string; author: Somebody }>;
