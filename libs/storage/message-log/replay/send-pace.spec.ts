import { describe, expect, it } from '@jest/globals';
import { FixedClock } from '../../../../test/support/clocks.js';
import { SendPace } from './send-pace.js';

describe('SendPace', () => {
  it('pauses for the rest of the time that the events of a page may take', () => {
    const clock = new FixedClock();
    const pace = new SendPace(2, clock);
    pace.beginPage();
    clock.pass({ ms: 400 });
    expect(pace.getPause(2)).toBe(600);
    expect(pace.getPause(0)).toBe(0);
  });

  it('keeps no time of pages that were slow or had no events', () => {
    const clock = new FixedClock();
    const pace = new SendPace(2, clock);
    pace.beginPage();
    clock.pass({ minutes: 1 });
    expect(pace.getPause(0)).toBe(0);
    pace.beginPage();
    expect(pace.getPause(2)).toBe(1_000);
  });
});
