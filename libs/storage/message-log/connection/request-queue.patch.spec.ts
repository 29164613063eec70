import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { patchRequestQueue, type RequestQueue } from './request-queue.patch.js';

type Prototype = { scheduleCheckPendingRequests: () => void };
type QueueClass = { new (options: object): RequestQueue & { destroy(): void }; prototype: Prototype };

const require = createRequire(import.meta.url);
const path = require.resolve('kafkajs/src/network/requestQueue/index.js');
const inUse = require.cache[path];
let Queue: QueueClass;

const logger = { debug: () => undefined, warn: () => undefined };

/**
 * Returns the delays of the timers that the queue sets until 20 timers have fired, after a response and without pending
 * requests.
 */
const delaysAfterAnAnswer = (): readonly (number | undefined)[] => {
  const queue = new Queue({ maxInFlightRequests: 1, requestTimeout: 1_000, enforceRequestTimeout: false, logger });
  const set = jest.spyOn(globalThis, 'setTimeout').mockImplementation(() => 0 as unknown as NodeJS.Timeout);
  queue.checkPendingRequests();
  for (let fired = 0; fired < 20; fired += 1) set.mock.calls[fired]?.[0]();
  const delays = set.mock.calls.map(([, delay]) => delay);
  queue.destroy();
  return delays;
};

describe('the queue of requests to a broker', () => {
  beforeEach(() => {
    // Loads the unpatched class: an earlier spec may have patched the cached one.
    Reflect.deleteProperty(require.cache, path);
    Queue = require(path) as QueueClass;
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
    require.cache[path] = inUse;
  });

  it('sets negative delays in the released kafkajs (if this fails, kafkajs was fixed and request-queue.patch.ts can be deleted)', () => {
    const delays = delaysAfterAnAnswer();
    expect(delays.length).toBeGreaterThan(20);
    expect(delays.every((delay) => delay !== undefined && delay < 0)).toBe(true);
  });

  it('sets no timer if no request is pending', () => {
    patchRequestQueue();
    expect(delaysAfterAnAnswer()).toEqual([]);
  });

  it('sends a throttled request when the throttle ends, even at once', () => {
    patchRequestQueue();
    for (const throttle of [250, 0]) {
      const queue = new Queue({ maxInFlightRequests: 1, requestTimeout: 1_000, enforceRequestTimeout: false, logger });
      const sent = jest.fn<() => void>();
      const request = { send: sent, expectResponse: true, correlationId: 1 };
      Object.assign(queue, { throttledUntil: Date.now() + throttle, pending: [request] });
      queue.scheduleCheckPendingRequests();
      if (throttle > 0) jest.advanceTimersByTime(throttle - 1);
      expect(sent).not.toHaveBeenCalled();
      jest.advanceTimersByTime(20);
      expect(sent).toHaveBeenCalledTimes(1);
      queue.destroy();
    }
  });
});
