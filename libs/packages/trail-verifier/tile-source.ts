import { hashChildren, type HashSource } from './merkle-tree.js';
import { formatTilePath, TILE_WIDTH, type Tile } from './tile-paths.js';
import { TrailAlteredError, TrailUnreadableError } from './trail-errors.js';

/** Reads a file of a log below its prefix, such as `checkpoint`. Returns null if there is no such file. */
export type LogFileReader = (path: string) => Promise<Buffer | null>;

const HASH_BYTES = 32;
const TILE_LEVELS = 8;

/** Each has up to 511 hashes. A proof needs one tile for each of at most seven levels. */
const CACHED_TILES = 64;

/** Returns how many hashes the tile has in a tree of this size: 256, fewer at the right edge, or 0 if there is no such tile. */
export const computeTileWidth = (level: number, index: number, size: number): number => {
  const hashes = Math.floor(size / TILE_WIDTH ** level);
  return Math.max(0, Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH));
};

/**
 * Returns the bytes of a tile or bundle, or null if the log does not have it. A log may delete a partial tile when the full one
 * exists, which then is read instead.
 */
export const readTileFile = async (read: LogFileReader, { level, index, width }: Tile): Promise<Buffer | null> => {
  const partial = await read(formatTilePath(level, index, width));
  return partial ?? (width < TILE_WIDTH ? read(formatTilePath(level, index)) : null);
};

/** Returns the hashes of a tile. Throws TrailUnreadableError if the log does not have it. */
export const readTile = async (
  read: LogFileReader,
  tile: Tile & { readonly level: number },
): Promise<readonly Buffer[]> => {
  const bytes = await readTileFile(read, tile);
  const path = formatTilePath(tile.level, tile.index, tile.width);
  if (!bytes) throw new TrailUnreadableError(`${path} is not there`);
  if (bytes.length !== tile.width * HASH_BYTES && bytes.length !== TILE_WIDTH * HASH_BYTES) {
    throw new TrailAlteredError('altered', `${path} must have ${tile.width} hashes, got ${bytes.length} bytes`);
  }
  return Array.from({ length: tile.width }, (_, index) => bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES));
};

/** Returns the hashes of the tree of this size, which it reads from tiles. Nothing is verified: that is what proofs are for. */
export const createTileSource = (read: LogFileReader, size: number): HashSource => {
  const cache = new Map<string, Promise<readonly (readonly Buffer[])[]>>();
  const readNodes = (level: number, index: number): Promise<readonly (readonly Buffer[])[]> => {
    const name = `${level}/${index}`;
    const nodes =
      cache.get(name) ??
      readTile(read, { level, index, width: computeTileWidth(level, index, size) }).then(computeTileNodes);
    // A Map keeps the order of insertions: the first one was not used for the longest time.
    cache.delete(name);
    cache.set(name, nodes);
    for (const oldest of cache.keys()) {
      if (cache.size <= CACHED_TILES) break;
      cache.delete(oldest);
    }
    return nodes;
  };
  return async (level, index) => {
    const [tileLevel, height] = [Math.floor(level / TILE_LEVELS), level % TILE_LEVELS];
    const tileIndex = Math.floor((index * 2 ** height) / TILE_WIDTH);
    const nodes = await readNodes(tileLevel, tileIndex);
    const hash = nodes[height]?.[index - (tileIndex * TILE_WIDTH) / 2 ** height];
    if (!hash) throw new RangeError(`a tree of ${size} leaves has no complete subtree ${index} at level ${level}`);
    return hash;
  };
};

/** Returns the hashes of the complete subtrees in a tile, by their height. */
const computeTileNodes = (hashes: readonly Buffer[]): readonly (readonly Buffer[])[] => {
  const nodes = [hashes];
  for (let below = hashes; below.length > 1;) {
    const above: Buffer[] = [];
    for (let index = 0; index + 1 < below.length; index += 2) {
      above.push(hashChildren(below[index] as Buffer, below[index + 1] as Buffer));
    }
    nodes.push(above);
    below = above;
  }
  return nodes;
};
