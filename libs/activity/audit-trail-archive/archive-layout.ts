import { formatTilePath, TILE_WIDTH, type Tile } from '#packages/trail-verifier';

/** Wide enough for every log, so that names sort in the order of the entries. */
const INDEX_DIGITS = 12;

const formatIndex = (index: number): string => String(index).padStart(INDEX_DIGITS, '0');

/** Returns the folder of a log: the path of its origin, such as `org-9Vx4kQbZ2TnYw7Lc`. */
export const formatLogFolder = (origin: string): string => origin.slice(origin.indexOf('/') + 1);

/** A run of entries of a log: the indexes of the first one and of the one after the last one. */
type ArchivedRange = { readonly from: number; readonly to: number };

/** Returns the day of a timestamp as folders, such as `2026/11/29`. */
export const formatDay = (timestamp: string): string => timestamp.slice(0, 10).replaceAll('-', '/');

/** Returns the name of the object with a run of entries, in the folder of the day of the first entry. */
export const formatEntriesKey = (folder: string, { from, to }: ArchivedRange, day: string): string =>
  `${folder}/entries/${day}/${formatIndex(from)}-${formatIndex(to - 1)}.ndjson`;

export const formatCheckpointKey = (folder: string, size: number): string =>
  `${folder}/checkpoints/${formatIndex(size)}`;

/** Returns the tiles of level 0 and above that a tree of `size` leaves has, and a tree of `before` leaves did not have. */
const listHashTiles = (before: number, size: number): readonly Tile[] => {
  const tiles: Tile[] = [];
  for (let level = 0, hashes = size, earlier = before; hashes > 0; level += 1) {
    const [full, width] = [Math.floor(hashes / TILE_WIDTH), hashes % TILE_WIDTH];
    for (let index = Math.floor(earlier / TILE_WIDTH); index < full; index += 1)
      tiles.push({ level, index, width: TILE_WIDTH });
    if (width > 0 && hashes !== earlier) tiles.push({ level, index: full, width });
    [hashes, earlier] = [full, Math.floor(earlier / TILE_WIDTH)];
  }
  return tiles;
};

/** Returns the paths of the new tiles and bundles of a tree, below the folder of its log. */
export const listNewTilePaths = (before: number, size: number): readonly string[] =>
  listHashTiles(before, size).flatMap(({ level, index, width }) => [
    formatTilePath(level, index, width),
    ...(level === 0 ? [formatTilePath('entries', index, width)] : []),
  ]);
