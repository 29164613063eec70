import { sql } from '#platform/kernel';
import { hashLeaves, TILE_WIDTH, type HashSource } from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';
import { getLeafBytes, HASH_BYTES } from './hashes.js';
import { HashedTile, type UpperTiles } from './upper-tiles.service.js';

/** A complete or partial tile. */
export type TilePart = {
  readonly level: number;
  readonly index: number;
  /** How many hashes are needed. */
  readonly width: number;
};

const LEVELS_IN_TILE = 8;

const toKey = ({ level, index }: Pick<TilePart, 'level' | 'index'>): string => `${level}/${index}`;

/** Returns the tile that contains the hash of a complete subtree, and which of its hashes are below the subtree. */
const locate = (level: number, index: number) => {
  const tileLevel = Math.floor(level / LEVELS_IN_TILE);
  const count = 2 ** (level % LEVELS_IN_TILE);
  const first = index * count;
  const tile = Math.floor(first / TILE_WIDTH);
  return { level: tileLevel, index: tile, offset: first - tile * TILE_WIDTH, count };
};

/**
 * Computes something from the hashes of a log's tree, and reads the tiles for it in one statement. `compute` runs twice: the
 * first time only to find out which tiles it needs. Each hash is computed once, because the proofs of neighbours share most.
 * Tiles in `cached` are not read.
 */
export const computeWithTiles = async <T>(
  database: Database,
  organization: string,
  compute: (source: HashSource) => Promise<T>,
  cached?: UpperTiles,
): Promise<T> => {
  const parts = new Map<string, TilePart>();
  await compute((level, index) => {
    const { offset, count, ...tile } = locate(level, index);
    const width = Math.max(offset + count, parts.get(toKey(tile))?.width ?? 0);
    parts.set(toKey(tile), { ...tile, width });
    return Promise.resolve(Buffer.alloc(HASH_BYTES));
  });
  const tiles = await readHashedTiles(database, organization, [...parts.values()], cached);
  return compute((level, index) => {
    const { offset, count, ...tile } = locate(level, index);
    const hashed = tiles.get(toKey(tile));
    if (!hashed) return Promise.reject(new Error(`tile ${toKey(tile)} of the log of ${organization} is missing`));
    return Promise.resolve(hashed.getSubtree(offset, count));
  });
};

const readHashedTiles = async (
  database: Database,
  organization: string,
  parts: readonly TilePart[],
  cached?: UpperTiles,
): Promise<ReadonlyMap<string, HashedTile>> => {
  const tiles = new Map<string, HashedTile>();
  for (const part of parts) {
    const tile = cached?.find(organization, part);
    if (tile) tiles.set(toKey(part), tile);
  }
  const missing = parts.filter((part) => !tiles.has(toKey(part)));
  const stored = await readTiles(database, organization, missing);
  for (const part of missing) {
    const hashes = stored.get(toKey(part));
    if (!hashes) continue;
    const tile = new HashedTile(part.level === 0 ? hashLeaves(hashes, getLeafBytes(organization)) : hashes);
    tiles.set(toKey(part), tile);
    cached?.add(organization, part, tile);
  }
  return tiles;
};

const getBytes = (log: string, level: number): number => (level === 0 ? getLeafBytes(log) : HASH_BYTES);

type TileRow = { readonly level: number; readonly index: number; readonly hashes: Buffer | null };

/**
 * Reads tiles as they are stored, so that level 0 has leaves. Computes partial tiles from the leaves or from the roots of the
 * level below. The result lacks tiles that have fewer hashes than needed.
 */
export const readTiles = async (
  database: Database,
  organization: string,
  parts: readonly TilePart[],
): Promise<ReadonlyMap<string, Buffer>> => {
  const rows = await database.rows<TileRow>(sql`
    select part.level, part.index, coalesce(
             (select hashes from audit_trail.tiles t
               where t.organization = ${organization} and t.level = part.level and t.index = part.index),
             case when part.level = 0 then
                    (select string_agg(leaf, '' order by l.index) from audit_trail.log_leaves l
                      where l.organization = ${organization}
                        and l.index >= part.index * ${TILE_WIDTH} and l.index < part.index * ${TILE_WIDTH} + part.width)
                  else
                    (select string_agg(t.root, '' order by t.index) from audit_trail.tiles t
                      where t.organization = ${organization} and t.level = part.level - 1
                        and t.index >= part.index * ${TILE_WIDTH} and t.index < part.index * ${TILE_WIDTH} + part.width)
             end) as hashes
      from jsonb_to_recordset(${sql.json(parts)}::jsonb) as part (level smallint, index bigint, width integer)`);
  return new Map(
    rows.flatMap(({ level, index, hashes }) => {
      const needed =
        (parts.find((part) => part.level === level && part.index === index)?.width ?? 0) *
        getBytes(organization, level);
      return hashes && hashes.length >= needed ? [[toKey({ level, index }), hashes.subarray(0, needed)] as const] : [];
    }),
  );
};
