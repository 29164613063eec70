import { sql, type Sql } from '#platform/kernel';
import type { LogCheckpoint } from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';
import { SELECT_SITE_CHECKPOINT } from '../serving/trail-logs.queries.js';
import { SITE_LOG } from '../tiles/hashes.js';

export type SiteCheckpoint = Pick<LogCheckpoint, 'origin' | 'size'> & { readonly note: string };

/** Returns the newest checkpoint of the log of the site. */
export const findSiteCheckpointToCosign = (database: Database): Promise<SiteCheckpoint | undefined> =>
  database.row<SiteCheckpoint>(sql`
    select origin, size, note from audit_trail.signed_checkpoints
     where organization = ${SITE_LOG}
       and origin = (select origin from audit_trail.log_keys
                      where organization = ${SITE_LOG} order by position desc limit 1)
     order by size desc limit 1`);

/** Returns the sizes that witnesses have cosigned last, by their verifier keys. */
export const listCosignedSizes = async (database: Database, origin: string): Promise<ReadonlyMap<string, number>> => {
  const rows = await database.rows<{ readonly verifierKey: string; readonly size: number }>(sql`
    select verifier_key as "verifierKey", size from audit_trail.witnesses where origin = ${origin}`);
  return new Map(rows.map(({ verifierKey, size }) => [verifierKey, size]));
};

export const storeCosignedSize = (origin: string, verifierKey: string, size: number): Sql => sql`
  insert into audit_trail.witnesses (origin, verifier_key, size) values (${origin}, ${verifierKey}, ${size})
  on conflict (origin, verifier_key) do update set size = excluded.size`;

/**
 * Adds a cosignature to the note of a checkpoint, unless it has it. A checkpoint does not become witnessed after a larger one was
 * served: readers would take that for a rollback. Needs the lock of `lockUnsignedLogs`, so that no checkpoint is added
 * meanwhile.
 */
export const storeCosignature = (
  { origin, size }: Pick<SiteCheckpoint, 'origin' | 'size'>,
  line: string,
  isWitnessed: boolean,
): Sql => sql`
  update audit_trail.signed_checkpoints
     set note = note || ${line},
         witnessed = witnessed or (${isWitnessed} and size >= (select served.size from (${SELECT_SITE_CHECKPOINT}) served))
   where organization = ${SITE_LOG} and origin = ${origin} and size = ${size} and position(${line} in note) = 0`;

/** Lets the job sign all logs again, also those without new leaves. */
export const markAllLogs = sql`
  insert into audit_trail.unsigned_logs (organization, since)
  select distinct organization, now() from audit_trail.log_keys
  on conflict do nothing`;
