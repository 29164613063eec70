import { describe, expect, it } from '@jest/globals';
import { formatDay, formatEntriesKey, formatLogFolder, listNewTilePaths } from './archive-layout.js';

describe('the names of the objects', () => {
  it('derive from the origin, the day and the indexes of the first and the last entry', () => {
    const folder = formatLogFolder('tf.example.com/org-1/2');
    expect(formatEntriesKey(folder, { from: 0, to: 256 }, formatDay('2026-11-09T23:59:59.999Z'))).toBe(
      'org-1/2/entries/2026/11/09/000000000000-000000000255.ndjson',
    );
  });
});

describe('the tiles of a log of 70,000 leaves', () => {
  it('are 273 full ones and a partial one at level 0, a full and a partial one above, and a partial one at the top', () => {
    const paths = listNewTilePaths(0, 70_000);
    expect(paths.filter((path) => path.startsWith('tile/0/'))).toHaveLength(274);
    expect(paths.filter((path) => path.startsWith('tile/entries/'))).toHaveLength(274);
    expect(paths).toContain('tile/0/273.p/112');
    expect(paths.filter((path) => /^tile\/[1-9]/.test(path))).toEqual([
      'tile/1/000',
      'tile/1/001.p/17',
      'tile/2/000.p/1',
    ]);
  });

  it('are delivered once, whatever sizes were delivered before', () => {
    for (const before of [1, 255, 256, 300, 65_536, 69_999]) {
      const later = listNewTilePaths(before, 70_000);
      const full = new Set(listNewTilePaths(0, before).filter((path) => !path.includes('.p/')));
      expect(later.filter((path) => full.has(path))).toEqual([]);
      const all = [...full, ...later];
      const needed = listNewTilePaths(0, 70_000).filter((path) => !all.includes(path));
      // Partial tiles that have not changed were delivered with the earlier tree.
      const unchanged = listNewTilePaths(0, before);
      expect(needed.filter((path) => !unchanged.includes(path))).toEqual([]);
    }
  });

  it('are none for a tree that has not grown', () => {
    expect(listNewTilePaths(70_000, 70_000)).toEqual([]);
  });
});
