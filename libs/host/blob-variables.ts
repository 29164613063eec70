import { z } from 'zod';
import { isEndpoint, matching, oneOf } from './variable-forms.js';
import { variable } from './variable.js';

/** Where states, configurations and published files are stored. */
export const blobVariables = {
  CADASTRE_BLOBS: variable(
    'CADASTRE_DATA/blobs',
    'folder for states and configurations, encrypted, and for what is published',
    z.string().exactOptional(),
  ),
  CADASTRE_S3_BUCKET: variable(
    '–',
    'bucket for the same, in place of a folder; credentials as AWS tools find them (AWS_ACCESS_KEY_ID, …)',
    z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/,
        'must be 3 to 63 letters, digits, dots, hyphens and underscores',
      )
      .exactOptional(),
  ),
  CADASTRE_S3_ENDPOINT: variable(
    "Amazon's",
    'address of another store that speaks S3',
    matching(isEndpoint, 'must be http:// or https:// with a host, without user, password or query').exactOptional(),
  ),
  CADASTRE_S3_REGION: variable(
    'AWS_REGION, with an endpoint us-east-1',
    'region of the bucket',
    z
      .string()
      .regex(/^[A-Za-z0-9-]{1,63}$/, 'must be letters, digits and hyphens')
      .exactOptional(),
  ),
  CADASTRE_S3_PREFIX: variable(
    '–',
    'what the keys of all objects begin with, such as cadastre or team/cadastre',
    z
      .string()
      .regex(
        /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*\/?$/,
        'must be names of letters, digits, dots, underscores and hyphens, joined by slashes',
      )
      .transform((text) => text.replace(/\/$/, ''))
      .exactOptional(),
  ),
  CADASTRE_S3_PATH_STYLE: variable(
    'false',
    'true: addresses name the bucket in their path, not in their host; many stores other than Amazon want it',
    oneOf(['true', 'false'], 'false').transform((text) => text === 'true'),
  ),
} as const;
