import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeList,
  exampleText,
  related,
  serverPath,
} from '#api/json-api/description';
import { OUTCOME_LEVELS } from './run-task-stage.js';
import { TaskResultOutcomesController } from './task-result-outcomes.controller.js';

export const taskOutcomeSchema = defineResource({
  name: 'TaskResultOutcome',
  type: 'task-result-outcomes',
  noun: 'outcome of a task result',
  description: 'A detail of a task result.',
  exampleId: 'tro-fcde2b2edba56bf4',
  attributes: {
    description: exampleText('Port 22 is open'),
    'has-body': z.boolean().meta({ description: 'Whether it has a text in Markdown.', examples: [true] }),
    'outcome-id': exampleText('PORT-22', 'The identifier that the service has given it.'),
    tags: z
      .record(z.string(), z.array(z.object({ label: z.string(), level: z.enum(OUTCOME_LEVELS) })))
      .meta({ examples: [{ Severity: [{ label: 'High', level: 'error' }] }] }),
    url: z
      .string()
      .nullable()
      .meta({ examples: ['https://scanner.example.com/findings/22'] }),
  },
  relationships: { 'task-result': related.always('task-results') },
  links: {
    self: serverPath('/api/v2/task-result-outcomes/tro-fcde2b2edba56bf4'),
    body: serverPath('/api/v2/task-result-outcomes/tro-fcde2b2edba56bf4/body')
      .optional()
      .meta({ description: 'Present if it has a text.' }),
  },
});

export const taskResultOutcomesOperations = describeController(
  TaskResultOutcomesController,
  {
    name: 'Task result outcomes',
    description: 'The details of what the services of run tasks have reported.',
    resource: taskOutcomeSchema,
  },
  {
    list: {
      operationId: 'listTaskResultOutcomes',
      summary: 'List the outcomes of a task result',
      description: 'In the order in which the service has reported them.',
      answer: describeList('TaskResultOutcome'),
    },
    show: {},
  },
);
