import { sql, type Clock, type LogPosition } from '#platform/kernel';
import type { Database } from '#platform/postgres';

/** Returns the position of the last event, or null if the log is empty. */
export const readLogEnd = async (database: Database): Promise<LogPosition | null> =>
  (await database.row<LogPosition>(sql`
    select e.transaction::text as transaction, e.position
      from event_store.events e order by e.transaction desc, e.position desc limit 1`)) ?? null;

/** Records the result of a comparison of the views with the log up to `end`, instead of the comparison before it. */
export const recordVerification = async (
  database: Database,
  clock: Clock,
  { end, isClean }: { readonly end: LogPosition | null; readonly isClean: boolean },
): Promise<void> => {
  await database.rows(sql`
    insert into site.verifications (ended_at, transaction, position, clean)
    values (${clock.now().toISOString()}, ${end?.transaction ?? null}::xid8, ${end?.position ?? null}::bigint, ${isClean})
    on conflict (single) do update
      set ended_at = excluded.ended_at, transaction = excluded.transaction, position = excluded.position,
          clean = excluded.clean`);
};

export type VerificationRow = {
  readonly endedAt: string;
  readonly transaction: string | null;
  readonly position: number | null;
  readonly clean: boolean;
};

/** Returns the last verification, or null if nobody has verified the site. */
export const readVerification = async (database: Database): Promise<VerificationRow | null> =>
  (await database.row<VerificationRow>(sql`
    select ended_at as "endedAt", transaction::text as transaction, position, clean from site.verifications`)) ?? null;
