import { TASK_STAGES, type EnforcementLevel, type TaskStageName } from './task-stages.js';

/** A way in which a task belongs to a workspace: attached to it, or as a task of all workspaces. */
type TaskAssignment = { readonly stages: readonly TaskStageName[]; readonly enforcementLevel: EnforcementLevel };

/** An enabled task that the runs of a workspace consult. At least one of the assignments is not null. */
export type ConsultedTask = {
  readonly task: string;
  readonly taskName: string;
  readonly taskUrl: string;
  /** Id of the workspace task; null for a task of all workspaces only. */
  readonly workspaceTask: string | null;
  readonly attached: TaskAssignment | null;
  readonly global: TaskAssignment | null;
};

type StageOfTasks = {
  readonly stage: TaskStageName;
  /** The ids of its tasks, with what a failure means. */
  readonly tasks: readonly { readonly task: string; readonly enforcementLevel: EnforcementLevel }[];
};

/** Returns the level of the task in the stage; null outside its stages. A workspace cannot weaken a task of all workspaces. */
const findLevel = ({ attached, global }: ConsultedTask, stage: TaskStageName): EnforcementLevel | null => {
  const levels = [attached, global].flatMap((one) => (one?.stages.includes(stage) ? [one.enforcementLevel] : []));
  return levels.includes('mandatory') ? 'mandatory' : (levels[0] ?? null);
};

/** Returns the stages with tasks, in the order of a run. */
export const groupByStage = (tasks: readonly ConsultedTask[]): readonly StageOfTasks[] =>
  TASK_STAGES.flatMap((stage) => {
    const ofStage = tasks.flatMap((task) => {
      const enforcementLevel = findLevel(task, stage);
      return enforcementLevel === null ? [] : [{ task: task.task, enforcementLevel }];
    });
    return ofStage.length > 0 ? [{ stage, tasks: ofStage }] : [];
  });
