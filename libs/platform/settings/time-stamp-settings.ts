import { resolve } from 'node:path';
import type { z } from 'zod';
import { findFileFault, parsePemCertificates } from './pem-files.js';
import type { EnvironmentValues } from './secret-files.js';
import { timeStampVariables } from './time-stamp-variables.js';
import type { environment } from './variables.js';

/** The authority that stamps checkpoints of the log of the site. */
export type TimeStampSettings = {
  readonly url: string;
  /** Absolute path of a file with certificates (PEM). */
  readonly caFile: string;
  /** The policy that time stamps must have; null if any is accepted. */
  readonly policy: string | null;
  /** Milliseconds between two time stamps. */
  readonly intervalMs: number;
};

const URL_VARIABLE = 'CADASTRE_TIME_STAMP_URL';
const CA_VARIABLE = 'CADASTRE_TIME_STAMP_CA';

/** Returns one line for each setting of time stamps that contradicts another one, or whose file cannot be used. */
export const findTimeStampContradictions = (env: EnvironmentValues): readonly string[] => {
  if (!env[URL_VARIABLE]) {
    return Object.keys(timeStampVariables)
      .filter((name) => env[name])
      .map((name) => `${name}: set, but ${URL_VARIABLE} is missing`);
  }
  if (!env[CA_VARIABLE]) return [`${CA_VARIABLE}: missing, ${URL_VARIABLE} needs it`];
  return findFileFault(CA_VARIABLE, env[CA_VARIABLE], 'PEM certificates', parsePemCertificates);
};

/** Returns null if there is no authority. The settings must contain no contradictions. */
export const toTimeStampSettings = (env: z.output<typeof environment>): TimeStampSettings | null => {
  const { CADASTRE_TIME_STAMP_URL: url, CADASTRE_TIME_STAMP_CA: ca } = env;
  if (url === undefined || ca === undefined) return null;
  return {
    url,
    caFile: resolve(ca),
    policy: env.CADASTRE_TIME_STAMP_POLICY ?? null,
    intervalMs: env.CADASTRE_TIME_STAMP_HOURS * 60 * 60 * 1_000,
  };
};
