export {
  SELECT_CONSULTED_TASKS,
  selectTaskHost,
  selectTaskService,
  type ConsultedService,
} from './consulted-tasks.queries.js';
export { runTasksDefinition, RunTasksModule } from './run-tasks.module.js';
export { describeRefusedRequest, TaskSender } from './task.sender.js';
export type { TaskRequest } from './task-request.js';
