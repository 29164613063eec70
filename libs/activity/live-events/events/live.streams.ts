import type { Readable } from 'node:stream';
import { Logger, type OnModuleDestroy } from '@nestjs/common';
import { tooManyRequests, unavailable, type Clock, type Refusal } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import type { QueryRunner } from '#platform/postgres';
import type { Authenticator, Identity } from '#api/access';
import { listSentEvents } from '../messages/sent-events.js';
import { ChangeReader, type LogCursor } from '../reading/change.reader.js';
import { LiveReader } from '../reading/live.reader.js';
import { StreamAccess } from '../scopes/stream.access.js';
import { LiveStream } from '../messages/live.stream.js';
import { StreamSlots } from './stream-slots.js';

export type LiveStreamLimits = {
  /** Open streams of this process, and of one caller. */
  readonly total: number;
  readonly perCaller: number;
  readonly keepAliveMs: number;
  readonly maxAgeMs: number;
  /** Bytes that a client has not read yet. */
  readonly bufferedBytes: number;
  /** Time for clients to read the rest of a stream that the server has ended. */
  readonly drainMs: number;
  /** Events that a stream can miss and still resume: of all organizations, and messages of its own. */
  readonly resumedEvents: number;
  readonly resumedMessages: number;
};

export const LIVE_STREAM_LIMITS: Omit<LiveStreamLimits, 'total' | 'perCaller'> = {
  keepAliveMs: 15_000,
  maxAgeMs: 3_600_000,
  bufferedBytes: 128 * 1_024,
  drainMs: 10_000,
  resumedEvents: 100_000,
  resumedMessages: 10_000,
};

const RETRY_AFTER_SECONDS = 10;
/** Time for clients to read the last message when the server stops. */
const STOP_MS = 1_000;

type StreamRequest = {
  readonly identity: Identity;
  readonly credential: string;
  /** The address of the client: an IP allowlist can refuse it later. */
  readonly address: string;
  /** Id of the organization. */
  readonly organization: string;
  readonly start: StreamStart;
};

/**
 * What the client has already: everything up to an event, or what it has loaded since a time in milliseconds. Null for a
 * client that starts at the present.
 */
export type StreamStart = { readonly event: string } | { readonly time: number } | null;

type ResetReason = 'too-old' | 'unknown';

/** The open streams of this process, and the reader that they share while there are any. */
export class LiveStreams implements OnModuleDestroy {
  private readonly logger = new Logger(LiveStreams.name);
  private readonly streams = new Set<LiveStream>();
  private readonly slots: StreamSlots;
  private readonly changes: ChangeReader;
  private readonly access: StreamAccess;
  private reader: Promise<LiveReader> | null = null;
  private opening = 0;
  private timer: NodeJS.Timeout | null = null;
  private isStopping = false;

  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    authenticator: Authenticator,
    private readonly limits: LiveStreamLimits,
  ) {
    this.changes = new ChangeReader(listSentEvents(store.kinds));
    this.slots = new StreamSlots(limits);
    this.access = new StreamAccess(store.database, authenticator);
  }

  /** Opens a stream for a caller that may read the organization. Throws `too-many` or `unavailable` above a limit. */
  async open(request: StreamRequest): Promise<Readable> {
    const { id } = request.identity;
    const reached = this.slots.take(id);
    if (reached) throw this.createLimitRefusal(reached);
    this.opening += 1;
    try {
      return await this.begin(request);
    } catch (error) {
      this.slots.free(id);
      throw error;
    } finally {
      this.opening -= 1;
      this.stopReaderIfUnused();
    }
  }

  /**
   * Ends streams that are too old or whose callers have lost access, and keeps the others open. Called at intervals.
   * Never rejects.
   */
  async keepAlive(): Promise<void> {
    const now = this.clock.now().getTime();
    const streams = [...this.streams];
    for (const stream of streams) {
      if (now - stream.options.openedAt.getTime() >= this.limits.maxAgeMs) stream.end('age');
    }
    try {
      await this.access.render([], streams);
    } catch (error) {
      // Without the database there are no messages either.
      this.logger.warn(`the access of live streams cannot be checked: ${String(error)}`);
    }
    const reader = await this.reader?.catch(() => null);
    for (const stream of streams) stream.keepAlive(reader?.getCursorOf(stream) ?? null);
  }

  /** Ends all streams, so that clients connect to another process and the server can stop. */
  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    for (const stream of this.streams) {
      stream.end('stopping');
      setTimeout(() => stream.body.destroy(), STOP_MS).unref();
    }
    await this.stopReader();
  }

  private async begin(request: StreamRequest): Promise<Readable> {
    const { identity, credential, address, organization } = request;
    const reader = await this.ensureReader();
    const resumption = request.start === null ? null : await this.findStart(request.start, request, reader);
    if (this.isStopping) throw unavailable('The server is stopping. Please try again.', 1);
    const { cursor } = reader;
    const start = resumption !== null && typeof resumption !== 'string' ? resumption : cursor;
    const stream = new LiveStream({
      identity,
      credential,
      address,
      organization,
      openedAt: this.clock.now(),
      start: start.position,
      maxBuffered: this.limits.bufferedBytes,
      drainMs: this.limits.drainMs,
    });
    this.add(stream);
    const time = this.clock.now().toISOString();
    if (request.start === null) stream.announce(cursor.event, 'ready', { time });
    else if (typeof resumption === 'string') stream.announce(cursor.event, 'reset', { time, reason: resumption });
    void reader.follow(stream);
    return stream.body;
  }

  /** Returns where a stream resumes, or why it cannot. */
  private async findStart(
    requested: NonNullable<StreamStart>,
    { organization, identity }: StreamRequest,
    reader: LiveReader,
  ): Promise<LogCursor | ResetReason> {
    const { database } = this.store;
    const { resumedEvents, resumedMessages } = this.limits;
    const run: QueryRunner = (statement) => database.rows(statement);
    const start =
      'event' in requested
        ? await this.changes.findCursor(requested.event, run)
        : ((await this.changes.findPositionBefore(requested.time, resumedEvents + 1, run)) ?? reader.cursor);
    if (!start) return 'unknown';
    const missed = await this.changes.count(
      {
        after: start.position,
        upTo: reader.cursor.position,
        organizations: [organization],
        limit: resumedEvents + 1,
      },
      (statement) => database.slowRows(identity, statement),
    );
    return missed.searched > resumedEvents || missed.sent > resumedMessages ? 'too-old' : start;
  }

  private add(stream: LiveStream): void {
    const { id } = stream.identity;
    this.streams.add(stream);
    stream.body.once('close', () => {
      this.streams.delete(stream);
      this.slots.free(id);
      this.stopReaderIfUnused();
    });
  }

  private ensureReader(): Promise<LiveReader> {
    if (this.reader) return this.reader;
    const { store, clock, changes, access } = this;
    const starting = LiveReader.start({ store, clock, changes, access });
    this.reader = starting;
    this.timer = setInterval(() => void this.keepAlive(), this.limits.keepAliveMs);
    starting.catch(() => {
      if (this.reader === starting) void this.stopReader();
    });
    return starting;
  }

  private stopReaderIfUnused(): void {
    if (this.opening + this.streams.size === 0) void this.stopReader();
  }

  private async stopReader(): Promise<void> {
    const { reader } = this;
    this.reader = null;
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    await reader?.then(
      (running) => running.stop(),
      // The request that started it has failed with the error.
      () => undefined,
    );
  }

  private createLimitRefusal(reached: 'total' | 'perCaller'): Refusal {
    const { total, perCaller } = this.limits;
    return reached === 'perCaller'
      ? tooManyRequests(
          `At most ${perCaller} live streams of one caller can be open at the same time ` +
            '(CADASTRE_MAX_LIVE_STREAMS_PER_CALLER). Close one of them first.',
          RETRY_AFTER_SECONDS,
        )
      : unavailable(
          `The server has as many open live streams as it accepts, ${total} (CADASTRE_MAX_LIVE_STREAMS). ` +
            'Please try again.',
          RETRY_AFTER_SECONDS,
        );
  }
}
