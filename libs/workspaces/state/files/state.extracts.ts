import { Injectable } from '@nestjs/common';
import { notFound } from '#platform/kernel';
import { readBytes } from '#storage/blob-store';
import { Database } from '#platform/postgres';
import { canHaveInexactNumbers, parseExactly } from '../state-file/exact-json.js';
import {
  HEADER_BYTES,
  readIndexLength,
  locateLines,
  parseResourceLines,
  type BlocksIndex,
  type OutputsIndex,
  type ResourcesIndex,
} from '../state-file/state-extract.js';
import type { StateResource } from '../state-file/state-resources.js';
import { findStateVersionStatus } from '../state-versions/state-versions.queries.js';
import { EXTRACT_KINDS, StateFiles, type ExtractKind } from './state.files.js';
import { StateReaders } from '../reading/state-reader.threads.js';
import type { ParsedState } from '../reading/state.parser.js';

export type ExtractedVersion = { readonly id: string; readonly organization: string };

/** Size of an encryption frame. It exceeds all outputs of most states, so one read is usually enough. */
const FIRST_READ_BYTES = 64 * 1024;

/** Largest gap between two values that is read and skipped instead of starting a new request to the store. */
const MAX_SKIPPED_BYTES = 64 * 1024;

/**
 * Maximum size in bytes of the block list of one version on a page of versions: about 300 blocks. So a page of 100
 * versions has at most 4 MiB of them, and one read of each file is enough.
 */
const BLOCKS_ON_PAGE = 40 * 1024;

type OpenedExtract<Index> = {
  readonly index: Index;
  readonly start: number;
  readonly beginning: Uint8Array;
};

type OutputValueSpan = { readonly from: number; readonly length: number };

/** The values of outputs as bytes of JSON, with their lengths. */
export class OutputValues {
  private readonly byName: ReadonlyMap<string, OutputValueSpan>;

  constructor(
    private readonly opened: OpenedExtract<OutputsIndex>,
    private readonly read: (from: number, to: number) => Promise<AsyncIterable<Uint8Array>>,
  ) {
    this.byName = new Map(opened.index.map(([name, from, length]) => [name, { from, length }]));
  }

  lengthOf(name: string): number {
    return this.getSpan(name).length;
  }

  /**
   * Yields the bytes of the values of these outputs, in the order of `names`. If `names` is sorted with
   * `compareByName`, each byte is read once.
   */
  async *of(names: readonly string[]): AsyncGenerator<AsyncGenerator<Uint8Array>> {
    const end = Math.max(0, ...names.map((name) => this.getSpan(name).from + this.getSpan(name).length));
    const source = new ForwardReader(this.opened, end, this.read);
    try {
      for (const name of names) {
        const { from, length } = this.getSpan(name);
        yield source.take(from, length);
      }
    } finally {
      await source.close();
    }
  }

  /** Returns parsed values as long as they fit into the budget; others are left out. */
  async parsed(names: readonly string[], budget: ValueBudget): Promise<Map<string, unknown>> {
    const fitting = names.filter((name) => budget.reserve(this.lengthOf(name)));
    const values = new Map<string, unknown>();
    let at = 0;
    for await (const value of this.of(fitting)) {
      const text = (await readBytes(value)).toString();
      if (budget.reserveParsing(text)) values.set(fitting[at] ?? '', parseExactly(text));
      at += 1;
    }
    return values;
  }

  private getSpan(name: string): OutputValueSpan {
    const span = this.byName.get(name);
    // Log and files disagree, for example after one was restored without the other.
    if (!span) throw notFound('The value of this output is not in the blob store');
    return span;
  }
}

/**
 * Maximum bytes of output values that one document includes. Parsing and writing them blocks the event loop, for less than
 * a quarter of a second with 8 MiB. A state with larger values is rare: 5,000 outputs of 1 KiB fit.
 */
const INCLUDED_VALUES = 8 * 1024 * 1024;

/** The factor by which the exact parsing of numbers takes longer. */
const EXACT_PARSING_COST = 16;

/** Limits the bytes of values in one document. */
export class ValueBudget {
  constructor(private remaining = INCLUDED_VALUES) {}

  reserve(bytes: number): boolean {
    if (bytes > this.remaining) return false;
    this.remaining -= bytes;
    return true;
  }

  /** Reserves the additional cost of exact parsing. The bytes of the value must already be reserved. */
  reserveParsing(text: string): boolean {
    return !canHaveInexactNumbers(text) || this.reserve(text.length * (EXACT_PARSING_COST - 1));
  }
}

/** Reads forward through the body. Continues at its position, or starts a new request after a large gap. */
class ForwardReader {
  private pieces: AsyncIterator<Uint8Array> | null = null;
  private rest: Uint8Array = new Uint8Array(0);
  private at = 0;

  constructor(
    private readonly opened: OpenedExtract<unknown>,
    private readonly end: number,
    private readonly read: (from: number, to: number) => Promise<AsyncIterable<Uint8Array>>,
  ) {}

  async *take(from: number, length: number): AsyncGenerator<Uint8Array> {
    const { beginning, start } = this.opened;
    if (start + from + length <= beginning.length) {
      yield beginning.subarray(start + from, start + from + length);
      return;
    }
    if (this.pieces === null || from < this.at || from - this.at > MAX_SKIPPED_BYTES) await this.open(from);
    for await (const skipped of this.next(from - this.at)) void skipped;
    yield* this.next(length);
  }

  async close(): Promise<void> {
    await this.pieces?.return?.();
    this.pieces = null;
  }

  private async open(from: number): Promise<void> {
    await this.close();
    const content = await this.read(this.opened.start + from, this.opened.start + this.end);
    this.pieces = content[Symbol.asyncIterator]();
    this.rest = new Uint8Array(0);
    this.at = from;
  }

  private async *next(length: number): AsyncGenerator<Uint8Array> {
    for (let remaining = length; remaining > 0;) {
      if (this.rest.length === 0) {
        const next = await this.pieces?.next();
        if (!next || next.done) throw new Error('an extracted file ends too early');
        this.rest = next.value;
      }
      const piece = this.rest.subarray(0, remaining);
      this.rest = this.rest.subarray(piece.length);
      this.at += piece.length;
      remaining -= piece.length;
      if (piece.length > 0) yield piece;
    }
  }
}

/**
 * Outputs and resources of states, in encrypted files beside them. They are stored when a version is finalized, before
 * its event. Versions that were finalized before these files existed get them on the first read.
 */
@Injectable()
export class StateExtracts {
  /** Running extractions by version, so that simultaneous reads of an old version extract it once. */
  private readonly extracting = new Map<string, Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly files: StateFiles,
    private readonly readers: StateReaders,
  ) {}

  /** Keeps files that already exist, because extracting the same state always gives the same files. */
  async store(id: string, reading: Pick<ParsedState, ExtractKind>): Promise<void> {
    for (const kind of EXTRACT_KINDS) await this.files.put(id, kind, reading[kind]);
  }

  /** Throws `not-found` if the files of the version no longer exist. */
  async outputs(version: ExtractedVersion): Promise<OutputValues> {
    const opened = await this.open<OutputsIndex>(version, 'outputs');
    return new OutputValues(opened, (from, to) => this.range(version.id, 'outputs', from, to));
  }

  /** Returns one page of the managed resources, and the total count. */
  async resources(
    version: ExtractedVersion,
    first: number,
    size: number,
  ): Promise<{ readonly resources: readonly StateResource[]; readonly total: number }> {
    const opened = await this.open<ResourcesIndex>(version, 'resources');
    const total = opened.index.count;
    const lines = locateLines(opened.index, first, size);
    if (!lines) return { resources: [], total };
    const { from, to, skipped } = lines;
    const end = to === null ? undefined : opened.start + to;
    const content = await this.range(version.id, 'resources', opened.start + from, end);
    return { resources: parseResourceLines((await readBytes(content)).toString(), skipped, size), total };
  }

  /**
   * Returns null if the list is too long for a document. Throws `not-found` if the files of the version no longer
   * exist.
   */
  async blocks(version: ExtractedVersion): Promise<BlocksIndex> {
    return (await this.open<BlocksIndex>(version, 'blocks')).index;
  }

  /**
   * Returns the list for a page of versions; null also if nothing is extracted yet, so that a page does not read a
   * hundred states.
   */
  async blocksOnPage({ id }: ExtractedVersion): Promise<BlocksIndex> {
    const beginning = await this.beginningOf(id, 'blocks');
    if (!beginning) return null;
    const length = readIndexLength(beginning);
    if (length > BLOCKS_ON_PAGE) return null;
    return JSON.parse(Buffer.from(beginning.subarray(HEADER_BYTES, HEADER_BYTES + length)).toString()) as BlocksIndex;
  }

  private async open<Index>(version: ExtractedVersion, kind: ExtractKind): Promise<OpenedExtract<Index>> {
    const beginning = (await this.beginningOf(version.id, kind)) ?? (await this.extracted(version, kind));
    const start = HEADER_BYTES + readIndexLength(beginning);
    const missing = start > beginning.length ? await this.range(version.id, kind, beginning.length, start) : null;
    const head = missing ? Buffer.concat([beginning, await readBytes(missing)]) : beginning;
    const index = JSON.parse(Buffer.from(head.subarray(HEADER_BYTES, start)).toString()) as Index;
    return { index, start, beginning: head };
  }

  private async beginningOf(id: string, kind: ExtractKind): Promise<Uint8Array | null> {
    const blob = await this.files.get(id, kind, { start: 0, end: FIRST_READ_BYTES - 1 });
    return blob && readBytes(blob.content);
  }

  private async range(id: string, kind: ExtractKind, from: number, to?: number): Promise<AsyncIterable<Uint8Array>> {
    const blob = await this.files.get(id, kind, to === undefined ? { start: from } : { start: from, end: to - 1 });
    if (!blob) throw notFound('The data of this state version has just been deleted');
    return blob.content as AsyncIterable<Uint8Array>;
  }

  private async extracted(version: ExtractedVersion, kind: ExtractKind): Promise<Uint8Array> {
    const { id } = version;
    const extracting = this.extracting.get(id) ?? this.extract(version).finally(() => this.extracting.delete(id));
    this.extracting.set(id, extracting);
    await extracting;
    const beginning = await this.beginningOf(id, kind);
    if (!beginning) throw notFound('The data of this state version has just been deleted');
    return beginning;
  }

  private async extract(version: ExtractedVersion): Promise<void> {
    const { id, organization } = version;
    const size = await this.files.size(id, 'state');
    const reading = size === null ? null : await this.readers.readState(organization, size, () => this.files.bytes(id));
    if (!reading) throw notFound(`The file of state version ${id} is not in the blob store`);
    await this.store(id, reading);
    // Another request may have deleted the version and its files before this request stored the extracted files.
    const status = await findStateVersionStatus(this.database, id);
    if (status === 'finalized' || status === 'backing_data_soft_deleted') return;
    await this.files.remove(id, EXTRACT_KINDS);
    throw notFound('The data of this state version has just been deleted');
  }
}
