import { z } from 'zod';
import { fromAttributes, resourceBody, text } from '#api/json-api';
import { CLAIM_LIMITS } from './claim-rules.js';
import { TOKEN_MINUTES, type WorkloadIdentityChanges } from './workload-identity.js';

const { claims: maxClaims, values: maxValues, nameCharacters, valueCharacters } = CLAIM_LIMITS;

const acceptedValues = z
  .array(text(valueCharacters))
  .min(1, { error: 'needs at least one accepted value' })
  .max(maxValues, { error: `too many, at most ${maxValues} accepted values` });

const claims = z
  .record(
    z.string().max(nameCharacters, { error: `a name is too long, at most ${nameCharacters} characters` }),
    acceptedValues,
  )
  .refine((rules) => Object.keys(rules).length <= maxClaims, { error: `Claims: too many, at most ${maxClaims}` });

const issuer = text(255);

const minutesError = { error: `must be a whole number from ${TOKEN_MINUTES.least} to ${TOKEN_MINUTES.most}` };

const settings = {
  description: text(1_000).nullish(),
  /** Null: the public URL of the server. */
  audience: text(255).nullish(),
  'token-minutes': z.int().min(TOKEN_MINUTES.least, minutesError).max(TOKEN_MINUTES.most, minutesError).optional(),
  enabled: z.boolean().optional(),
};

export const createBody = resourceBody(
  'workload-identities',
  z.object({ name: z.string(), issuer, claims, ...settings }),
);
export const updateBody = resourceBody(
  'workload-identities',
  z
    .object({ name: z.string().optional(), issuer: issuer.optional(), claims: claims.optional(), ...settings })
    .default({}),
);

type WorkloadIdentityAttributes = z.infer<typeof updateBody>['data']['attributes'];

/** Returns the settings that a request names. */
export const toSettings = (attributes: WorkloadIdentityAttributes): WorkloadIdentityChanges =>
  fromAttributes(attributes);
