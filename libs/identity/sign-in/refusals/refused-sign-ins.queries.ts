import { sql, type Sql } from '#platform/kernel';
import type { SignInRefusal } from './refused-sign-ins.js';

/** The number of refusals for each reason that get an event in a minute. */
export const RECORDED_PER_MINUTE = 20;

/** `omitted`: the refusals without an event since the last one, if this refusal gets an event. */
export type CountedRefusal = { readonly isRecorded: boolean; readonly omitted: number };

/**
 * Counts a refusal. The minute never goes back: otherwise two gateways with different clocks would reset the count with each
 * refusal.
 */
export const countRefusal = (reason: SignInRefusal['reason'], now: Date): Sql => sql`
  insert into sign_in.refusals as counter (reason, minute, refused, omitted, reported)
  values (${reason}, date_trunc('minute', ${now}::timestamptz), 1, 0, 0)
  on conflict (reason) do update
     set minute = greatest(counter.minute, excluded.minute),
         refused = case when excluded.minute > counter.minute then 1 else counter.refused + 1 end,
         omitted = case when excluded.minute > counter.minute or counter.refused < ${RECORDED_PER_MINUTE}::integer then 0
                        else counter.omitted + 1 end,
         reported = counter.omitted
  returning refused <= ${RECORDED_PER_MINUTE}::integer as "isRecorded", reported as omitted`;
