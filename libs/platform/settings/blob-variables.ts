import { z } from 'zod';
import { isEndpoint, matchingSchema, oneOfSchema } from './variable-schemas.js';
import { defineVariable } from './variable.js';

/** Settings of the store for states, configurations and published files. */
export const blobVariables = {
  CADASTRE_BLOBS: defineVariable(
    'CADASTRE_DATA/blobs',
    'folder for states and configurations, encrypted, and for provider releases',
    z.string().exactOptional(),
  ),
  CADASTRE_S3_BUCKET: defineVariable(
    '–',
    'bucket for these files instead of a folder; credentials come from the places of the AWS tools (AWS_ACCESS_KEY_ID, …)',
    z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/,
        'must be 3 to 63 letters, digits, dots, hyphens and underscores',
      )
      .exactOptional(),
  ),
  CADASTRE_S3_ENDPOINT: defineVariable(
    "Amazon's",
    'address of another store with the S3 protocol',
    matchingSchema(
      isEndpoint,
      'must be http:// or https:// with a host, without user, password or query',
    ).exactOptional(),
  ),
  CADASTRE_S3_REGION: defineVariable(
    'AWS_REGION, with an endpoint us-east-1',
    'region of the bucket',
    z
      .string()
      .regex(/^[A-Za-z0-9-]{1,63}$/, 'must be letters, digits and hyphens')
      .exactOptional(),
  ),
  CADASTRE_S3_PREFIX: defineVariable(
    '–',
    'prefix of the keys of all objects, such as cadastre or team/cadastre',
    z
      .string()
      .regex(
        /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*\/?$/,
        'must be names of letters, digits, dots, underscores and hyphens, joined by slashes',
      )
      .transform((text) => text.replace(/\/$/, ''))
      .exactOptional(),
  ),
  CADASTRE_S3_PATH_STYLE: defineVariable(
    'false',
    'true: addresses contain the bucket in the path, not in the host; many stores other than Amazon need this',
    oneOfSchema(['true', 'false'], 'false').transform((text) => text === 'true'),
  ),
} as const;
