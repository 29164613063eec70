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

/** The delays that the queue asks timers for within 20 fired timers, after an answer has come and nothing is pending. */
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
    // As released: what a spec before has connected with is mended.
    Reflect.deleteProperty(require.cache, path);
    Queue = require(path) as QueueClass;
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
    require.cache[path] = inUse;
  });

  it('spins on negative delays as released: when this fails, kafkajs was mended and request-queue.ts can go', () => {
    const delays = delaysAfterAnAnswer();
    expect(delays.length).toBeGreaterThan(20);
    expect(delays.every((delay) => delay !== undefined && delay < 0)).toBe(true);
  });

  it('sets no timer where nothing waits', () => {
    patchRequestQueue();
    expect(delaysAfterAnAnswer()).toEqual([]);
  });

  it('lets a throttled request go when the throttle ends, also one that ends at once', () => {
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
