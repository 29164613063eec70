import { sql, unprocessable, type EventContext, type RecordedEvent, type Sql } from '#kernel';
import type { StreamVersion } from './streams.js';
import type { StreamWrite } from './writes.js';

/** Kafka's brokers take messages of 1 MB unless told otherwise: one event above that would stop all publishing. */
const EVENT_MAX_BYTES = 768 * 1_024;

/**
 * A stream that is written at any version must be ours before the transaction has its number, or whoever writes it in
 * between comes later in the log with an earlier version. event_store.append sees to that for the first stream only.
 */
export const buildStreamLocks = (streams: readonly string[]): Sql[] =>
  // In one order, or two such appends wait for one another.
  streams.toSorted().map((stream) => sql`select pg_advisory_xact_lock(event_store.lock_of(${stream}))`);

export const listUnversionedStreams = (writes: readonly StreamWrite[]): string[] =>
  writes.length < 2 ? [] : writes.filter(({ expected }) => expected === 'any').map(({ stream }) => stream);

export const buildVersionChecks = (streams: readonly StreamVersion[]): Sql[] =>
  streams
    .toSorted((a, b) => (a.stream < b.stream ? -1 : 1))
    .map(({ stream, version }) => sql`select event_store.expect(${stream}, ${version})`);

/** Of events that are written together, as JSON. */
export const checkEventSize = (json: string): void => {
  if (json.length > EVENT_MAX_BYTES) throw unprocessable('The change is too large to be recorded as one event');
};

export const buildAppendStatement = (
  write: StreamWrite,
  time: string,
  context: EventContext,
  recorded: readonly RecordedEvent[],
): Sql => {
  if (write.events.length === 0) return sql`select event_store.expect(${write.stream}, ${write.expected})`;
  const events = recorded
    .filter((event) => event.stream === write.stream)
    .map(({ id, type, schemaVersion, data }) => ({ id, type, schemaVersion, data }));
  const json = sql.json(events);
  checkEventSize(json);
  const expected = write.expected === 'any' ? null : write.expected;
  const state = write.snapshot ? sql.json(write.snapshot.state) : null;
  return sql`select event_store.append(${write.stream}, ${expected}, ${write.organization}, ${time},
    ${sql.json(context)}, ${json}, ${write.snapshot?.decider ?? null}, ${state})`;
};
