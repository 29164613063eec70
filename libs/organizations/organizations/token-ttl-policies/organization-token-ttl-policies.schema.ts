import { z } from 'zod';
import { defineResource, timestamp } from '#api/json-api/description';
import { DEFAULT_MAX_TTLS, LIMITED_TOKENS, MAX_TTL_MS, MIN_TTL_MS } from './token-ttl-policy.js';

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
