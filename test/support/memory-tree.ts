import { hashChildren, type HashSource } from '#packages/trail-verifier';

/** Returns the hashes of the complete subtrees above these leaf hashes. */
export const createMemoryTree = (leafHashes: readonly Buffer[]): HashSource => {
  const levels: (readonly Buffer[])[] = [leafHashes];
  for (let below = leafHashes; below.length > 1;) {
    const pairs = Math.floor(below.length / 2);
    const level = Array.from({ length: pairs }, (_, index) =>
      hashChildren(below[2 * index] as Buffer, below[2 * index + 1] as Buffer),
    );
    levels.push(level);
    below = level;
  }
  return (level, index) => {
    const hash = levels[level]?.[index];
    return hash ? Promise.resolve(hash) : Promise.reject(new RangeError(`no subtree ${index} at level ${level}`));
  };
};
