import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeList,
  describeResourceBody,
  timestamp,
} from '#api/json-api/description';
import { ORGANIZATIONS } from '../organizations/organizations.openapi.js';
import { OrganizationTokenTtlPoliciesController } from './organization-token-ttl-policies.controller.js';
import { policiesBody } from './token-ttl-policies.body.js';
import { DEFAULT_MAX_TTLS, LIMITED_TOKENS, MAX_TTL_MS, MIN_TTL_MS } from '../organizations/token-ttl-policy.js';

export const organizationTokenTtlPolicySchema = defineResource({
  name: 'OrganizationTokenTtlPolicy',
  type: 'organization-token-ttl-policies',
  description:
    'The longest lifetime of tokens of one type. It applies while `max-ttl-enabled` of the organization is on.',
  exampleId: 'ttlp-2vNk6TbYx8RzQw4C-organization',
  attributes: {
    'token-type': z.enum(LIMITED_TOKENS),
    'max-ttl-ms': z
      .int()
      .min(MIN_TTL_MS)
      .max(MAX_TTL_MS)
      .meta({ description: 'In milliseconds.', examples: [DEFAULT_MAX_TTLS.organization] }),
    'created-at': timestamp(),
    'updated-at': timestamp(),
  },
});

export const organizationTokenTtlPoliciesOperations = describeController(
  OrganizationTokenTtlPoliciesController,
  { ...ORGANIZATIONS, resource: organizationTokenTtlPolicySchema },
  {
    list: {
      operationId: 'listTokenTtlPolicies',
      summary: 'List the longest lifetimes of the tokens of an organization',
    },
    update: {
      operationId: 'updateTokenTtlPolicies',
      summary: 'Change the longest lifetimes of the tokens of an organization',
      description: 'Types of tokens that the body does not have stay unchanged. The answer lists all types.',
      body: describeResourceBody(policiesBody, {
        'token-ttl-policies': [{ 'token-type': 'team', 'max-ttl-ms': 2_592_000_000 }],
      }),
      answer: describeList('OrganizationTokenTtlPolicy'),
      events: ['OrganizationTokenTtlPoliciesChanged'],
    },
  },
);
