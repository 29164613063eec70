import { describeController, describeOptionalBody } from '#api/json-api/description';
import { taskStageSchema } from '../task-stages/task-stages.openapi.js';
import { PolicyOverridesController } from './policy-overrides.controller.js';
import { actionBody } from './runs.body.js';

export const policyOverridesOperations = describeController(
  PolicyOverridesController,
  {
    name: 'Task stages',
    description:
      'The points of a run at which the services of run tasks and policies decide whether the run continues.',
    resource: taskStageSchema,
  },
  {
    override: {
      operationId: 'overrideTaskStage',
      summary: 'Override the failed policies of a task stage',
      description:
        'The run continues. Only people can override policies, with the permission to do so, and not those of their own runs, configurations and triggered runs.',
      body: describeOptionalBody(actionBody, { comment: 'Agreed with the security team.' }),
      refusals: { conflict: 'The stage does not wait for an override.' },
    },
  },
);
