import type { RecordedEvent } from './recorded-event.js';
import type { Sql } from '../runtime/sql.js';

/**
 * A projection with this order writes only rows of the event's own stream, or sums that no order changes. The rows are
 * the same if events of different streams change places. A replay has no unique names: they are checked at its end.
 */
export type ReplayOrder<Type extends string> = {
  /** Types that change rows of several streams. No event changes places with them. */
  readonly fixed: readonly Type[];
  /**
   * Types that all write the same columns, and all of these columns. Of several such events of a stream, only the last
   * one has an effect.
   */
  readonly overwriting?: readonly Type[];
};

type BulkHandler = (events: readonly RecordedEvent[]) => readonly Sql[];

/** Bulk handlers by type of event. */
export type BulkHandlers = Readonly<Record<string, BulkHandler | undefined>>;

/** Events of one bulk handler, in which no stream occurs twice, or events without a bulk handler. */
export type EventBatch = { readonly handle: BulkHandler | undefined; readonly events: readonly RecordedEvent[] };

type GrowingBatch = EventBatch & { readonly events: RecordedEvent[] };

/** Splits events into batches without changing their order. */
export const splitIntoBatches = (handlers: BulkHandlers, events: readonly RecordedEvent[]): readonly EventBatch[] => {
  const batches: GrowingBatch[] = [];
  let streams = new Set<string>();
  for (const event of events) {
    const handle = handlers[event.type];
    const batch = batches.at(-1);
    if (batch && batch.handle === handle && !(handle && streams.has(event.stream))) batch.events.push(event);
    else {
      batches.push({ handle, events: [event] });
      streams = new Set();
    }
    streams.add(event.stream);
  }
  return batches;
};

/**
 * Puts each event into the first batch of its handler that comes after the batches with earlier events of its stream.
 * The events of each stream stay in their order.
 */
export const arrangeInBatches = (
  handlers: BulkHandlers,
  { fixed }: ReplayOrder<string>,
  events: readonly RecordedEvent[],
): readonly EventBatch[] => {
  const batches: GrowingBatch[] = [];
  const latestBatches = new Map<string, number>();
  let first = 0;
  for (const event of events) {
    if (fixed.includes(event.type)) {
      first = batches.push({ handle: undefined, events: [event] });
      latestBatches.clear();
      continue;
    }
    const handle = handlers[event.type];
    const latest = latestBatches.get(event.stream);
    // A batch without a handler keeps the order of its events.
    let index = latest === undefined ? first : latest + (handle ? 1 : 0);
    while (index < batches.length && batches[index]?.handle !== handle) index += 1;
    const batch = batches[index];
    if (batch) batch.events.push(event);
    else batches.push({ handle, events: [event] });
    latestBatches.set(event.stream, index);
  }
  return batches;
};

/** Leaves out events whose effect a later event of the same stream overwrites completely. */
export const dropOverwritten = (
  { fixed, overwriting = [] }: ReplayOrder<string>,
  events: readonly RecordedEvent[],
): readonly RecordedEvent[] => {
  if (overwriting.length === 0) return events;
  const overwritten = new Set<string>();
  return events
    .toReversed()
    .filter(({ type, stream }) => {
      if (fixed.includes(type)) overwritten.clear();
      if (!overwriting.includes(type)) return true;
      const isLast = !overwritten.has(stream);
      overwritten.add(stream);
      return isLast;
    })
    .toReversed();
};
