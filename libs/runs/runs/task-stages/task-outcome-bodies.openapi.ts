import { describeController, describeFile } from '#api/json-api/description';
import { TaskOutcomeBodiesController } from './task-outcome-bodies.controller.js';

export const taskOutcomeBodiesOperations = describeController(
  TaskOutcomeBodiesController,
  { name: 'Task result outcomes', description: 'The details of what the services of run tasks have reported.' },
  {
    show: {
      operationId: 'getTaskResultOutcomeBody',
      summary: 'Show the text of an outcome',
      description: 'Markdown as the service has sent it. Do not trust it: it can contain HTML.',
      answer: describeFile('text/markdown'),
    },
  },
);
