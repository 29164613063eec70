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
import { ENFORCEMENT_LEVELS } from '#runs/run-tasks/rules';
import { createPolicyBody, PoliciesController, updatePolicyBody } from './policies.controller.js';

export const policySchema = defineResource({
  name: 'Policy',
  type: 'policies',
  noun: 'policy',
  description: 'A rule in Rego about plans. The policy sets that contain it apply it to workspaces.',
  exampleId: 'pol-u3S5p2Uwk21keu1s',
  attributes: {
    description: exampleText('No bucket is public'),
    enforce: z
      .array(z.object({ path: z.string(), mode: z.enum(ENFORCEMENT_LEVELS) }))
      .meta({ description: 'For earlier clients.', examples: [[{ path: 'buckets.rego', mode: 'mandatory' }]] }),
    'enforcement-level': z.enum(ENFORCEMENT_LEVELS).meta({
      description: 'A mandatory policy that does not pass ends the run, or makes it wait for an override.',
      examples: ['mandatory'],
    }),
    kind: always('opa'),
    name: exampleText('buckets'),
    'policy-set-count': z.int().meta({ examples: [1] }),
    query: exampleText('data.terraform.policies.buckets.deny', 'A policy passes if its result is an empty list.'),
    'updated-at': z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When its text was uploaded last.', examples: ['2026-11-29T12:00:00.000Z'] }),
  },
  relationships: { organization: related.one('organizations'), 'policy-sets': related.many('policy-sets') },
  links: {
    self: exampleText('/api/v2/policies/pol-u3S5p2Uwk21keu1s'),
    upload: exampleText('/api/v2/policies/pol-u3S5p2Uwk21keu1s/upload'),
    download: exampleText('/api/v2/policies/pol-u3S5p2Uwk21keu1s/download'),
  },
});

export const policiesOperations = describeController(
  PoliciesController,
  { name: 'Policies', description: 'Rules about the plans of an organization.', resource: policySchema },
  {
    list: { query: pageParameters() },
    create: {
      description: 'The policy has no text until you upload one. `kind` must be `opa`.',
      body: describeResourceBody(createPolicyBody, {
        name: 'buckets',
        kind: 'opa',
        query: 'data.terraform.policies.buckets.deny',
        'enforcement-level': 'mandatory',
      }),
    },
    show: {},
    update: {
      description: 'Its name cannot be changed.',
      body: describeResourceBody(updatePolicyBody, { 'enforcement-level': 'advisory' }),
      events: ['PolicyUpdated'],
    },
    destroy: { description: 'Policy sets lose the policy.' },
  },
);
