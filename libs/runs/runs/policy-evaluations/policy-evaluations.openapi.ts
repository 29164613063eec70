import { z } from 'zod';
import { always, defineResource, describeController, pageParameters, related } from '#api/json-api/description';
import { PolicyEvaluationsController } from './policy-evaluations.controller.js';
import { EVALUATION_STATUSES } from './policy-evaluations.queries.js';

export const statusTimestamps = z.record(z.string(), z.iso.datetime()).meta({
  description: 'When it reached each status.',
  examples: [{ 'pending-at': '2026-11-29T12:00:00.000Z', 'running-at': '2026-11-29T12:00:01.000Z' }],
});

const count = z.int();

export const resultCount = z
  .object({ 'advisory-failed': count, 'mandatory-failed': count, passed: count, errored: count })
  .meta({ examples: [{ 'advisory-failed': 0, 'mandatory-failed': 1, passed: 2, errored: 0 }] });

export const policyEvaluationSchema = defineResource({
  name: 'PolicyEvaluation',
  type: 'policy-evaluations',
  noun: 'policy evaluation',
  description: 'The results of all policies of a plan.',
  exampleId: 'poleval-9f86d081884c7d65',
  attributes: {
    'policy-kind': always('opa'),
    'policy-tool-version': z
      .string()
      .nullable()
      .meta({
        description: 'The version of OPA of the first policy set.',
        examples: ['1.19.1'],
      }),
    'result-count': resultCount,
    status: z.enum(EVALUATION_STATUSES).meta({
      description: 'Only mandatory policies decide. A run that has ended before makes it `unreachable`.',
      examples: ['failed'],
    }),
    'status-timestamps': statusTimestamps,
  },
  relationships: {
    'policy-attachable': related.always('task-stages'),
    'policy-set-outcomes': related.many('policy-set-outcomes'),
  },
  hasSelfLink: true,
});

export const policyEvaluationsOperations = describeController(
  PolicyEvaluationsController,
  {
    name: 'Policy evaluations',
    description: 'The results of the policies of plans.',
    resource: policyEvaluationSchema,
  },
  {
    list: {
      summary: 'List the policy evaluations of a task stage',
      description: 'One, or none if no policy set belongs to the workspace.',
      query: pageParameters(),
    },
    show: {},
  },
);
