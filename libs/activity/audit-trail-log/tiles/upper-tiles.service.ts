import { LRUCache } from 'lru-cache';
import { hashPairs } from '#packages/trail-verifier';
import { HASH_BYTES } from './hashes.js';

/** The hashes of a complete or partial tile, and of the subtrees in it. */
export class HashedTile {
  /** From the hashes of the tile upwards. */
  private readonly levels: Buffer[];

  constructor(hashes: Buffer) {
    // A row can be a part of a much larger buffer, which a kept tile would keep too.
    this.levels = [Buffer.from(hashes)];
    for (let top = hashes; top.length > HASH_BYTES; this.levels.push(top)) top = hashPairs(top);
  }

  get width(): number {
    return (this.levels[0] as Buffer).length / HASH_BYTES;
  }

  /** Returns the root of the complete subtree above `count` hashes, a power of two, from `offset` on. */
  getSubtree(offset: number, count: number): Buffer {
    const index = offset / count;
    const level = this.levels[Math.log2(count)] as Buffer;
    return level.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
  }
}

/** A tile with its subtrees has 16 KB. A log of 10,000,000 entries has 154 upper tiles. */
const MAX_TILES = 256;

type TileNumber = { readonly level: number; readonly index: number };

/**
 * Upper tiles of logs, which never change: each hash of them is the root of a complete tile below, and a partial tile only
 * gets more hashes. The leaves below are not kept. Only proofs use them: `verify` and the tiles that are served come from the
 * database, so that no tile hides a changed row. A database that was restored under a running process can have other tiles, so
 * a proof that does not fit its checkpoint is computed again without them.
 */
export class UpperTiles {
  private readonly tiles = new LRUCache<string, HashedTile>({ max: MAX_TILES });

  /** Returns the tile, if it has at least this width. */
  find(log: string, { level, index, width }: TileNumber & { readonly width: number }): HashedTile | null {
    const tile = this.tiles.get(toKey(log, { level, index }));
    return tile && tile.width >= width ? tile : null;
  }

  add(log: string, tile: TileNumber, hashed: HashedTile): void {
    if (tile.level > 0) this.tiles.set(toKey(log, tile), hashed);
  }

  /** Forgets the tiles of a log. */
  forget(log: string): void {
    for (const key of this.tiles.keys()) if (key.startsWith(`${log} `)) this.tiles.delete(key);
  }
}

const toKey = (log: string, { level, index }: TileNumber): string => `${log} ${level}/${index}`;
