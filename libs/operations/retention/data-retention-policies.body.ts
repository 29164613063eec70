import { z } from 'zod';
import { unprocessable } from '#platform/kernel';
import { parseBody, resourceBody } from '#api/json-api';
import { DELETE_OLDERS, DONT_DELETES } from '#organizations/data-retention-policies';

/** Name of the only type that go-tfe had at first. Its methods from that time can read no other type. */
export const FIRST_TYPE = 'data-retention-policies';

const DAYS = 'delete-older-than-n-days';
const SHORT_DAYS = 'deleteOlderThanNDays';

const days = z.number().nullish();

export const policyBody = resourceBody(
  [DELETE_OLDERS, DONT_DELETES, FIRST_TYPE],
  z.object({ [DAYS]: days, [SHORT_DAYS]: days }).nullish(),
);

/** Rejects days for the type that deletes nothing. Ignoring them would keep data that the caller wants to delete. */
const refuseDays = (attributes: Readonly<Record<string, number | null | undefined>>): void => {
  const sent = [DAYS, SHORT_DAYS].find((name) => (attributes[name] ?? null) !== null);
  if (sent) throw unprocessable(`Delete older than n days must not be specified for ${DONT_DELETES}`, sent);
};

/** Returns the type and the days of a request. The days are null for the type that deletes nothing. */
export const parsePolicy = (
  request: unknown,
): { readonly type: string | null | undefined; readonly days: number | null } => {
  const { type, attributes } = parseBody(policyBody, request).data;
  if (type === DONT_DELETES) {
    refuseDays(attributes ?? {});
    return { type, days: null };
  }
  const days = attributes?.[DAYS] ?? attributes?.[SHORT_DAYS];
  if (days === undefined || days === null) throw unprocessable("Delete older than n days can't be blank", DAYS);
  return { type, days };
};
