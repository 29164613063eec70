import { createRemovedError, explainMisplacedEntry } from './entry-order.js';
import { GrowingTree } from './growing-tree.js';
import { computeTileRoot, hashLeaf } from './merkle-tree.js';
import { checkSuccession, createForkError, openCheckpoint, type OpenedCheckpoint } from './opened-checkpoints.js';
import { formatTilePath, TILE_WIDTH } from './tile-paths.js';
import { computeTileWidth, readTile, readTileFile, type LogFileReader } from './tile-source.js';
import { TrailAlteredError, TrailUnreadableError } from './trail-errors.js';
import type { VerifierKey } from './verifier-keys.js';

export type LogOptions = {
  readonly keys: readonly VerifierKey[];
  readonly since?: OpenedCheckpoint | null;
  /** Gets each entry of the bundles, in the order of the log. The tree of all of them is verified after the last one. */
  readonly onEntry?: (entry: Buffer) => void;
  /** Gets the root of the tree at each size. Without it, the tree grows by whole tiles, which takes less time. */
  readonly onRoot?: (size: number, root: Buffer) => void;
};

export type LogReport = {
  readonly checkpoint: OpenedCheckpoint;
  /** Index of the first entry whose bundle the log still has. */
  readonly firstBundled: number;
  readonly since: OpenedCheckpoint | null;
};

const TILE_LEVEL = 8;

/** How many tiles and bundles are read at once. */
const READ_AHEAD = 8;

/** Reads the checkpoint of a log and verifies its signatures. */
export const readCheckpoint = async (read: LogFileReader, keys: readonly VerifierKey[]): Promise<OpenedCheckpoint> => {
  const note = await read('checkpoint');
  if (!note) throw new TrailUnreadableError('checkpoint is not there');
  return openCheckpoint(note.toString(), keys);
};

/**
 * Verifies a whole log: the signature of its checkpoint, each bundle, each tile, and that it extends the checkpoint that was
 * kept. A log may have deleted bundles of its first entries. Throws TrailAlteredError at the first difference.
 */
export const verifyLog = async (read: LogFileReader, options: LogOptions): Promise<LogReport> => {
  const { since = null } = options;
  const checkpoint = await readCheckpoint(read, options.keys);
  if (since) checkSuccession(since, checkpoint);
  const verifier = new LogVerifier(read, checkpoint, options);
  await verifier.verifyEntries();
  return { checkpoint, firstBundled: verifier.firstBundled, since };
};

type ReadTile = { readonly hashes: readonly Buffer[]; readonly bundle: Buffer | null };

class LogVerifier {
  firstBundled = 0;
  private readonly tree = GrowingTree.create();
  /** The hashes of the tiles at level 1 and above that were computed from the tiles below. */
  private readonly upper: Buffer[][] = [];
  private hasBundles = false;

  constructor(
    private readonly read: LogFileReader,
    private readonly checkpoint: OpenedCheckpoint,
    private readonly options: LogOptions,
  ) {}

  async verifyEntries(): Promise<void> {
    const count = Math.ceil(this.checkpoint.size / TILE_WIDTH);
    const reading: Promise<ReadTile>[] = [];
    for (let index = 0; index < count; index += 1) {
      while (reading.length < READ_AHEAD && index + reading.length < count) {
        const ahead = this.readTile(index + reading.length);
        // A failure of a later tile is reported when its turn comes, unless an earlier one fails.
        ahead.catch(() => undefined);
        reading.push(ahead);
      }
      await this.addTile(index, await (reading.shift() as Promise<ReadTile>));
    }
    await this.comparePartialTiles();
    if (!this.tree.computeRoot().equals(this.checkpoint.root)) {
      throw new TrailAlteredError('split-view', 'the tree of all entries has another root than the checkpoint');
    }
  }

  private async readTile(index: number): Promise<ReadTile> {
    const width = computeTileWidth(0, index, this.checkpoint.size);
    const [hashes, bundle] = await Promise.all([
      readTile(this.read, { level: 0, index, width }),
      readTileFile(this.read, { level: 'entries', index, width }),
    ]);
    return { hashes, bundle };
  }

  private async addTile(index: number, { hashes, bundle }: ReadTile): Promise<void> {
    await this.compareBundle(index, hashes, bundle);
    this.compareSince(hashes);
    const { onRoot } = this.options;
    if (onRoot || hashes.length < TILE_WIDTH) {
      for (const hash of hashes) {
        this.tree.append(hash);
        onRoot?.(this.tree.size, this.tree.computeRoot());
      }
    }
    if (hashes.length < TILE_WIDTH) return;
    const root = computeTileRoot(Buffer.concat(hashes));
    if (!onRoot) this.tree.append(root, TILE_LEVEL);
    await this.addUpperHash(1, root);
  }

  private async compareBundle(index: number, hashes: readonly Buffer[], bundle: Buffer | null): Promise<void> {
    const path = formatTilePath('entries', index, hashes.length);
    const start = index * TILE_WIDTH;
    if (!bundle) {
      if (this.hasBundles)
        throw new TrailAlteredError('removed', `${path} is not there, but earlier bundles are`, start);
      this.firstBundled = Math.min(start + hashes.length, this.checkpoint.size);
      return;
    }
    this.hasBundles = true;
    const entries = splitBundle(bundle, path);
    const leafHashes = entries.map(hashLeaf);
    const wrong = hashes.findIndex((hash, position) => !leafHashes[position]?.equals(hash));
    if (wrong === -1) {
      // A complete bundle can stand for a partial one.
      for (const entry of entries.slice(0, hashes.length)) this.options.onEntry?.(entry);
      return;
    }
    if (wrong >= leafHashes.length) throw createRemovedError(start + wrong, start + hashes.length - 1, path);
    if (await this.isTileAltered(index, leafHashes)) {
      throw new TrailAlteredError(
        'altered',
        `${formatTilePath(0, index, hashes.length)}: the hash of entry ${start + wrong} was altered`,
        start + wrong,
      );
    }
    const isAt = (leafHash: Buffer | undefined) => (entry: number) =>
      leafHash !== undefined && (hashes[entry - start]?.equals(leafHash) ?? false);
    throw await explainMisplacedEntry({
      index: start + wrong,
      claimed: start + wrong,
      location: path,
      isAt: isAt(leafHashes[wrong]),
      isNextAt: isAt(leafHashes[wrong + 1]),
    });
  }

  /** Returns whether the tree above has the hashes of the bundle, so that the tile and not the bundle was altered. */
  private async isTileAltered(index: number, leafHashes: readonly Buffer[]): Promise<boolean> {
    const { size, root } = this.checkpoint;
    if (computeTileWidth(0, index, size) < TILE_WIDTH) {
      const tree = this.tree.clone();
      for (const hash of leafHashes) tree.append(hash);
      return tree.size === size && tree.computeRoot().equals(root);
    }
    const above = Math.floor(index / TILE_WIDTH);
    const hashes = await readTile(this.read, { level: 1, index: above, width: computeTileWidth(1, above, size) });
    return hashes[index % TILE_WIDTH]?.equals(computeTileRoot(Buffer.concat(leafHashes))) ?? false;
  }

  /** Throws if the checkpoint that was kept ends in this tile, and the log had another root then. */
  private compareSince(hashes: readonly Buffer[]): void {
    const { tree } = this;
    const { since } = this.options;
    if (!since || since.size <= tree.size || since.size > tree.size + hashes.length) return;
    const earlier = tree.clone();
    for (const hash of hashes.slice(0, since.size - tree.size)) earlier.append(hash);
    if (!earlier.computeRoot().equals(since.root)) throw createForkError(since, this.checkpoint);
  }

  private async addUpperHash(level: number, hash: Buffer): Promise<void> {
    const hashes = (this.upper[level] ??= []);
    hashes.push(hash);
    if (hashes.length % TILE_WIDTH !== 0) return;
    const index = Math.floor(this.tree.size / TILE_WIDTH ** (level + 1)) - 1;
    await this.compareUpperTile(level, index, hashes);
    this.upper[level] = [];
    await this.addUpperHash(level + 1, computeTileRoot(Buffer.concat(hashes)));
  }

  private async comparePartialTiles(): Promise<void> {
    for (const [level, hashes] of this.upper.entries()) {
      if (!hashes || hashes.length === 0) continue;
      await this.compareUpperTile(level, Math.floor(this.tree.size / TILE_WIDTH ** (level + 1)), hashes);
    }
  }

  private async compareUpperTile(level: number, index: number, computed: readonly Buffer[]): Promise<void> {
    const hashes = await readTile(this.read, { level, index, width: computed.length });
    const wrong = hashes.findIndex((hash, position) => !computed[position]?.equals(hash));
    if (wrong === -1) return;
    const below = formatTilePath(level - 1, index * TILE_WIDTH + wrong);
    throw new TrailAlteredError(
      'altered',
      `${formatTilePath(level, index, computed.length)}: hash ${wrong} is not that of ${below}`,
      (index * TILE_WIDTH + wrong) * TILE_WIDTH ** level,
    );
  }
}

/** Returns the entries of a bundle, each with its length in front. */
const splitBundle = (bundle: Buffer, path: string): readonly Buffer[] => {
  const entries: Buffer[] = [];
  for (let start = 0; start < bundle.length;) {
    const end = start + 2 + (start + 2 <= bundle.length ? bundle.readUInt16BE(start) : bundle.length);
    if (end > bundle.length) throw new TrailAlteredError('malformed', `${path} is no bundle of entries`);
    entries.push(bundle.subarray(start + 2, end));
    start = end;
  }
  return entries;
};
