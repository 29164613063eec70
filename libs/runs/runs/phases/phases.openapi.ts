import { z } from 'zod';
import {
  always,
  count,
  defineResource,
  describeController,
  related,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { EXECUTION_MODES } from '#platform/kernel';
import { AppliesController } from './applies.controller.js';
import { PHASE_STATUSES } from '../runs/phases.js';
import { PlansController } from './plans.controller.js';

const phaseAttributes = {
  'execution-details': z.strictObject({
    mode: z.enum(EXECUTION_MODES).meta({ description: 'The execution mode of the workspace.', examples: ['remote'] }),
    'agent-id': z.string().optional().meta({ description: 'The executor. Present after it has claimed the phase.' }),
    'agent-name': z.string().nullable().optional(),
    'agent-pool-id': z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'Present in the mode `agent`, and after an executor has claimed the phase.' }),
  }),
  'log-read-url': z.string().meta({
    format: 'uri-reference',
    description:
      'The signed address of the log, which is valid for a day and needs no token. Clients read it in parts, with `offset` and `limit`.',
    examples: ['https://localhost:8443/api/v2/logs/WyJwbGFuLTZtS2Q5VHpQcTNYdkxjQjgi.bWFj'],
  }),
  'resource-additions': count(),
  'resource-changes': count(),
  'resource-destructions': count(),
  'resource-imports': count(),
  status: z.enum(PHASE_STATUSES).meta({ examples: ['running'] }),
  'status-timestamps': z
    .strictObject({
      'queued-at': timestamp().optional(),
      'started-at': timestamp().optional(),
      'finished-at': timestamp().optional(),
      'errored-at': timestamp().optional(),
      'canceled-at': timestamp().optional(),
      'force-canceled-at': timestamp().optional(),
    })
    .meta({ examples: [{ 'queued-at': '2026-01-31T12:30:15.123Z', 'started-at': '2026-01-31T12:30:16.456Z' }] }),
};

export const planSchema = defineResource({
  name: 'Plan',
  type: 'plans',
  description: 'The plan of a run: its status and the numbers of changes.',
  exampleId: 'plan-6mKd9TzPq3XvLcB8',
  attributes: {
    ...phaseAttributes,
    'generated-configuration': always(false),
    'has-changes': z.boolean(),
    'structured-run-output-enabled': z.boolean().meta({
      description: 'Whether the executor should write the log as JSON lines: the setting of the workspace.',
    }),
  },
  relationships: { exports: related.empty('plan-exports'), 'state-versions': related.empty('state-versions') },
  links: {
    self: serverPath('/api/v2/plans/plan-6mKd9TzPq3XvLcB8'),
    'json-output': serverPath('/api/v2/plans/plan-6mKd9TzPq3XvLcB8/json-output'),
  },
});

export const applySchema = defineResource({
  name: 'Apply',
  type: 'applies',
  description: 'The apply of a run: its status and the numbers of changes.',
  exampleId: 'apply-6mKd9TzPq3XvLcB8',
  attributes: phaseAttributes,
  relationships: { 'state-versions': related.empty('state-versions') },
  links: {
    self: serverPath('/api/v2/applies/apply-6mKd9TzPq3XvLcB8'),
    'errored-state': serverPath('/api/v2/applies/apply-6mKd9TzPq3XvLcB8/errored-state').optional(),
  },
});

export const PLANS = { name: 'Plans', description: 'The plans of runs.', resource: planSchema };

export const plansOperations = describeController(PlansController, PLANS, {
  show: {},
  showByRun: { operationId: 'getPlanOfRun', summary: 'Show the plan of a run' },
});

export const APPLIES = { name: 'Applies', description: 'The applies of runs.', resource: applySchema };

export const appliesOperations = describeController(AppliesController, APPLIES, {
  show: {},
  showByRun: { operationId: 'getApplyOfRun', summary: 'Show the apply of a run' },
});
