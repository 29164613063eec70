import { z } from 'zod';
import { given, ignored, kept, refused, resourceBody, text, toOneInput, toOneOf, valuesOf } from '#json-api';
import { EXECUTION_MODES } from './default-pool.js';
import type { OrganizationChanges } from './organization.js';

const NO_STACKS = 'stacks are not built';
const READ_ONLY = 'is read-only: clients send back what they have read';
const RETENTION_ELSEWHERE = 'has its own endpoint, `/organizations/:organization/relationships/data-retention-policy`';

const minutes = z.int().positive({ error: 'must be at least one minute' });

const settings = {
  'collaborator-auth-policy': kept(z.enum(['password', 'two_factor_mandatory']).optional()),
  'cost-estimation-enabled': kept(z.boolean().optional()),
  'assessments-enforced': kept(z.boolean().optional()),
  'allow-force-delete-workspaces': z.boolean().optional(),
  'send-passing-statuses-for-untriggered-speculative-plans': kept(z.boolean().optional()),
  'aggregated-commit-status-enabled': kept(z.boolean().optional()),
  'speculative-plan-management-enabled': kept(z.boolean().optional()),
  'owners-team-saml-role-id': kept(text(255).nullish()),
  'session-timeout': kept(minutes.nullish()),
  'session-remember': kept(minutes.nullish()),
  'default-execution-mode': z.enum(EXECUTION_MODES).optional(),
  'default-agent-pool-id': text(255).nullish(),
  'user-tokens-enabled': z.boolean().optional(),
  'public-provider-curation-enabled': z.boolean().optional(),
  'max-ttl-enabled': z.boolean().optional(),
  'data-retention-policy': ignored(RETENTION_ELSEWHERE),
  'data-retention-policy-choice': ignored(RETENTION_ELSEWHERE),
  'default-agent-pool': ignored('use `default-agent-pool-id`, or the relationship of this name'),
  'default-project': ignored(READ_ONLY),
  'external-id': ignored(READ_ONLY),
  'is-unified': ignored(READ_ONLY),
  permissions: ignored(READ_ONLY),
  'remaining-testable-count': ignored(READ_ONLY),
  'saml-enabled': ignored(READ_ONLY),
  'two-factor-conformant': ignored(READ_ONLY),
  'enforce-hyok': refused('encryption with a key of yours is not built'),
  'global-module-sharing': refused('a registry of modules is not built'),
  'global-provider-sharing': refused('providers belong to one organization'),
  'recoverable-items-enabled': refused('deleted resources cannot be restored'),
  'registry-monorepo-support-enabled': refused('a registry of modules is not built'),
  'stacks-default-execution-mode': refused(NO_STACKS),
  'stacks-enabled': refused(NO_STACKS),
};
const email = text(255);

const relationships = z
  .object({ 'default-agent-pool': toOneInput, 'stacks-default-agent-pool': refused(NO_STACKS) })
  .optional();

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
