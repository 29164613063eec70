import { z } from 'zod';

/** The points of a run at which tasks are requested, in the order of a run. */
export const TASK_STAGES = ['pre_plan', 'post_plan', 'pre_apply', 'post_apply'] as const;
export type TaskStageName = (typeof TASK_STAGES)[number];

/** Whether a failure ends the run, or is only shown. */
export const ENFORCEMENT_LEVELS = ['advisory', 'mandatory'] as const;
export type EnforcementLevel = (typeof ENFORCEMENT_LEVELS)[number];

export const DEFAULT_STAGES: readonly TaskStageName[] = ['post_plan'];

/** Returns the stages in the order of a run and each once, so that another order is no change. */
export const sortStages = (stages: readonly TaskStageName[]): TaskStageName[] =>
  TASK_STAGES.filter((stage) => stages.includes(stage));

export const stageList = z.array(z.enum(TASK_STAGES));
export const enforcementLevel = z.enum(ENFORCEMENT_LEVELS);
