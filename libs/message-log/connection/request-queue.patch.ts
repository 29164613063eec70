import { createRequire } from 'node:module';

/** The part of kafkajs 2.2.4's RequestQueue that this file knows. */
export type RequestQueue = {
  readonly pending: readonly unknown[];
  /** Milliseconds since 1970; -1 as long as the broker has never asked for a pause. */
  readonly throttledUntil: number;
  throttleCheckTimeoutId: ReturnType<typeof setTimeout> | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
};

const MARGINAL_THROTTLE_MS = 10;

/**
 * Ends a loop in kafkajs 2.2.4, unmended upstream (tulios/kafkajs#1704, #1751, #1768).
 *
 * After every response, and after every check, kafkajs schedules the next check `throttledUntil - now` ahead, also where
 * nothing waits to be sent. `throttledUntil` is -1 until the broker throttles, so the delay is about -1.7e12: Node makes
 * 1 ms of it, and Node 24 says so with a TimeoutNegativeWarning. The check re-arms itself for ever: some 700 wake-ups a
 * second for each connection, about 4 % of a core with nothing to do.
 *
 * A check has work only where a request is pending: it is then let out by the response to an earlier one, by that one's
 * time-out, or by the end of the throttle. Only the last needs a timer. The minimum delay is upstream's own and keeps
 * what #1532 mended: a throttle that ends between two readings of the clock must not leave the request behind.
 */
export const scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
  const delay = Math.max(this.throttledUntil - Date.now(), MARGINAL_THROTTLE_MS);
  this.throttleCheckTimeoutId = setTimeout(() => {
    this.throttleCheckTimeoutId = null;
    this.checkPendingRequests();
  }, delay);
};

/** The one place where kafkajs is changed: its class, once a process, before the first connection. */
export const patchRequestQueue = (): void => {
  const load = createRequire(import.meta.url);
  const { prototype } = load('kafkajs/src/network/requestQueue/index.js') as { readonly prototype: RequestQueue };
  if (typeof prototype.scheduleCheckPendingRequests !== 'function') {
    throw new Error(
      'kafkajs has no RequestQueue.scheduleCheckPendingRequests any more: see libs/message-log/connection/request-queue.patch.ts',
    );
  }
  prototype.scheduleCheckPendingRequests = scheduleCheckPendingRequests;
};
