import { createHash } from 'node:crypto';
import { sql, tooManyRequests, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';

/** Attempts without a delay. Many people may share an address, so it has more of them. */
const FREE_ATTEMPTS = { account: 5, device: 10, address: 50 } as const;
const LONGEST_SECONDS = 900;
/** A counter starts again after a day without an attempt. */
const FORGOTTEN_AFTER_MS = 86_400_000;
const MAX_REMOVED = 100;

export type AttemptCounter = { readonly kind: keyof typeof FREE_ATTEMPTS; readonly id: string };

/** Returns an IPv4 address, or the network of an IPv6 address: a home has 2^64 addresses. */
const toNetwork = (address: string): string =>
  address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;

export const countByAddress = (address: string | null): AttemptCounter => ({
  kind: 'address',
  id: toNetwork(address ?? ''),
});

/** Hashed, because people type passwords into the field of the name by mistake. */
const toKey = ({ kind, id }: AttemptCounter): string =>
  `${kind}:${createHash('sha256').update(id).digest('base64url')}`;

/** Without a delay. The present time would refuse an attempt that began a moment earlier and comes second. */
const AT_ANY_TIME = sql.raw(`'-infinity'::timestamptz`);

/**
 * Counts an attempt before its secret is checked, so that many attempts at the same time are no way around the limit.
 * The delay after a failed attempt doubles with each one, up to 15 minutes. Returns nothing if the next attempt must
 * wait.
 */
const countAttempt = (counter: AttemptCounter, now: Date): Sql => {
  const free = FREE_ATTEMPTS[counter.kind];
  return sql`
    insert into sign_in.attempts as attempt (key, failures, last_at, next_at)
    values (${toKey(counter)}, 1, ${now}, ${AT_ANY_TIME})
    on conflict (key) do update
       set failures = case when attempt.last_at < ${new Date(now.getTime() - FORGOTTEN_AFTER_MS)} then 1
                           else attempt.failures + 1 end,
           last_at = ${now},
           next_at = case when attempt.last_at < ${new Date(now.getTime() - FORGOTTEN_AFTER_MS)}
                            or attempt.failures + 1 < ${free}::integer then ${AT_ANY_TIME}
                          else ${now}::timestamptz + make_interval(secs =>
                            least(${LONGEST_SECONDS}::integer,
                                  power(2, least(attempt.failures + 1 - ${free}::integer, 20)))) end
     where attempt.next_at <= ${now}
    returning 1 as counted`;
};

const removeOldCounters = (now: Date): Sql => sql`
  delete from sign_in.attempts where key in (
    select key from sign_in.attempts where last_at < ${new Date(now.getTime() - FORGOTTEN_AFTER_MS)}
     limit ${MAX_REMOVED})`;

/** Counts an attempt to sign in by each of these counters. Throws `too-many` if one of them must wait. */
export const admitAttempt = async (
  database: Database,
  counters: readonly AttemptCounter[],
  now: Date,
): Promise<void> => {
  for (const counter of counters) {
    if (await database.row(countAttempt(counter, now))) continue;
    const row = await database.row<{ nextAt: string }>(
      sql`select next_at as "nextAt" from sign_in.attempts where key = ${toKey(counter)}`,
    );
    refuseAttempt(row?.nextAt ?? now.toISOString(), now);
  }
};

const refuseAttempt = (nextAt: string, now: Date): never => {
  const seconds = Math.max(1, Math.ceil((Date.parse(nextAt) - now.getTime()) / 1_000));
  throw tooManyRequests(
    `There were too many attempts. Please wait ${seconds} seconds, or use a passkey or a sign-in link.`,
    seconds,
  );
};

/** Throws `too-many` if the next attempt of this counter must wait. Counts nothing. */
export const requireNoDelay = async (database: Database, counter: AttemptCounter, now: Date): Promise<void> => {
  const delayed = await database.row<{ nextAt: string }>(sql`
    select next_at as "nextAt" from sign_in.attempts
     where key = ${toKey(counter)} and isfinite(next_at) and next_at > ${now}`);
  if (delayed) refuseAttempt(delayed.nextAt, now);
};

/**
 * Takes back the attempts of a success. Earlier failures from an address still count, because an attacker can have an
 * account of their own.
 */
export const forgiveAttempts = async (
  database: Database,
  counters: readonly AttemptCounter[],
  now: Date,
): Promise<void> => {
  const shared = counters.filter(({ kind }) => kind === 'address').map(toKey);
  const own = counters.filter(({ kind }) => kind !== 'address').map(toKey);
  await database.rows(sql`delete from sign_in.attempts where key = any (${own}::text[])`);
  await database.rows(sql`
    update sign_in.attempts set failures = failures - 1, next_at = ${AT_ANY_TIME} where key = any (${shared}::text[])`);
  await database.rows(removeOldCounters(now));
};
