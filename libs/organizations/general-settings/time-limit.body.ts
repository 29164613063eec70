import { z } from 'zod';
import { CONTINUES_NAME } from '#api/json-api';
import { parseTimeLimit, TIME_LIMIT_RULE } from './time-limit.js';

/** The member of a body with a time such as `1h30m`. Null means the default. */
export const timeLimitMember = z
  .string()
  .refine((text) => parseTimeLimit(text) !== null, { error: TIME_LIMIT_RULE, params: { [CONTINUES_NAME]: true } })
  .nullish();

type TimeLimitMember = z.infer<typeof timeLimitMember>;

type TimeLimitMembers = {
  readonly 'plan-timeout'?: TimeLimitMember;
  readonly 'apply-timeout'?: TimeLimitMember;
  readonly 'terraform-build-worker-plan-timeout'?: TimeLimitMember;
  readonly 'terraform-build-worker-apply-timeout'?: TimeLimitMember;
};

/** Returns the times of a request. The longer names are those of earlier releases of Terraform Enterprise. */
export const readTimeLimits = (members: TimeLimitMembers) => {
  const { 'plan-timeout': plan, 'apply-timeout': apply } = members;
  return {
    planTimeout: plan === undefined ? members['terraform-build-worker-plan-timeout'] : plan,
    applyTimeout: apply === undefined ? members['terraform-build-worker-apply-timeout'] : apply,
  };
};
