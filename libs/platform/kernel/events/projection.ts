import type { DataOf, Message } from './message.js';
import type { NameColumn } from './personal-texts.js';
import type { RecordedEvent } from './recorded-event.js';
import {
  arrangeInBatches,
  dropOverwritten,
  splitIntoBatches,
  type BulkHandlers,
  type EventBatch,
  type ReplayOrder,
} from './event-batches.js';
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
       * The indexes, besides primary keys, by which events find rows. A rebuild creates all others after the rows. If
       * missing, it creates only unique indexes after them.
       */
      readonly replayIndexes?: readonly string[];
      /**
       * Raise it when the same events give other rows: the next start rebuilds the view while the server runs (ADR 38).
       */
      readonly version: number;
    }
  /** Never replayed: it changes data that the log cannot rebuild. */
  | { readonly tables: readonly []; readonly version?: number; readonly replayIndexes?: readonly string[] };

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
   * one event after the other. Types with the same function are passed to it together. Rebuilds and bulk appends use
   * them.
   */
  readonly bulk?: { readonly [T in E['type']]?: BulkProjectionHandler<E, T> };
  /** Allows a replay to change the order of events, so that more of them share a statement. */
  readonly replay?: ReplayOrder<E['type']>;
};

/** Returns the statements of a projection for an event; none if the projection ignores it. */
export const projectEvent = (projection: Projection, event: RecordedEvent): readonly Sql[] => {
  const on = projection.on as Readonly<Record<string, ProjectionHandler<Message, string> | undefined>>;
  const statements = on[event.type]?.(event.data, event) ?? [];
  return Array.isArray(statements) ? (statements as readonly Sql[]) : [statements as Sql];
};

/** Returns the statements of a projection for events in the order of the log, in bulk where the projection can. */
export const projectEvents = (projection: Projection, events: readonly RecordedEvent[]): readonly Sql[] =>
  buildBatches(projection, splitIntoBatches(getBulkHandlers(projection), selectEvents(projection, events)));

/** Like `projectEvents`, for tables without unique names. Uses any order that the projection allows. */
export const replayEvents = (projection: Projection, events: readonly RecordedEvent[]): readonly Sql[] => {
  const { replay } = projection;
  if (!replay) return projectEvents(projection, events);
  const selected = dropOverwritten(replay, selectEvents(projection, events));
  return buildBatches(projection, arrangeInBatches(getBulkHandlers(projection), replay, selected));
};

const selectEvents = ({ on }: Projection, events: readonly RecordedEvent[]): readonly RecordedEvent[] =>
  events.filter(({ type }) => type in on);

const getBulkHandlers = ({ bulk }: Projection): BulkHandlers => (bulk ?? {}) as BulkHandlers;

const buildBatches = (projection: Projection, batches: readonly EventBatch[]): readonly Sql[] =>
  batches.flatMap(({ handle, events }) =>
    handle && events.length > 1 ? handle(events) : events.flatMap((event) => projectEvent(projection, event)),
  );
