import { sql, unprocessable, type EventContext, type RecordedEvent, type Sql } from '#platform/kernel';
import type { StreamVersion } from './streams.js';
import type { StreamWrite } from './writes.js';

/** Kafka brokers accept messages of 1 MB by default. One larger event would stop all publishing. */
const EVENT_MAX_BYTES = 768 * 1_024;

/**
 * Returns statements that lock streams which are written at any version. Without the lock, another writer could get a
 * later transaction id but an earlier version of the stream, and the log would be out of order.
 */
export const buildStreamLocks = (streams: readonly string[]): Sql[] =>
  // Always in the same order, so that two appends cannot wait for each other.
  streams.toSorted().map((stream) => sql`select pg_advisory_xact_lock(event_store.lock_of(${stream}))`);

/**
 * Returns a statement that locks all streams of an append before it writes, for the reason above, and in one order for
 * all appends. Nothing for a single stream: event_store.append locks it first.
 */
export const buildWriteLocks = (writes: readonly StreamWrite[]): Sql[] => {
  if (writes.length < 2) return [];
  const list = (isWritten: boolean): readonly string[] =>
    writes.filter(({ events }) => events.length > 0 === isWritten).map(({ stream }) => stream);
  return [sql`select event_store.lock_streams(${list(true)}::text[], ${list(false)}::text[])`];
};

export const buildVersionChecks = (streams: readonly StreamVersion[]): Sql[] =>
  streams
    .toSorted((a, b) => (a.stream < b.stream ? -1 : 1))
    .map(({ stream, version }) => sql`select event_store.expect(${stream}, ${version})`);

/** Throws 422 if the events of one write, as JSON, are too large. */
export const checkEventSize = (json: string): void => {
  if (json.length > EVENT_MAX_BYTES) throw unprocessable('The change is too large to be recorded as one event');
};

export const buildAppendStatement = (
  write: StreamWrite,
  time: string,
  context: EventContext,
  recorded: readonly RecordedEvent[],
  traceparent: string | null,
): Sql => {
  if (write.events.length === 0) return sql`select event_store.expect(${write.stream}, ${write.expected})`;
  const events = recorded
    .filter((event) => event.stream === write.stream)
    .map(({ id, type, schemaVersion, data }) => ({
      id,
      type,
      schemaVersion,
      data,
      ...(traceparent && { traceparent }),
    }));
  const json = sql.json(events);
  checkEventSize(json);
  const expected = write.expected === 'any' ? null : write.expected;
  const state = write.snapshot ? sql.json(write.snapshot.state) : null;
  return sql`select event_store.append(${write.stream}, ${expected}, ${write.organization}, ${time},
    ${sql.json(context)}, ${json}, ${write.snapshot?.decider ?? null}, ${state})`;
};
