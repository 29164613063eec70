import { z } from 'zod';
import { unprocessable } from '#kernel';
import { parseBody, resourceBody } from '#json-api';
import { DELETE_OLDERS, DONT_DELETES } from '#data-retention-policies';

/** What go-tfe called the only kind that there was at first. Its methods of that time can read no other type. */
export const FIRST_TYPE = 'data-retention-policies';

const days = z.number().nullish();

export const policyBody = resourceBody(
  [DELETE_OLDERS, DONT_DELETES, FIRST_TYPE],
  z.object({ 'delete-older-than-n-days': days, deleteOlderThanNDays: days }).nullish(),
);

/** The type and the days of a request; null days where its type says that nothing is to be deleted. */
export const policyIn = (
  request: unknown,
): { readonly type: string | null | undefined; readonly days: number | null } => {
  const { type, attributes } = parseBody(policyBody, request).data;
  if (type === DONT_DELETES) return { type, days: null };
  const days = attributes?.['delete-older-than-n-days'] ?? attributes?.deleteOlderThanNDays;
  if (days === undefined || days === null) {
    throw unprocessable("Delete older than n days can't be blank", 'delete-older-than-n-days');
  }
  return { type, days };
};
