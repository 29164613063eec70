/**
 * The output of a plan or an apply. Clients read it with a STX as the first byte and, when the phase has ended, an ETX as
 * the last byte. Neither is stored: the log of every ended phase is complete, however its executor stopped.
 */
import { toApplyPhase, toPlanPhase, type PhaseName, type PhaseStatus, type StatusTimestamps } from '../runs/phases.js';
import type { RunStatus } from '../runs/run-status.js';

const STX = 0x02;
const ETX = 0x03;
const SPACE = 0x20;
const NEWLINE = 0x0a;
const BRACE = 0x7b;

const MIB = 1024 * 1024;

/** Bytes that an executor can append in one request. */
export const MAX_APPEND_BYTES = MIB;

/**
 * Bytes of one stored chunk. go-tfe reads about 4 KB for each request, and each read decompresses the whole chunk:
 * with chunks of 1 MiB a reader took 16 times as long.
 */
const CHUNK_BYTES = 64 * 1024;

/** A log of appends that are a few bytes long is cut too. */
export const MAX_CHUNKS = 20_000;

/** Returns the status of the phase of a run. */
export const getPhaseStatus = (
  phase: PhaseName,
  { status, reached }: { readonly status: RunStatus; readonly reached: StatusTimestamps },
): PhaseStatus => (phase === 'plan' ? toPlanPhase : toApplyPhase)(status, reached).status;

const UNFINISHED: readonly PhaseStatus[] = ['pending', 'queued', 'running'];

export const hasEnded = (status: PhaseStatus): boolean => !UNFINISHED.includes(status);

/** The end of the stored output. */
export type LogEnd = {
  /** Number of bytes. */
  readonly end: number;
  /** Where the output of the newest claim begins. Before it is the output of executors that were lost. */
  readonly base: number;
  /** The fence of the newest claim; null if executors of earlier releases have sent the output. */
  readonly fence: number | null;
  /** Number of chunks of the newest claim. */
  readonly chunks: number;
  readonly isJson: boolean;
  readonly endsLine: boolean;
  readonly isCut: boolean;
};

export const EMPTY_LOG: LogEnd = {
  end: 0,
  base: 0,
  fence: null,
  chunks: 0,
  isJson: false,
  endsLine: true,
  isCut: false,
};

/** Replaces the bytes that delimit logs with spaces: clients would take an ETX of a tool for the end of the log. */
export const replaceDelimiters = (output: Buffer): Buffer => {
  if (!output.includes(STX) && !output.includes(ETX)) return output;
  return Buffer.from(output.map((byte) => (byte === STX || byte === ETX ? SPACE : byte)));
};

const formatSize = (bytes: number): string => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`);

/** Returns a line of the server in the format of the log. The CLI shows `@message` of a JSON line. */
const createLine = (isJson: boolean, message: string): Buffer => {
  const line = isJson
    ? JSON.stringify({ '@level': 'warn', '@message': message, '@module': 'cadastre', type: 'log' })
    : message;
  return Buffer.from(`${line}\n`);
};

const createCutMark = (isJson: boolean, limit: number): Buffer =>
  createLine(isJson, `The log is cut here, because it has more than ${formatSize(limit)} or ${MAX_CHUNKS} chunks.`);

/**
 * Returns how many bytes of the output belong to lines that begin before the limit; null if the last of these lines does
 * not end in the output. `available`: bytes up to the limit.
 */
const findCut = (output: Buffer, available: number, endsLine: boolean): number | null => {
  const lastEnd = available > 0 ? output.subarray(0, available).lastIndexOf(NEWLINE) : -1;
  if (lastEnd >= 0) return lastEnd + 1;
  if (endsLine) return 0;
  const firstEnd = output.indexOf(NEWLINE);
  return firstEnd < 0 ? null : firstEnd + 1;
};

type LimitedOutput = { readonly content: Buffer; readonly isJson: boolean; readonly isCut: boolean };

/**
 * Returns what to store of output that follows the end of a log. Beyond the limit only the line that has begun is stored,
 * so that each JSON line stays valid, and then a mark. A line that exceeds the limit by more than one append is cut.
 */
export const limitOutput = (log: LogEnd, output: Buffer, limit: number): LimitedOutput => {
  const isJson = log.chunks === 0 ? output[0] === BRACE : log.isJson;
  const isFull = log.chunks + Math.ceil(output.length / CHUNK_BYTES) >= MAX_CHUNKS;
  const used = log.end - log.base;
  if (!isFull && used + output.length <= limit) return { content: output, isJson, isCut: false };
  const mark = createCutMark(isJson, limit);
  const cut = findCut(output, isFull ? 0 : limit - used, log.endsLine);
  if (cut !== null) return { content: Buffer.concat([output.subarray(0, cut), mark]), isJson, isCut: true };
  if (!isFull && used + output.length <= limit + MAX_APPEND_BYTES) return { content: output, isJson, isCut: false };
  return { content: Buffer.concat([Buffer.of(NEWLINE), mark]), isJson, isCut: true };
};

export type LogChunk = {
  readonly start: number;
  readonly base: number;
  readonly fence: number | null;
  readonly number: number;
  readonly content: Buffer;
  readonly isJson: boolean;
  readonly endsLine: boolean;
  readonly isCut: boolean;
};

/**
 * Returns the end of the log for the output of a claim. The log of an executor that was lost stays, so that clients that follow it by
 * offset miss nothing. A mark follows it, which is null if the claim continues its own output.
 */
export const continueLog = (
  stored: LogEnd,
  fence: number | null,
): { readonly log: LogEnd; readonly mark: LogChunk | null } => {
  if (stored.end === 0) return { log: { ...stored, fence }, mark: null };
  if (stored.fence === null || stored.fence === fence) return { log: stored, mark: null };
  const line = createLine(stored.isJson, 'The executor was lost. Another one begins again.');
  const content = Buffer.concat([...(stored.endsLine ? [] : [Buffer.of(NEWLINE)]), line]);
  const { base, isJson, isCut } = stored;
  const mark = {
    start: stored.end,
    base,
    fence: stored.fence,
    number: stored.chunks,
    content,
    isJson,
    endsLine: true,
    isCut,
  };
  const begin = stored.end + content.length;
  return { log: { ...EMPTY_LOG, end: begin, base: begin, fence }, mark };
};

/** Splits output that follows the end of a log into chunks to store. */
export const splitIntoChunks = (log: LogEnd, { content, isJson, isCut }: LimitedOutput): readonly LogChunk[] =>
  Array.from({ length: Math.ceil(content.length / CHUNK_BYTES) }, (_, index) => {
    const offset = index * CHUNK_BYTES;
    const piece = content.subarray(offset, offset + CHUNK_BYTES);
    return {
      start: log.end + offset,
      base: log.base,
      fence: log.fence,
      number: log.chunks + index,
      content: piece,
      isJson,
      endsLine: piece.at(-1) === NEWLINE,
      isCut: isCut && offset + piece.length === content.length,
    };
  });

/** A range of a log as clients read it. */
export type LogRange = { readonly offset: number; readonly limit: number };

/** Returns the range of the stored output that a range of the log contains. */
export const toOutputRange = ({ offset, limit }: LogRange): LogRange =>
  offset === 0 ? { offset: 0, limit: limit - 1 } : { offset: offset - 1, limit };

/**
 * Returns the bytes of a range of the log. `output` has the bytes of `toOutputRange` that exist, `end` is the number of
 * all stored bytes. The log of a phase without output is empty until the phase has started.
 */
export const renderLog = (
  { offset, limit }: LogRange,
  { output, end, status }: { readonly output: Buffer; readonly end: number; readonly status: PhaseStatus },
): Buffer => {
  if (end === 0 && (status === 'pending' || status === 'queued')) return Buffer.alloc(0);
  const etx = 1 + end;
  const isComplete = hasEnded(status) && offset <= etx && etx < offset + limit && hasAll();
  return Buffer.concat([...(offset === 0 ? [Buffer.of(STX)] : []), output, ...(isComplete ? [Buffer.of(ETX)] : [])]);

  /** A read can return fewer bytes than the range has. */
  function hasAll(): boolean {
    return toOutputRange({ offset, limit }).offset + output.length >= end;
  }
};
