import { z } from 'zod';
import {
  always,
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  pageParameters,
  related,
} from '#api/json-api/description';
import { createRunTaskBody, TasksController, updateRunTaskBody } from './tasks.controller.js';
import { ENFORCEMENT_LEVELS, TASK_STAGES } from './task-stages.js';
import { RUN_TASK_INCLUDES } from './workspace-tasks.related.js';

export const runTaskSchema = defineResource({
  name: 'RunTask',
  type: 'tasks',
  noun: 'run task',
  description: 'A service that the runs of an organization consult. No response contains the key of its requests.',
  exampleId: 'task-7oD7doVTQdAFnMLV',
  attributes: {
    category: always('task'),
    description: exampleText('Scans plans for open ports'),
    enabled: z.boolean().meta({ description: 'Runs skip a task that is off.', examples: [true] }),
    'global-configuration': z
      .object({
        enabled: z.boolean().meta({ description: 'Whether the task belongs to every workspace.' }),
        stages: z.array(z.enum(TASK_STAGES)),
        'enforcement-level': z.enum(ENFORCEMENT_LEVELS),
      })
      .meta({ examples: [{ enabled: false, stages: [], 'enforcement-level': 'advisory' }] }),
    'hmac-key': always(null),
    name: exampleText('scanner'),
    url: exampleText('https://scanner.example.com/terraform'),
  },
  relationships: {
    'agent-pool': related.none(),
    organization: related.one('organizations'),
    'workspace-tasks': related.many('workspace-tasks'),
  },
  hasSelfLink: true,
});

const RUN_TASKS = {
  name: 'Run tasks',
  description: 'Services for the runs of an organization.',
  resource: runTaskSchema,
  include: { values: RUN_TASK_INCLUDES, resources: ['WorkspaceTask', 'Workspace'] },
};

const refusals = {
  unprocessable: 'An attribute is not valid, or the service does not answer the test with 200.',
};

export const tasksOperations = describeController(TasksController, RUN_TASKS, {
  list: { query: pageParameters() },
  create: {
    description:
      'The server sends a test to the service, with the access token `test-token`. The service must answer 200. `hmac-key` signs all requests to the service.',
    body: describeResourceBody(createRunTaskBody, {
      name: 'scanner',
      url: 'https://scanner.example.com/terraform',
      'hmac-key': '3f1c0d9a7b5e',
    }),
    refusals,
  },
  show: {},
  update: {
    description:
      'If the URL or the key changes, the server tests the service again. An empty `hmac-key` removes the key.',
    body: describeResourceBody(updateRunTaskBody, { enabled: false }),
    refusals,
  },
  destroy: { description: 'Workspaces lose the task.' },
});
