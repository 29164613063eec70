import type { Decider, Message, Sql } from '#platform/kernel';
import type { DatabaseRow, KeyedQuery } from '#platform/postgres';
import {
  expectVersion,
  newStream,
  type EventStore,
  type LoadedStream,
  type StreamSnapshot,
  type StreamVersion,
  type StreamWrite,
} from '#storage/event-store';
import { createEventContext, type Actor } from '../callers/actor.js';

/** The row of the organization, or of another resource, in which a command creates a resource. */
type ParentRow = {
  /** Null for resources of the site. */
  readonly organization: string | null;
  /** Streams that must not change until the append. */
  readonly preconditions?: readonly StreamVersion[];
};

/** The row of a resource that a command changes. */
export type ResourceRow = ParentRow & {
  readonly id: string;
  /** Null if the stream of the resource has no events yet. */
  readonly snapshot: StreamSnapshot | null;
};

export type ResourceTask<S, C extends Message, R extends ParentRow, D extends C = C> = {
  readonly actor: Actor;
  /** Reads the row and checks the permission. It runs again after a conflict with another writer. */
  readonly load: () => Promise<R>;
  readonly command: C | ((row: R, state: S) => D);
  /** Writes to other streams in the same append, and preconditions that the row does not list. */
  readonly writes?: (row: R) => readonly StreamWrite[];
  /** Statements that run before all writes, and prevent the append if they fail. */
  readonly conditions?: (row: R) => readonly Sql[];
  /** Statements that run after the writes in the same transaction. */
  readonly read?: (row: R, state: S) => readonly (Sql | KeyedQuery)[];
};

/**
 * Creates a resource: loads its parent, decides the command of the caller, and appends. Resolves to the rows of the
 * statements `read`.
 */
export const createResource = <S, C extends Message, E extends Message, R extends ParentRow, const D extends C>(
  store: EventStore,
  decider: Decider<S, C, E>,
  task: ResourceTask<S, NoInfer<C>, R, D> & { readonly id: string },
): Promise<readonly DatabaseRow[][]> => handleTask(store, decider, task, () => newStream(task.id, decider));

/**
 * Changes or deletes a resource: loads its row, restores its state, decides the command of the caller, and appends.
 * Resolves to the rows of the statements `read`.
 */
export const changeResource = <S, C extends Message, E extends Message, R extends ResourceRow, const D extends C>(
  store: EventStore,
  decider: Decider<S, C, E>,
  task: ResourceTask<S, NoInfer<C>, R, D>,
): Promise<readonly DatabaseRow[][]> =>
  handleTask(store, decider, task, ({ id, snapshot }) => store.restore(id, decider, snapshot));

const handleTask = async <S, C extends Message, E extends Message, R extends ParentRow>(
  store: EventStore,
  decider: Decider<S, C, E>,
  { actor, load, command, writes, conditions, read }: ResourceTask<S, C, R>,
  openStream: (row: R) => LoadedStream<S> | Promise<LoadedStream<S>>,
): Promise<readonly DatabaseRow[][]> => {
  const { rows } = await store.handle({
    decider,
    load: async () => {
      const row = await load();
      return { ...(await openStream(row)), row };
    },
    command: ({ row, state }) => (typeof command === 'function' ? command(row, state) : command),
    organization: ({ row }) => row.organization,
    preconditions: ({ row }) => [
      ...(row.preconditions ?? []).map(({ stream, version }) => expectVersion(stream, version)),
      ...(writes?.(row) ?? []),
    ],
    context: createEventContext(actor),
    conditions: ({ row }) => conditions?.(row) ?? [],
    read: ({ row, state }) => read?.(row, state) ?? [],
  });
  return rows;
};
