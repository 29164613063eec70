import type { LogCheckpoint } from './checkpoints.js';
import { hashChildTexts } from './merkle-tree.js';
import { isDigest } from './strict-base64.js';

/** A node on the way from a leaf to the root, and its sibling. Both are proved. Hashes are in base64, as proofs contain them. */
type PathNode = {
  readonly node: number;
  readonly hash: string;
  /** Null if the node is the last one of its level and has no sibling. */
  readonly sibling: string | null;
};

/**
 * Verifies inclusion proofs in one tree. It keeps the nodes on the path of the last leaf that it verified, so that a proof
 * of the next leaf needs one or two hashes instead of one for each level: above the first node that is known, the
 * proof only has to repeat what is known.
 */
export class VerifiedPath {
  private path: PathNode[] = [];
  private leaf: { readonly index: number; readonly hash: string } | null = null;

  private readonly root: string;

  constructor(private readonly checkpoint: LogCheckpoint) {
    this.root = checkpoint.root.toString('base64');
  }

  /** Returns whether the proof, hashes from the sibling of the leaf upwards, shows that the leaf is in the tree. */
  verify(index: number, leafHash: string, proof: readonly string[]): boolean {
    if (index >= this.checkpoint.size) return false;
    const below: PathNode[] = [];
    let [node, last, used, hash] = [index, this.checkpoint.size - 1, 0, leafHash];
    for (let level = 0; last > 0; level += 1) {
      if (this.isKnown(level, node)) return this.joinKnown({ index, leafHash, level, node, hash, below, proof, used });
      const sibling = node % 2 === 0 && node === last ? null : (proof[used] ?? '');
      below.push({ node, hash, sibling });
      if (sibling !== null) {
        if (!isDigest(sibling)) return false;
        hash = node % 2 === 1 ? hashChildTexts(sibling, hash) : hashChildTexts(hash, sibling);
        used += 1;
      }
      [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
    }
    if (used !== proof.length || hash !== this.root) return false;
    this.path = below;
    this.leaf = { index, hash: leafHash };
    return true;
  }

  /** Returns whether the node is on the last path, or the sibling of a node there. */
  private isKnown(level: number, node: number): boolean {
    const pathNode = this.path[level];
    return (
      pathNode !== undefined &&
      (pathNode.node === node || (pathNode.sibling !== null && pathNode.node === siblingOf(node)))
    );
  }

  private joinKnown(joined: {
    readonly index: number;
    readonly leafHash: string;
    readonly level: number;
    readonly node: number;
    readonly hash: string;
    readonly below: readonly PathNode[];
    readonly proof: readonly string[];
    readonly used: number;
  }): boolean {
    const { index, leafHash, level, node, hash, below, proof, used } = joined;
    const pathNode = this.path[level] as PathNode;
    const isSame = pathNode.node === node;
    if (hash !== (isSame ? pathNode.hash : pathNode.sibling)) return false;
    const sibling = isSame ? pathNode.sibling : pathNode.hash;
    let position = used;
    for (let height = level; height < this.path.length; height += 1) {
      const expected = height === level ? sibling : (this.path[height] as PathNode).sibling;
      if (expected === null) continue;
      if (proof[position] !== expected) return false;
      position += 1;
    }
    if (position !== proof.length) return false;
    for (const [height, one] of below.entries()) this.path[height] = one;
    this.path[level] = { node, hash, sibling };
    this.leaf = { index, hash: leafHash };
    return true;
  }

  /**
   * Returns the root of the first `size` leaves, if the leaf that was verified last is the last of them or the one behind
   * them. Else returns null.
   */
  computeEarlierRoot(size: number): string | null {
    if (!this.leaf || size === 0 || (this.leaf.index !== size && this.leaf.index !== size - 1)) return null;
    // The nodes on the left of the path are complete in both trees.
    const left = this.path.flatMap(({ node, sibling }) => (node % 2 === 1 && sibling !== null ? [sibling] : []));
    const start = this.leaf.index === size - 1 ? [this.leaf.hash] : [];
    return [...start, ...left].reduce((right, one) => hashChildTexts(one, right));
  }
}

const siblingOf = (node: number): number => (node % 2 === 0 ? node + 1 : node - 1);
