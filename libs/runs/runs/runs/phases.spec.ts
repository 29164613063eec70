import { describe, expect, it } from '@jest/globals';
import { toApplyPhase, toPlanPhase } from './phases.js';

const T = (second: number): string => `2026-11-21T10:00:0${second}.000Z`;

describe('a plan and an apply of a run', () => {
  it.each([
    ['pending', { pending: T(0) }, 'pending', 'pending'],
    ['plan_queued', { plan_queued: T(1) }, 'queued', 'pending'],
    ['planning', { plan_queued: T(1), planning: T(2) }, 'running', 'pending'],
    ['planned', { plan_queued: T(1), planning: T(2), planned: T(3) }, 'finished', 'pending'],
    ['errored', { plan_queued: T(1), planning: T(2), errored: T(3) }, 'errored', 'unreachable'],
    ['canceled', { plan_queued: T(1), planning: T(2), canceled: T(3) }, 'canceled', 'unreachable'],
    ['discarded', { plan_queued: T(1), planning: T(2), planned: T(3), discarded: T(4) }, 'finished', 'unreachable'],
    ['discarded', { pending: T(0), discarded: T(4) }, 'unreachable', 'unreachable'],
    ['applying', { plan_queued: T(1), planned: T(2), apply_queued: T(3), applying: T(4) }, 'finished', 'running'],
    ['applied', { plan_queued: T(1), planned: T(2), apply_queued: T(3), applied: T(5) }, 'finished', 'finished'],
    ['errored', { plan_queued: T(1), planned: T(2), apply_queued: T(3), errored: T(5) }, 'finished', 'errored'],
    ['force_canceled', { plan_queued: T(1), force_canceled: T(5) }, 'canceled', 'unreachable'],
  ] as const)('of a run that is %s after %j have the statuses %s and %s', (status, reached, plan, apply) => {
    expect([toPlanPhase(status, reached).status, toApplyPhase(status, reached).status]).toEqual([plan, apply]);
  });

  it('have the times at which each of them changed its status', () => {
    const reached = { plan_queued: T(1), planning: T(2), planned: T(3), apply_queued: T(4), errored: T(5) };
    expect(toPlanPhase('errored', reached).timestamps).toEqual({ queued: T(1), started: T(2), finished: T(3) });
    expect(toApplyPhase('errored', reached).timestamps).toEqual({ queued: T(4), errored: T(5) });
  });
});
