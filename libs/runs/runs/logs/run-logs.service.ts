import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Envelope, type EncryptionKeys } from '#platform/encryption';
import { conflict, notFound } from '#platform/kernel';
import { requireAddressOfLink, requirePermission, type Actor } from '#api/access';
import { readBytes } from '#storage/blob-store';
import type { EventStore } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { FairQueue } from '#workspaces/state';
import type { LogFileKind, RunFile, RunFiles } from '../run-files/run.files.js';
import { createDeletedDataRefusal } from '../runs/run.js';
import { requireFence } from '../runs/run-fence.js';
import type { PhaseName } from '../runs/phases.js';
import type { LinkRecipient, LogTarget } from '../runs/run-logs.links.js';
import { RunChanges } from '../runs/run-changes.service.js';
import { LogReaders } from './log-readers.service.js';
import {
  continueLog,
  EMPTY_LOG,
  getPhaseStatus,
  hasEnded,
  limitOutput,
  renderLog,
  replaceDelimiters,
  splitIntoChunks,
  toOutputRange,
  type LogEnd,
  type LogRange,
} from './run-log.js';
import {
  deleteChunks,
  isRunDataKept,
  insertChunks,
  listChunks,
  listEndedLogs,
  loadRunForLog,
  type EndedLog,
  type RunForLog,
} from './run-logs.queries.js';

/**
 * Neither a rate limit nor the protection against overload applies to reads of logs, because the CLI ends its output at the first
 * refusal. So reads wait, and those of one recipient do not delay others. A gateway has fewer connections than can wait.
 */
const READS = { concurrency: 16, waiting: 100_000, waitingOfOwner: 100_000, waitingBytes: Infinity, items: 'logs' };

/** Part of the key derivation. */
export const LOGS_PURPOSE = 'run logs';

const FILES: Readonly<Record<PhaseName, LogFileKind>> = { plan: 'plan-log', apply: 'apply-log' };

const toLogFile = (run: string, name: PhaseName): RunFile => ({ run, kind: FILES[name], fence: null });

/** A part of the output. `fence`: see `requireFence`. */
type SentOutput = { readonly fence: number | null; readonly offset: number; readonly output: Buffer };

export type AppendedLog = {
  /** Bytes of output that the server has, which is the offset of the next append. */
  readonly offset: number;
  readonly isCut: boolean;
};

/** The caller that a signed link was made for, and the address of the client that uses it. */
type RunLogClient = { readonly recipient: LinkRecipient; readonly address: string | null };

type ReadLogPart = {
  readonly content: Buffer;
  /** Whether the log can grow, and has no output of the range yet. */
  readonly awaitsOutput: boolean;
};

type RunLogsOptions = {
  readonly store: EventStore;
  readonly changes: RunChanges;
  readonly files: RunFiles;
  readonly encryptionKeys: EncryptionKeys;
  /** Bytes of the longest log. */
  readonly limit: number;
};

/**
 * Stores the output of a running phase as chunks in Postgres, because appends must be cheap and in order. When the phase
 * has ended, a scheduled job moves the log to a file.
 */
export class RunLogs {
  private readonly store: EventStore;
  private readonly changes: RunChanges;
  private readonly database: Database;
  private readonly files: RunFiles;
  private readonly limit: number;
  private readonly envelope: Envelope;
  private readonly readers: LogReaders;
  private readonly reads = new FairQueue(READS);

  constructor({ store, changes, files, encryptionKeys, limit }: RunLogsOptions) {
    this.store = store;
    this.changes = changes;
    this.database = store.database;
    this.files = files;
    this.limit = limit;
    this.envelope = new Envelope(encryptionKeys, LOGS_PURPOSE);
    this.readers = new LogReaders(store.database);
  }

  /**
   * Appends output at the offset, for the executor with this fence. The same bytes again change nothing. Throws a conflict with the
   * expected offset for a gap, and for other bytes than the stored ones.
   */
  append(target: LogTarget, { fence, offset, output: sent }: SentOutput, actor: Actor): Promise<AppendedLog> {
    const output = replaceDelimiters(sent);
    const appendOnce = async (): Promise<AppendedLog> => {
      const row = await loadRunForLog(this.database, actor, target);
      if (!row.executable) throw notFound();
      requirePermission(actor, 'execute-run', row);
      requireFence(row.status, fence, row.fence);
      const { log, mark } = continueLog(row.log ?? (await this.findEndOfFile(target, row)), fence);
      const end = log.end - log.base;
      if (log.isCut) return { offset: end, isCut: true };
      const rest = await this.requireContinuation(target, log, offset, output);
      if (rest.length === 0) return { offset: end, isCut: false };
      requireRunning(target, row, log);
      const part = limitOutput(log, rest, this.limit);
      const chunks = [...(mark ? [mark] : []), ...splitIntoChunks(log, part)].map((chunk) => ({
        ...chunk,
        encrypted: this.encryptChunk(target.phase, chunk.start, chunk.content),
      }));
      // The phase has ended, or the claim, since the row was read.
      if (!(await insertChunks(this.database, target, fence, chunks))) return appendOnce();
      this.changes.continueReads(target.run);
      return { offset: end + part.content.length, isCut: part.isCut };
    };
    return this.store.retryOnConflict(appendOnce, { races: ['log_chunks_pkey', 'log_chunks_start'] });
  }

  /**
   * Reads a range of a log for a signed link. Throws not-found if the run or its data was deleted, and if the caller that the link was made for
   * may not read the run any more. Recipients take turns.
   */
  async read(target: LogTarget, { recipient, address }: RunLogClient, range: LogRange): Promise<ReadLogPart> {
    const outputRange = toOutputRange(range);
    const rows = await this.reads.run(recipient.id, 0, () => this.readers.listChunks(target, recipient, outputRange));
    const [row] = rows;
    if (!row) throw notFound();
    requireAddressOfLink(row.allowedRanges, address);
    if (row.isDataDeleted) throw createDeletedDataRefusal();
    const status = getPhaseStatus(target.name, row);
    const chunks = rows.flatMap(({ start, content }) => (start !== null && content ? [{ start, content }] : []));
    const { output, end } =
      row.end === null
        ? await this.readFile(target, outputRange)
        : { output: this.joinChunks(target.phase, chunks, outputRange), end: row.end };
    return {
      content: renderLog(range, { output, end, status }),
      awaitsOutput: outputRange.limit > 0 && outputRange.offset >= end && !hasEnded(status),
    };
  }

  /**
   * Reads a range of a log as soon as it has output or the phase has ended, or when the signal aborts. `content` is what a read
   * has returned before: the result if the request cannot wait.
   */
  async waitForOutput(
    target: LogTarget,
    reader: RunLogClient,
    range: LogRange,
    { content: before, signal }: { readonly content: Buffer; readonly signal: AbortSignal },
  ): Promise<Buffer> {
    let content = before;
    const readOnce = async (): Promise<true | null> => {
      const part = await this.read(target, reader, range);
      content = part.content;
      return part.awaitsOutput ? null : true;
    };
    await this.changes.readUntilFound({ run: target.run, recipient: reader.recipient.id }, signal, readOnce);
    return content;
  }

  /** Moves the logs of phases that have ended to files. `done` is called after each log. Throws the first failure after all logs. */
  async moveEndedLogs(signal: AbortSignal, done: () => void): Promise<void> {
    const failures: unknown[] = [];
    for await (const log of listEndedLogs(this.database)) {
      if (signal.aborted) return;
      try {
        await this.moveLog(log);
        done();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  private async moveLog({ run, phase }: EndedLog): Promise<void> {
    const file = toLogFile(run, phase.startsWith('plan-') ? 'plan' : 'apply');
    // A file that exists has the same output: the job was interrupted before it deleted the chunks.
    await this.files.put(file, this.readOutput(phase));
    const [deleted = []] = await this.database.transaction([deleteChunks(phase)]);
    // The run or its data was deleted meanwhile, after its files were removed.
    if (deleted.length === 0 && !(await isRunDataKept(this.database, run))) await this.files.remove(run);
  }

  private async *readOutput(phase: string): AsyncGenerator<Buffer> {
    for (let offset = 0; ;) {
      const output = this.joinChunks(phase, await listChunks(this.database, phase, { offset, limit: READ_BYTES }), {
        offset,
        limit: READ_BYTES,
      });
      if (output.length === 0) return;
      yield output;
      offset += output.length;
    }
  }

  private async findEndOfFile({ run, name }: LogTarget, row: RunForLog): Promise<LogEnd> {
    // Only the log of a phase that has ended can be in a file.
    if (getPhaseStatus(name, row) === 'running') return EMPTY_LOG;
    return { ...EMPTY_LOG, end: (await this.files.size(toLogFile(run, name))) ?? 0 };
  }

  /** Returns the part of the output after the end of the log. Refuses a gap, and output that differs from the log. */
  private async requireContinuation(
    target: LogTarget,
    { end: absoluteEnd, base }: LogEnd,
    offset: number,
    output: Buffer,
  ): Promise<Buffer> {
    const end = absoluteEnd - base;
    const refuse = (reason: string): never => {
      throw conflict(`${reason}. Continue at offset ${end}.`, { offset: end });
    };
    if (offset > end) return refuse(`The log has ${end} bytes, and output before offset ${offset} is missing`);
    const repeated = output.subarray(0, end - offset);
    if (repeated.length > 0 && !(await this.readStored(target, base + offset, repeated.length)).equals(repeated)) {
      return refuse(`The log has other output at offset ${offset}`);
    }
    return output.subarray(repeated.length);
  }

  private async readStored(target: LogTarget, offset: number, limit: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let length = 0; length < limit;) {
      const range = { offset: offset + length, limit: limit - length };
      const chunks = await listChunks(this.database, target.phase, range);
      const piece =
        chunks.length > 0 ? this.joinChunks(target.phase, chunks, range) : (await this.readFile(target, range)).output;
      if (piece.length === 0) break;
      pieces.push(piece);
      length += piece.length;
    }
    return Buffer.concat(pieces);
  }

  private async readFile(
    { run, name }: LogTarget,
    { offset, limit }: LogRange,
  ): Promise<{ output: Buffer; end: number }> {
    const end = (await this.files.size(toLogFile(run, name))) ?? 0;
    if (offset >= end || limit === 0) return { output: Buffer.alloc(0), end };
    const file = await this.files.get(toLogFile(run, name), { start: offset, end: offset + limit - 1 });
    return { output: file ? await readBytes(file.content) : Buffer.alloc(0), end };
  }

  private joinChunks(
    phase: string,
    chunks: readonly { readonly start: number; readonly content: Buffer }[],
    { offset, limit }: LogRange,
  ): Buffer {
    const [first] = chunks;
    if (!first) return Buffer.alloc(0);
    const joined = Buffer.concat(chunks.map(({ start, content }) => this.decryptChunk(phase, start, content)));
    return joined.subarray(offset - first.start, offset - first.start + limit);
  }

  private encryptChunk(phase: string, start: number, content: Buffer): Buffer {
    return this.envelope.encrypt(`${phase}/${start}`, zstdCompressSync(content));
  }

  private decryptChunk(phase: string, start: number, content: Buffer): Buffer {
    return zstdDecompressSync(this.envelope.open(`${phase}/${start}`, content));
  }
}

/** Bytes that the move of a log to a file keeps in memory. */
const READ_BYTES = 4 * 1024 * 1024;

/** Refuses new output if the phase is not running. */
const requireRunning = ({ name }: LogTarget, row: RunForLog, { end, base }: LogEnd): void => {
  const status = getPhaseStatus(name, row);
  if (status === 'running') return;
  const reason = status === 'pending' || status === 'queued' ? 'has not started' : `is ${status}`;
  throw conflict(`The ${name} ${reason}: its log accepts no output`, { offset: end - base });
};
