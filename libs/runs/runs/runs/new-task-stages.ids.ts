import { groupByStage, TASK_STAGES, type ConsultedTask } from '#runs/run-tasks/rules';
import { deriveId } from './runs.ids.js';
import type { RunCommand } from './run.js';

type WorkspaceStages = {
  readonly consultedTasks: readonly ConsultedTask[];
  /** Whether the plans of the workspace must pass policies. */
  readonly hasPolicies: boolean;
};

/**
 * Returns the command that gives a new run its stages; none without run tasks and policies. Policies need the stage after the plan
 * from the beginning, because the CLI reads the stages of a run once.
 */
export const createStageCommands = (
  run: string,
  { consultedTasks, hasPolicies }: WorkspaceStages,
): readonly RunCommand[] => {
  const ofTasks = groupByStage(consultedTasks);
  const stages = TASK_STAGES.flatMap((stage) => {
    const tasks = ofTasks.find((one) => one.stage === stage)?.tasks ?? [];
    if (tasks.length === 0 && !(hasPolicies && stage === 'post_plan')) return [];
    return [
      {
        id: deriveId('ts', `${run} ${stage}`),
        stage,
        results: tasks.map((one) => ({ id: deriveId('taskrs', `${run} ${stage} ${one.task}`), ...one })),
      },
    ];
  });
  const requested = new Set(stages.flatMap(({ results }) => results.map(({ task }) => task)));
  const tasks = consultedTasks
    .filter(({ task }) => requested.has(task))
    .map(({ task, taskName, taskUrl, workspaceTask }) => ({ task, taskName, taskUrl, workspaceTask }));
  return stages.length > 0 ? [{ type: 'AddTaskStages', data: { tasks, stages } }] : [];
};
