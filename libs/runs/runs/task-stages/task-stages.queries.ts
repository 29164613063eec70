import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { Actor } from '#api/access';
import type { EnforcementLevel, TaskStageName } from '#runs/run-tasks/rules';
import type { RunAuthors } from '../policy-evaluations/override-obstacle.js';
import { RUN_AUTHORS } from '../policy-evaluations/run-authors.queries.js';
import { readForRun } from '../run-events/run-contents.queries.js';
import type { TaskOutcome, TaskResultStatus, TaskStage } from './run-task-stage.js';

/** `unreachable`: the run has ended before the stage. */
export const TASK_STAGE_STATUSES = [
  'pending',
  'running',
  'awaiting_override',
  'passed',
  'failed',
  'errored',
  'canceled',
  'unreachable',
] as const satisfies (TaskStage['status'] | 'unreachable')[];

export type TaskStageRow = {
  readonly id: string;
  readonly run: string;
  readonly stage: TaskStageName;
  readonly status: (typeof TASK_STAGE_STATUSES)[number];
  readonly reached: Readonly<Record<string, Timestamp>>;
  readonly results: readonly string[];
  readonly evaluations: readonly string[];
  readonly organization: string;
  readonly authors: RunAuthors;
};

export type TaskResultRow = {
  readonly id: string;
  readonly taskStage: string;
  readonly stage: TaskStageName;
  readonly isSpeculative: boolean;
  readonly task: string;
  readonly taskName: string;
  readonly taskUrl: string;
  readonly workspaceTask: string | null;
  readonly enforcementLevel: EnforcementLevel;
  readonly status: TaskResultStatus;
  readonly reached: Readonly<Record<string, Timestamp>>;
  readonly message: string;
  readonly url: string;
  readonly outcomes: readonly TaskOutcome[];
};

/** Whether the run `r` has ended before the stage `s`: nothing starts the stage any more. */
const IS_LEFT_OUT = sql.raw(`s.status = 'pending' and r.status in (
  'policy_soft_failed', 'planned_and_finished', 'applied', 'discarded', 'errored', 'canceled', 'force_canceled')`);

const STAGE = sql`jsonb_build_object('id', s.id, 'run', s.run, 'stage', s.stage, 'reached', s.reached,
  'status', case when ${IS_LEFT_OUT} then 'unreachable' else s.status end,
  'organization', s.organization, 'authors', ${RUN_AUTHORS},
  'results', array(select t.id from task_results t where t.task_stage = s.id order by t.number),
  'evaluations', array(select e.id from policy_evaluations e where e.task_stage = s.id))`;

/** The position of the stage `s` in a run. */
export const STAGE_ORDER = sql.raw(
  `array_position(array['pre_plan', 'post_plan', 'pre_apply', 'post_apply'], s.stage)`,
);

const RESULT = sql`jsonb_build_object('id', t.id, 'taskStage', t.task_stage, 'stage', t.stage,
  'isSpeculative', (r.options ->> 'planOnly')::boolean, 'task', t.task, 'taskName', t.task_name, 'taskUrl', t.task_url,
  'workspaceTask', t.workspace_task, 'enforcementLevel', t.enforcement_level,
  'status', case when ${IS_LEFT_OUT} then 'unreachable' else t.status end,
  'reached', t.reached, 'message', t.message, 'url', t.url, 'outcomes', t.outcomes)`;

/** Returns all stages of a run, at most one of each kind. */
export const listTaskStages = (database: Database, actor: Actor, run: string): Promise<readonly TaskStageRow[]> =>
  readForRun(
    database,
    actor,
    sql`${run}`,
    sql`(select coalesce(jsonb_agg(${STAGE} order by ${STAGE_ORDER}), '[]') from task_stages s where s.run = r.id)`,
  );

export const findTaskStage = (database: Database, actor: Actor, id: string): Promise<TaskStageRow> =>
  readForRun(
    database,
    actor,
    sql`(select run from task_stages where id = ${id})`,
    sql`(select ${STAGE} from task_stages s where s.id = ${id})`,
  );

const RESULTS = sql.raw('task_results t join task_stages s on s.id = t.task_stage');

export const findTaskResult = (database: Database, actor: Actor, id: string): Promise<TaskResultRow> =>
  readForRun(
    database,
    actor,
    sql`(select run from task_results where id = ${id})`,
    sql`(select ${RESULT} from ${RESULTS} where t.id = ${id})`,
  );

const hasOutcome = (id: string): Sql => sql`outcomes @> ${sql.json([{ id }])}::jsonb`;

/** Returns an outcome, and its encrypted body in base64; null without one. */
export const findTaskOutcome = async (database: Database, actor: Actor, id: string) => {
  const row = await readForRun<{ readonly result: TaskResultRow; readonly body: string | null }>(
    database,
    actor,
    sql`(select run from task_results where ${hasOutcome(id)})`,
    sql`(select jsonb_build_object('result', ${RESULT}, 'body', (
           select encode(b.content, 'base64') from runs.task_outcome_bodies b where b.id = ${id}))
           from ${RESULTS} where t.run = r.id and t.${hasOutcome(id)})`,
  );
  const outcome = row.result.outcomes.find((one) => one.id === id);
  if (!outcome) throw notFound();
  return { result: row.result.id, outcome, encryptedBody: row.body };
};

/** Selects the stages of the given runs. */
export const selectStagesOfRuns = (runs: Sql): Sql => sql`
  select s.id, s.run, s.stage, s.reached, case when ${IS_LEFT_OUT} then 'unreachable' else s.status end as status,
         s.organization, ${RUN_AUTHORS} as authors, array(select t.id from task_results t where t.task_stage = s.id order by t.number) as results,
         array(select e.id from policy_evaluations e where e.task_stage = s.id) as evaluations
    from task_stages s join runs r on r.id = s.run where s.run = any (${runs}) order by s.run, ${STAGE_ORDER}`;

/** Selects the results of the given stages, for callers that may read the stages. */
export const selectResultsOfStages = (stages: readonly string[]): Sql => sql`
  select ${RESULT} as result from ${RESULTS} join runs r on r.id = t.run
   where t.task_stage = any (${stages}::text[]) order by t.stage, t.number`;
