import { badRequest, conflict } from '#platform/kernel';
import type { RunStatus } from './run-status.js';

/**
 * Refuses a request of an executor that does not have the newest claim. `expected` is the fence of the claim, and null if the
 * phase has none: executors of earlier releases report the start of a phase instead.
 */
export const requireFence = (status: RunStatus, fence: number | null, expected: number | null): void => {
  if (fence === expected) return;
  const reason =
    expected === null
      ? `nobody has claimed it, so a request has no fence`
      : `its executor has the fence ${expected}, and this request has ${fence ?? 'none'}`;
  throw conflict(`Run is ${status}: ${reason}`);
};

const WHOLE_NUMBER = /^[1-9]\d{0,8}$/;

/** Parses the query parameter `fence` of a request that needs a claim. */
export const requireFenceParameter = (value: unknown): number => {
  if (typeof value === 'string' && WHOLE_NUMBER.test(value)) return Number(value);
  throw badRequest('fence must be a whole number from 1', 'fence');
};

/** Parses the query parameter `fence`, which requests about unclaimed phases do not have. */
export const parseFence = (value: unknown): number | null => {
  if (value === undefined) return null;
  return requireFenceParameter(value);
};
