import { z } from 'zod';
import { sql, type Sql } from '#platform/kernel';
import type { Database, DatabaseSession } from '#platform/postgres';

/** How far a restore is. `next` is the number of the next unit of the phase. */
const progress = z.object({
  phase: z.enum(['tables', 'log', 'streams', 'files', 'views']),
  next: z.number().int(),
  /** Position of the last restored event, and its transaction in the new log. */
  transaction: z.string(),
  position: z.number().int(),
});
export type RestoreProgress = z.infer<typeof progress>;

const cut = z.object({ parts: z.number().int(), events: z.number().int(), isWhole: z.boolean() });

type UnfinishedRestore = {
  /** The id of the backup. */
  readonly backup: string;
  readonly cut: z.infer<typeof cut>;
  readonly progress: RestoreProgress;
};

// The first id that Postgres gives to a transaction. Events of a restored log begin with it.
const FIRST_TRANSACTION = '3';

export const RESTORE_START: RestoreProgress = {
  phase: 'tables',
  next: 0,
  transaction: FIRST_TRANSACTION,
  position: 0,
};

type RestoreRow = { readonly backup: string; readonly cut: unknown; readonly progress: unknown };

/** Returns the id of the backup whose restore began and has not ended; null if there is none. */
export const findUnfinishedRestore = async (database: Database): Promise<string | null> => {
  const row = await database.row<{ backup: string }>(sql`select backup from backup.unfinished_restore`);
  return row?.backup ?? null;
};

export const readUnfinishedRestore = async (session: DatabaseSession): Promise<UnfinishedRestore | null> => {
  const [row] = await session.run<RestoreRow>(sql`select backup, cut, progress from backup.unfinished_restore`);
  return row ? { backup: row.backup, cut: cut.parse(row.cut), progress: progress.parse(row.progress) } : null;
};

export const beginRestore = ({ backup, cut: range, progress: state }: UnfinishedRestore): Sql => sql`
  insert into backup.unfinished_restore (backup, cut, progress)
  values (${backup}, ${sql.json(range)}, ${sql.json(state)})`;

export const storeProgress = (state: RestoreProgress): Sql =>
  sql`update backup.unfinished_restore set progress = ${sql.json(state)}`;

/** Stores how many parts of the log are restored, and the last event. Returns a row with the progress. */
export const storeLogProgress = (next: number): Sql => sql`
  update backup.unfinished_restore
     set progress = progress || jsonb_build_object('next', ${next}::integer) || (
           select jsonb_build_object('transaction', last.transaction::text, 'position', last.position)
             from event_store.events last order by last.transaction desc, last.position desc limit 1)
  returning progress`;

export const parseProgress = (stored: unknown): RestoreProgress => progress.parse(stored);

export const endRestore = (): Sql => sql`delete from backup.unfinished_restore`;
