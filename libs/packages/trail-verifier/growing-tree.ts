import { EMPTY_ROOT, hashChildren } from './merkle-tree.js';

type Subtree = { readonly level: number; readonly hash: Buffer };

/** The right edge of a tree that grows: the largest complete subtrees from left to right, one for each bit of its size. */
export class GrowingTree {
  private constructor(
    private subtrees: readonly Subtree[],
    private leaves: number,
  ) {}

  static create(): GrowingTree {
    return new GrowingTree([], 0);
  }

  get size(): number {
    return this.leaves;
  }

  clone(): GrowingTree {
    return new GrowingTree(this.subtrees, this.leaves);
  }

  /** Appends a complete subtree of 2^level leaves. The size must be a multiple of that. */
  append(hash: Buffer, level = 0): void {
    const subtrees = [...this.subtrees];
    let added: Subtree = { level, hash };
    for (let left = subtrees.at(-1); left?.level === added.level; left = subtrees.at(-1)) {
      subtrees.pop();
      added = { level: added.level + 1, hash: hashChildren(left.hash, added.hash) };
    }
    this.subtrees = [...subtrees, added];
    this.leaves += 2 ** level;
  }

  computeRoot(): Buffer {
    return this.subtrees.length === 0
      ? EMPTY_ROOT
      : this.subtrees.map(({ hash }) => hash).reduceRight((right, left) => hashChildren(left, right));
  }
}
