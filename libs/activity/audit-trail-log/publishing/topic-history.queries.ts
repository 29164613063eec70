import { sql } from '#platform/kernel';
import type { LogCheckpoint } from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';

/** Returns when the checkpoint that was committed last was signed; null if there is none. */
export const findLastSignedAt = async (database: Database): Promise<Date | null> => {
  const row = await database.row<{ readonly signedAt: string }>(sql`
    select signed_at as "signedAt" from audit_trail.signed_checkpoints order by position desc limit 1`);
  return row ? new Date(row.signedAt) : null;
};

/** A checkpoint of a log, by the name of the log in the tables. */
export type NamedCheckpoint = LogCheckpoint & { readonly organization: string };

/** Returns the checkpoints that this database does not contain, or contains with another root. */
export const selectUnknown = async <T extends NamedCheckpoint>(
  database: Database,
  checkpoints: readonly T[],
): Promise<readonly T[]> => {
  const rows = await database.rows<{ readonly n: number }>(sql`
    select m.n::int as n
      from unnest(${checkpoints.map(({ organization }) => organization)}::text[],
                  ${checkpoints.map(({ origin }) => origin)}::text[],
                  ${checkpoints.map(({ size }) => size)}::bigint[],
                  ${checkpoints.map(({ root }) => root)}::bytea[]) with ordinality as m (organization, origin, size, root, n)
      join audit_trail.signed_checkpoints c using (organization, origin, size, root)`);
  const storedIndexes = new Set(rows.map(({ n }) => n - 1));
  return checkpoints.filter((_, n) => !storedIndexes.has(n));
};

export type KnownHistory = {
  /** The origin that signs; null if the log has no checkpoint yet. */
  readonly origin: string | null;
  /** All origins of the log, with the texts of their verifier keys. */
  readonly keys: readonly { readonly origin: string; readonly verifierKey: string }[];
  /** Size of the newest checkpoint of this origin. */
  readonly size: number;
};

export const readKnownHistory = async (database: Database, organization: string): Promise<KnownHistory> => {
  const row = await database.row<Pick<KnownHistory, 'size'> & { readonly keys: KnownHistory['keys'] | null }>(sql`
    select keys.list as keys,
           coalesce((select max(size) from audit_trail.signed_checkpoints
                      where organization = ${organization} and origin = keys.origin), 0) as size
      from (select jsonb_agg(jsonb_build_object('origin', origin, 'verifierKey', verifier_key) order by position) as list,
                   (array_agg(origin order by position desc))[1] as origin
              from audit_trail.log_keys where organization = ${organization}) keys`);
  const keys = row?.keys ?? [];
  return { keys, origin: keys.at(-1)?.origin ?? null, size: row?.size ?? 0 };
};

/** Lets the job sign a log again, also without new leaves. */
export const markUnsigned = async (database: Database, organization: string): Promise<void> => {
  await database.rows(sql`
    insert into audit_trail.unsigned_logs (organization, since) values (${organization}, now()) on conflict do nothing`);
};
