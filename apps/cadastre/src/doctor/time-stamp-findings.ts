import { randomBytes } from 'node:crypto';
import { createTimeStampClient } from '#activity/audit-trail-log';
import { TimeStampError } from '#packages/trail-verifier';
import type { Settings } from '#platform/settings';
import { reportFailed, reportOk, type Finding } from './findings.js';

/** Lets the time stamp authority stamp random bytes, and verifies its answer. Null if the settings name no authority. */
export const inspectTimeStampAuthority = async (
  { timeStamps }: Pick<Settings, 'timeStamps'>,
  now: () => Date,
): Promise<Finding | null> => {
  if (!timeStamps) return null;
  try {
    const { authority, policy } = await createTimeStampClient(timeStamps, { now })(randomBytes(32));
    return reportOk('time stamps', `${authority} stamps with the policy ${policy}, and its answer is valid`);
  } catch (error) {
    if (!(error instanceof TimeStampError)) throw error;
    return reportFailed('time stamps', `${error.message}; correct CADASTRE_TIME_STAMP_…, or ask the authority`);
  }
};
