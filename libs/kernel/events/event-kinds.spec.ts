import { describe, expect, it } from '@jest/globals';
import { upcastEventData, type EventKind } from './event-kinds.js';

const kind = (schemaVersion: number, lifts: EventKind['upcast']): EventKind<never> => ({
  schemaVersion,
  schema: { parse: (data) => data as never },
  topic: 'lamps',
  audit: { unaudited: 'a sample' },
  ...(lifts ? { upcast: lifts } : {}),
});

// 1: `{ power: '40 W' }`, 2: `{ watts: 40 }`, 3: `{ watts: 40, colour: 'white' }`.
const lamp = kind(3, {
  1: (data) => ({ watts: Number.parseInt((data as { power: string }).power, 10) }),
  2: (data) => ({ ...(data as object), colour: 'white' }),
});

describe('an event of an older schema', () => {
  it('is lifted one version at a time', () => {
    expect(upcastEventData(lamp, 1, { power: '40 W' })).toEqual({ watts: 40, colour: 'white' });
  });

  it('is lifted from where it stands', () => {
    expect(upcastEventData(lamp, 2, { watts: 60 })).toEqual({ watts: 60, colour: 'white' });
  });

  it('of today’s schema is left as it is', () => {
    const data = { watts: 60, colour: 'red' };
    expect(upcastEventData(lamp, 3, data)).toBe(data);
  });

  it('that nobody can lift is an error, not half an event', () => {
    expect(() => upcastEventData(kind(3, { 1: (data) => data }), 1, {})).toThrow(
      'no upcast from schema version 2 to 3',
    );
    expect(() => upcastEventData(kind(2, undefined), 1, {})).toThrow('no upcast from schema version 1 to 2');
  });
});
