import { Logger } from '@nestjs/common';
import { Backoff, type Clock } from '#platform/kernel';
import { isAfter, LogWatch, toPosition, type EventStore, type RoundResult } from '#storage/event-store';
import type { DatabaseSession } from '#platform/postgres';
import type { LiveStream } from '../messages/live.stream.js';
import { liveEventMetrics } from '../live-events.metrics.js';
import type { Change } from '../messages/change.js';
import type { StreamAccess } from '../scopes/stream.access.js';
import type { ChangeReader, LogCursor } from './change.reader.js';

/** Events of all organizations that one round searches. */
const EVENTS_PER_ROUND = 250;
/** Events that one statement searches for a stream that resumes. */
const EVENTS_PER_PAGE = 1_000;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;

const ORGANIZATION_DELETED = 'OrganizationDeleted';

type LiveReaderOptions = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly changes: ChangeReader;
  readonly access: StreamAccess;
};

const createBackoff = (): Backoff => {
  const logger = new Logger(LiveReader.name);
  return new Backoff({
    logger: {
      info: (fields: object, text: string) => logger.log({ ...fields, message: text }),
      warn: (fields: object, text: string) => logger.warn({ ...fields, message: text }),
    },
    subject: 'reading the log for live streams',
    firstMs: RETRY_FIRST_MS,
    maxMs: RETRY_MAX_MS,
  });
};

/**
 * Reads the log once for all streams of this process. It reads settled events in the order of the log, so that no stream
 * misses an event whose transaction commits late, and none gets an event twice.
 *
 * A stream that resumes first reads the events up to the position of this reader by itself. Between two rounds it joins.
 */
export class LiveReader {
  private readonly logger = new Logger(LiveReader.name);
  private readonly streams = new Set<LiveStream>();
  private readonly watch: LogWatch;
  private isReading = false;
  private onReadEnds: (() => void)[] = [];

  private constructor(
    private readonly options: LiveReaderOptions,
    private reached: LogCursor,
  ) {
    this.watch = new LogWatch(options.store, {
      round: (session) => this.round(session),
      backoff: createBackoff(),
    });
  }

  /** Starts at the present. */
  static async start(options: LiveReaderOptions): Promise<LiveReader> {
    const { changes, store } = options;
    const reader = new LiveReader(options, await changes.readHead((statement) => store.database.rows(statement)));
    reader.watch.start();
    return reader;
  }

  /** The position up to which all streams that have joined have their messages. */
  get cursor(): LogCursor {
    return this.reached;
  }

  stop(): Promise<void> {
    return this.watch.stop();
  }

  /** Sends the stream everything after its position, from now on. Never rejects. */
  async follow(stream: LiveStream): Promise<void> {
    try {
      while (!stream.hasEnded && !this.streams.has(stream)) {
        if (isAfter(this.reached.position, stream.position)) await this.catchUp(stream);
        else if (this.isReading) await new Promise<void>((resolve) => this.onReadEnds.push(resolve));
        else this.join(stream);
      }
    } catch (error) {
      this.logger.warn(`a live stream ends, because the log cannot be read: ${String(error)}`);
      stream.end('unavailable');
    }
  }

  /** Returns the id that a stream may store as its position, or null if it has not joined. */
  getCursorOf(stream: LiveStream): string | null {
    const isBehind = this.streams.has(stream) && !isAfter(stream.position, this.reached.position);
    return isBehind ? this.reached.event : null;
  }

  private join(stream: LiveStream): void {
    this.streams.add(stream);
    stream.body.once('close', () => this.streams.delete(stream));
  }

  private async catchUp(stream: LiveStream): Promise<void> {
    const { changes, store } = this.options;
    const range = {
      after: stream.position,
      upTo: this.reached.position,
      organizations: [stream.options.organization],
      limit: EVENTS_PER_PAGE,
    };
    const read = await changes.read(range, (statement) => store.database.slowRows(stream.identity, statement));
    for (let from = 0; from < read.changes.length && !stream.hasEnded; from += EVENTS_PER_ROUND) {
      await stream.drained();
      const page = read.changes.slice(from, from + EVENTS_PER_ROUND);
      await this.deliver(page, [stream]);
      stream.position = toPosition(page.at(-1) ?? stream.position);
    }
    stream.position = read.end?.position ?? range.upTo;
  }

  private async round(session: DatabaseSession): Promise<RoundResult> {
    const { changes, clock } = this.options;
    const streams = [...this.streams];
    const organizations = [...new Set(streams.map(({ options }) => options.organization))];
    const range = { after: this.reached.position, upTo: null, organizations, limit: EVENTS_PER_ROUND };
    this.isReading = true;
    try {
      const read = await changes.read(range, (statement) => session.run(statement));
      if (read.end === null) return 'none';
      const [oldest] = read.changes;
      if (oldest) {
        await this.deliver(read.changes, streams);
        liveEventMetrics.delay.observe(Math.max(0, clock.now().getTime() - Date.parse(oldest.time)) / 1_000);
      }
      this.reached = read.end;
      for (const stream of streams)
        if (isAfter(read.end.position, stream.position)) stream.position = read.end.position;
      return read.searched < EVENTS_PER_ROUND / 2 ? 'few' : 'many';
    } finally {
      this.isReading = false;
      for (const resolve of this.onReadEnds.splice(0)) resolve();
    }
  }

  /** Sends all messages, or none if the statement fails. */
  private async deliver(changes: readonly Change[], streams: readonly LiveStream[]): Promise<void> {
    const organizations = new Set(changes.map(({ organization }) => organization));
    const concerned = streams.filter(({ options }) => organizations.has(options.organization));
    const messages = await this.options.access.render(changes, concerned);
    for (const [stream, { text, count, lastEvent }] of messages) stream.send(text, count, lastEvent);
    const deleted = new Set(
      changes.filter(({ type }) => type === ORGANIZATION_DELETED).map((change) => change.organization),
    );
    for (const stream of concerned) if (deleted.has(stream.options.organization)) stream.end('deleted');
  }
}
