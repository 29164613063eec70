import { z } from 'zod';
import type { Message, Principal, Timestamp } from '#platform/kernel';
import type { PhaseName } from './phases.js';
import type { EnforcementLevel, TaskStageName } from '#runs/run-tasks/rules';
import type { PolicyChoice, PolicyOutcome } from '../policy-evaluations/run-policies.js';
import type { RunOptions } from './run-options.js';
import type {
  ErroredResult,
  NewTaskStage,
  ReportedResult,
  StageEnd,
  TaskOfRun,
  TaskOutcome,
} from '../task-stages/run-task-stage.js';
import type { RunStatus } from './run-status.js';

/** The source of the plans of health assessments, which are in no list of runs. */
export const ASSESSMENT = 'assessment';
/** The name of the server in the events that it records about them by itself. */
export const ASSESSMENTS = 'health assessments';

/** `tfe-infrastructure-lifecycle`: automatic destroy. */
export const RUN_SOURCES = [
  'tfe-api',
  'tfe-ui',
  'tfe-configuration-version',
  'tfe-run-trigger',
  'tfe-infrastructure-lifecycle',
  ASSESSMENT,
] as const;
export type RunSource = (typeof RUN_SOURCES)[number];

/** Resources that a plan would change, or that an apply changed. */
export type PlannedCounts = {
  readonly additions: number;
  readonly changes: number;
  readonly destructions: number;
  readonly imports: number;
};

/** How the resources and the checks of a state compare with what exists, as a refresh finds it. */
export const ASSESSED_COUNTS = z.strictObject({
  resourcesDrifted: z.int(),
  resourcesUndrifted: z.int(),
  checksPassed: z.int(),
  checksFailed: z.int(),
  checksErrored: z.int(),
  checksUnknown: z.int(),
});
export type AssessedCounts = Readonly<z.infer<typeof ASSESSED_COUNTS>>;

type MessageData = { readonly message: string | null };

/** The executor that has claimed a phase of a run. The first claim of a run has the fence 1, and each later one a greater one. */
export type RunExecution = {
  readonly agent: string;
  readonly agentName: string | null;
  readonly pool: string;
  readonly fence: number;
};

/** The execution is null if an executor reports a phase that it has not claimed. */
type StartData = MessageData & { readonly execution: RunExecution | null };

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

/** What the trail says about the run of a result. */
export type ReportSubject = {
  readonly workspaceName: string;
  readonly runCreatedAt: string;
  /** Id of the person or token. */
  readonly runCreatedBy: string;
  readonly runMessage: string;
  readonly isSpeculative: boolean;
};

/** What the trail says about the run of policies. */
export type PolicySubject = { readonly workspaceName: string; readonly runMessage: string };

type EvaluatedData = PolicySubject & {
  evaluation: string;
  workspace: string;
  outcomes: readonly PolicyOutcome[];
};

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
  /** The run holds the lock of the workspace from now on, unless it is speculative. */
  | Message<'RunQueued', Record<never, never>>
  | Message<'RunStageReached', { stage: RunStage } & MessageData>
  | Message<'RunPlanStarted', StartData>
  /** The executor that has claimed the phase has not renewed its lease. Another event says what follows. */
  | Message<'RunExecutorLost', { phase: PhaseName; agent: string; fence: number }>
  /** The executor with this fence is lost. Another one plans from the beginning. */
  | Message<'RunPlanRequeued', { fence: number; message: string }>
  /**
   * The executor has read the job of the phase. The event contains the hash of the nonce. `hasChosenPolicies`: false if a process of a
   * release without policies has served the job, and for applies. If there are policies, another event has them.
   */
  | Message<'RunJobRead', { phase: PhaseName; fence: number; nonceHash: string; hasChosenPolicies: boolean }>
  /** The phase has a token with which it authenticates at a cloud. */
  | Message<'RunIdentityTokenIssued', { phase: PhaseName; audience: string }>
  | Message<'RunPlanned', { hasChanges: boolean; resources: PlannedCounts } & MessageData>
  /** The plan contains configuration that terraform has generated for imported resources. Planned or errored follows. */
  | Message<'RunConfigurationGenerated', Record<never, never>>
  /** What the plan has found about drift and checks. Planned follows. */
  | Message<'RunAssessed', AssessedCounts>
  | Message<'RunPlannedAndFinished', Record<never, never>>
  | Message<'RunPlanSaved', Record<never, never>>
  | Message<'RunConfirmed', { confirmedBy: Principal }>
  | Message<'RunApplyQueued', Record<never, never>>
  | Message<'RunApplyStarted', StartData>
  | Message<'RunApplied', { resources: PlannedCounts } & MessageData>
  | Message<'RunErrored', MessageData>
  /** The executor of the apply has kept a state that the workspace did not accept. */
  | Message<'RunErroredStateStored', { fence: number; size: number }>
  | Message<'RunDiscarded', Record<never, never>>
  /** Logs, documents of the plan and the errored state are deleted. The record of the run stays. */
  | Message<'RunDataDeleted', Record<never, never>>
  /** Requests the executor to stop; without an executor the run is canceled at once. */
  | Message<'RunCancelRequested', { forceCancelAvailableAt: Timestamp }>
  | Message<'RunCanceled', MessageData>
  | Message<'RunForceCanceled', Record<never, never>>
  /** The run overtakes all runs before it in the queue. */
  | Message<'RunForceExecuted', Record<never, never>>
  | Message<'RunCommented', { id: string; body: string; author: Principal }>
  /** The run has run tasks, each of which stages request. Later changes of tasks do not change the run. */
  | Message<'RunTaskStagesCreated', { workspace: string; tasks: readonly TaskOfRun[]; stages: readonly NewTaskStage[] }>
  /** The services of the stage get their requests from now on. */
  | Message<'RunTaskStageStarted', { taskStage: string }>
  | Message<
      'RunTaskResultReported',
      {
        result: string;
        status: ReportedResult;
        message: string;
        url: string;
        outcomes: readonly TaskOutcome[];
        stage: TaskStageName;
        task: string;
        taskName: string;
        taskUrl: string;
        workspaceTask: string | null;
        enforcementLevel: EnforcementLevel;
        workspace: string;
        reportedRun: ReportSubject;
      }
    >
  /** The server ends the result: the service has been silent, or could not be reached. */
  | Message<'RunTaskResultErrored', { result: string; status: ErroredResult; message: string }>
  /** The plan must pass these policies. Later changes of policies do not change it. Another executor that plans chooses again. */
  | Message<'RunPoliciesChosen', { workspace: string } & PolicyChoice>
  /** No mandatory policy has stopped the run. */
  | Message<'RunPoliciesPassed', EvaluatedData>
  | Message<'RunPoliciesFailed', EvaluatedData>
  | Message<'RunPoliciesErrored', EvaluatedData>
  /** Somebody lets the run continue although mandatory policies have failed. */
  | Message<
      'RunPoliciesOverridden',
      { taskStage: string; evaluation: string; overriddenBy: Principal; comment: string | null }
    >
  /** All results have ended, or the run was canceled. Another event says what follows. */
  | Message<'RunTaskStageEnded', { taskStage: string; status: StageEnd }>
  /** The stage before the plan is done, and the run waits for an executor. */
  | Message<'RunPlanQueued', Record<never, never>>;
