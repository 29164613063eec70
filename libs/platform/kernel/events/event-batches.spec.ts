import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arrangeInBatches, dropOverwritten, splitIntoBatches, type BulkHandlers } from './event-batches.js';
import type { RecordedEvent } from './recorded-event.js';

type LampRow = { readonly room: string | null; readonly lit: string | null; readonly changed: string };

/** The tables of lamps by stream, and the effect of an event on them. */
type LampTable = Map<string, LampRow>;
const EFFECTS: Readonly<Record<string, (rows: LampTable, stream: string, id: string) => void>> = {
  LampHung: (rows, stream, id) => rows.set(stream, { room: id, lit: null, changed: id }),
  LampMoved: (rows, stream, id) => update(rows, stream, { room: id, changed: id }),
  LampLit: (rows, stream, id) => update(rows, stream, { lit: id, changed: id }),
  LampDimmed: (rows, stream, id) => update(rows, stream, { lit: null, changed: id }),
  LampTaken: (rows, stream) => rows.delete(stream),
  AllLampsDimmed: (rows) => {
    for (const [stream, row] of rows) rows.set(stream, { ...row, lit: null });
  },
};
const update = (rows: LampTable, stream: string, change: Partial<LampRow>): void => {
  const row = rows.get(stream);
  if (row) rows.set(stream, { ...row, ...change });
};

const ORDER = { fixed: ['AllLampsDimmed'], overwriting: ['LampLit', 'LampDimmed'] };
const setLight = () => [];
const HANDLERS: BulkHandlers = { LampHung: () => [], LampLit: setLight, LampDimmed: setLight };

const anyEvents = fc
  .array(fc.tuple(fc.constantFrom(...Object.keys(EFFECTS)), fc.constantFrom('a', 'b', 'c')), { maxLength: 40 })
  .map((all) => all.map(([type, stream], n) => ({ type, stream, id: String(n) }) as RecordedEvent));

const applyInOrder = (events: readonly RecordedEvent[]): LampTable => {
  const rows: LampTable = new Map();
  for (const { type, stream, id } of events) EFFECTS[type]?.(rows, stream, id);
  return rows;
};
const sortRows = (rows: LampTable) => [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1));

const isHandled = ({ handle, events }: ReturnType<typeof arrangeInBatches>[number]): boolean =>
  events.every(({ type }) => HANDLERS[type] === handle) &&
  (handle === undefined || new Set(events.map(({ stream }) => stream)).size === events.length);

describe('batches of events', () => {
  it('contain all events in their order if they are only split', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const batches = splitIntoBatches(HANDLERS, events);
        expect(batches.flatMap((batch) => batch.events)).toEqual(events);
        expect(batches.every(isHandled)).toBe(true);
      }),
    );
  });

  it('give the same rows if they are arranged and overwritten events are dropped', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const batches = arrangeInBatches(HANDLERS, ORDER, dropOverwritten(ORDER, events));
        expect(batches.every(isHandled)).toBe(true);
        // A statement for several streams may change their rows in any order.
        const applied = batches.flatMap((batch) => (batch.handle ? batch.events.toReversed() : batch.events));
        expect(sortRows(applyInOrder(applied))).toEqual(sortRows(applyInOrder(events)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('are few if events of one handler alternate', () => {
    const events = Array.from({ length: 100 }, (_, n) => ({
      type: n % 2 === 0 ? 'LampLit' : 'LampDimmed',
      stream: `lamp-${n % 50}`,
      id: String(n),
    })) as unknown as RecordedEvent[];
    const batches = arrangeInBatches(HANDLERS, ORDER, dropOverwritten(ORDER, events));
    expect(batches.map((batch) => batch.events.length)).toEqual([50]);
  });
});
