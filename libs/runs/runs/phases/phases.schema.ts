import { z } from 'zod';
import { EXECUTION_MODES } from '#platform/kernel';
import { always, count, defineResource, relatedEmpty, serverPath, timestamp } from '#api/json-api/description';
import { PHASE_STATUSES } from './phases.js';

const phaseAttributes = {
  'execution-details': z.strictObject({
    mode: z.enum(EXECUTION_MODES).meta({ description: 'The execution mode of the workspace.', examples: ['remote'] }),
    'agent-pool-id': z.string().nullable().optional().meta({ description: 'Present in the mode `agent`.' }),
  }),
  'log-read-url': always(null),
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
  description: 'The plan of a run: its status and the numbers of changes. Executors keep the plan itself.',
  exampleId: 'plan-6mKd9TzPq3XvLcB8',
  attributes: {
    ...phaseAttributes,
    'generated-configuration': always(false),
    'has-changes': z.boolean(),
  },
  relationships: { exports: relatedEmpty('plan-exports'), 'state-versions': relatedEmpty('state-versions') },
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
  relationships: { 'state-versions': relatedEmpty('state-versions') },
  links: { self: serverPath('/api/v2/applies/apply-6mKd9TzPq3XvLcB8') },
});
