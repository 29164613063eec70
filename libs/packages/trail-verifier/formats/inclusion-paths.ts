/** On which side of the path from a leaf to the root a hash of a proof is. */
export type Side = 'left' | 'right';

/**
 * Returns on which side of the path from a node to the root each hash of a proof is, or null if the proof of this node has
 * another number of hashes. The node is at some level of the tree, and `last` is the index of the last node there. Sizes are
 * up to 2^53 - 1, so it uses no 32-bit operators.
 */
export const listSides = (node: number, last: number, count: number): readonly Side[] | null => {
  const sides: Side[] = [];
  for (; last > 0; [node, last] = [Math.floor(node / 2), Math.floor(last / 2)]) {
    if (node % 2 === 1) sides.push('left');
    // The last node moves up as it is while it has no sibling.
    else if (node < last) sides.push('right');
  }
  return sides.length === count ? sides : null;
};
