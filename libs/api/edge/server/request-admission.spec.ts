import { describe, expect, it } from '@jest/globals';
import { LEAST_LIMIT, RequestAdmission, type UnansweredLimits, type WaitingRequest } from './request-admission.js';

const LIMITS: UnansweredLimits = { max: 100, targetMs: 50, waitMs: 500 };
const FAST_MS = 1;
const SLOW_MS = 500;

/** Records what happens to requests. Time and the delay of statements are set by the test. */
class AdmissionUnderTest {
  now = 0;
  delay = FAST_MS;
  readonly started: string[] = [];
  readonly refused: string[] = [];
  readonly limits: number[] = [];
  readonly admission: RequestAdmission;

  constructor(limits: Partial<UnansweredLimits> = {}) {
    this.admission = new RequestAdmission(
      { ...LIMITS, ...limits },
      () => this.delay,
      (limit) => this.limits.push(limit),
    );
  }

  arrive(name: string, caller = name): WaitingRequest {
    const request = { caller, start: () => void this.started.push(name), refuse: () => void this.refused.push(name) };
    this.admission.arrive(request, this.now);
    return request;
  }

  arriveMany(count: number, caller: string): void {
    for (let n = 0; n < count; n += 1) this.arrive(`${caller}-${n}`, caller);
  }

  expireAt(now: number): void {
    this.now = now;
    this.admission.expire(now);
  }
}

describe('admission of requests', () => {
  it('starts requests up to the limit, and the next one when another ends', () => {
    const test = new AdmissionUnderTest({ max: 16 });
    for (let n = 0; n < 17; n += 1) test.arrive(`r${n}`);
    expect([test.started.length, test.admission.waiting]).toEqual([16, 1]);
    test.admission.end('r0');
    expect([test.started.at(-1), test.admission.waiting]).toEqual(['r16', 0]);
  });

  it('refuses a request that has waited too long', () => {
    const test = new AdmissionUnderTest({ max: 16 });
    for (let n = 0; n < 17; n += 1) test.arrive(`r${n}`);
    test.expireAt(499);
    expect(test.refused).toEqual([]);
    test.expireAt(500);
    expect([test.refused, test.admission.waiting]).toEqual([['r16'], 0]);
    test.admission.end('r0');
    expect(test.started).toHaveLength(16);
  });

  it('forgets a waiting request whose client has disconnected', () => {
    const test = new AdmissionUnderTest({ max: 16 });
    for (let n = 0; n < 16; n += 1) test.arrive(`r${n}`);
    test.admission.leave(test.arrive('gone'));
    test.admission.end('r0');
    test.expireAt(1_000);
    expect([test.started.includes('gone'), test.refused]).toEqual([false, []]);
  });

  it('leaves a place for other callers while one caller sends as much as it can', () => {
    const test = new AdmissionUnderTest();
    test.arriveMany(200, 'greedy');
    const own = test.started.length;
    expect(own).toBeGreaterThanOrEqual(80);
    expect(own).toBeLessThan(LIMITS.max);
    test.arrive('modest');
    expect(test.started.at(-1)).toBe('modest');
  });

  it('starts waiting requests of callers in turns, the latest of each caller first', () => {
    const test = new AdmissionUnderTest({ max: 16 });
    for (let n = 0; n < 16; n += 1) test.arrive(`a${n}`);
    test.arriveMany(2, 'b');
    test.arriveMany(2, 'c');
    for (let n = 0; n < 4; n += 1) test.admission.end(`a${n}`);
    expect(test.started.slice(16)).toEqual(['b-1', 'c-1', 'b-0', 'c-0']);
  });
});

describe('the limit of requests', () => {
  const runWindows = (test: AdmissionUnderTest, count: number): void => {
    for (let n = 0; n < count; n += 1) test.expireAt(test.now + 100);
  };

  it('shrinks from the number of requests while statements are slow, and not below the least', () => {
    const test = new AdmissionUnderTest();
    test.arrive('first');
    for (let n = 0; n < 79; n += 1) test.arrive(`r${n}`);
    test.delay = SLOW_MS;
    test.now = 100;
    test.arrive('next');
    expect(test.admission.limit).toBe(60);
    runWindows(test, 50);
    expect(test.admission.limit).toBe(LEAST_LIMIT);
  });

  it('grows to its maximum when statements are fast again', () => {
    const test = new AdmissionUnderTest();
    for (let n = 0; n < 100; n += 1) test.arrive(`r${n}`);
    test.delay = SLOW_MS;
    runWindows(test, 50);
    test.delay = FAST_MS;
    runWindows(test, 50);
    expect(test.admission.limit).toBe(LIMITS.max);
    expect(test.limits.at(-1)).toBe(LIMITS.max);
  });

  it('stays where the delay equals the target', () => {
    const test = new AdmissionUnderTest();
    for (let n = 0; n < 80; n += 1) test.arrive(`r${n}`);
    test.delay = LIMITS.targetMs;
    runWindows(test, 10);
    expect(test.admission.limit).toBe(LIMITS.max);
  });
});
