import { move, transferableSymbol, valueSymbol } from 'piscina';
import { captureOutcome, parseCreateRequest, parseState, renumberState, type ReaderOutcome } from './state.parser.js';

/** A task for a thread of StateReaders, whose entry point this file is. */
export type ReaderTask =
  | { readonly type: 'ReadCreation'; readonly body: Uint8Array; readonly limit: number }
  | { readonly type: 'ReadState'; readonly bytes: Uint8Array }
  | { readonly type: 'Renumber'; readonly bytes: Uint8Array; readonly serial: number };

const perform = (task: ReaderTask): unknown => {
  switch (task.type) {
    case 'ReadCreation':
      return parseCreateRequest(task.body, task.limit);
    case 'ReadState':
      return parseState(task.bytes);
    case 'Renumber':
      return renumberState(task.bytes, task.serial);
  }
};

/** Lists buffers to transfer instead of copying them, because copying blocks the event loop. */
const collectBuffers = (value: unknown): ArrayBuffer[] => {
  if (ArrayBuffer.isView(value)) {
    // A small Buffer shares its memory with others, which cannot be transferred.
    return value.byteLength === value.buffer.byteLength ? [value.buffer as ArrayBuffer] : [];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectBuffers) : [];
};

export const runReaderTask = (task: ReaderTask): unknown => {
  const outcome: ReaderOutcome<unknown> = captureOutcome(() => perform(task));
  return move({ [transferableSymbol]: collectBuffers(outcome), [valueSymbol]: outcome });
};
