import type { EnforcementLevel, TaskStageName } from '#runs/run-tasks/rules';

/** A run task of a run, as it was when the run was created. */
export type TaskOfRun = {
  readonly task: string;
  readonly taskName: string;
  readonly taskUrl: string;
  /** Null for a task of all workspaces. */
  readonly workspaceTask: string | null;
};

/** What a stage expects of a task. */
type NewTaskResult = {
  /** `taskrs-…` */
  readonly id: string;
  readonly task: string;
  readonly enforcementLevel: EnforcementLevel;
};

export type NewTaskStage = {
  /** `ts-…` */
  readonly id: string;
  readonly stage: TaskStageName;
  readonly results: readonly NewTaskResult[];
};

/** What a service can report. */
export const REPORTED_RESULTS = ['running', 'passed', 'failed'] as const;
export type ReportedResult = (typeof REPORTED_RESULTS)[number];

/** How a result ends without a report: its service has been silent, or could not be reached. */
export const ERRORED_RESULTS = ['errored', 'unreachable'] as const;
export type ErroredResult = (typeof ERRORED_RESULTS)[number];

export const RESULT_STATUSES = ['pending', ...REPORTED_RESULTS, 'errored', 'canceled'] as const;
export type TaskResultStatus = (typeof RESULT_STATUSES)[number] | ErroredResult;

export const STAGE_ENDS = ['passed', 'failed', 'errored', 'canceled'] as const;
export type StageEnd = (typeof STAGE_ENDS)[number];

type StageResult = NewTaskResult & {
  readonly status: TaskResultStatus;
  /** The number of reports and of outcomes until now. */
  readonly reports: number;
  readonly outcomes: number;
};

/** The log contains every report. */
export const MAX_REPORTS = 100;
export const MAX_OUTCOMES = 100;

/** The tasks that a run consults at one point, and their results. Clients of the API call it a task stage. */
export type TaskStage = {
  readonly id: string;
  readonly stage: TaskStageName;
  /** `awaiting_override`: mandatory policies have failed, and a person decides. */
  readonly status: 'pending' | 'running' | 'awaiting_override' | StageEnd;
  readonly results: readonly StageResult[];
};

export const isOpenResult = (status: TaskResultStatus): boolean => status === 'pending' || status === 'running';

export const createStage = ({ id, stage, results }: NewTaskStage): TaskStage => ({
  id,
  stage,
  status: 'pending',
  results: results.map((result) => ({ ...result, status: 'pending', reports: 0, outcomes: 0 })),
});

type ConcludedStage =
  { readonly status: 'passed' } | { readonly status: 'failed' | 'errored'; readonly message: string };

const PHRASES: Partial<Readonly<Record<TaskResultStatus, string>>> = {
  failed: 'failed',
  errored: 'ended without a result',
  unreachable: 'could not be reached',
};

/**
 * Returns how a stage ends: null while a result is open. Only mandatory tasks decide. A failure counts more than a result that
 * is missing.
 */
export const concludeStage = ({ results }: TaskStage, tasks: readonly TaskOfRun[]): ConcludedStage | null => {
  if (results.some(({ status }) => isOpenResult(status))) return null;
  const refused = results.filter(
    ({ enforcementLevel, status }) => enforcementLevel === 'mandatory' && status !== 'passed',
  );
  const decisive = refused.find(({ status }) => status === 'failed') ?? refused[0];
  if (!decisive) return { status: 'passed' };
  const name = tasks.find(({ task }) => task === decisive.task)?.taskName ?? decisive.task;
  return {
    status: decisive.status === 'failed' ? 'failed' : 'errored',
    message: `The mandatory run task ${name} ${PHRASES[decisive.status] ?? decisive.status}`,
  };
};

const addReport = (result: StageResult, status: TaskResultStatus, outcomes: number | null): StageResult => ({
  ...result,
  status,
  reports: result.reports + (outcomes === null ? 0 : 1),
  outcomes: result.outcomes + (outcomes ?? 0),
});

/** Returns the stages with another status of one result. `outcomes` is null if no service has reported it. */
export const setResult = (
  stages: readonly TaskStage[],
  result: string,
  status: TaskResultStatus,
  outcomes: number | null,
): readonly TaskStage[] =>
  stages.map((stage) => ({
    ...stage,
    results: stage.results.map((one) => (one.id === result ? addReport(one, status, outcomes) : one)),
  }));

/** Returns the stages after one of them has begun or ended. The end of a canceled stage cancels its open results. */
export const setStage = (stages: readonly TaskStage[], id: string, status: TaskStage['status']): readonly TaskStage[] =>
  stages.map((stage) =>
    stage.id === id
      ? {
          ...stage,
          status,
          results: stage.results.map((one) =>
            status === 'canceled' && isOpenResult(one.status) ? { ...one, status } : one,
          ),
        }
      : stage,
  );

export const OUTCOME_LEVELS = ['none', 'info', 'warning', 'error'] as const;

/** What a service says in detail about its result. */
export type TaskOutcome = {
  /** `tro-…` */
  readonly id: string;
  /** The identifier that the service has given it. */
  readonly outcomeId: string;
  readonly description: string;
  readonly url: string | null;
  /** Whether it has a text in Markdown, which no event contains. */
  readonly hasBody: boolean;
  readonly tags: Readonly<
    Record<string, readonly { readonly label: string; readonly level: (typeof OUTCOME_LEVELS)[number] }[]>
  >;
};
