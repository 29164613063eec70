import { expect, it } from '@jest/globals';
import { getLongestStopMs, INTERRUPT_MS } from './stop-times.js';

it('gives an apply its time after the interruption, also with a grace time of zero', () => {
  expect(getLongestStopMs({ CADASTRE_EXECUTOR_GRACE: '0' })).toBeGreaterThan(INTERRUPT_MS.apply);
  expect(getLongestStopMs({})).toBe(getLongestStopMs({ CADASTRE_EXECUTOR_GRACE: '0' }) + 60_000);
});
