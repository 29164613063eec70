import { unprocessable, type Timestamp } from '#kernel';

/** How long a token opens anything if its request names no end. Years are calendar years. */
export type TokenLifetime = { readonly years: number; readonly days: number };

const computeLatestExpiry = (createdAt: Date, maxTtlMs: number): Timestamp =>
  new Date(createdAt.getTime() + maxTtlMs).toISOString();

/**
 * Returns the end of a token that is created at `createdAt`, in UTC: after the site's lifetime, or after `maxTtlMs`
 * milliseconds if that is sooner. Null with neither: such a token never ends.
 */
export const computeExpiry = (
  lifetime: TokenLifetime | null,
  createdAt: Date,
  maxTtlMs: number | null = null,
): Timestamp | null => {
  const ends = [
    ...(lifetime === null ? [] : [computeLifetimeExpiry(lifetime, createdAt)]),
    ...(maxTtlMs === null ? [] : [computeLatestExpiry(createdAt, maxTtlMs)]),
  ];
  // Timestamps of four-digit years in UTC sort as texts.
  return ends.toSorted()[0] ?? null;
};

/** A token of 29 February ends on 1 March if its last year has no such day: clients compare with Go's `AddDate` (clients.md §8). */
const computeLifetimeExpiry = (lifetime: TokenLifetime, createdAt: Date): Timestamp => {
  const end = new Date(createdAt);
  end.setUTCFullYear(end.getUTCFullYear() + lifetime.years);
  end.setUTCDate(end.getUTCDate() + lifetime.days);
  return end.toISOString();
};

/** Refuses an end that is not in the future; null is no end. */
export const checkExpiry = (expiredAt: string | null | undefined, now: Date): void => {
  if (!expiredAt || Date.parse(expiredAt) > now.getTime()) return;
  throw unprocessable('Expired at must be in the future', 'expired-at');
};

/** Refuses an end after the longest life that an organization allows. Null as `maxTtlMs` is no limit. */
export const checkTtl = (expiredAt: Timestamp | null, maxTtlMs: number | null, now: Date): void => {
  if (expiredAt === null || maxTtlMs === null) return;
  const latest = computeLatestExpiry(now, maxTtlMs);
  if (Date.parse(expiredAt) <= Date.parse(latest)) return;
  throw unprocessable(
    `Expired at must be ${latest} or earlier: the organization limits such tokens to ${maxTtlMs} ms`,
    'expired-at',
  );
};
