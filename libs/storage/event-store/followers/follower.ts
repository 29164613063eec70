import type { NameColumn, RecordedEvent, Sql, ViewTables } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import type { EventStore } from '../event-store.js';

/**
 * A reader of the log after the commit: the audit trail, the publisher. It may lag, but it never skips an event and
 * never reads an event while an earlier one may still be committed.
 */
export type Follower = ViewTables & {
  readonly name: string;
  /** Most events in a batch. */
  readonly batch: number;
  /**
   * Types of the events that the follower needs. Other events are not passed to it, except that the last event of a
   * batch may have any type.
   */
  readonly only?: readonly string[];
  /**
   * Whether the follower gets the texts of people encrypted. If it stores them, readers of its tables decrypt them (ADR
   * 25).
   */
  readonly keepEncrypted?: true;
  /**
   * Types of events that may take seconds, because they change many rows. The follower handles them on a connection of
   * its own, so that other followers do not wait.
   */
  readonly slow?: readonly string[];
  /** The tables that the follower only adds rows to and reads by their primary keys. A rebuild creates other indexes last. */
  readonly growing?: readonly string[];
  /** The indexes of tables whose earlier version has other ones. The live table gets them with the rebuild. */
  readonly indexes?: Readonly<Record<string, TableIndexes>>;
  /**
   * The columns of its tables that contain names of people, each once. No person is forgotten while the follower
   * processes a batch.
   */
  readonly names?: readonly NameColumn[];
  /**
   * Processes a batch. Resolves to the statements that are committed together with the checkpoint. If it throws, the
   * same batch is passed again. A follower without tables may append events of its own to the store, if a repeated
   * batch does no harm.
   */
  readonly follow: (
    events: readonly RecordedEvent[],
    session: Pick<DatabaseSession, 'run'>,
    store: EventStore,
  ) => Promise<readonly Sql[]>;
  /**
   * Creates a handler like `follow` for a replay. No other process writes the tables meanwhile, so the handler may keep
   * the rows that it has written in memory.
   */
  readonly createReplay?: () => Follower['follow'];
  /**
   * For a follower that also writes tables which a rebuild does not replace. Replays only compare these tables with the
   * events, and throw DurableRowError. So they stop at the checkpoint of the follower, which writes the rows of later events.
   * `findSurplus` describes rows of these tables that no event explains; null if there are none. It reads the tables of the
   * follower without naming their schema.
   */
  readonly durable?: { readonly findSurplus: (session: Pick<DatabaseSession, 'run'>) => Promise<string | null> };
  /** Deletes rows that are past their retention. `verify` runs it on both sides before the comparison. */
  readonly prune?: (now: Date) => Sql;
};

/** Thrown if a durable row differs from what the events of the log give. The message names the row. */
export class DurableRowError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DurableRowError';
  }
}

/** An index of a table in the schema `views`, as Postgres describes it. */
export type TableIndex = {
  readonly name: string;
  readonly definition: string;
  readonly isPrimary: boolean;
  readonly isUnique: boolean;
  /** Definition of the constraint that the index belongs to; null without a constraint. */
  readonly constraint: string | null;
};

export type TableIndexes = {
  readonly current: readonly TableIndex[];
  /** Names of indexes of earlier versions, which the rebuilt table does not get. */
  readonly retired: readonly string[];
};

/**
 * Returns whether the follower has effects outside its tables: it publishes, removes files, or appends. It works at its
 * own pace, so that other followers do not wait for those effects.
 */
export const isIndependent = ({ tables }: Follower): boolean => tables.length === 0;

/** Returns whether the follower needs texts that are decrypted with the present keys of people, not with cached ones. */
export const isReadOutside = (follower: Follower): boolean => isIndependent(follower) || follower.names !== undefined;
