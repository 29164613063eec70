import { open, type FileHandle } from 'node:fs/promises';
import { RefusedRequestError } from '../api/server-connection.js';

/** Bytes of one request; the server accepts at most 1 MiB. */
const MAX_APPEND_BYTES = 512 * 1024;
/** From this amount on, output is sent without waiting for more. */
const FULL_BYTES = 64 * 1024;
const POLL_MS = 250;
/**
 * The server accepts 20,000 appends for a log. The first hour is sent each second, and the rest of the 24 hours that an apply can
 * take each six seconds.
 */
const QUICK_APPENDS = 4_000;
const QUICK_INTERVAL_MS = 750;
const SLOW_INTERVAL_MS = 6_000;

/** Bytes that may wait for the disk before commands have to wait too. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024;

/** Bytes that one log can have on the disk, for example while the server is away. Servers accept 64 MiB by default. */
const MAX_LOG_BYTES = 256 * 1024 * 1024;

export type AppendLog = (
  offset: number,
  output: Buffer<ArrayBuffer>,
) => Promise<{ readonly offset: number; readonly truncated: boolean }>;

/** Sends output to the server while it arrives. What the server has not received waits on the disk. */
export class LogUpload {
  private accepted = 0;
  private written = 0;
  private sent = 0;
  private appends = 0;
  private sentAt = 0;
  private isEnded = false;
  /** The server has cut the log, and drops everything after. */
  private isCut = false;
  private failure: Error | null = null;
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private writing: Promise<void> | null = null;
  /** Ends the pause of the upload: the first and the last output of a phase are sent at once. */
  private wake: () => void = () => undefined;
  private readonly uploading: Promise<void>;

  private constructor(
    private readonly file: FileHandle,
    private readonly append: AppendLog,
    private readonly maxBytes: number,
  ) {
    this.uploading = this.uploadAll().catch((error: unknown) => {
      this.failure = error instanceof Error ? error : new Error(String(error));
    });
  }

  static async open(path: string, append: AppendLog, maxBytes = MAX_LOG_BYTES): Promise<LogUpload> {
    return new LogUpload(await open(path, 'wx+', 0o600), append, maxBytes);
  }

  /** Adds masked output. What exceeds the limit is dropped. */
  write(text: string): void {
    if (this.isCut || this.failure !== null || this.accepted > this.maxBytes) return;
    const output = Buffer.from(text);
    this.accepted += output.length;
    const mark = `\nThe log is cut here, because it has more than ${this.maxBytes} bytes.\n`;
    const bytes = this.accepted > this.maxBytes ? Buffer.from(mark) : output;
    this.pending.push(bytes);
    this.pendingBytes += bytes.length;
    this.writing ??= this.writePending().catch((error: unknown) => {
      this.failure ??= error instanceof Error ? error : new Error(String(error));
    });
  }

  /** Resolves when there is little output that the disk does not have. */
  async waitForDisk(): Promise<void> {
    if (this.pendingBytes > MAX_PENDING_BYTES) await this.writing;
  }

  /** Resolves when the server has everything. Rejects if it has refused a part. */
  async end(): Promise<void> {
    await this.writing;
    this.isEnded = true;
    this.wake();
    await this.uploading;
    await this.file.close();
    if (this.failure !== null) throw this.failure;
  }

  private async writePending(): Promise<void> {
    while (this.pending.length > 0) {
      const bytes = Buffer.concat(this.pending);
      this.pending = [];
      this.pendingBytes = 0;
      await this.file.appendFile(bytes);
      this.written += bytes.length;
      this.wake();
    }
    this.writing = null;
  }

  private async uploadAll(): Promise<void> {
    for (;;) {
      const isEnded = this.isEnded;
      const waiting = this.written - this.sent;
      if (this.failure !== null || (isEnded && (waiting === 0 || this.isCut))) return;
      if (this.isDue(waiting) || (isEnded && waiting > 0)) await this.uploadPart();
      else await this.pause();
    }
  }

  private async pause(): Promise<void> {
    const woken = Promise.withResolvers<void>();
    const timer = setTimeout(woken.resolve, POLL_MS);
    this.wake = woken.resolve;
    await woken.promise;
    clearTimeout(timer);
  }

  private isDue(waiting: number): boolean {
    if (waiting === 0 || this.isCut) return false;
    const interval = this.appends < QUICK_APPENDS ? QUICK_INTERVAL_MS : SLOW_INTERVAL_MS;
    return performance.now() - this.sentAt >= interval || (waiting >= FULL_BYTES && this.appends < QUICK_APPENDS);
  }

  private async uploadPart(): Promise<void> {
    const buffer = Buffer.alloc(Math.min(this.written - this.sent, MAX_APPEND_BYTES));
    const { bytesRead } = await this.file.read(buffer, 0, buffer.length, this.sent);
    this.sentAt = performance.now();
    this.appends += 1;
    try {
      const { offset, truncated } = await this.append(this.sent, buffer.subarray(0, bytesRead));
      this.isCut = truncated;
      this.sent = Math.min(offset, this.written);
    } catch (error) {
      this.sent = this.findOffset(error);
    }
  }

  /** After a refusal, the server says where the log continues. */
  private findOffset(error: unknown): number {
    const offset = error instanceof RefusedRequestError && error.status === 409 ? error.offset : null;
    if (offset === null || offset === this.sent || offset > this.written) throw error;
    return offset;
  }
}
