import { z } from 'zod';
import { given, resourceBody, text, toOneInput, toOneOf, valuesOf } from '#json-api';
import { EXECUTION_MODES } from './default-pool.js';
import type { OrganizationChanges } from './organization.js';

const minutes = z.int().positive({ error: 'must be at least one minute' });

const settings = {
  'collaborator-auth-policy': z.enum(['password', 'two_factor_mandatory']).optional(),
  'cost-estimation-enabled': z.boolean().optional(),
  'assessments-enforced': z.boolean().optional(),
  'allow-force-delete-workspaces': z.boolean().optional(),
  'send-passing-statuses-for-untriggered-speculative-plans': z.boolean().optional(),
  'aggregated-commit-status-enabled': z.boolean().optional(),
  'speculative-plan-management-enabled': z.boolean().optional(),
  'owners-team-saml-role-id': text(255).nullish(),
  'session-timeout': minutes.nullish(),
  'session-remember': minutes.nullish(),
  'default-execution-mode': z.enum(EXECUTION_MODES).optional(),
  'default-agent-pool-id': text(255).nullish(),
  'user-tokens-enabled': z.boolean().optional(),
  'public-provider-curation-enabled': z.boolean().optional(),
};
const email = text(255);

const relationships = z.object({ 'default-agent-pool': toOneInput }).optional();

export const createBody = resourceBody(
  'organizations',
  z.object({ name: z.string(), email, ...settings }),
  relationships,
);
export const updateBody = resourceBody(
  'organizations',
  z.object({ name: z.string().optional(), email: email.optional(), ...settings }).default({}),
  relationships,
);

type Resource = z.infer<typeof updateBody>['data'];

/** What a request changes, in our names. */
export const changesOf = ({ attributes, relationships: related }: Resource): OrganizationChanges => {
  const { 'default-agent-pool-id': id, ...values } = attributes;
  return { ...valuesOf(values), ...given({ defaultAgentPool: toOneOf(related?.['default-agent-pool'], id) }) };
};
