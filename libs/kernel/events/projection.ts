import type { DataOf, Message } from './message.js';
import type { NameColumn } from './personal-texts.js';
import type { RecordedEvent } from './recorded-event.js';
import type { Sql } from '../runtime/sql.js';

type ProjectionHandler<E extends Message, T extends E['type']> =
  ((data: DataOf<E, T>, event: RecordedEvent) => Sql | readonly Sql[] | null) | null;

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
};

/** Returns the statements of a projection for an event; none if the projection ignores it. */
export const projectEvent = (projection: Projection, event: RecordedEvent): readonly Sql[] => {
  const on = projection.on as Readonly<Record<string, ProjectionHandler<Message, string> | undefined>>;
  const statements = on[event.type]?.(event.data, event) ?? [];
  return Array.isArray(statements) ? (statements as readonly Sql[]) : [statements as Sql];
};
