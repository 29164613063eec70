import { EXECUTION_MODES } from '#kernel';
import { z } from 'zod';
import {
  omitUndefined,
  ignoredMember,
  storedOnly,
  unsupportedMember,
  resourceBody,
  text,
  toOneInput,
  parseToOne,
  fromAttributes,
} from '#json-api';
import type { OrganizationChanges } from './organization.js';

const NO_STACKS = 'stacks are not built';
const READ_ONLY = 'is read-only: clients send back what they have read';
const RETENTION_ELSEWHERE = 'has its own endpoint, `/organizations/:organization/relationships/data-retention-policy`';

const minutes = z.int().positive({ error: 'must be at least one minute' });

const settings = {
  'collaborator-auth-policy': storedOnly(z.enum(['password', 'two_factor_mandatory']).optional()),
  'cost-estimation-enabled': storedOnly(z.boolean().optional()),
  'assessments-enforced': storedOnly(z.boolean().optional()),
  'allow-force-delete-workspaces': z.boolean().optional(),
  'send-passing-statuses-for-untriggered-speculative-plans': storedOnly(z.boolean().optional()),
  'aggregated-commit-status-enabled': storedOnly(z.boolean().optional()),
  'speculative-plan-management-enabled': storedOnly(z.boolean().optional()),
  'owners-team-saml-role-id': storedOnly(text(255).nullish()),
  'session-timeout': storedOnly(minutes.nullish()),
  'session-remember': storedOnly(minutes.nullish()),
  'default-execution-mode': z.enum(EXECUTION_MODES).optional(),
  'default-agent-pool-id': text(255).nullish(),
  'user-tokens-enabled': z.boolean().optional(),
  'public-provider-curation-enabled': z.boolean().optional(),
  'max-ttl-enabled': z.boolean().optional(),
  'data-retention-policy': ignoredMember(RETENTION_ELSEWHERE),
  'data-retention-policy-choice': ignoredMember(RETENTION_ELSEWHERE),
  'default-agent-pool': ignoredMember('use `default-agent-pool-id`, or the relationship of this name'),
  'default-project': ignoredMember(READ_ONLY),
  'external-id': ignoredMember(READ_ONLY),
  'is-unified': ignoredMember(READ_ONLY),
  permissions: ignoredMember(READ_ONLY),
  'remaining-testable-count': ignoredMember(READ_ONLY),
  'saml-enabled': ignoredMember(READ_ONLY),
  'two-factor-conformant': ignoredMember(READ_ONLY),
  'enforce-hyok': unsupportedMember('encryption with a key of yours is not built'),
  'global-module-sharing': unsupportedMember('a registry of modules is not built'),
  'global-provider-sharing': unsupportedMember('providers belong to one organization'),
  'recoverable-items-enabled': unsupportedMember('deleted resources cannot be restored'),
  'registry-monorepo-support-enabled': unsupportedMember('a registry of modules is not built'),
  'stacks-default-execution-mode': unsupportedMember(NO_STACKS),
  'stacks-enabled': unsupportedMember(NO_STACKS),
};
const email = text(255);

const relationships = z
  .object({ 'default-agent-pool': toOneInput, 'stacks-default-agent-pool': unsupportedMember(NO_STACKS) })
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

type OrganizationUpdateData = z.infer<typeof updateBody>['data'];

/** What a request changes, in our names. */
export const toOrganizationChanges = ({
  attributes,
  relationships: related,
}: OrganizationUpdateData): OrganizationChanges => {
  const { 'default-agent-pool-id': id, ...values } = attributes;
  return {
    ...fromAttributes(values),
    ...omitUndefined({ defaultAgentPool: parseToOne(related?.['default-agent-pool'], id) }),
  };
};
