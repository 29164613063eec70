import {
  formatCheckpoint,
  NoteError,
  openNote,
  parseVerifierKey,
  TILE_WIDTH,
  type VerifierKey,
} from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';
import { listVerifierKeys } from '../serving/trail-logs.queries.js';
import { getLeafBytes, SITE_LOG, splitHashes } from '../tiles/hashes.js';
import { RightEdge, type CompleteTile } from '../tiles/right-edge.js';
import {
  findDifferentTimeStamp,
  findTile,
  findTooLargeCheckpoint,
  lacksTile,
  listBottomTiles,
  listCheckpoints,
  listLastLeaves,
  listSignedLogs,
  type BottomTile,
  type StoredCheckpoint,
} from './trail-logs.queries.js';

const TILES_PER_STEP = 32;

export type LogDifference = { readonly organization: string; readonly difference: string };

/** Compares leaves, tiles and checkpoints of all logs. Returns the first difference of each log that has one. */
export const verifyTrailLogs = async (
  database: Database,
  { signal, onLog }: { readonly signal?: AbortSignal | undefined; readonly onLog?: (logs: number) => void } = {},
): Promise<readonly LogDifference[]> => {
  const differences: LogDifference[] = [];
  for (const organization of await listSignedLogs(database)) {
    signal?.throwIfAborted();
    const difference = await new TrailLogVerifier(database, organization).verify();
    if (difference !== null) differences.push({ organization, difference });
    onLog?.(1);
  }
  return differences;
};

/** Computes a log again from the leaves in its tiles, in order, and compares what is stored. */
class TrailLogVerifier {
  private readonly edge = new RightEdge(0, []);
  private keys: readonly VerifierKey[] = [];

  constructor(
    private readonly database: Database,
    private readonly organization: string,
  ) {}

  /** Returns the first difference, or null. */
  async verify(): Promise<string | null> {
    this.keys = (await listVerifierKeys(this.database, this.organization)).map(parseVerifierKey);
    for (;;) {
      const first = this.edge.size / TILE_WIDTH;
      const tiles = await listBottomTiles(this.database, this.organization, first, TILES_PER_STEP);
      if (tiles.length === 0) break;
      const difference = findDifferentLeaves(tiles, first) ?? (await this.append(tiles.map(({ hashes }) => hashes)));
      if (difference !== null) return difference;
    }
    return (
      (await this.findMissingTile(this.edge.size / TILE_WIDTH)) ??
      (await this.appendLast()) ??
      (await this.findTooLarge()) ??
      this.findDifferentTimeStamp()
    );
  }

  /** Appends the leaves after the last complete tile. */
  private async appendLast(): Promise<string | null> {
    const from = this.edge.size;
    const last = await listLastLeaves(this.database, this.organization, from);
    const gap = last.findIndex(({ index }, n) => index !== from + n);
    return gap === -1 ? this.append(last.map(({ leaf }) => leaf)) : `leaf ${from + gap} is missing`;
  }

  private async append(joined: readonly Buffer[]): Promise<string | null> {
    const from = this.edge.size;
    const leaves = joined.flatMap((each) => splitHashes(each, getLeafBytes(this.organization)));
    const checkpoints = [
      ...(await listCheckpoints(this.database, this.organization, from, from + leaves.length)),
    ].toReversed();
    for (const leaf of leaves) {
      this.edge.append(leaf);
      for (const tile of this.edge.completed.splice(0)) {
        const difference = await this.compareTile(tile);
        if (difference !== null) return difference;
      }
      while (checkpoints.at(-1)?.size === this.edge.size) {
        const difference = this.compareCheckpoint(checkpoints.pop() as StoredCheckpoint);
        if (difference !== null) return difference;
      }
    }
    return null;
  }

  private async compareTile(tile: CompleteTile): Promise<string | null> {
    const stored = await findTile(this.database, this.organization, tile);
    const name = `tile ${tile.level}/${tile.index}`;
    if (!stored) return tile.level === 0 ? null : `${name} is missing`;
    return stored.hashes.equals(tile.hashes) && stored.root.equals(tile.root)
      ? null
      : `${name} differs from the leaves`;
  }

  private compareCheckpoint({ origin, size, root, note }: StoredCheckpoint): string | null {
    const name = `the checkpoint of size ${size} of ${origin}`;
    const computed = this.edge.computeRoot();
    if (!computed.equals(root)) return `${name} differs from the leaves`;
    try {
      const { text } = openNote(note, this.keys);
      return text === formatCheckpoint({ origin, size, root }) ? null : `${name} differs from its signed note`;
    } catch (error) {
      if (error instanceof NoteError) return `${name}: ${error.message}`;
      throw error;
    }
  }

  private async findTooLarge(): Promise<string | null> {
    const size = await findTooLargeCheckpoint(this.database, this.organization);
    return size === null ? null : `a checkpoint has the size ${size}, and the log is shorter`;
  }

  /** Without the last complete tile, its leaves may have been deleted, and nothing compares the checkpoints behind it. */
  private async findMissingTile(index: number): Promise<string | null> {
    return (await lacksTile(this.database, this.organization, index)) ? `tile 0/${index} is missing` : null;
  }

  private async findDifferentTimeStamp(): Promise<string | null> {
    if (this.organization !== SITE_LOG) return null;
    const size = await findDifferentTimeStamp(this.database);
    return size === null ? null : `the time stamp of the size ${size} is not for the checkpoint of this size`;
  }
}

const findDifferentLeaves = (tiles: readonly BottomTile[], first: number): string | null => {
  for (const [n, { index, hashes, leaves }] of tiles.entries()) {
    if (index !== first + n) return `tile 0/${first + n} is missing`;
    // Leaves are deleted from the oldest on.
    if (leaves && !hashes.subarray(hashes.length - leaves.length).equals(leaves)) {
      return `tile 0/${index} differs from the leaves`;
    }
  }
  return null;
};
