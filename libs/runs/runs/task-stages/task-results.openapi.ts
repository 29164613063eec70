import { z } from 'zod';
import { always, defineResource, describeController, exampleText, related } from '#api/json-api/description';
import { ENFORCEMENT_LEVELS, TASK_STAGES } from '#runs/run-tasks/rules';
import { RESULT_STATUSES } from './run-task-stage.js';
import { TaskResultsController } from './task-results.controller.js';
import { statusTimestamps } from '../policy-evaluations/policy-evaluations.openapi.js';

export const taskResultSchema = defineResource({
  name: 'TaskResult',
  type: 'task-results',
  noun: 'task result',
  description: 'What the service of a run task has reported about a run.',
  exampleId: 'taskrs-2c26b46b68ffc68f',
  attributes: {
    'agent-pool-id': always(null),
    'is-speculative': z.boolean().meta({ examples: [false] }),
    message: exampleText('No open ports', 'The message of the service, or the reason why it has no result.'),
    stage: z.enum(TASK_STAGES).meta({ examples: ['post_plan'] }),
    status: z.enum([...RESULT_STATUSES, 'unreachable']).meta({ examples: ['passed'] }),
    'status-timestamps': statusTimestamps,
    'task-id': exampleText('task-7oD7doVTQdAFnMLV'),
    'task-name': exampleText('scanner'),
    'task-url': exampleText('https://scanner.example.com/terraform'),
    url: exampleText('https://scanner.example.com/reports/1', 'The address of a report, or an empty text.'),
    'workspace-task-enforcement-level': z.enum(ENFORCEMENT_LEVELS).meta({ examples: ['mandatory'] }),
    'workspace-task-id': z
      .string()
      .nullable()
      .meta({
        description: 'Null for a task of all workspaces.',
        examples: ['wstask-tBXYu8GVAFBpcmPm'],
      }),
  },
  relationships: {
    'task-result-outcomes': related.many('task-result-outcomes'),
    'task-stage': related.always('task-stages'),
  },
  hasSelfLink: true,
});

export const taskResultsOperations = describeController(
  TaskResultsController,
  {
    name: 'Task results',
    description: 'What the services of run tasks have reported.',
    resource: taskResultSchema,
  },
  {
    show: {},
  },
);
