import { describe, expect, it } from '@jest/globals';
import { upcastEventData, type EventKind } from './event-kinds.js';

const kind = (schemaVersion: number, upcasts: EventKind['upcast']): EventKind<never> => ({
  schemaVersion,
  schema: { parse: (data) => data as never },
  topic: 'lamps',
  audit: { unaudited: 'a sample' },
  ...(upcasts ? { upcast: upcasts } : {}),
});

// Version 1: `{ power: '40 W' }`, 2: `{ watts: 40 }`, 3: `{ watts: 40, colour: 'white' }`.
const lamp = kind(3, {
  1: (data) => ({ watts: Number.parseInt((data as { power: string }).power, 10) }),
  2: (data) => ({ ...(data as object), colour: 'white' }),
});

describe('upcasting the data of an event', () => {
  it('upcasts one version at a time', () => {
    expect(upcastEventData(lamp, 1, { power: '40 W' })).toEqual({ watts: 40, colour: 'white' });
  });

  it('starts at the schema version of the event', () => {
    expect(upcastEventData(lamp, 2, { watts: 60 })).toEqual({ watts: 60, colour: 'white' });
  });

  it('returns data of the current schema version unchanged', () => {
    const data = { watts: 60, colour: 'red' };
    expect(upcastEventData(lamp, 3, data)).toBe(data);
  });

  it('throws if an upcast is missing', () => {
    expect(() => upcastEventData(kind(3, { 1: (data) => data }), 1, {})).toThrow(
      'no upcast from schema version 2 to 3',
    );
    expect(() => upcastEventData(kind(2, undefined), 1, {})).toThrow('no upcast from schema version 1 to 2');
  });
});
