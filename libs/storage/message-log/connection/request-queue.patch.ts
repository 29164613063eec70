import { createRequire } from 'node:module';

/** The members of kafkajs 2.2.4's RequestQueue that this file uses. */
export type RequestQueue = {
  readonly pending: readonly unknown[];
  /** Milliseconds since 1970; -1 until the broker first requests a pause. */
  readonly throttledUntil: number;
  throttleCheckTimeoutId: ReturnType<typeof setTimeout> | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
};

const MARGINAL_THROTTLE_MS = 10;

/**
 * Ends an endless loop in kafkajs 2.2.4 that is not fixed upstream (tulios/kafkajs#1704, #1751, #1768).
 *
 * After every response and every check, kafkajs schedules the next check in `throttledUntil - now` milliseconds, even
 * if no request is pending. `throttledUntil` is -1 until the broker throttles, so the delay is about -1.7e12. Node
 * changes it to 1 ms, and Node 24 emits a TimeoutNegativeWarning. The check schedules itself again for ever: some 700
 * wake-ups a second for each connection, about 4 % of an idle core.
 *
 * A check is only needed while a request is pending. The request is then sent after the response to an earlier request,
 * after that request's time-out, or at the end of the throttle. Only the last case needs a timer. The minimum delay is
 * upstream's own and keeps the fix of #1532: a throttle that ends between two readings of the clock must not leave the
 * request pending.
 */
export const scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
  const delay = Math.max(this.throttledUntil - Date.now(), MARGINAL_THROTTLE_MS);
  this.throttleCheckTimeoutId = setTimeout(() => {
    this.throttleCheckTimeoutId = null;
    this.checkPendingRequests();
  }, delay);
};

/** Patches kafkajs' class. Call it before the first connection. */
export const patchRequestQueue = (): void => {
  const load = createRequire(import.meta.url);
  const { prototype } = load('kafkajs/src/network/requestQueue/index.js') as { readonly prototype: RequestQueue };
  if (typeof prototype.scheduleCheckPendingRequests !== 'function') {
    throw new Error(
      'kafkajs has no RequestQueue.scheduleCheckPendingRequests any more: see libs/storage/message-log/connection/request-queue.patch.ts',
    );
  }
  prototype.scheduleCheckPendingRequests = scheduleCheckPendingRequests;
};
