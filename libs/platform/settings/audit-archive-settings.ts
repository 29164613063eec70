import type { z } from 'zod';
import { auditArchiveVariables } from './audit-archive-variables.js';
import type { EnvironmentValues } from './secret-files.js';
import type { environment } from './variables.js';

const BUCKET = 'CADASTRE_AUDIT_ARCHIVE_BUCKET';
const KEY_ID = 'CADASTRE_AUDIT_ARCHIVE_ACCESS_KEY_ID';
const SECRET_KEY = 'CADASTRE_AUDIT_ARCHIVE_SECRET_ACCESS_KEY';

/** Returns one line for each setting of the archive that contradicts another one. */
export const findAuditArchiveContradictions = (env: EnvironmentValues): readonly string[] => {
  if (!env[BUCKET])
    return Object.keys(auditArchiveVariables)
      .filter((name) => env[name])
      .map((name) => `${name}: set, but ${BUCKET} is missing`);
  if (env[KEY_ID] && !env[SECRET_KEY]) return [`${SECRET_KEY}: missing, ${KEY_ID} needs it`];
  return env[SECRET_KEY] && !env[KEY_ID] ? [`${KEY_ID}: missing, ${SECRET_KEY} needs it`] : [];
};

/** Returns null if audit trails are delivered to no bucket. */
export const toAuditArchiveSettings = (env: z.output<typeof environment>) => {
  if (env.CADASTRE_AUDIT_ARCHIVE_BUCKET === undefined) return null;
  const accessKeyId = env.CADASTRE_AUDIT_ARCHIVE_ACCESS_KEY_ID;
  const secretAccessKey = env.CADASTRE_AUDIT_ARCHIVE_SECRET_ACCESS_KEY;
  return {
    location: {
      bucket: env.CADASTRE_AUDIT_ARCHIVE_BUCKET,
      endpoint: env.CADASTRE_AUDIT_ARCHIVE_ENDPOINT ?? null,
      region: env.CADASTRE_AUDIT_ARCHIVE_REGION ?? null,
      prefix: env.CADASTRE_AUDIT_ARCHIVE_PREFIX ?? '',
      pathStyle: env.CADASTRE_AUDIT_ARCHIVE_PATH_STYLE,
      /** Null for those of the AWS tools. */
      credentials: accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey },
    },
    /** Null for a store without Object Lock. */
    lockDays: env.CADASTRE_AUDIT_ARCHIVE_LOCK_DAYS,
  } as const;
};
