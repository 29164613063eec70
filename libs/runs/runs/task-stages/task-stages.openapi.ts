import { z } from 'zod';
import { defineResource, describeController, describePage, pageParameters, related } from '#api/json-api/description';
import { TASK_STAGES } from '#runs/run-tasks/rules';
import { statusTimestamps } from '../policy-evaluations/policy-evaluations.openapi.js';
import { TASK_STAGE_INCLUDES, TaskStagesController } from './task-stages.controller.js';
import { TASK_STAGE_STATUSES } from './task-stages.queries.js';

export const taskStageSchema = defineResource({
  name: 'TaskStage',
  type: 'task-stages',
  noun: 'task stage',
  description: 'A point of a run at which the services of run tasks and policies decide whether the run continues.',
  exampleId: 'ts-9f86d081884c7d65',
  attributes: {
    actions: z.object({ 'is-overridable': z.boolean() }).meta({ examples: [{ 'is-overridable': false }] }),
    permissions: z
      .object({ 'can-override': z.boolean(), 'can-override-policy': z.boolean(), 'can-override-tasks': z.boolean() })
      .meta({ examples: [{ 'can-override': false, 'can-override-policy': false, 'can-override-tasks': false }] }),
    stage: z.enum(TASK_STAGES).meta({ examples: ['post_plan'] }),
    status: z
      .enum(TASK_STAGE_STATUSES)
      .meta({ description: 'A run that has ended before a stage makes it `unreachable`.', examples: ['running'] }),
    'status-timestamps': statusTimestamps,
  },
  relationships: {
    'policy-evaluations': related.many('policy-evaluations'),
    run: related.always('runs'),
    'task-results': related.many('task-results'),
  },
  hasSelfLink: true,
});

const include = { values: TASK_STAGE_INCLUDES, resources: ['TaskResult', 'PolicyEvaluation'] };

export const taskStagesOperations = describeController(
  TaskStagesController,
  {
    name: 'Task stages',
    description:
      'The points of a run at which the services of run tasks and policies decide whether the run continues.',
    resource: taskStageSchema,
    include,
  },
  {
    list: {
      summary: 'List the task stages of a run',
      description: 'In the order of the run. The list is empty if the run has no run tasks and no policies.',
      query: pageParameters(),
      include,
      answer: describePage(['TaskStage'], { included: include.resources }),
    },
    show: {},
  },
);
