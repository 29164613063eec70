import { describe, expect, it } from '@jest/globals';
import { upcastEventData, type EventKind, type AnyEventKind } from './event-kinds.js';

const kind = (schemaVersion: number, upcasts: EventKind['upcast']): AnyEventKind => ({
  schemaVersion,
  schema: { parse: (data) => data as never },
  topic: 'lamps',
  stream: 'lamp',
  live: { unsent: 'a sample' },
  ids: {},
  audit: { unaudited: 'a sample' },
  ...(upcasts ? { upcast: upcasts } : {}),
});

// Version 1: `{ watts: 40 }`, 2: `{ watts: 40, colour: 'white' }`, 3: `{ watts: 40, colour: 'white', shade: { … } }`.
const lamp = kind(3, {
  1: [{ add: { colour: 'white' } }],
  2: [{ to: 'shade', add: { isPleated: false } }],
});

describe('upcasting the data of an event', () => {
  it('upcasts one version at a time', () => {
    const upcast = { watts: 40, colour: 'white', shade: { isPleated: false } };
    expect(upcastEventData(lamp, 1, { watts: 40 })).toEqual(upcast);
  });

  it('starts at the schema version of the event', () => {
    const data = { watts: 60, colour: 'red' };
    expect(upcastEventData(lamp, 2, data)).toEqual({ ...data, shade: { isPleated: false } });
  });

  it('keeps values that the data has, and a member that is null', () => {
    const shade = { isPleated: true, height: 20 };
    expect(upcastEventData(lamp, 2, { watts: 60, shade })).toEqual({ watts: 60, shade });
    expect(upcastEventData(lamp, 2, { watts: 60, shade: null })).toEqual({ watts: 60, shade: null });
  });

  it('returns data of the current schema version unchanged', () => {
    const data = { watts: 60, colour: 'red' };
    expect(upcastEventData(lamp, 3, data)).toBe(data);
  });

  it('throws if an upcast is missing', () => {
    expect(() => upcastEventData(kind(3, { 1: [] }), 1, {})).toThrow('no upcast from schema version 2 to 3');
    expect(() => upcastEventData(kind(2, undefined), 1, {})).toThrow('no upcast from schema version 1 to 2');
  });
});
