import { move, transferableSymbol, valueSymbol } from 'piscina';
import { outcomeOf, readCreation, readState, renumber, type Outcome } from './state.reading.js';

/** Entry point of the threads of StateReaders. */
export type ReaderTask =
  | { readonly type: 'ReadCreation'; readonly body: Uint8Array; readonly limit: number }
  | { readonly type: 'ReadState'; readonly bytes: Uint8Array }
  | { readonly type: 'Renumber'; readonly bytes: Uint8Array; readonly serial: number };

const perform = (task: ReaderTask): unknown => {
  switch (task.type) {
    case 'ReadCreation':
      return readCreation(task.body, task.limit);
    case 'ReadState':
      return readState(task.bytes);
    case 'Renumber':
      return renumber(task.bytes, task.serial);
  }
};

/** Bytes are handed over, not copied: the event loop would wait for the copy. */
const buffersIn = (value: unknown): ArrayBuffer[] => {
  if (ArrayBuffer.isView(value)) {
    // A small Buffer shares its memory with others, which must stay here.
    return value.byteLength === value.buffer.byteLength ? [value.buffer as ArrayBuffer] : [];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(buffersIn) : [];
};

export const read = (task: ReaderTask): unknown => {
  const outcome: Outcome<unknown> = outcomeOf(() => perform(task));
  return move({ [transferableSymbol]: buffersIn(outcome), [valueSymbol]: outcome });
};
