import { z } from 'zod';
import { defineEvents, type EventKinds } from '#platform/kernel';
import { inWorkspace } from '#api/access/rules';
import { ENFORCEMENT_LEVELS, TASK_STAGES } from '#runs/run-tasks/rules';
import type { RunEvent } from '../runs/run-event.js';
import {
  ERRORED_RESULTS,
  OUTCOME_LEVELS,
  REPORTED_RESULTS,
  STAGE_ENDS,
  type NewTaskStage,
  type TaskOfRun,
  type TaskOutcome,
} from '../task-stages/run-task-stage.js';

export type TaskStageEvent = Extract<
  RunEvent,
  {
    type:
      | 'RunTaskStagesCreated'
      | 'RunTaskStageStarted'
      | 'RunTaskResultReported'
      | 'RunTaskResultErrored'
      | 'RunTaskStageEnded';
  }
>;

const taskOfRun = z.strictObject({
  task: z.string(),
  taskName: z.string(),
  taskUrl: z.string(),
  workspaceTask: z.string().nullable(),
}) satisfies z.ZodType<TaskOfRun>;

const newStage = z.strictObject({
  id: z.string(),
  stage: z.enum(TASK_STAGES),
  results: z.array(z.strictObject({ id: z.string(), task: z.string(), enforcementLevel: z.enum(ENFORCEMENT_LEVELS) })),
}) satisfies z.ZodType<NewTaskStage>;

const outcome = z.strictObject({
  id: z.string(),
  outcomeId: z.string(),
  description: z.string(),
  url: z.string().nullable(),
  hasBody: z.boolean(),
  tags: z.record(z.string(), z.array(z.strictObject({ label: z.string(), level: z.enum(OUTCOME_LEVELS) }))),
}) satisfies z.ZodType<TaskOutcome>;

const taskReport = z.strictObject({
  result: z.string(),
  status: z.enum(REPORTED_RESULTS),
  message: z.string(),
  url: z.string(),
  outcomes: z.array(outcome),
  stage: z.enum(TASK_STAGES),
  task: z.string(),
  taskName: z.string(),
  taskUrl: z.string(),
  workspaceTask: z.string().nullable(),
  enforcementLevel: z.enum(ENFORCEMENT_LEVELS),
  workspace: z.string(),
  reportedRun: z.strictObject({
    workspaceName: z.string(),
    runCreatedAt: z.string(),
    runCreatedBy: z.string(),
    runMessage: z.string(),
    isSpeculative: z.boolean(),
  }),
});

/** The events of the stages of runs. They are in the stream of the run. */
export const taskStageEvents = defineEvents(
  { topic: 'runs', stream: 'run', audited: 'run', live: inWorkspace('runs', 'read-runs') },
  {
    RunTaskStagesCreated: {
      schema: z.strictObject({ workspace: z.string(), tasks: z.array(taskOfRun), stages: z.array(newStage) }),
      audit: { unaudited: 'follows from the creation of the run, which has an entry, and from its run tasks' },
      live: 'changed',
      ids: {
        refersTo: {
          workspace: ['ws'],
          'tasks[].task': ['task'],
          'tasks[].workspaceTask': ['wstask'],
          'stages[].results[].task': ['task'],
        },
        creates: { 'stages[].id': 'ts', 'stages[].results[].id': 'taskrs' },
      },
    },
    RunTaskStageStarted: {
      schema: z.strictObject({ taskStage: z.string() }),
      audit: { unaudited: 'follows automatically from the progress of the run' },
      live: 'changed',
    },
    RunTaskResultReported: {
      schema: taskReport,
      audit: {
        resource: 'task_result',
        action: 'callback',
        id: ({ result }) => result,
        meta: ({ reportedRun, ...report }, { stream }) => ({
          task_result_status: report.status,
          task_result_url: report.url,
          task_result_message: report.message,
          workspace: reportedRun.workspaceName,
          workspace_id: report.workspace,
          run_id: stream,
          run_created_at: reportedRun.runCreatedAt,
          run_created_by: reportedRun.runCreatedBy,
          run_message: reportedRun.runMessage,
          run_is_speculative: reportedRun.isSpeculative,
          workspace_task_id: report.workspaceTask,
          workspace_task_stage: report.stage,
          workspace_task_enforcement: report.enforcementLevel,
          organization_task: report.taskName,
          organization_task_id: report.task,
          organization_task_url: report.taskUrl,
        }),
      },
      live: 'changed',
      ids: {
        refersTo: { workspace: ['ws'], task: ['task'], workspaceTask: ['wstask'] },
        creates: { 'outcomes[].id': 'tro' },
      },
    },
    RunTaskResultErrored: {
      schema: z.strictObject({ result: z.string(), status: z.enum(ERRORED_RESULTS), message: z.string() }),
      audit: { unaudited: 'no caller has done it; the events of the run record it' },
      live: 'changed',
    },
    RunTaskStageEnded: {
      schema: z.strictObject({ taskStage: z.string(), status: z.enum(STAGE_ENDS) }),
      audit: { unaudited: 'follows from its results' },
      live: 'changed',
    },
  },
) satisfies EventKinds<TaskStageEvent>;
