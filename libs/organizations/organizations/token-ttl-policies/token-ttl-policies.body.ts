import { z } from 'zod';
import { resourceBody } from '#api/json-api';
import { MIN_TTL_MS, LIMITED_TOKENS, MAX_TTL_MS, type MaxTokenTtls } from '../organizations/token-ttl-policy.js';

const RANGE = `must be a whole number of milliseconds from ${MIN_TTL_MS} to ${MAX_TTL_MS}`;

const policy = z.object({
  'token-type': z.enum(LIMITED_TOKENS),
  'max-ttl-ms': z
    .number()
    .refine((ms) => Number.isInteger(ms) && ms >= MIN_TTL_MS && ms <= MAX_TTL_MS, { error: `Max ttl ms ${RANGE}` }),
});

const policies = z
  .array(policy)
  .min(1, { error: 'must name at least one policy' })
  .max(LIMITED_TOKENS.length, { error: `must name at most ${LIMITED_TOKENS.length} policies` })
  .refine((items) => new Set(items.map((item) => item['token-type'])).size === items.length, {
    error: 'Token ttl policies must name each token type once',
  });

export const policiesBody = resourceBody(
  'organization-token-ttl-policies',
  // `prefault` validates its value. `default` would skip the validation and accept missing policies.
  z.object({ 'token-ttl-policies': policies }).prefault({} as never),
);

/** Returns the limits that a request names; other limits stay unchanged. */
export const toMaxTtls = ({ attributes }: z.infer<typeof policiesBody>['data']): Partial<MaxTokenTtls> =>
  Object.fromEntries(attributes['token-ttl-policies'].map((item) => [item['token-type'], item['max-ttl-ms']]));
