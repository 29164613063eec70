import type { DataOf, Message } from './message.js';
import type { NameColumn } from './personal-texts.js';
import type { RecordedEvent } from './recorded-event.js';
import type { Sql } from '../runtime/sql.js';

type ProjectionHandler<E extends Message, T extends E['type']> =
  ((data: DataOf<E, T>, event: RecordedEvent) => Sql | readonly Sql[] | null) | null;

/**
 * A view as a list of sentences: this event, that statement; `null` = seen and ignored. The birth event inserts whole
 * rows, later ones only update. Statements name their tables without a schema: the connection's search path says
 * whether they write the live views or the scratch copies of `rebuild` and `verify`.
 *
 * All projections here run inside the append's transaction (DESIGN decision 5); what may lag is a Follower.
 */
export type Projection<E extends Message = Message> = {
  readonly name: string;
  /** The tables that this projection alone writes. Without any it is never replayed: it acts on what no log can rebuild. */
  readonly tables: readonly string[];
  /** Where they name people, each column once. */
  readonly names?: readonly NameColumn[];
  readonly on: { readonly [T in E['type']]: ProjectionHandler<E, T> };
};

/** The statements that an event means for a projection; none where it has no opinion. */
export const projectEvent = (projection: Projection, event: RecordedEvent): readonly Sql[] => {
  const on = projection.on as Readonly<Record<string, ProjectionHandler<Message, string> | undefined>>;
  const statements = on[event.type]?.(event.data, event) ?? [];
  return Array.isArray(statements) ? (statements as readonly Sql[]) : [statements as Sql];
};
