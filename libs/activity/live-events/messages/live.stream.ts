import { Readable } from 'node:stream';
import type { LogPosition } from '#platform/kernel';
import type { Identity } from '#api/access';
import { liveEventMetrics } from '../live-events.metrics.js';
import { renderServerSentEvent } from './server-sent-event.js';

/**
 * Why the server ends a stream. `access`: the credential no longer counts, or may not read the organization. `deleted`: the
 * organization was deleted. `slow`: the client reads too slowly. `age`: the stream has reached its maximum age. `stopping`:
 * the server stops. `unavailable`: the server could not read the log.
 */
type StreamEndReason = 'access' | 'deleted' | 'slow' | 'age' | 'stopping' | 'unavailable';

const RETRY_LEAST_MS = 1_000;
const RETRY_SPREAD_MS = 4_000;
/** Coprime to the spread, so that streams that open one after the other get different times. */
const RETRY_STEP_MS = 1_237;

let opened = 0;

/** Clients whose streams end together do not all connect again at the same time. */
const chooseRetryMs = (): number => RETRY_LEAST_MS + (((opened += 1) * RETRY_STEP_MS) % RETRY_SPREAD_MS);

type StreamOptions = {
  readonly credential: string;
  /** The address of the client. */
  readonly address: string;
  readonly identity: Identity;
  /** Id of the organization. */
  readonly organization: string;
  readonly openedAt: Date;
  /** The position after which the stream begins. */
  readonly start: LogPosition;
  /** Bytes that the client has not read yet, above which the stream ends. */
  readonly maxBuffered: number;
  /** Time for the client to read the rest of a stream that the server has ended. Then the connection is closed. */
  readonly drainMs: number;
};

/** One response with Server-Sent Events. */
export class LiveStream {
  readonly body: Readable;
  /** The last position whose events the stream has passed. */
  position: LogPosition;
  /** The caller, as it was last read. */
  identity: Identity;
  private readonly retry = `retry: ${chooseRetryMs()}\n`;
  private sentCursor: string | null = null;
  private endReason: StreamEndReason | 'client' | null = null;
  private wantsMore = true;
  private onWant: () => void = () => undefined;

  constructor(readonly options: StreamOptions) {
    this.position = options.start;
    this.identity = options.identity;
    this.body = new Readable({
      read: () => {
        this.wantsMore = true;
        this.onWant();
      },
    });
    liveEventMetrics.open.inc();
    this.body.once('close', () => {
      this.endReason ??= 'client';
      liveEventMetrics.open.dec();
      liveEventMetrics.ended.inc({ reason: this.endReason });
      this.onWant();
    });
    this.push(`${this.retry}\n`);
  }

  get hasEnded(): boolean {
    return this.endReason !== null || this.body.destroyed;
  }

  /** Sends a message that is about no change. */
  announce(cursor: string, word: 'ready' | 'reset', data: object): void {
    this.sentCursor = cursor;
    this.push(renderServerSentEvent(cursor, word, data));
  }

  /** Sends messages about changes up to this event. */
  send(text: string, messages: number, lastEvent: string): void {
    if (this.hasEnded) return;
    liveEventMetrics.messages.inc(messages);
    this.sentCursor = lastEvent;
    this.push(text);
  }

  /**
   * Keeps the connection open, and moves the position from which the client resumes: browsers store an id also without a
   * message.
   */
  keepAlive(cursor: string | null): void {
    if (cursor === null || cursor === this.sentCursor) return this.push(': keep-alive\n\n');
    this.sentCursor = cursor;
    this.push(`id: ${cursor}\n\n`);
  }

  end(reason: StreamEndReason): void {
    if (this.hasEnded) return;
    this.endReason = reason;
    this.body.push(`${this.retry}${renderServerSentEvent(null, 'end', { reason })}`);
    this.body.push(null);
    const timer = setTimeout(() => this.body.destroy(), this.options.drainMs).unref();
    this.body.once('close', () => clearTimeout(timer));
  }

  /** Resolves when the client has read nearly everything, or when the stream has ended. */
  async drained(): Promise<void> {
    if (this.wantsMore || this.hasEnded) return;
    await new Promise<void>((resolve) => (this.onWant = resolve));
  }

  private push(text: string): void {
    if (this.hasEnded) return;
    this.wantsMore = false;
    this.body.push(text);
    if (this.body.readableLength > this.options.maxBuffered) this.end('slow');
  }
}
