import type { DataOf, Message } from './message.js';
import type { NameColumn } from './personal-texts.js';
import type { RecordedEvent } from './recorded-event.js';
import type { Sql } from '../runtime/sql.js';

type ProjectionHandler<E extends Message, T extends E['type']> =
  ((data: DataOf<E, T>, event: RecordedEvent) => Sql | readonly Sql[] | null) | null;

type BulkProjectionHandler<E extends Message, T extends E['type']> = (
  events: readonly RecordedEvent<Message<T, DataOf<E, T>>>[],
) => readonly Sql[];

/** The tables that only one projection or follower writes, and that `rebuild` computes from the log. */
export type ViewTables =
  | {
      readonly tables: readonly [string, ...string[]];
      /**
       * Raise it when the same events give other rows: the next start rebuilds the view while the server runs (ADR 38).
       */
      readonly version: number;
    }
  /** Never replayed: it changes data that the log cannot rebuild. */
  | { readonly tables: readonly []; readonly version?: number };

/**
 * A view as a table from event type to statements; `null` if the view ignores the event. The event that creates the
 * resource inserts the complete row, later events only update it. Statements name their tables without a schema: the
 * connection's search path selects the live views or the temporary copies of `rebuild` and `verify`.
 *
 * Projections run inside the append's transaction. A view that may lag behind is a follower.
 */
export type Projection<E extends Message = Message> = ViewTables & {
  readonly name: string;
  /** The columns of these tables that contain names of people, each once. */
  readonly names?: readonly NameColumn[];
  readonly on: { readonly [T in E['type']]: ProjectionHandler<E, T> };
  /**
   * For frequent types: statements for several events of different streams, with the same effect as those of `on` for
   * one event after the other. Rebuilds and bulk appends use them.
   */
  readonly bulk?: { readonly [T in E['type']]?: BulkProjectionHandler<E, T> };
};

/** Returns the statements of a projection for an event; none if the projection ignores it. */
export const projectEvent = (projection: Projection, event: RecordedEvent): readonly Sql[] => {
  const on = projection.on as Readonly<Record<string, ProjectionHandler<Message, string> | undefined>>;
  const statements = on[event.type]?.(event.data, event) ?? [];
  return Array.isArray(statements) ? (statements as readonly Sql[]) : [statements as Sql];
};

/** Splits events into runs of one type, in which no stream occurs twice. */
const splitIntoRuns = (events: readonly RecordedEvent[]): readonly (readonly RecordedEvent[])[] => {
  const runs: RecordedEvent[][] = [];
  let streams = new Set<string>();
  for (const event of events) {
    const run = runs.at(-1);
    if (run?.[0]?.type === event.type && !streams.has(event.stream)) run.push(event);
    else {
      runs.push([event]);
      streams = new Set();
    }
    streams.add(event.stream);
  }
  return runs;
};

/** Returns the statements of a projection for events in the order of the log, in bulk where the projection can. */
export const projectEvents = (projection: Projection, events: readonly RecordedEvent[]): readonly Sql[] => {
  const bulk = (projection.bulk ?? {}) as Readonly<Record<string, BulkProjectionHandler<Message, string> | undefined>>;
  return splitIntoRuns(events.filter(({ type }) => type in projection.on)).flatMap((run) => {
    const handle = run.length > 1 ? bulk[run[0]?.type ?? ''] : undefined;
    return handle ? handle(run) : run.flatMap((event) => projectEvent(projection, event));
  });
};
