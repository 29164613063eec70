import { z } from 'zod';
import { CONTINUES_NAME } from '#api/json-api';
import { parseTimeLimit, TIME_LIMIT_RULE } from './time-limit.js';

/** The member of a body with a time such as `1h30m`. An empty text means the default. */
export const timeLimitMember = z
  .string()
  .refine((text) => text === '' || parseTimeLimit(text) !== null, {
    error: TIME_LIMIT_RULE,
    params: { [CONTINUES_NAME]: true },
  })
  .nullish();

type TimeLimitMember = z.infer<typeof timeLimitMember>;

type TimeLimitMembers = {
  readonly 'plan-timeout'?: TimeLimitMember;
  readonly 'apply-timeout'?: TimeLimitMember;
  readonly 'terraform-build-worker-plan-timeout'?: TimeLimitMember;
  readonly 'terraform-build-worker-apply-timeout'?: TimeLimitMember;
};

/** Returns the value of a member. Null beside the older name is no value. An empty text means the default. */
const readTimeLimit = (member: TimeLimitMember, older: TimeLimitMember): TimeLimitMember => {
  const limit = member ?? (older === undefined ? member : older);
  return limit === '' ? null : limit;
};

/** Returns the times of a request; null for the default. The longer names are those of earlier releases of Terraform Enterprise. */
export const readTimeLimits = (members: TimeLimitMembers) => ({
  planTimeout: readTimeLimit(members['plan-timeout'], members['terraform-build-worker-plan-timeout']),
  applyTimeout: readTimeLimit(members['apply-timeout'], members['terraform-build-worker-apply-timeout']),
});

const TIME_LIMIT_NAMES = [
  'plan-timeout',
  'apply-timeout',
  'terraform-build-worker-plan-timeout',
  'terraform-build-worker-apply-timeout',
] as const satisfies readonly (keyof TimeLimitMembers)[];

/** Leaves out members that are null: go-tfe sends null for times that its caller does not name. */
export const omitNullTimeLimits = (members: TimeLimitMembers): TimeLimitMembers =>
  Object.fromEntries(TIME_LIMIT_NAMES.map((name) => [name, members[name] ?? undefined]));
