import {
  sql,
  type DataOf,
  type OrganizationDeleted,
  type Projection,
  type RecordedEvent,
  type Sql,
  type WorkspaceDeleted,
} from '#platform/kernel';
import type { RunEvent } from '../runs/run-event.js';
import type { PolicyEvaluationEvent } from './policy-evaluations.events.js';
import type { TaskStageEvent } from './task-stages.events.js';
import { isOpenResult, type NewTaskStage, type TaskResultStatus } from '../task-stages/run-task-stage.js';

type TaskRunOwnerDeleted = OrganizationDeleted | WorkspaceDeleted;

const TABLES = ['task_stages', 'task_results'] as const;

const insertStage = (
  { id, stage, results }: NewTaskStage,
  number: number,
  { workspace, tasks }: DataOf<RunEvent, 'RunTaskStagesCreated'>,
  { stream, organization, time }: RecordedEvent,
): readonly Sql[] => [
  sql`
  insert into task_stages (id, run, workspace, organization, stage, number, status, reached)
  values (${id}, ${stream}, ${workspace}, ${organization}, ${stage}, ${number}, 'pending', ${sql.json({ pending: time })})`,
  sql`
  insert into task_results (id, task_stage, run, workspace, organization, stage, number, task, task_name, task_url,
                            workspace_task, enforcement_level, status, reached, message, url, outcomes)
  select result ->> 'id', ${id}, ${stream}, ${workspace}, ${organization}, ${stage}, (n - 1)::integer, t.task,
         t."taskName", t."taskUrl", t."workspaceTask", result ->> 'enforcementLevel', 'pending',
         ${sql.json({ pending: time })}::jsonb, '', '', '[]'
    from jsonb_array_elements(${sql.json(results)}::jsonb) with ordinality as results (result, n)
    join jsonb_to_recordset(${sql.json(tasks)}::jsonb)
      as t (task text, "taskName" text, "taskUrl" text, "workspaceTask" text) on t.task = result ->> 'task'`,
];

const endResult = (status: TaskResultStatus, time: string, message: Sql): Sql => sql`
  update task_results set status = ${status}, message = ${message}, silent_since = null, started_at = null,
                          reached = reached || ${sql.json({ [status]: time })}::jsonb`;

const setStage = (run: string, status: string, time: string, isConcerned: Sql): Sql => sql`
  update task_stages set status = ${status}, reached = reached || ${sql.json({ [status]: time })}::jsonb
   where run = ${run} and ${isConcerned}`;

/** Creates the stage after the plan, if the run had no policies when it was created. */
const chooseStage = (
  { taskStage, sets, workspace }: DataOf<RunEvent, 'RunPoliciesChosen'>,
  { stream, organization, time }: RecordedEvent,
): Sql | null =>
  sets.length === 0
    ? null
    : sql`
  insert into task_stages (id, run, workspace, organization, stage, number, status, reached)
  select ${taskStage}, ${stream}, ${workspace}, ${organization}, 'post_plan', count(*)::integer, 'pending',
         ${sql.json({ pending: time })}::jsonb
    from task_stages where run = ${stream}
      on conflict (id) do nothing`;

/** The stages of run tasks and policies, and the results of run tasks. */
export const taskStages: Projection<
  | TaskStageEvent
  | Extract<PolicyEvaluationEvent, { type: 'RunPoliciesChosen' }>
  | Extract<RunEvent, { type: 'RunStageReached' }>
  | TaskRunOwnerDeleted
> = {
  name: 'task_stages',
  version: 1,
  tables: TABLES,
  on: {
    RunTaskStagesCreated: (data, event) =>
      data.stages.flatMap((stage, number) => insertStage(stage, number, data, event)),
    RunPoliciesChosen: chooseStage,
    RunStageReached: ({ stage }, { stream, time }) =>
      stage === 'post_plan_awaiting_decision'
        ? setStage(stream, 'awaiting_override', time, sql`status = 'running'`)
        : null,
    RunTaskStageStarted: ({ taskStage }, { time }) => [
      sql`
      update task_stages set status = 'running', reached = reached || ${sql.json({ running: time })}::jsonb
       where id = ${taskStage}`,
      sql`update task_results set started_at = ${time}, silent_since = ${time} where task_stage = ${taskStage}`,
    ],
    RunTaskResultReported: ({ result, status, message, url, outcomes }, { time }) => sql`
      update task_results
         set status = ${status}, message = ${message}, url = ${url}, outcomes = outcomes || ${sql.json(outcomes)}::jsonb,
             reached = reached || ${sql.json({ [status]: time })}::jsonb
             ${isOpenResult(status) ? sql`, silent_since = ${time}` : sql`, silent_since = null, started_at = null`}
       where id = ${result}`,
    RunTaskResultErrored: ({ result, status, message }, { time }) =>
      sql`${endResult(status, time, sql`${message}`)} where id = ${result}`,
    RunTaskStageEnded: ({ taskStage, status }, { time }) => [
      sql`
      update task_stages set status = ${status}, reached = reached || ${sql.json({ [status]: time })}::jsonb
       where id = ${taskStage}`,
      ...(status === 'canceled'
        ? [
            sql`${endResult('canceled', time, sql.raw('message'))}
                 where task_stage = ${taskStage} and status in ('pending', 'running')`,
          ]
        : []),
    ],
    WorkspaceDeleted: (_, { stream }) =>
      TABLES.map((table) => sql`delete from ${sql.raw(table)} where workspace = ${stream}`),
    OrganizationDeleted: (_, { stream }) =>
      TABLES.map((table) => sql`delete from ${sql.raw(table)} where organization = ${stream}`),
  },
};

const DATA_TABLES = ['runs.task_requests', 'runs.task_outcome_bodies'] as const;

/** Deletes what is not in the log. It has no tables, because these are no views. */
export const taskData: Projection<TaskRunOwnerDeleted | Extract<RunEvent, { type: 'RunDataDeleted' }>> = {
  name: 'task_data',
  tables: [],
  on: {
    RunDataDeleted: (_, { stream }) => sql`delete from runs.task_outcome_bodies where run = ${stream}`,
    WorkspaceDeleted: (_, { stream }) =>
      DATA_TABLES.map((table) => sql`delete from ${sql.raw(table)} where workspace = ${stream}`),
    OrganizationDeleted: (_, { stream }) =>
      DATA_TABLES.map((table) => sql`delete from ${sql.raw(table)} where organization = ${stream}`),
  },
};
