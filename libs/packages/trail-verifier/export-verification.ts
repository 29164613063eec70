import type { LogCheckpoint } from './checkpoints.js';
import { openEntry, readOpening } from './entry-openings.js';
import { createRemovedError, explainMisplacedEntry } from './entry-order.js';
import { checkMemberNames, isJsonObject, type NamedMembers } from './formats/openings.js';
import { LineSplitter } from './line-splitter.js';
import { hashLeafText, proveInclusion, verifyInclusion, type HashSource } from './merkle-tree.js';
import {
  checkSuccession,
  createForkError,
  createUnprovenError,
  demandConsistency,
  openCheckpoint,
  type OpenedCheckpoint,
} from './opened-checkpoints.js';
import { decodeDigest } from './strict-base64.js';
import { parseStrictJson } from './strict-json.js';
import { createTileSource, type LogFileReader } from './tile-source.js';
import { TrailAlteredError, TrailUnreadableError } from './trail-errors.js';
import { VerifiedPath } from './verified-path.js';
import type { VerifierKey } from './verifier-keys.js';

export type ExportOptions = {
  readonly keys: readonly VerifierKey[];
  /** A checkpoint that was kept: the log of the export must extend it. */
  readonly since?: OpenedCheckpoint | null;
  /** Reads the log, which entries without a proof are compared with. */
  readonly log?: LogFileReader | null;
  /** Whether the export has selected entries only, so that entries between them and at its end may be absent. */
  readonly isFiltered?: boolean;
};

/** What an export has, after all of it was verified. */
export type ExportReport = {
  readonly checkpoint: OpenedCheckpoint;
  readonly entries: number;
  /** Index of the first entry. Null if there are none. */
  readonly first: number | null;
  readonly last: number | null;
  /** How many entries between the first and the end of the log a filtered export does not have. */
  readonly absent: number;
  /** How many personal values are hidden, because the person was forgotten. */
  readonly withheld: number;
  /** The checkpoint that was kept, if the log was shown to extend it. */
  readonly since: LogCheckpoint | null;
};

/** Verifies an export of an audit trail: NDJSON with checkpoints, entries and proofs. Throws TrailAlteredError at the first difference. */
export const verifyExport = async (
  chunks: AsyncIterable<Uint8Array>,
  options: ExportOptions,
): Promise<ExportReport> => {
  const verifier = new ExportVerifier(options);
  const splitter = new LineSplitter();
  for await (const chunk of chunks) {
    for (const line of splitter.split(chunk)) {
      // Most lines are verified at once, and a promise for each would take longer than that.
      const pending = verifier.addLine(line);
      if (pending) await pending;
    }
  }
  const rest = splitter.end();
  if (rest) await verifier.addLine(rest);
  return verifier.end();
};

type ReadEntry = {
  readonly line: number;
  readonly index: number;
  /** In base64. */
  readonly leafHash: string;
  /** Null if the entry is compared with the tiles. */
  readonly proof: readonly string[] | null;
};

/** The members of a line with an entry. */
const ENTRY_MEMBERS = ['index', 'entry', 'salt', 'commitments', 'salts', 'proof'] as const;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

class ExportVerifier {
  private line = 0;
  private checkpoint: OpenedCheckpoint | null = null;
  private path: VerifiedPath | null = null;
  private source: HashSource | null = null;
  /** Checkpoints that the last one was not yet shown to extend. */
  private unproven: readonly LogCheckpoint[] = [];
  /** An entry that is not in its place. The entry behind it shows whether it was altered, inserted or moved. */
  private misplaced: ReadEntry | null = null;
  private first: number | null = null;
  private last: number | null = null;
  private entries = 0;
  private withheld = 0;

  constructor(private readonly options: ExportOptions) {
    if (options.since) this.unproven = [options.since];
  }

  /** Verifies a line. Returns a promise only if it has to wait for something. */
  addLine(bytes: Buffer): Promise<void> | null {
    this.line += 1;
    if (this.misplaced) return this.explain(this.misplaced, this.readNextEntry(bytes));
    const members = this.readMembers(bytes);
    if (members['checkpoint'] !== undefined) {
      this.addCheckpoint(members);
      return null;
    }
    const entry = this.readEntry(members);
    if (entry.proof && this.isExpected(entry) && this.path?.verify(entry.index, entry.leafHash, entry.proof)) {
      this.accept(entry);
      return null;
    }
    return this.addUnproved(entry);
  }

  async end(): Promise<ExportReport> {
    if (this.misplaced) await this.explain(this.misplaced, null);
    const { checkpoint, first, last, entries, withheld } = this;
    if (!checkpoint) throw new TrailAlteredError('malformed', 'the file has no line with a checkpoint');
    const next = last === null ? 0 : last + 1;
    if (next < checkpoint.size && !this.options.isFiltered) {
      throw createRemovedError(next, checkpoint.size - 1, 'the end of the file');
    }
    await this.proveSuccession(checkpoint);
    const absent = checkpoint.size - (first ?? 0) - entries;
    return { checkpoint, entries, first, last, absent, withheld, since: this.options.since ?? null };
  }

  private readMembers(bytes: Buffer): NamedMembers {
    try {
      const members = parseStrictJson(UTF8.decode(bytes));
      if (!isJsonObject(members)) throw new RangeError('must be a JSON object');
      checkMemberNames(members);
      return members;
    } catch (error) {
      if (error instanceof RangeError) throw this.createMalformedError(error.message);
      if (error instanceof TypeError) throw this.createMalformedError('must be UTF-8');
      throw error;
    }
  }

  /** Returns the entry in a line, or null if it has none. */
  private readNextEntry(bytes: Buffer): ReadEntry | null {
    try {
      return this.readEntry(this.readMembers(bytes));
    } catch (error) {
      if (error instanceof TrailAlteredError) return null;
      throw error;
    }
  }

  private createMalformedError(message: string): TrailAlteredError {
    return new TrailAlteredError('malformed', `line ${this.line}: ${message}`);
  }

  private addCheckpoint({ checkpoint: note, ...others }: NamedMembers): void {
    // Readers of the export that look for entries would take one that nothing proves.
    const other = ENTRY_MEMBERS.find((name) => Object.hasOwn(others, name));
    if (other !== undefined) throw this.createMalformedError(`${other}: must not be in a line with a checkpoint`);
    if (typeof note !== 'string') throw this.createMalformedError('checkpoint: must be a text');
    const checkpoint = openCheckpoint(note, this.options.keys, `line ${this.line}: the checkpoint`);
    const earlier = this.checkpoint ? [...this.unproven, this.checkpoint] : this.unproven;
    this.unproven = earlier.filter((one) => !checkSuccession(one, checkpoint));
    this.checkpoint = checkpoint;
    this.path = new VerifiedPath(checkpoint);
    this.source = this.options.log ? createTileSource(this.options.log, checkpoint.size) : null;
  }

  private readEntry(members: NamedMembers): ReadEntry {
    if (!this.checkpoint) throw this.createMalformedError('must be a checkpoint, because entries refer to one above');
    const { index, entry, proof } = members;
    if (!Number.isSafeInteger(index) || (index as number) < 0)
      throw this.createMalformedError('index: must be a whole number');
    if (proof !== undefined && !isTextList(proof)) throw this.createMalformedError('proof: must be a list of texts');
    if (!isJsonObject(entry)) throw this.createMalformedError('entry: must be an object');
    try {
      const { leaf, withheld } = openEntry(entry, readOpening(members));
      this.withheld += withheld.length;
      return { line: this.line, index: index as number, leafHash: hashLeafText(leaf), proof: proof ?? null };
    } catch (error) {
      if (!(error instanceof RangeError) && !(error instanceof TypeError)) throw error;
      throw new TrailAlteredError(
        'altered',
        `line ${this.line}: entry ${String(index)}: ${error.message}`,
        index as number,
      );
    }
  }

  private isExpected({ index }: ReadEntry): boolean {
    return this.last === null || index === this.last + 1 || (index > this.last && (this.options.isFiltered ?? false));
  }

  private accept({ index }: ReadEntry): void {
    this.first ??= index;
    this.last = index;
    this.entries += 1;
    if (this.unproven.length > 0) this.unproven = this.unproven.filter((one) => !this.isExtended(one));
  }

  /** Returns whether the last entry shows that the log extends a checkpoint. Throws if it shows that the log does not. */
  private isExtended(earlier: LogCheckpoint): boolean {
    const root = this.path?.computeEarlierRoot(earlier.size);
    if (root && root !== earlier.root.toString('base64')) throw createForkError(earlier, this.checkpoint ?? earlier);
    return Boolean(root);
  }

  private async addUnproved(entry: ReadEntry): Promise<void> {
    const { path, checkpoint } = this;
    if (!checkpoint || !path) return;
    const proof = entry.proof ?? (await this.readProof(entry.index, checkpoint.size));
    const isProved = path.verify(entry.index, entry.leafHash, proof);
    if (isProved && this.isExpected(entry)) return this.accept(entry);
    // An entry behind its place, which the log has there: entries are missing, or were moved behind it.
    this.misplaced = entry;
  }

  private async readProof(index: number, size: number): Promise<readonly string[]> {
    if (!this.source) {
      throw new TrailUnreadableError(`line ${this.line}: entry ${index} has no proof; name the log with --url`);
    }
    if (index >= size) return [];
    return (await proveInclusion(index, size, this.source)).map((hash) => hash.toString('base64'));
  }

  private async explain(entry: ReadEntry, next: ReadEntry | null): Promise<never> {
    const isAt = (one: ReadEntry | null) => (index: number) => one !== null && this.isAt(one, index);
    throw await explainMisplacedEntry({
      index: this.last === null || this.isExpected(entry) ? entry.index : this.last + 1,
      claimed: entry.index,
      location: `line ${entry.line}`,
      isAt: isAt(entry),
      isNextAt: isAt(next),
    });
  }

  /** Returns whether the log has an entry at an index. */
  private async isAt({ leafHash, proof }: ReadEntry, index: number): Promise<boolean> {
    const { checkpoint, source } = this;
    if (!checkpoint || index >= checkpoint.size) return false;
    if (proof === null) return source !== null && (await source(0, index)).toString('base64') === leafHash;
    const hashes = proof.flatMap((text) => decodeDigest(text) ?? []);
    const { size, root } = checkpoint;
    return verifyInclusion({ index, size, root, leafHash: Buffer.from(leafHash, 'base64'), proof: hashes });
  }

  /** Throws unless the log of the last checkpoint extends the checkpoints for which no entry has shown it. */
  private async proveSuccession(checkpoint: OpenedCheckpoint): Promise<void> {
    for (const earlier of this.unproven) {
      if (checkSuccession(earlier, checkpoint)) continue;
      if (!this.source) throw createUnprovenError(earlier, checkpoint);
      await demandConsistency(earlier, checkpoint, this.source);
    }
  }
}

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
