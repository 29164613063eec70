import { describe, expect, it } from '@jest/globals';
import { Backoff } from './backoff.js';

const MINUTE = 60_000;

const start = (limits: { readonly stableMs?: number } = {}) => {
  const lines: object[] = [];
  const time = { ms: 5_000 };
  const backoff = new Backoff({
    logger: {
      info: (fields, text) => void lines.push({ level: 'info', text, ...fields }),
      warn: (fields, text) => void lines.push({ level: 'warn', text, ...fields }),
    },
    subject: 'pump',
    fields: { pump: 'cellar' },
    firstMs: 100,
    maxMs: 5_000,
    now: () => time.ms,
    ...limits,
  });
  /** Fails and waits in turn for this time. Returns the number of failures. */
  const failFor = (ms: number): number => {
    let attempts = 0;
    for (const end = time.ms + ms; time.ms < end; attempts += 1)
      time.ms += backoff.failed(new Error(`no. ${attempts}`));
    return attempts;
  };
  return { backoff, lines, time, failFor };
};

describe('Backoff', () => {
  it('doubles the pause up to the maximum', () => {
    const { backoff } = start();
    const pauses = Array.from({ length: 8 }, () => backoff.failed(new Error('dry')));
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  });

  it('starts with the first pause again after a success', () => {
    const { backoff } = start();
    backoff.failed(new Error('dry'));
    backoff.failed(new Error('dry'));
    backoff.succeeded();
    expect(backoff.failed(new Error('dry'))).toBe(100);
  });

  it('keeps its pause if the work fails again before `stableMs` have passed', () => {
    const { backoff, time } = start({ stableMs: 1_000 });
    backoff.failed(new Error('dry'));
    backoff.succeeded();
    time.ms += 999;
    expect(backoff.failed(new Error('dry'))).toBe(200);
    backoff.succeeded();
    time.ms += 1_000;
    expect(backoff.failed(new Error('dry'))).toBe(100);
  });

  it('logs the first failure, then one line a minute with the count, then the recovery', () => {
    const { backoff, lines, failFor } = start();
    const attempts = failFor(3 * MINUTE - 1);
    backoff.succeeded();
    backoff.succeeded();
    expect(attempts).toBeGreaterThan(30);
    expect(lines).toMatchObject([
      { level: 'warn', text: 'pump failed, will retry', pump: 'cellar', err: { message: 'no. 0' }, retryInMs: 100 },
      { level: 'warn', text: 'pump still fails, will retry', retryInMs: 5_000, failingForSeconds: expect.any(Number) },
      { level: 'warn', text: 'pump still fails, will retry', retryInMs: 5_000 },
      { level: 'info', text: 'pump recovered', pump: 'cellar', failures: attempts },
    ]);
    expect(lines).toHaveLength(4);
  });

  it('logs nothing without a failure', () => {
    const { backoff, lines } = start();
    backoff.succeeded();
    expect(lines).toEqual([]);
  });

  it('limits the log lines if work alternates between failure and success', () => {
    const { backoff, lines, time } = start();
    for (let turn = 0; turn < 600; turn += 1) {
      time.ms += backoff.failed(new Error('dry'));
      backoff.succeeded();
    }
    // One failure and one recovery in each 10 s of the minute.
    expect(lines).toHaveLength(12);
    expect(lines).toMatchObject([
      { text: 'pump failed, will retry' },
      { text: 'pump recovered', failures: 1 },
      { failures: 100 },
      { failures: 100 },
      {},
      {},
      {},
      {},
      {},
      {},
      {},
      {},
    ]);
  });
});
