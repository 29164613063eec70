import { unprocessable, type Timestamp } from '#kernel';

/** How long a token opens anything if its request names no end. Years are calendar years. */
export type TokenLifetime = { readonly years: number; readonly days: number };

/**
 * Returns the end of a token that is created at `createdAt`, in UTC; null without a lifetime: such a token never ends. A
 * token of 29 February ends on 1 March if its last year has no such day, as Go's `AddDate` has it, which clients compare
 * with (clients.md §8).
 */
export const endOf = (lifetime: TokenLifetime | null, createdAt: Date): Timestamp | null => {
  if (lifetime === null) return null;
  const end = new Date(createdAt);
  end.setUTCFullYear(end.getUTCFullYear() + lifetime.years);
  end.setUTCDate(end.getUTCDate() + lifetime.days);
  return end.toISOString();
};

/** Refuses an end that is not in the future; null is no end. */
export const checkEnd = (expiredAt: string | null | undefined, now: Date): void => {
  if (!expiredAt || Date.parse(expiredAt) > now.getTime()) return;
  throw unprocessable('Expired at must be in the future', 'expired-at');
};
