import {
  sql,
  unavailable,
  type LogPosition,
  type NameColumn,
  type RecordedEvent,
  type Sql,
  type ViewTables,
} from '#kernel';
import type { Database, DatabaseSession } from '#postgres';
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
   * batch may have any type. Such a follower does not read the log after every append, but waits a moment for more
   * events, to save resources.
   */
  readonly only?: readonly string[];
  /** Whether the follower stores the texts of people encrypted. Readers of its tables then decrypt them (ADR 25). */
  readonly keepEncrypted?: true;
  /** The tables that the follower only adds rows to and never reads. Their copies during a rebuild need few indexes. */
  readonly growing?: readonly string[];
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
  /** Deletes rows that are past their retention. `verify` runs it on both sides before the comparison. */
  readonly prune?: (now: Date) => Sql;
};

export const LOG_START: LogPosition = { transaction: '0', position: 0 };

/** The position at which a follower continues. `rebuilds` counts the rebuilds of its tables. */
export type Checkpoint = LogPosition & { readonly rebuilds: number };

export const selectCheckpoint = (name: string): Sql => sql`
  select transaction::text as transaction, position, rebuilds from event_store.checkpoints where follower = ${name}`;

/**
 * Returns the statement that sets the checkpoint to the position of a rebuild. It may move back if a runner was faster
 * meanwhile, because the rebuild has replaced the rows of that runner.
 */
export const writeCheckpoint = (name: string, { transaction, position }: LogPosition): Sql => sql`
  insert into event_store.checkpoints as c (follower, transaction, position, rebuilds)
  values (${name}, ${transaction}::xid8, ${position}, 1)
  on conflict (follower) do update
    set transaction = excluded.transaction, position = excluded.position, updated_at = now(), rebuilds = c.rebuilds + 1`;

/**
 * Returns the statement that advances the checkpoint from the runner's position. If a rebuild has moved the checkpoint
 * during a batch, the batch would be applied twice. The null then violates the column's constraint, the transaction
 * fails, and the runner starts again from the checkpoint.
 */
export const advanceCheckpoint = (name: string, from: Checkpoint, to: LogPosition): Sql => sql`
  insert into event_store.checkpoints as c (follower, transaction, position)
  values (${name}, ${to.transaction}::xid8, ${to.position})
  on conflict (follower) do update
    set transaction = case when (c.transaction, c.position) = (${from.transaction}::xid8, ${from.position}::bigint)
                            and c.rebuilds = ${from.rebuilds}
                           then excluded.transaction end,
        position = excluded.position, updated_at = now()`;

const WAIT_TIMEOUT_MS = 5_000;

/** Most unread events that one wait searches. Beyond that it waits for older events, whether they matter or not. */
export const UNREAD_MAX = 20_000;

/**
 * The events that a reader of a follower's view waits for: of these types, of this organization. An absent member means
 * all.
 */
export type AwaitedEvents = {
  readonly only?: readonly string[];
  /** An SQL expression for the organization's id. If it is null, events of all organizations count. */
  readonly organization?: Sql;
};

/**
 * Resolves when the follower has read everything that was in the log at the time of the call, so that a read of its
 * view shows every write that was acknowledged before. Does not wait for later events of other organizations (ADR 33).
 * Throws `unavailable` after 5 s.
 */
export const waitForFollower = async (
  database: Database,
  follower: string,
  awaited: AwaitedEvents = {},
): Promise<void> => {
  const deadline = Date.now() + WAIT_TIMEOUT_MS;
  const last = await database.row<LogPosition>(selectLastUnread(follower, awaited));
  if (!last) return;
  for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const passed = await database.row(sql`
      select 1 from event_store.checkpoints where follower = ${follower}
         and (transaction, position) >= (${last.transaction}::xid8, ${last.position}::bigint)`);
    if (passed) return;
    if (Date.now() > deadline) throw unavailable('This view is behind the log. Please try again in a moment.', 5);
  }
};

/**
 * Selects the last unread event that the call waits for, by a search from the end of the log back to the checkpoint.
 * There is no index for it, because an index would slow down every append, and few events are unread unless the
 * follower is behind.
 */
const selectLastUnread = (follower: string, { only, organization }: AwaitedEvents): Sql => sql`
  with unread as materialized (
    select e.transaction, e.position, e.type, e.organization
      from event_store.events e
     where (e.transaction, e.position) > (coalesce((select transaction from event_store.checkpoints where follower = ${follower}), '0'),
                                          coalesce((select position from event_store.checkpoints where follower = ${follower}), 0))
     order by e.transaction desc, e.position desc limit ${UNREAD_MAX})
  select awaited.transaction::text as transaction, awaited.position from (
    (select u.transaction, u.position from unread u
      where ${only === undefined ? sql`true` : sql`u.type = any (${only}::text[])`}
        and ${organization === undefined ? sql`true` : sql`u.organization = coalesce(${organization}, u.organization)`}
      order by u.transaction desc, u.position desc limit 1)
    union all
    (select u.transaction, u.position from unread u
      order by u.transaction desc, u.position desc offset ${UNREAD_MAX - 1} limit 1)) awaited
   order by awaited.transaction desc, awaited.position desc limit 1`;

/**
 * Returns whether the log contains transaction ids that this cluster has not reached, as after restoring a dump into a
 * new cluster. Followers would treat those events as uncommitted (docs/explanation/adr/0013).
 */
export const isAheadOfCluster = async (database: Database): Promise<boolean> => {
  const row = await database.row<{ ahead: boolean }>(sql`
    select transaction >= pg_snapshot_xmax(pg_current_snapshot()) as ahead
      from event_store.events order by transaction desc, position desc limit 1`);
  return row?.ahead ?? false;
};
