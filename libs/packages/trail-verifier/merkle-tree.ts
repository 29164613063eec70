import { hash } from 'node:crypto';
import { listSides, type Side } from './formats/inclusion-paths.js';

/* The Merkle tree of RFC 6962 and RFC 9162 with SHA-256. Sizes are up to 2^53 - 1, so no function uses 32-bit operators. */

const HASH_BYTES = 32;

/** The root of a tree without leaves. */
export const EMPTY_ROOT: Buffer = hash('sha256', '', 'buffer');

/** Returns the hash of the complete subtree of 2^level leaves that begins at leaf index · 2^level. */
export type HashSource = (level: number, index: number) => Promise<Buffer>;

/** Returns the hash of a leaf with these bytes. */
export const hashLeaf = (data: Uint8Array): Buffer => {
  if (data.length !== HASH_BYTES) return hash('sha256', Buffer.concat([LEAF_PREFIX, data]), 'buffer');
  digestLeaf.set(data, 1);
  return hash('sha256', digestLeaf, 'buffer');
};

const LEAF_PREFIX = Buffer.from([0]);

/** The prefix and a leaf of 32 bytes, as most are. A new buffer for each takes half as long as its hash. */
const digestLeaf = Buffer.alloc(1 + HASH_BYTES);

const children = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

/** Returns the hash of a node above two nodes. */
export const hashChildren = (left: Uint8Array, right: Uint8Array): Buffer => {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES) throw new RangeError('a hash must have 32 bytes');
  children.set(left, 1);
  children.set(right, 1 + HASH_BYTES);
  return hash('sha256', children, 'buffer');
};

/** The same as `hashLeaf` for a leaf of 32 bytes, with texts in base64: a new buffer takes twice as long as its hash. */
export const hashLeafText = (leaf: string): string => {
  digestLeaf.write(leaf, 1, 'base64');
  return hash('sha256', digestLeaf, 'base64');
};

/** The same as `hashChildren` with texts in base64, which were checked. */
export const hashChildTexts = (left: string, right: string): string => {
  children.write(left, 1, 'base64');
  children.write(right, 1 + HASH_BYTES, 'base64');
  return hash('sha256', children, 'base64');
};

/** Returns the root of the tree above the hashes of a tile, 1 to 256 of 32 bytes each. */
export const computeTileRoot = (hashes: Uint8Array): Buffer => {
  if (hashes.length === 0 || hashes.length % HASH_BYTES !== 0) {
    throw new RangeError(`a tile must have hashes of 32 bytes, got ${hashes.length} bytes`);
  }
  let nodes = Buffer.from(hashes);
  while (nodes.length > HASH_BYTES) nodes = hashPairs(nodes);
  return nodes;
};

/** Returns the level above joined hashes, joined. A last hash without a sibling moves up as it is. */
export const hashPairs = (hashes: Uint8Array): Buffer<ArrayBuffer> => {
  const parents = Buffer.alloc(HASH_BYTES * Math.ceil(hashes.length / (2 * HASH_BYTES)));
  let end = 0;
  for (let start = 0; start < hashes.length; start += 2 * HASH_BYTES, end += HASH_BYTES) {
    const pair = hashes.subarray(start, start + 2 * HASH_BYTES);
    if (pair.length === HASH_BYTES) parents.set(pair, end);
    else {
      children.set(pair, 1);
      writeHash(children, parents, end);
    }
  }
  return parents;
};

/** Returns the hashes of joined leaves of the same length, joined. */
export const hashLeaves = (leaves: Uint8Array, leafBytes: number): Buffer => {
  const hashes = Buffer.alloc((leaves.length / leafBytes) * HASH_BYTES);
  const prefixed = Buffer.alloc(1 + leafBytes);
  for (let start = 0, end = 0; start < leaves.length; start += leafBytes, end += HASH_BYTES) {
    prefixed.set(leaves.subarray(start, start + leafBytes), 1);
    writeHash(prefixed, hashes, end);
  }
  return hashes;
};

/** A tile has 512 hashes, and a new buffer for each takes twice as long as the hash. */
const writeHash = (data: Uint8Array, target: Buffer, offset: number): void => {
  target.write(hash('sha256', data, 'binary'), offset, 'binary');
};

/** Returns the root of the first `size` leaves. */
export const computeRoot = async (size: number, source: HashSource): Promise<Buffer> => {
  checkSize(size, 'size');
  return size === 0 ? EMPTY_ROOT : computeRange(0, size, source);
};

/** Returns the inclusion proof of a leaf in the tree of the first `size` leaves, from the sibling of the leaf upwards. */
export const proveInclusion = async (index: number, size: number, source: HashSource): Promise<readonly Buffer[]> => {
  checkSize(size, 'size');
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) {
    throw new RangeError(`index: must be from 0 to ${size - 1}, got ${index}`);
  }
  const ranges: LeafRange[] = [];
  for (let [start, end] = [0, size]; end - start > 1;) {
    const middle = start + splitSize(end - start);
    ranges.push(index < middle ? [middle, end] : [start, middle]);
    if (index < middle) end = middle;
    else start = middle;
  }
  return computeRanges(ranges.toReversed(), source);
};

/** Returns the proof that the tree of the first `to` leaves extends the tree of the first `from` leaves. */
export const proveConsistency = async (from: number, to: number, source: HashSource): Promise<readonly Buffer[]> => {
  checkSize(to, 'to');
  if (!Number.isSafeInteger(from) || from < 0 || from > to) {
    throw new RangeError(`from: must be from 0 to ${to}, got ${from}`);
  }
  if (from === 0 || from === to) return [];
  const ranges: LeafRange[] = [];
  let [start, end] = [0, to];
  while (end !== from) {
    const middle = start + splitSize(end - start);
    ranges.push(from <= middle ? [middle, end] : [start, middle]);
    if (from <= middle) end = middle;
    else start = middle;
  }
  // The verifier has the hash of this range if it is the whole earlier tree.
  if (start > 0) ranges.push([start, end]);
  return computeRanges(ranges.toReversed(), source);
};

/** Start and end of a range of leaves; the end is exclusive. */
type LeafRange = readonly [number, number];

const computeRanges = (ranges: readonly LeafRange[], source: HashSource): Promise<readonly Buffer[]> =>
  Promise.all(ranges.map(([start, end]) => computeRange(start, end, source)));

/** Returns the hash of a range that begins at a multiple of the largest power of two below its length. */
const computeRange = async (start: number, end: number, source: HashSource): Promise<Buffer> => {
  const length = end - start;
  const half = splitSize(length);
  if (half * 2 === length || length === 1) return source(Math.log2(length), start / length);
  const [left, right] = await Promise.all([
    source(Math.log2(half), start / half),
    computeRange(start + half, end, source),
  ]);
  return hashChildren(left, right);
};

/** Returns the largest power of two below a size. */
const splitSize = (size: number): number => {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
};

const checkSize = (size: number, name: string): void => {
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new RangeError(`${name}: must be a whole number from 0 to 2^53 - 1, got ${size}`);
  }
};

export type InclusionProof = {
  readonly index: number;
  readonly size: number;
  readonly leafHash: Uint8Array;
  readonly proof: readonly Uint8Array[];
  readonly root: Uint8Array;
};

/** Returns whether a proof shows that the leaf with this hash is in the tree, at this index. */
export const verifyInclusion = ({ index, size, leafHash, proof, root }: InclusionProof): boolean => {
  if (!areInOrder(index, size - 1) || !areHashes([leafHash, root, ...proof])) return false;
  const sides = listSides(index, size - 1, proof.length);
  return sides !== null && joinSiblings(leafHash, proof, sides).equals(root);
};

const joinSiblings = (start: Uint8Array, siblings: readonly Uint8Array[], sides: readonly Side[]): Buffer =>
  siblings.reduce<Buffer>(
    (node, sibling, index) => (sides[index] === 'left' ? hashChildren(sibling, node) : hashChildren(node, sibling)),
    Buffer.from(start),
  );

export type ConsistencyProof = {
  readonly from: number;
  readonly to: number;
  readonly fromRoot: Uint8Array;
  readonly toRoot: Uint8Array;
  readonly proof: readonly Uint8Array[];
};

/** Returns whether a proof shows that the first `from` leaves of the later tree are the leaves of the earlier tree. */
export const verifyConsistency = ({ from, to, fromRoot, toRoot, proof }: ConsistencyProof): boolean => {
  if (!areInOrder(from, to) || !areHashes([fromRoot, toRoot, ...proof])) return false;
  if (from === to) return proof.length === 0 && Buffer.from(fromRoot).equals(toRoot);
  // Every tree extends the empty one.
  if (from === 0) return proof.length === 0 && EMPTY_ROOT.equals(fromRoot);
  let [node, last] = [from - 1, to - 1];
  while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  // If the earlier tree is complete, its root is the node where the two paths to the roots begin, and the proof omits it.
  const [start, ...siblings] = node === 0 ? [fromRoot, ...proof] : proof;
  const sides = listSides(node, last, siblings.length);
  if (!start || !sides) return false;
  // What is on the left of the path is in both trees.
  const shared = siblings.filter((_, index) => sides[index] === 'left');
  const earlier = joinSiblings(
    start,
    shared,
    sides.filter((side) => side === 'left'),
  );
  return earlier.equals(fromRoot) && joinSiblings(start, siblings, sides).equals(toRoot);
};

const areInOrder = (first: number, second: number): boolean =>
  Number.isSafeInteger(first) && Number.isSafeInteger(second) && first >= 0 && first <= second;

const areHashes = (hashes: readonly Uint8Array[]): boolean => hashes.every(({ length }) => length === HASH_BYTES);
