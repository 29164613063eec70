import { z } from 'zod';
import {
  always,
  defineResource,
  describeController,
  exampleText,
  pageParameters,
  parameter,
  related,
} from '#api/json-api/description';
import { ENFORCEMENT_LEVELS } from '#runs/run-tasks/rules';
import { resultCount } from './policy-evaluations.openapi.js';
import { OUTCOME_FILTERS, PolicySetOutcomesController } from './policy-set-outcomes.controller.js';
import { POLICY_RESULTS } from './run-policies.js';

const FILTERS = Object.fromEntries(
  OUTCOME_FILTERS.map((name) => [
    name,
    parameter.text('Only outcomes with a policy that meets all members of one condition. Conditions have numbers.'),
  ]),
);

const outcome = z.object({
  policy_name: z.string(),
  description: z.string(),
  enforcement_level: z.enum(ENFORCEMENT_LEVELS),
  query: z.string(),
  status: z.enum(POLICY_RESULTS),
  output: z.array(z.object({ print: z.string() })),
});

export const policySetOutcomeSchema = defineResource({
  name: 'PolicySetOutcome',
  type: 'policy-set-outcomes',
  noun: 'policy set outcome',
  description: 'The results of the policies of one policy set.',
  exampleId: 'psout-2c26b46b68ffc68f',
  attributes: {
    error: always(''),
    outcomes: z.array(outcome).meta({
      description:
        'Empty until the policies are evaluated. `output` can contain sensitive values of the plan in another form. It is empty if the caller can neither read the JSON output of plans (admin access to the workspace) nor override policies, and if the logs of the run were deleted.',
      examples: [
        [
          {
            policy_name: 'buckets',
            description: '',
            enforcement_level: 'mandatory',
            query: 'data.terraform.policies.buckets.deny',
            status: 'failed',
            output: [{ print: '["The bucket logs is public"]' }],
          },
        ],
      ],
    }),
    overridable: z.boolean().meta({ examples: [true] }),
    'policy-set-description': exampleText('Rules of the security team'),
    'policy-set-name': exampleText('security'),
    'policy-tool-version': exampleText('1.19.1'),
    'result-count': resultCount,
    result_count: resultCount.meta({ description: 'The same under the name that go-tfe reads.' }),
    warnings: z.array(z.string()).meta({ examples: [[]] }),
  },
  relationships: { 'policy-evaluation': related.always('policy-evaluations') },
  hasSelfLink: true,
});

export const policySetOutcomesOperations = describeController(
  PolicySetOutcomesController,
  {
    name: 'Policy set outcomes',
    description: 'The results of the policies of policy sets.',
    resource: policySetOutcomeSchema,
  },
  {
    list: {
      summary: 'List the outcomes of a policy evaluation',
      description: 'One for each policy set.',
      query: { ...pageParameters(), ...FILTERS },
    },
    show: {},
  },
);
