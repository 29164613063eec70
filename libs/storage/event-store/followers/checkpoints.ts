import { sql, type LogPosition, type Sql } from '#platform/kernel';

/** The position at which a follower continues. `rebuilds` counts the rebuilds of its tables. */
export type Checkpoint = LogPosition & { readonly rebuilds: number };

export const selectCheckpoint = (name: string): Sql => sql`
  select transaction::text as transaction, position, rebuilds from event_store.checkpoints where follower = ${name}`;

/** How far a follower has read. */
export type FollowerPosition = LogPosition & { readonly follower: string };

/** Selects rows of the type FollowerPosition. */
export const selectCheckpoints = (): Sql =>
  sql`select follower, transaction::text as transaction, position from event_store.checkpoints order by follower`;

/**
 * Returns the statement that sets the checkpoint to the position of a rebuild. It may move back if a runner was faster
 * meanwhile, because the rebuild has replaced the rows of that runner.
 */
export const writeCheckpoint = (name: string, { transaction, position }: LogPosition): Sql => sql`
  insert into event_store.checkpoints as c (follower, transaction, position, rebuilds)
  values (${name}, ${transaction}::xid8, ${position}, 1)
  on conflict (follower) do update
    set transaction = excluded.transaction, position = excluded.position, updated_at = now(), rebuilds = c.rebuilds + 1`;

/** The positions of a follower before and after some batches. */
export type CheckpointMove = { readonly follower: string; readonly from: Checkpoint; readonly to: LogPosition };

/**
 * Returns the statement that advances the checkpoints of followers from the positions of their runner. If a rebuild has
 * moved a checkpoint during a batch, the batch would be applied twice. The null then violates the column's constraint,
 * the transaction fails, and the runner starts again from the checkpoint. Updates existing rows first, because `on conflict`
 * would also write the lock of each row to the log of Postgres.
 */
export const advanceCheckpoints = (moves: readonly CheckpointMove[]): Sql => {
  const rows = moves.map(({ follower, from, to }) => ({
    follower,
    transaction: to.transaction,
    position: to.position,
    from_transaction: from.transaction,
    from_position: from.position,
    rebuilds: from.rebuilds,
  }));
  return sql`
    with moves as materialized (
      select follower, transaction::xid8 as transaction, position, from_transaction::xid8 as from_transaction,
             from_position, rebuilds
        from jsonb_to_recordset(${sql.json(rows)}::jsonb) as list (
          follower text, transaction text, position bigint, from_transaction text, from_position bigint,
          rebuilds bigint)),
         advanced as (
           update event_store.checkpoints c
              set transaction = case when (m.from_transaction, m.from_position, m.rebuilds)
                                        = (c.transaction, c.position, c.rebuilds) then m.transaction end,
                  position = m.position, updated_at = now()
             from moves m where m.follower = c.follower
           returning c.follower)
    insert into event_store.checkpoints (follower, transaction, position)
    select follower, transaction, position from moves where follower not in (select follower from advanced)`;
};
