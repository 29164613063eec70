import { sql } from '#platform/kernel';
import { computeTileRoot, hashLeaf, TILE_WIDTH, type HashSource } from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';
import { getLeafBytes, HASH_BYTES, splitHashes } from './hashes.js';

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
 */
export const computeWithTiles = async <T>(
  database: Database,
  organization: string,
  compute: (source: HashSource) => Promise<T>,
): Promise<T> => {
  const parts = new Map<string, TilePart>();
  await compute((level, index) => {
    const { offset, count, ...tile } = locate(level, index);
    const width = Math.max(offset + count, parts.get(toKey(tile))?.width ?? 0);
    parts.set(toKey(tile), { ...tile, width });
    return Promise.resolve(Buffer.alloc(HASH_BYTES));
  });
  const tiles = await readTiles(database, organization, [...parts.values()]);
  const nodes = new Map<string, Buffer>();
  const hashed = new Map<string, Buffer>();
  return compute((level, index) => {
    const computedNode = nodes.get(toKey({ level, index }));
    if (computedNode) return Promise.resolve(computedNode);
    const { offset, count, ...tile } = locate(level, index);
    const stored = tiles.get(toKey(tile));
    if (!stored) return Promise.reject(new Error(`tile ${toKey(tile)} of the log of ${organization} is missing`));
    const hashes = hashed.get(toKey(tile)) ?? (tile.level === 0 ? hashLeaves(organization, stored) : stored);
    hashed.set(toKey(tile), hashes);
    const node = computeTileRoot(hashes.subarray(offset * HASH_BYTES, (offset + count) * HASH_BYTES));
    nodes.set(toKey({ level, index }), node);
    return Promise.resolve(node);
  });
};

const getBytes = (log: string, level: number): number => (level === 0 ? getLeafBytes(log) : HASH_BYTES);

/** Returns the hashes of level 0. */
export const hashLeaves = (log: string, leaves: Buffer): Buffer =>
  Buffer.concat(splitHashes(leaves, getLeafBytes(log)).map(hashLeaf));

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
