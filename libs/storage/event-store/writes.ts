import {
  decide,
  fold,
  getEventKind,
  sql,
  type Decider,
  type EventContext,
  type EventRegistry,
  type Ids,
  type Message,
  type RecordedEvent,
  type Sql,
} from '#platform/kernel';
import { castRows, type DatabaseRow } from '#platform/postgres';

/** The version that a stream must have: a number (0 for a new stream), or `any`. */
export type ExpectedVersion = number | 'any';

/** The events to append to one stream. Without events, the write is only a version precondition. */
export type StreamWrite = {
  readonly stream: string;
  /** External id of the organization; null for events of the site. */
  readonly organization: string | null;
  readonly expected: ExpectedVersion;
  readonly events: readonly Message[];
  /** The state after the events, stored as the stream's snapshot. */
  readonly snapshot?: {
    readonly decider: number;
    readonly state: unknown;
    /** Ids of the people whose names the state contains. */
    readonly people?: readonly string[];
  };
};

/**
 * Events whose ids come from their sender. An event with an id that was appended before is not appended again. All
 * events with one id must go to the same stream.
 */
export type IdempotentWrite = {
  readonly stream: string;
  readonly organization: string | null;
  /** Id of the caller; null if another service reports the action of someone else. */
  readonly writer: string | null;
  readonly events: readonly (Message & {
    readonly id: string;
    readonly context: EventContext;
    /** The span that the event belongs to. Default: the span of the append. */
    readonly traceparent?: string | null;
  })[];
};

export type AppendResult = {
  readonly events: readonly RecordedEvent[];
  /** The rows of each statement that was read in the same transaction. */
  readonly rows: readonly DatabaseRow[][];
};

/** A row of `streams`. `state` is null if the snapshot cannot be used and the events must be folded. */
export type StreamSnapshot = { readonly version: number; readonly decider: number | null; readonly state: unknown };

export type LoadedStream<S> = { readonly stream: string; readonly version: number; readonly state: S };

/** Decides commands on a stream. Returns their events and the state after them. Throws the decider's refusal. */
export const decideWrite = <S, C extends Message, E extends Message>(
  decider: Decider<S, C, E>,
  loaded: LoadedStream<S>,
  organization: string | null,
  ...commands: readonly C[]
): StreamWrite => {
  let { state } = loaded;
  const events = commands.flatMap((command) => {
    const decided = decide(decider, command, state);
    state = fold(decider, state, decided);
    return decided;
  });
  const snapshot = { decider: decider.version, state, people: decider.people?.(state) ?? [] };
  return { stream: loaded.stream, organization, expected: loaded.version, events, snapshot };
};

/** Returns the events of a write as they are stored. `timeOf` returns the time of the event at an index. */
export const recordEvents = (
  kinds: EventRegistry,
  ids: Ids,
  { stream, organization, expected, events }: StreamWrite,
  context: EventContext,
  timeOf: (index: number) => string,
): readonly RecordedEvent[] =>
  events.map(({ type, data }, index) => {
    const kind = getEventKind(kinds, type);
    return {
      type,
      // Strict: a field that the schema does not name must never enter the log, which is immutable.
      data: kind.schema.parse(data),
      id: ids.uuid(),
      stream,
      version: expected === 'any' ? 0 : expected + index + 1,
      schemaVersion: kind.schemaVersion,
      organization,
      time: timeOf(index),
      context,
      transaction: '0',
      position: 0,
    };
  });

/** Returns a precondition: the stream must still have this version at the append. */
export const expectVersion = (stream: string, version: number): StreamWrite => ({
  stream,
  organization: null,
  expected: version,
  events: [],
});

/**
 * Returns a statement for an append that runs after the streams are locked and the views written. If the condition is
 * true, it raises a version conflict, and the decision is repeated.
 */
export const raiseConflictWhen = (condition: Sql): Sql => sql`select event_store.stale_when(${condition})`;

/**
 * Returns a statement that waits for all appends with a version precondition on the stream, and blocks others until the
 * end of the transaction. It protects conditions of `raiseConflictWhen` that no version covers. Use it as a condition
 * of an append, which runs before all writes.
 */
export const lockStream = (stream: string): Sql => sql`select pg_advisory_xact_lock(event_store.lock_of(${stream}))`;

export const newStream = <S>(stream: string, decider: { readonly initial: S }): LoadedStream<S> => ({
  stream,
  version: 0,
  state: decider.initial,
});

/**
 * Returns the first row of the first statement that was read with an append, or that ran without one if there were no
 * events; null if there is no row.
 */
export const getFirstRowOrNull = <T>(rows: readonly DatabaseRow[][]): T | null => castRows<T>(rows[0] ?? [])[0] ?? null;

/** Returns the first row. Throws if it is missing although the caller has just written it. */
export const getFirstRow = <T>(rows: readonly DatabaseRow[][]): T => {
  const row = getFirstRowOrNull<T>(rows);
  if (row === null) throw new Error('the statement did not return the row that was just written');
  return row;
};
