export const RUN_TRIGGERS = [
  'run:created',
  'run:planning',
  'run:needs_attention',
  'run:applying',
  'run:completed',
  'run:errored',
] as const;

/** Triggers that only Cadastre has. */
export const WORKSPACE_TRIGGERS = [
  'workspace:created',
  'workspace:deleted',
  'workspace:locked',
  'workspace:unlocked',
] as const;

export const AUTO_DESTROY_TRIGGERS = ['workspace:auto_destroy_reminder', 'workspace:auto_destroy_run_results'] as const;

/** Each says that the result of a health assessment differs from the one before. */
export const ASSESSMENT_TRIGGERS = ['assessment:drifted', 'assessment:check_failure', 'assessment:failed'] as const;

export type SentTrigger =
  | (typeof RUN_TRIGGERS)[number]
  | (typeof WORKSPACE_TRIGGERS)[number]
  | (typeof ASSESSMENT_TRIGGERS)[number]
  | (typeof AUTO_DESTROY_TRIGGERS)[number];

/** What an event of a run or workspace notifies about. */
export type NotificationRule = {
  readonly trigger: SentTrigger;
  /** A second trigger of the same event. */
  readonly also?: SentTrigger;
  /** The status of the run. */
  readonly status?: string;
  /** Whether the event counts only if the run then waits for a user. */
  readonly ifWaiting?: true;
  /** The name of a workspace that is created or deleted. */
  readonly workspaceName?: string;
  /** When the resources of the workspace are destroyed at the earliest. */
  readonly destroyedFrom?: string;
  /** The workspace, if the stream of the event is neither a workspace nor a run. */
  readonly workspace?: string;
};
