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
 * Whoever reads the log after the fact: the audit trail, the publisher. It may lag; it never skips and never reads an
 * event whose predecessors may still come.
 */
export type Follower = ViewTables & {
  readonly name: string;
  /** At most so many events at a time. */
  readonly batch: number;
  /**
   * Types of the events that mean something to it. The others are not handed over, but for the last of a batch, which may
   * be any. It does not look at every append at once: it gathers for a moment, so that it costs little beside the others.
   */
  readonly only?: readonly string[];
  /** Whether it keeps the texts of people as the log has them; who reads what it has written opens them (ADR 25). */
  readonly keepEncrypted?: true;
  /** Those of them that following only adds rows to, without reading any: copies of these do without most indexes. */
  readonly growing?: readonly string[];
  /** Where these name people, each column once: nobody is forgotten while it has a batch in hand. */
  readonly names?: readonly NameColumn[];
  /**
   * Does what the events mean: resolves to the statements that are committed together with the checkpoint. When it
   * throws, the same batch comes again. One that has no tables may append events of its own to the store, if that does
   * no harm when a batch comes twice.
   */
  readonly follow: (
    events: readonly RecordedEvent[],
    session: Pick<DatabaseSession, 'run'>,
    store: EventStore,
  ) => Promise<readonly Sql[]>;
  /** Removes what is past its retention; verify does the same to both sides before it compares them. */
  readonly prune?: (now: Date) => Sql;
};

export const LOG_START: LogPosition = { transaction: '0', position: 0 };

/** Where a follower continues. `rebuilds`: how often its tables were exchanged. */
export type Checkpoint = LogPosition & { readonly rebuilds: number };

export const selectCheckpoint = (name: string): Sql => sql`
  select transaction::text as transaction, position, rebuilds from event_store.checkpoints where follower = ${name}`;

/**
 * Puts the checkpoint where a rebuild has left the tables: also back, where a runner was faster in the meantime, for what
 * it wrote has been replaced.
 */
export const writeCheckpoint = (name: string, { transaction, position }: LogPosition): Sql => sql`
  insert into event_store.checkpoints as c (follower, transaction, position, rebuilds)
  values (${name}, ${transaction}::xid8, ${position}, 1)
  on conflict (follower) do update
    set transaction = excluded.transaction, position = excluded.position, updated_at = now(), rebuilds = c.rebuilds + 1`;

/**
 * Moves the checkpoint on, from where the runner believes it to be. A rebuild may have moved it while a batch was in
 * hand, and that batch would then be told twice: the null breaks the column's constraint, and with it the transaction,
 * and the runner starts over from where the checkpoint is.
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

/** Unread events that one wait looks through. Beyond that it waits for older ones whether they matter or not. */
export const UNREAD_MAX = 20_000;

/** The events that a reader of a follower's view waits for: of these types, of this organization. An absent member means all. */
export type AwaitedEvents = {
  readonly only?: readonly string[];
  /** An SQL expression that gives the organization's id; where it gives null, events of all organizations count. */
  readonly organization?: Sql;
};

/**
 * Resolves when the follower has read what was in the log at the time of the call, so that a read of its view shows every
 * write answered before. Events of other organizations that come later in the log are not waited for (ADR 33). Throws
 * `unavailable` after 5 s (DESIGN decision 6).
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
 * The last unread event that is waited for: looked for from the end of the log back to the checkpoint. No index finds it:
 * that would cost every append, and there is little to look through unless the follower is behind.
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
 * Whether the log holds transaction ids that this cluster has yet to reach, as after a dump was restored into a new one.
 * Followers would take those events for unfinished (docs/explanation/adr/0013).
 */
export const isAheadOfCluster = async (database: Database): Promise<boolean> => {
  const row = await database.row<{ ahead: boolean }>(sql`
    select transaction >= pg_snapshot_xmax(pg_current_snapshot()) as ahead
      from event_store.events order by transaction desc, position desc limit 1`);
  return row?.ahead ?? false;
};
