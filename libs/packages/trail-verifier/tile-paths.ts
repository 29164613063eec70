/** The hashes of a full tile, and the entries of a full bundle. */
export const TILE_WIDTH = 256;

/** A tile of hashes or, at level `entries`, a bundle of entries. A partial tile has fewer than 256 hashes. */
export type Tile = {
  /** Level of the tile: the hashes of level 1 are each above 256 hashes of level 0. */
  readonly level: number | 'entries';
  readonly index: number;
  readonly width: number;
};

/** Returns the path of a tile below the prefix of the log, such as `tile/0/x001/x234/067.p/8` (C2SP tlog-tiles). */
export const formatTilePath = (level: Tile['level'], index: number, width: number = TILE_WIDTH): string => {
  const groups = [String(index % 1000).padStart(3, '0')];
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(`x${String(rest % 1000).padStart(3, '0')}`);
  }
  return `tile/${level}/${groups.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
};

const TILE_PATH = /^tile\/(entries|\d|[1-5]\d|6[0-3])\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/(\d{1,3}))?$/;

/** Returns the tile with a path, or null if no tile has this path. */
export const parseTilePath = (path: string): Tile | null => {
  const [, level, groups, partialWidth] = TILE_PATH.exec(path) ?? [];
  if (level === undefined || groups === undefined) return null;
  const tile: Tile = {
    level: level === 'entries' ? level : Number(level),
    index: Number(groups.replaceAll(/[x/]/g, '')),
    width: Number(partialWidth ?? TILE_WIDTH),
  };
  if (!Number.isSafeInteger(tile.index) || tile.width < 1 || tile.width > TILE_WIDTH) return null;
  // A tile has one path: widths have no zeros in front, and groups that are zero in front are left out.
  return formatTilePath(tile.level, tile.index, tile.width) === path ? tile : null;
};
