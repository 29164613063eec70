import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { computeRoot, hashLeaf } from '#packages/trail-verifier';
import { createMemoryTree } from '../../../../test/support/memory-tree.js';
import { splitHashes } from './hashes.js';
import { RightEdge } from './right-edge.js';

const leaves = Array.from({ length: 70_000 }, (_, n) => createHash('sha256').update(`${n}`).digest());
const tree = createMemoryTree(leaves.map(hashLeaf));

/** Returns the edge after the tiles of an earlier edge were stored. */
const reopen = (size: number): RightEdge => {
  const edge = new RightEdge(0, []);
  for (const leaf of leaves.slice(0, size)) edge.append(leaf);
  const tiles = Math.floor(size / 256);
  const roots = [0, 1].map((level) => {
    const first = Math.floor(tiles / 256 ** (level + 1)) * 256;
    const stored = edge.completed.filter((tile) => tile.level === level && tile.index >= first);
    return stored.map(({ root }) => root);
  });
  const reopened = new RightEdge(tiles, roots);
  for (const leaf of leaves.slice(tiles * 256, size)) reopened.append(leaf);
  return reopened;
};

describe('the right edge', () => {
  it('has the root of RFC 6962 at each size', async () => {
    const edge = new RightEdge(0, []);
    expect(edge.computeRoot()).toEqual(await computeRoot(0, tree));
    for (const [n, leaf] of leaves.entries()) {
      edge.append(leaf);
      const size = n + 1;
      const isNearTile = size % 256 < 3 || size % 256 > 253;
      if (size > 1_000 && !(isNearTile && size % 4_096 < 600) && size < 69_998) continue;
      expect(edge.size).toBe(size);
      expect(edge.computeRoot()).toEqual(await computeRoot(size, tree));
    }
  });

  it.each([255, 256, 65_535, 65_536, 65_537, 69_000])('continues from the stored tiles at %i', async (size) => {
    const edge = reopen(size);
    for (const leaf of leaves.slice(size, size + 300)) edge.append(leaf);
    expect(edge.computeRoot()).toEqual(await computeRoot(size + 300, tree));
  });

  it('completes tiles of each level with the roots of the tree', async () => {
    const edge = new RightEdge(0, []);
    for (const leaf of leaves) edge.append(leaf);
    const upper = edge.completed.filter(({ level }) => level === 1);
    expect(edge.completed.length).toBe(273 + 1);
    expect(upper).toHaveLength(1);
    expect(upper[0]?.index).toBe(0);
    expect(upper[0]?.root).toEqual(await tree(16, 0));
    expect(await Promise.all(splitHashes(upper[0]?.hashes as Buffer).map((_, n) => tree(8, n)))).toEqual(
      splitHashes(upper[0]?.hashes as Buffer),
    );
    expect(edge.completed[272]?.level === 0 ? edge.completed[272].index : edge.completed[273]?.index).toBe(
      edge.completed[272]?.level === 0 ? 271 : 272,
    );
  });
});
