import { sql } from '#platform/kernel';
import { TILE_WIDTH } from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';
import { SITE_LOG } from '../tiles/hashes.js';

export const listSignedLogs = async (database: Database): Promise<readonly string[]> => {
  const rows = await database.rows<{ readonly organization: string }>(
    sql`select distinct organization from audit_trail.log_keys order by organization`,
  );
  return rows.map(({ organization }) => organization);
};

export type BottomTile = {
  readonly index: number;
  readonly hashes: Buffer;
  /** The leaves that were not deleted after their entries had expired, joined. */
  readonly leaves: Buffer | null;
};

export const listBottomTiles = (
  database: Database,
  organization: string,
  first: number,
  limit: number,
): Promise<readonly BottomTile[]> =>
  database.rows<BottomTile>(sql`
    select index, hashes,
           (select string_agg(leaf, '' order by l.index) from audit_trail.log_leaves l
             where l.organization = ${organization}
               and l.index >= t.index * ${TILE_WIDTH} and l.index < (t.index + 1) * ${TILE_WIDTH}) as leaves
      from audit_trail.tiles t
     where organization = ${organization} and level = 0 and index >= ${first} order by index limit ${limit}`);

/**
 * Returns the leaves from an index on, in order, and less than a tile of them. While the signer is behind, there are more: no
 * checkpoint covers these, and no tile of them is stored yet.
 */
export const listLastLeaves = (
  database: Database,
  organization: string,
  from: number,
): Promise<readonly { readonly index: number; readonly leaf: Buffer }[]> =>
  database.rows<{ readonly index: number; readonly leaf: Buffer }>(sql`
    select index, leaf from audit_trail.log_leaves
     where organization = ${organization} and index >= ${from} and index < ${from + TILE_WIDTH - 1} order by index`);

type StoredTileRoot = { readonly hashes: Buffer; readonly root: Buffer };

export const findTile = (
  database: Database,
  organization: string,
  { level, index }: { readonly level: number; readonly index: number },
): Promise<StoredTileRoot | undefined> =>
  database.row<StoredTileRoot>(sql`
    select hashes, root from audit_trail.tiles
     where organization = ${organization} and level = ${level} and index = ${index}`);

export type StoredCheckpoint = {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
  readonly note: string;
};

/** Returns the checkpoints of sizes in a range, whose end is included. */
export const listCheckpoints = (
  database: Database,
  organization: string,
  after: number,
  to: number,
): Promise<readonly StoredCheckpoint[]> =>
  database.rows<StoredCheckpoint>(sql`
    select c.origin, c.size, c.root, c.note
      from (select distinct origin from audit_trail.log_keys where organization = ${organization}) used
      join audit_trail.signed_checkpoints c
        on c.organization = ${organization} and c.origin = used.origin and c.size > ${after} and c.size <= ${to}
     order by c.size, c.origin`);

/** Returns whether a checkpoint covers a tile of level 0 that is not stored: both are stored together. */
export const lacksTile = async (database: Database, organization: string, index: number): Promise<boolean> => {
  const rows = await database.rows(sql`
    select where exists (select from audit_trail.signed_checkpoints
                          where organization = ${organization} and size >= ${(index + 1) * TILE_WIDTH})
       and not exists (select from audit_trail.tiles
                        where organization = ${organization} and level = 0 and index = ${index})`);
  return rows.length > 0;
};

/** Returns the size of a checkpoint that is larger than its log; null if there is none. */
export const findTooLargeCheckpoint = async (database: Database, organization: string): Promise<number | null> => {
  const row = await database.row<{ readonly size: number | null }>(sql`
    select min(size) as size from audit_trail.signed_checkpoints
     where organization = ${organization}
       and size > greatest(
         (select max(index) + 1 from audit_trail.log_leaves where organization = ${organization}),
         (select (max(index) + 1) * ${TILE_WIDTH} from audit_trail.tiles
           where organization = ${organization} and level = 0), 0)`);
  return row?.size ?? null;
};

/**
 * Returns the size of the first time stamp that is not for a checkpoint of the log of the site; null if there is none. The
 * answer of the authority contains the SHA-256 of what it has stamped.
 */
export const findDifferentTimeStamp = async (database: Database): Promise<number | null> => {
  const row = await database.row<{ readonly size: number }>(sql`
    select t.size from audit_trail.time_stamps t
      left join audit_trail.signed_checkpoints c
        on c.organization = ${SITE_LOG} and c.origin = t.origin and c.size = t.size
     where split_part(t.note, E'\\n\\n', 1) is distinct from split_part(c.note, E'\\n\\n', 1)
        or position(sha256(convert_to(t.note, 'UTF8')) in t.response) = 0
     order by t.stamped_at limit 1`);
  return row?.size ?? null;
};
