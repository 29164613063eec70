import { groupByStage, type ConsultedTask } from '#runs/run-tasks/rules';
import { deriveId } from './runs.ids.js';
import type { RunCommand } from './run.js';

/** Returns the command that gives a new run its stages; none without run tasks. */
export const createStageCommands = (run: string, consulted: readonly ConsultedTask[]): readonly RunCommand[] => {
  const stages = groupByStage(consulted).map(({ stage, tasks }) => ({
    id: deriveId('ts', `${run} ${stage}`),
    stage,
    results: tasks.map((one) => ({ id: deriveId('taskrs', `${run} ${stage} ${one.task}`), ...one })),
  }));
  const requested = new Set(stages.flatMap(({ results }) => results.map(({ task }) => task)));
  const tasks = consulted
    .filter(({ task }) => requested.has(task))
    .map(({ task, taskName, taskUrl, workspaceTask }) => ({ task, taskName, taskUrl, workspaceTask }));
  return stages.length > 0 ? [{ type: 'AddTaskStages', data: { tasks, stages } }] : [];
};
