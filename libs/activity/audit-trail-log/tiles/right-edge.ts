import { computeTileRoot, EMPTY_ROOT, hashLeaf, TILE_WIDTH } from '#packages/trail-verifier';

/** A complete tile, as it is stored. At level 0, `hashes` are the leaves before they are hashed. */
export type CompleteTile = {
  readonly level: number;
  readonly index: number;
  readonly hashes: Buffer;
  readonly root: Buffer;
};

/**
 * The right edge of a log, which is all that appending needs: the roots of complete tiles that belong to no complete tile
 * above them, and the leaves after the last complete tile.
 */
export class RightEdge {
  /** The tiles that appended leaves have completed. */
  readonly completed: CompleteTile[] = [];
  private readonly leaves: Buffer[] = [];
  private readonly roots: Buffer[][];

  /** `tiles` is the number of complete tiles of level 0. `roots` are the roots on the edge, from level 0 upwards. */
  constructor(
    private tiles: number,
    roots: readonly (readonly Buffer[])[],
  ) {
    this.roots = roots.map((level) => [...level]);
  }

  get size(): number {
    return this.tiles * TILE_WIDTH + this.leaves.length;
  }

  append(leaf: Buffer): void {
    this.leaves.push(leaf);
    if (this.leaves.length < TILE_WIDTH) return;
    const leaves = this.leaves.splice(0);
    const root = computeTileRoot(Buffer.concat(leaves.map(hashLeaf)));
    this.complete({ level: 0, index: this.tiles, hashes: Buffer.concat(leaves), root });
  }

  /** Returns the root of the whole log: a partial tile counts as one hash of the tile above it. */
  computeRoot(): Buffer {
    let root = joinHashes(this.leaves.map(hashLeaf));
    for (const roots of this.roots) root = joinHashes(root ? [...roots, root] : roots);
    return root ?? EMPTY_ROOT;
  }

  private complete(tile: CompleteTile): void {
    const { level, root } = tile;
    if (level === 0) this.tiles += 1;
    this.completed.push(tile);
    const roots = (this.roots[level] ??= []);
    if (roots.push(root) < TILE_WIDTH) return;
    const hashes = Buffer.concat(roots.splice(0));
    const index = this.tiles / TILE_WIDTH ** (level + 1) - 1;
    this.complete({ level: level + 1, index, hashes, root: computeTileRoot(hashes) });
  }
}

const joinHashes = (hashes: readonly Buffer[]): Buffer | null =>
  hashes.length === 0 ? null : computeTileRoot(Buffer.concat(hashes));
