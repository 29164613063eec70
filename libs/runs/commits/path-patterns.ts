/**
 * Returns whether a path matches a pattern that users write, in time proportional to the product of both lengths: a pattern cannot make it
 * slower. `*` is any number of characters within a folder, `?` is one, `**` is any number of folders. All other characters mean
 * themselves. A leading `/` is optional, and hidden files match.
 */
export const compilePattern = (pattern: string): ((path: string) => boolean) => {
  const symbols = splitPath(pattern);
  return (path) => matchesAll(symbols, splitPath(path), isAnyFolders, matchesSegment);
};

const splitPath = (path: string): readonly string[] => path.replace(/^\/+/, '').split('/');

const isAnyFolders = (segment: string): boolean => segment === '**';

/** Patterns of a folder name. `**` among other characters is the same as `*`. */
const matchesSegment = (pattern: string, name: string): boolean =>
  matchesAll(
    Array.from(pattern),
    Array.from(name),
    (symbol) => symbol === '*',
    (symbol, character) => symbol === '?' || symbol === character,
  );

/**
 * Returns whether the items match the symbols, of which some stand for any number of items. It goes through the symbols once,
 * and keeps the numbers of items that the symbols so far can match.
 */
const matchesAll = (
  symbols: readonly string[],
  items: readonly string[],
  isAnyNumber: (symbol: string) => boolean,
  matchesOne: (symbol: string, item: string) => boolean,
): boolean => {
  let reached: readonly boolean[] = [true, ...items.map(() => false)];
  for (const symbol of symbols) {
    reached = isAnyNumber(symbol)
      ? spread(reached)
      : reached.map(
          (_, count) => count > 0 && reached[count - 1] === true && matchesOne(symbol, items[count - 1] ?? ''),
        );
  }
  return reached.at(-1) ?? false;
};

/** Returns the numbers of items that are reached after any number of further items. */
const spread = (reached: readonly boolean[]): readonly boolean[] => {
  const first = reached.indexOf(true);
  return reached.map((_, count) => first !== -1 && count >= first);
};

/** Returns whether the path is the folder or lies in it. Both are relative to the root, with or without slashes around them. */
export const isBelow = (folder: string, path: string): boolean => {
  const inner = folder.replaceAll(/^(?:\.?\/)+|\/+$/g, '');
  return inner === '' || inner === '.' || path === inner || path.startsWith(`${inner}/`);
};
