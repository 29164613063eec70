export { groupByStage, type ConsultedTask } from './consulted-tasks.js';
export { TASK_STAGES, ENFORCEMENT_LEVELS, type EnforcementLevel, type TaskStageName } from './task-stages.js';
