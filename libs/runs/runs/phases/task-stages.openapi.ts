import { describeController, describePage, pageParameters } from '#api/json-api/description';
import { RUNS } from '../runs/runs.openapi.js';
import { TaskStagesController } from './task-stages.controller.js';

export const taskStagesOperations = describeController(TaskStagesController, RUNS, {
  list: {
    operationId: 'listTaskStages',
    summary: 'List the task stages of a run',
    description: 'The list is always empty, because the server has no run tasks.',
    query: pageParameters(),
    answer: describePage([]),
  },
});
