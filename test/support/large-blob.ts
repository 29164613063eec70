import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { workerData } from 'node:worker_threads';
import { openStore, type StoreDescription } from '../../libs/storage/blob-store/spec.js';
import { waitUntil } from './product.js';

// A program for a worker thread of `libs/storage/blob-store/blob-store.spec.ts`: it fails if the store keeps more than `memory` bytes of
// a blob of 50 MB. The heap of a thread is small, so that collecting its garbage many times takes little time.

const PIECES = 800;

/** 50 MB in chunks of 64 KiB, as from a socket. */
const streamPieces = async function* (at: (piece: number) => Promise<void>): AsyncGenerator<Buffer> {
  for (let n = 0; n < PIECES; n += 1) {
    await at(n);
    yield Buffer.alloc(64 * 1024, n % 251);
  }
};

const hashPieces = async (pieces: AsyncIterable<unknown>, at: (size: number) => Promise<void>): Promise<string> => {
  const hash = createHash('md5');
  let size = 0;
  for await (const piece of pieces) {
    hash.update(piece as Buffer);
    size += (piece as Buffer).length;
    await at(size);
  }
  return hash.digest('hex');
};

const { store: description, memory } = workerData as { readonly store: StoreDescription; readonly memory: number };
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const measureMemory = (): number => {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
};
const before = measureMemory();
// Nothing is read or written during a measurement. V8 frees the memory of buffers on another thread, which may be late, so
// the measurement is repeated.
const waitForFreeMemory = (): Promise<void> =>
  waitUntil(() => measureMemory() - before < memory, 'the memory of sent pieces is free');

const store = openStore(description);
await store.put(
  'large',
  streamPieces(async (piece) => {
    if (piece % 400 === 399) await waitForFreeMemory();
  }),
);
let nextLook = 20_000_000;
const blob = await store.get('large');
const stored = await hashPieces(
  blob?.content ?? streamPieces(() => Promise.reject(new Error('no blob'))),
  async (size) => {
    if (size < nextLook) return;
    await waitForFreeMemory();
    nextLook += 20_000_000;
  },
);
const expected = await hashPieces(
  streamPieces(() => Promise.resolve()),
  () => Promise.resolve(),
);
if (stored !== expected) throw new Error('the blob has other bytes than those that were put');
