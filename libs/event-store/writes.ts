import {
  decide,
  fold,
  sql,
  type Decider,
  type EventContext,
  type Message,
  type RecordedEvent,
  type Sql,
} from '#kernel';
import type { DatabaseRow } from '#postgres';

/** The version a stream must have: a number (0 = it must not exist), or `any`. */
export type ExpectedVersion = number | 'any';

/** What one append does to one stream; without events it only holds the stream at the expected version meanwhile. */
export type StreamWrite = {
  readonly stream: string;
  /** External id of the organization, null for what belongs to the site. */
  readonly organization: string | null;
  readonly expected: ExpectedVersion;
  readonly events: readonly Message[];
  /** What the events fold to, kept as the stream's snapshot. */
  readonly snapshot?: {
    readonly decider: number;
    readonly state: unknown;
    /** Whose names are in it. */
    readonly people?: readonly string[];
  };
};

/** Events that come from outside, each under an id that says whether it has come before; all of one id in one stream. */
export type IdempotentWrite = {
  readonly stream: string;
  readonly organization: string | null;
  /** Who does it; null where others tell of who did. */
  readonly writer: string | null;
  readonly events: readonly (Message & { readonly id: string; readonly context: EventContext })[];
};

export type AppendResult = {
  readonly events: readonly RecordedEvent[];
  /** The rows of each statement that was read in the same transaction. */
  readonly rows: readonly DatabaseRow[][];
};

/** A stream as `streams` holds it; `state` null where its snapshot is of no use and the stream must be folded. */
export type StreamSnapshot = { readonly version: number; readonly decider: number | null; readonly state: unknown };

export type LoadedStream<S> = { readonly stream: string; readonly version: number; readonly state: S };

/** What commands mean for a stream: their events, and the state they fold to. Throws what the decider refuses. */
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

/** Holds a stream at the version it was read at, while something is appended that must not outlive it. */
export const expectVersion = (stream: string, version: number): StreamWrite => ({
  stream,
  organization: null,
  expected: version,
  events: [],
});

/** Read in an append, with its streams locked and its views written: where the condition holds after all it is decided anew. */
export const raiseConflictWhen = (condition: Sql): Sql => sql`select event_store.stale_when(${condition})`;

/**
 * Waits for all appends that hold the stream by `unchanged`, and keeps others out until the end of the transaction. For
 * what they check with `raiseConflictWhen` and no version shows; a condition of an append, which comes before all that is written.
 */
export const lockStream = (stream: string): Sql => sql`select pg_advisory_xact_lock(event_store.lock_of(${stream}))`;

/** A stream that does not exist yet. */
export const newStream = <S>(stream: string, decider: { readonly initial: S }): LoadedStream<S> => ({
  stream,
  version: 0,
  state: decider.initial,
});

/** The row of the first statement that was read with an append, or found where nothing had to be appended. */
export const getFirstRowOrNull = <T>(rows: readonly DatabaseRow[][]): T | null =>
  (rows[0]?.[0] as T | undefined) ?? null;

/** The same, for who has just written what the statement reads. */
export const getFirstRow = <T>(rows: readonly DatabaseRow[][]): T => {
  const row = getFirstRowOrNull<T>(rows);
  if (row === null) throw new Error('what was just written is not there to be read');
  return row;
};
