import { unprocessable } from '#platform/kernel';
import type { ResourceBlock } from './state-content.js';
import type { ParsedStateFile } from './state-file.js';
import { listManagedResources, type StateResource } from './state-resources.js';

/*
 * Files that are extracted from a state once, so that no read parses it again. Each version has three files:
 *
 *   4 bytes  format, 1 (unsigned, little endian)
 *   4 bytes  length of the index
 *   index    JSON in UTF-8
 *   body     outputs: the values in sequence, each as JSON; the index has [name, from, length] of each
 *            resources: one line of JSON for each managed instance; the index has their count, and the offset of
 *            each LINES_PER_INDEX_ENTRY-th line
 *            blocks: empty; the index is the list of the blocks, or null if the list is too long
 *
 * Offsets count from the start of the body. A reader fetches the beginning, then only the bytes that it needs.
 */
const FORMAT = 1;
export const HEADER_BYTES = 8;
const LINES_PER_INDEX_ENTRY = 64;

export type OutputsIndex = readonly (readonly [name: string, from: number, length: number])[];
export type ResourcesIndex = { readonly count: number; readonly offsets: readonly number[] };

const prependIndex = (index: unknown, body: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const encoded = Buffer.from(JSON.stringify(index));
  const size = body.reduce((sum, { length }) => sum + length, HEADER_BYTES + encoded.length);
  // A new buffer instead of one from the pool of small buffers, because it is transferred between threads.
  const file = new Uint8Array(size);
  const header = new DataView(file.buffer);
  header.setUint32(0, FORMAT, true);
  header.setUint32(4, encoded.length, true);
  let at = HEADER_BYTES;
  for (const piece of [encoded, ...body]) {
    file.set(piece, at);
    at += piece.length;
  }
  return file;
};

/** Returns the length of the index of the file that starts with these bytes. */
export const readIndexLength = (beginning: Uint8Array): number => {
  const header = new DataView(beginning.buffer, beginning.byteOffset, beginning.byteLength);
  if (beginning.length < HEADER_BYTES || header.getUint32(0, true) !== FORMAT) {
    throw new Error('an extracted file has an unknown format');
  }
  return header.getUint32(4, true);
};

/** Sorts by name, so that a page of outputs is one range of the file. */
export const compareByName = (one: { readonly name: string }, other: { readonly name: string }): number =>
  one.name < other.name ? -1 : Number(one.name > other.name);

export const buildOutputsFile = ({ outputs }: Pick<ParsedStateFile, 'outputs'>): Uint8Array<ArrayBuffer> => {
  const sorted = outputs.toSorted(compareByName);
  let from = 0;
  const index = sorted.map(({ name, value }) => {
    const entry = [name, from, value.length] as const;
    from += value.length;
    return entry;
  });
  return prependIndex(
    index satisfies OutputsIndex,
    sorted.map(({ value }) => value),
  );
};

const MAX_LIST_BYTES = 128 * 1024 * 1024;

export const buildResourcesFile = (state: ParsedStateFile): Uint8Array<ArrayBuffer> => {
  const pieces: Uint8Array[] = [];
  const offsets: number[] = [];
  let [lines, size, count] = ['', 0, 0];
  const flush = (): void => {
    const piece = Buffer.from(lines);
    pieces.push(piece);
    size += piece.length;
    lines = '';
    if (size > MAX_LIST_BYTES) throw unprocessable('The state file has too many resource instances to list them');
  };
  for (const resource of listManagedResources(state)) {
    if (count % LINES_PER_INDEX_ENTRY === 0) {
      flush();
      offsets.push(size);
    }
    lines += `${JSON.stringify(resource)}\n`;
    count += 1;
  }
  flush();
  return prependIndex({ count, offsets } satisfies ResourcesIndex, pieces);
};

/** A resource block in documents of state versions (go-tfe's StateVersionResources). */
type RenderedBlock = {
  readonly name: string;
  /** Has the prefix `data.` for a data source, as in `providers` and `modules` of the same document. */
  readonly type: string;
  readonly count: number;
  /** `root`, or the address of the module. */
  readonly module: string;
  /** Name in the state: `provider["registry.terraform.io/hashicorp/null"]`. */
  readonly provider: string;
};

/** Null if the list exceeds MAX_BLOCKS_BYTES. */
export type BlocksIndex = readonly RenderedBlock[] | null;

/** Maximum size in bytes of the block list in one document: about 8,000 blocks. */
const MAX_BLOCKS_BYTES = 1024 * 1024;

const renderBlock = ({ managed, name, type, indexes, module, provider }: ResourceBlock): RenderedBlock => ({
  name,
  type: managed ? type : `data.${type}`,
  count: indexes.length,
  module: module ?? 'root',
  provider,
});

/** Returns null as soon as the list is too long, because a state can have a million blocks. */
const renderBlocks = (blocks: readonly ResourceBlock[]): BlocksIndex => {
  const rendered: RenderedBlock[] = [];
  let size = 0;
  for (const block of blocks) {
    const one = renderBlock(block);
    size += Buffer.byteLength(JSON.stringify(one));
    if (size > MAX_BLOCKS_BYTES) return null;
    rendered.push(one);
  }
  return rendered;
};

export const buildBlocksFile = ({ blocks }: Pick<ParsedStateFile, 'blocks'>): Uint8Array<ArrayBuffer> =>
  prependIndex(renderBlocks(blocks) satisfies BlocksIndex, []);

/**
 * Returns the range of the lines of these resources, and the number of lines before them in the range (`skipped`). Null
 * if there are none.
 */
export const locateLines = (
  { count, offsets }: ResourcesIndex,
  first: number,
  size: number,
): { readonly from: number; readonly to: number | null; readonly skipped: number } | null => {
  if (first >= count) return null;
  const start = Math.floor(first / LINES_PER_INDEX_ENTRY);
  const end = Math.ceil(Math.min(first + size, count) / LINES_PER_INDEX_ENTRY);
  return { from: offsets[start] ?? 0, to: offsets[end] ?? null, skipped: first - start * LINES_PER_INDEX_ENTRY };
};

export const parseResourceLines = (lines: string, skipped: number, size: number): readonly StateResource[] =>
  lines
    .split('\n')
    .slice(skipped, skipped + size)
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as StateResource);
