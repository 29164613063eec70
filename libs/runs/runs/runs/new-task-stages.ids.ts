import { groupByStage, type ConsultedTask } from '#runs/run-tasks/rules';
import { deriveId } from './runs.ids.js';
import type { RunCommand } from './run.js';

/** Returns the command that gives a new run its stages; none without run tasks. */
export const createStageCommands = (run: string, consulted: readonly ConsultedTask[]): readonly RunCommand[] => {
  const stages = groupByStage(consulted).map(({ stage, tasks }) => ({
    id: deriveId('ts', `${run} ${stage}`),
    stage,
    tasks: tasks.map((task) => ({ id: deriveId('taskrs', `${run} ${stage} ${task.task}`), ...task })),
  }));
  return stages.length > 0 ? [{ type: 'AddTaskStages', data: { stages } }] : [];
};
