import { z } from 'zod';
import { blobVariables } from './blob-variables.js';
import { defineSecretVariable, oneOfSchema } from './variable-schemas.js';
import { defineVariable } from './variable.js';

const MAX_LOCK_DAYS = 36_500;

const isLockDays = (text: string): boolean =>
  text === 'off' || (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_LOCK_DAYS);

/** Settings of the bucket to which the audit trails of organizations are delivered. */
export const auditArchiveVariables = {
  CADASTRE_AUDIT_ARCHIVE_BUCKET: defineVariable(
    '–',
    'bucket to which the audit trails of all organizations are delivered, with what proves them, without personal values',
    blobVariables.CADASTRE_S3_BUCKET.schema,
  ),
  CADASTRE_AUDIT_ARCHIVE_LOCK_DAYS: defineVariable(
    '365',
    'days for which nobody can delete a delivered object (Object Lock in compliance mode); off for stores without Object Lock',
    z
      .string()
      .refine(isLockDays, `must be a whole number from 1 to ${MAX_LOCK_DAYS}, or off`)
      .default('365')
      .transform((text) => (text === 'off' ? null : Number(text))),
  ),
  CADASTRE_AUDIT_ARCHIVE_ENDPOINT: defineVariable(
    "Amazon's",
    'address of another store with the S3 protocol',
    blobVariables.CADASTRE_S3_ENDPOINT.schema,
  ),
  CADASTRE_AUDIT_ARCHIVE_REGION: defineVariable(
    'AWS_REGION, with an endpoint us-east-1',
    'region of the archive',
    blobVariables.CADASTRE_S3_REGION.schema,
  ),
  CADASTRE_AUDIT_ARCHIVE_PREFIX: defineVariable(
    '–',
    'prefix of the keys of all objects in the archive',
    blobVariables.CADASTRE_S3_PREFIX.schema,
  ),
  CADASTRE_AUDIT_ARCHIVE_PATH_STYLE: defineVariable(
    'false',
    'true: addresses contain the bucket in the path, not in the host',
    oneOfSchema(['true', 'false'], 'false').transform((text) => text === 'true'),
  ),
  CADASTRE_AUDIT_ARCHIVE_ACCESS_KEY_ID: defineVariable(
    '–',
    'access key for the archive; without it, credentials come from the places of the AWS tools, as for CADASTRE_S3_BUCKET',
    z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 characters without spaces')
      .exactOptional(),
  ),
  CADASTRE_AUDIT_ARCHIVE_SECRET_ACCESS_KEY: defineSecretVariable(
    '–',
    'secret key that belongs to CADASTRE_AUDIT_ARCHIVE_ACCESS_KEY_ID',
    z.string().min(1).exactOptional(),
  ),
} as const;
