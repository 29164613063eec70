import { unprocessable, type Timestamp } from '#platform/kernel';

/** Lifetime of tokens whose request names no expiry time. Years are calendar years. */
export type TokenLifetime = { readonly years: number; readonly days: number };

const computeLatestExpiry = (createdAt: Date, maxTtlMs: number): Timestamp =>
  new Date(createdAt.getTime() + maxTtlMs).toISOString();

/**
 * Returns the expiry time of a token that is created at `createdAt`, in UTC: the earlier of the site's lifetime and
 * `maxTtlMs` milliseconds. Null if neither is set; such a token never expires.
 */
export const computeExpiry = (
  lifetime: TokenLifetime | null,
  createdAt: Date,
  maxTtlMs: number | null = null,
): Timestamp | null => {
  const expiryTimes = [
    ...(lifetime === null ? [] : [computeLifetimeExpiry(lifetime, createdAt)]),
    ...(maxTtlMs === null ? [] : [computeLatestExpiry(createdAt, maxTtlMs)]),
  ];
  // UTC timestamps with four-digit years sort as text.
  return expiryTimes.toSorted()[0] ?? null;
};

/**
 * Returns 1 March for a token of 29 February if its last year has no such day: clients compare with Go's `AddDate`.
 */
const computeLifetimeExpiry = (lifetime: TokenLifetime, createdAt: Date): Timestamp => {
  const expiry = new Date(createdAt);
  expiry.setUTCFullYear(expiry.getUTCFullYear() + lifetime.years);
  expiry.setUTCDate(expiry.getUTCDate() + lifetime.days);
  return expiry.toISOString();
};

/** Refuses an expiry time that is not in the future. Accepts null, which means no expiry time. */
export const checkExpiry = (expiredAt: string | null | undefined, now: Date): void => {
  if (!expiredAt || Date.parse(expiredAt) > now.getTime()) return;
  throw unprocessable('Expired at must be in the future', 'expired-at');
};

/**
 * Refuses an expiry time after the longest lifetime that an organization allows. If `maxTtlMs` is null, there is no
 * limit.
 */
export const checkTtl = (expiredAt: Timestamp | null, maxTtlMs: number | null, now: Date): void => {
  if (expiredAt === null || maxTtlMs === null) return;
  const latest = computeLatestExpiry(now, maxTtlMs);
  if (Date.parse(expiredAt) <= Date.parse(latest)) return;
  throw unprocessable(
    `Expired at must be ${latest} or earlier: the organization limits such tokens to ${maxTtlMs} ms`,
    'expired-at',
  );
};
