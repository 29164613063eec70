import { z } from 'zod';
import {
  omitUndefined,
  ignoredMember,
  unsupportedMember,
  resourceBody,
  text,
  toOneInput,
  parseToOne,
} from '#api/json-api';
import type { OrganizationChanges } from './organization.js';
import { ORGANIZATION_SETTINGS } from './organization-settings.js';

const NO_STACKS = 'stacks are not built, so nothing would run on the pool';
const READ_ONLY = 'is read-only: clients send back what they have read';
const RETENTION_ELSEWHERE = 'has its own endpoint, `/organizations/:organization/relationships/data-retention-policy`';

const settings = {
  ...ORGANIZATION_SETTINGS.body,
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
  'global-provider-sharing': unsupportedMember('providers belong to one organization'),
  'recoverable-items-enabled': unsupportedMember('deleted resources cannot be restored'),
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

export const toOrganizationChanges = ({
  attributes,
  relationships: related,
}: OrganizationUpdateData): OrganizationChanges => {
  const { name, email: address, 'default-agent-pool-id': id } = attributes;
  const defaultAgentPool = parseToOne(related?.['default-agent-pool'], id);
  return {
    ...omitUndefined({ name, email: address }),
    ...ORGANIZATION_SETTINGS.read(attributes),
    ...omitUndefined({ defaultAgentPool }),
  };
};
