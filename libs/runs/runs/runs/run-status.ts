/**
 * The vendor's status machine of a run, as data. A row says what becomes of a run in that status: what the executor may
 * report next, and what a user may do. Statuses without either are final.
 *
 *   pending ──queue──► plan_queued ─► planning ─► planned ──apply──► confirmed ─► apply_queued ─► applying ─► applied
 *
 * Fetching, checks and estimates on the way are the executor's: those that it does not make it does not report.
 */
export const RUN_STATUSES = [
  'pending',
  'fetching',
  'fetching_completed',
  'pre_plan_running',
  'pre_plan_completed',
  'queuing',
  'plan_queued',
  'planning',
  'planned',
  'post_plan_running',
  'post_plan_awaiting_decision',
  'post_plan_completed',
  'cost_estimating',
  'cost_estimated',
  'policy_checking',
  'policy_override',
  'policy_soft_failed',
  'policy_checked',
  'confirmed',
  'planned_and_finished',
  'planned_and_saved',
  'pre_apply_running',
  'pre_apply_completed',
  'queuing_apply',
  'apply_queued',
  'applying',
  'applied',
  'discarded',
  'errored',
  'canceled',
  'force_canceled',
] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];
export type RunAction = 'apply' | 'cancel' | 'discard' | 'force-execute';

type StatusTransitions = { readonly executor: readonly RunStatus[]; readonly user: readonly RunAction[] };

const defineTransitions = (executor: readonly RunStatus[], ...user: readonly RunAction[]): StatusTransitions => ({
  executor,
  user,
});
const FINAL = defineTransitions([]);

export const RUN_STATUS_MACHINE: Readonly<Record<RunStatus, StatusTransitions>> = {
  // Only the queue changes this status: to plan_queued, when the workspace is free and no run is ahead.
  pending: defineTransitions([], 'cancel', 'discard', 'force-execute'),

  // Waits for an executor. The first executor that claims the run gets it.
  plan_queued: defineTransitions(['fetching', 'pre_plan_running', 'queuing', 'planning', 'errored'], 'cancel'),
  fetching: defineTransitions(['fetching_completed', 'errored', 'canceled'], 'cancel'),
  fetching_completed: defineTransitions(['pre_plan_running', 'queuing', 'planning', 'errored', 'canceled'], 'cancel'),
  pre_plan_running: defineTransitions(['pre_plan_completed', 'errored', 'canceled'], 'cancel'),
  pre_plan_completed: defineTransitions(['queuing', 'planning', 'errored', 'canceled'], 'cancel'),
  queuing: defineTransitions(['planning', 'errored', 'canceled'], 'cancel'),
  planning: defineTransitions(['planned', 'errored', 'canceled'], 'cancel'),

  // Waits for a user, unless it continues by itself (`settled` in run.ts).
  planned: defineTransitions(['post_plan_running', 'cost_estimating', 'policy_checking'], 'apply', 'discard'),
  post_plan_running: defineTransitions(
    ['post_plan_completed', 'post_plan_awaiting_decision', 'errored', 'canceled'],
    'cancel',
  ),
  post_plan_awaiting_decision: defineTransitions(['post_plan_completed', 'errored'], 'discard'),
  post_plan_completed: defineTransitions(['cost_estimating', 'policy_checking'], 'apply', 'discard'),
  cost_estimating: defineTransitions(['cost_estimated', 'errored', 'canceled'], 'cancel'),
  cost_estimated: defineTransitions(['policy_checking'], 'apply', 'discard'),
  policy_checking: defineTransitions(
    ['policy_checked', 'policy_override', 'policy_soft_failed', 'errored', 'canceled'],
    'cancel',
  ),
  policy_override: defineTransitions(['policy_checked', 'errored'], 'discard'),
  policy_checked: defineTransitions([], 'apply', 'discard'),
  planned_and_saved: defineTransitions([], 'apply', 'discard'),

  // Transient: the confirmation also queues the apply.
  confirmed: defineTransitions([], 'cancel'),
  apply_queued: defineTransitions(['pre_apply_running', 'queuing_apply', 'applying', 'errored'], 'cancel'),
  pre_apply_running: defineTransitions(['pre_apply_completed', 'errored', 'canceled'], 'cancel'),
  pre_apply_completed: defineTransitions(['queuing_apply', 'applying', 'errored', 'canceled'], 'cancel'),
  queuing_apply: defineTransitions(['applying', 'errored', 'canceled'], 'cancel'),
  applying: defineTransitions(['applied', 'errored', 'canceled'], 'cancel'),

  policy_soft_failed: FINAL,
  planned_and_finished: FINAL,
  applied: FINAL,
  discarded: FINAL,
  errored: FINAL,
  canceled: FINAL,
  force_canceled: FINAL,
};

/** Names of the end of a phase: an executor that starts the next phase at once need not report it. */
const END: Partial<Readonly<Record<RunStatus, RunStatus>>> = {
  planning: 'planned',
  post_plan_running: 'post_plan_completed',
  cost_estimating: 'cost_estimated',
};

/**
 * Returns the statuses that a report takes a run through, ending with the reported one; null if there is no such path.
 */
export const resolveReportedTransitions = (from: RunStatus, to: RunStatus): readonly RunStatus[] | null => {
  if (RUN_STATUS_MACHINE[from].executor.includes(to)) return [to];
  const end = END[from];
  return end && RUN_STATUS_MACHINE[end].executor.includes(to) ? [end, to] : null;
};

export const isActionAllowed = (status: RunStatus, action: RunAction): boolean =>
  RUN_STATUS_MACHINE[status].user.includes(action);

export const isFinal = (status: RunStatus): boolean => RUN_STATUS_MACHINE[status] === FINAL;

/** Whether an executor works on the run: a cancel must ask it to stop, and it may not answer. */
export const isExecuting = (status: RunStatus): boolean => RUN_STATUS_MACHINE[status].executor.includes('canceled');

/** Whether the plan and its checks are done in this status. */
export const isSettling = (status: RunStatus): boolean =>
  status !== 'planned_and_saved' && RUN_STATUS_MACHINE[status].user.includes('apply');

const APPLY_STATUSES: readonly RunStatus[] = [
  'confirmed',
  'apply_queued',
  'pre_apply_running',
  'pre_apply_completed',
  'queuing_apply',
  'applying',
];

export const isApplying = (status: RunStatus): boolean => APPLY_STATUSES.includes(status);

export const FINAL_STATUSES = RUN_STATUSES.filter(isFinal);

export const FAILED_STATUSES: readonly RunStatus[] = ['errored', 'policy_soft_failed'];

/** Runs without an apply and discarded runs are not counted, because they say nothing about the workspace. */
export const COUNTED_STATUSES: readonly RunStatus[] = ['applied', ...FAILED_STATUSES];

/** Statuses of runs that wait for their turn or for an executor, not for a decision. */
export const WAITING_STATUSES: readonly RunStatus[] = ['pending', 'plan_queued', 'apply_queued'];
export const EXECUTING_STATUSES = RUN_STATUSES.filter(isExecuting);

/** Statuses of runs that a person confirms or discards. */
export const CONFIRMABLE_STATUSES = RUN_STATUSES.filter((status) => isActionAllowed(status, 'apply'));
/** Statuses of runs that wait for a decision of another system, such as the override of a policy. */
export const OVERRIDABLE_STATUSES = ['post_plan_awaiting_decision', 'policy_override'] as const satisfies RunStatus[];

/** Values of `filter[status_group]`. */
export const STATUS_GROUPS = {
  final: FINAL_STATUSES,
  non_final: RUN_STATUSES.filter((status) => !isFinal(status)),
  discardable: RUN_STATUSES.filter((status) => isActionAllowed(status, 'discard')),
} as const satisfies Readonly<Record<string, readonly RunStatus[]>>;
