import { sql, type Sql } from '#platform/kernel';
import { TILE_WIDTH } from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';
import { SITE_LOG } from '../tiles/hashes.js';
import type { TilePart } from '../tiles/tiles.reader.js';

/** The origins of a log. The last one signs. */
const selectOrigins = (organization: string): Sql =>
  sql`select distinct origin from audit_trail.log_keys where organization = ${organization}`;

type PublishedCheckpoint = { readonly size: number; readonly note: string };

/** Selects the newest checkpoint under the present origin. */
export const findNewestCheckpoint = (
  database: Database,
  organization: string,
): Promise<PublishedCheckpoint | undefined> => database.row<PublishedCheckpoint>(selectNewestCheckpoint(organization));

/** Selects the newest checkpoint of the log of an organization, as PublishedCheckpoint. */
export const selectNewestCheckpoint = (organization: string): Sql => sql`
  select size, note from audit_trail.signed_checkpoints
   where organization = ${organization}
     and origin = (select origin from audit_trail.log_keys
                    where organization = ${organization} order by position desc limit 1)
   order by size desc limit 1`;

/**
 * Selects the newest checkpoint of the log of the site that a quorum of witnesses has cosigned, or the newest one if there is
 * none of the last ten minutes. As PublishedCheckpoint.
 */
export const SELECT_SITE_CHECKPOINT = sql`
    select size, note
      from (select size, note, witnessed, signed_at, max(signed_at) over () as newest
              from audit_trail.signed_checkpoints
             where organization = ${SITE_LOG}
               and origin = (select origin from audit_trail.log_keys
                              where organization = ${SITE_LOG} order by position desc limit 1)
             order by size desc limit 12) recent
     where witnessed and signed_at > newest - interval '10 minutes' or signed_at = newest
     order by witnessed desc, size desc limit 1`;

export const findSiteCheckpoint = (database: Database): Promise<PublishedCheckpoint | undefined> =>
  database.row<PublishedCheckpoint>(SELECT_SITE_CHECKPOINT);

/**
 * Returns the served checkpoint of the log of the site, and the index of the leaf with the digest of a checkpoint; null for the
 * index if no leaf has it.
 */
export const findSiteLeaf = (
  database: Database,
  digest: Buffer,
): Promise<(PublishedCheckpoint & { readonly index: number | null }) | undefined> =>
  database.row<PublishedCheckpoint & { readonly index: number | null }>(sql`
    select served.size, served.note,
           (select min(index) from audit_trail.site_leaves where substring(leaf from 33) = ${digest}) as index
      from (${SELECT_SITE_CHECKPOINT}) served`);

/** Returns the texts of the verifier keys that a log has or had, newest first. */
export const listVerifierKeys = async (database: Database, organization: string): Promise<readonly string[]> => {
  const rows = await database.rows<{ readonly verifierKey: string }>(sql`
    select verifier_key as "verifierKey" from audit_trail.log_keys
     where organization = ${organization} order by position desc`);
  return rows.map(({ verifierKey }) => verifierKey);
};

/** Returns whether a checkpoint had exactly this tile: a partial tile is served for the sizes that were signed. */
export const hasCheckpointWithTile = async (
  database: Database,
  organization: string,
  { level, index, width }: TilePart,
): Promise<boolean> => {
  const leavesInHash = TILE_WIDTH ** level;
  const from = (index * TILE_WIDTH + width) * leavesInHash;
  // No log is so long, and Postgres has no larger numbers.
  if (!Number.isSafeInteger(from + leavesInHash)) return false;
  const rows = await database.rows(sql`
    select from (${selectOrigins(organization)}) used
     where exists (select from audit_trail.signed_checkpoints c
                    where c.organization = ${organization} and c.origin = used.origin
                      and c.size >= ${from} and c.size < ${from + leavesInHash})`);
  return rows.length > 0;
};
