import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createMemoryTree } from '../../../test/support/memory-tree.js';
import {
  computeRoot,
  computeTileRoot,
  EMPTY_ROOT,
  hashChildren,
  hashLeaf,
  proveConsistency,
  proveInclusion,
  verifyConsistency,
  verifyInclusion,
  type HashSource,
} from './merkle-tree.js';

/** The leaves of the tests of Certificate Transparency (google/certificate-transparency, merkletree). */
const KNOWN_LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => Buffer.from(hex, 'hex'));

/** The roots of the first 1 to 8 of these leaves. */
const KNOWN_ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const createSource = (leaves: readonly Uint8Array[]): HashSource => createMemoryTree(leaves.map(hashLeaf));

const knownTree = createSource(KNOWN_LEAVES);

const inHex = (hashes: readonly Buffer[]): readonly string[] => hashes.map((hash) => hash.toString('hex'));

describe('known trees', () => {
  it('have the root of RFC 9162 for each size', async () => {
    const roots = await Promise.all(KNOWN_ROOTS.map((_, index) => computeRoot(index + 1, knownTree)));
    expect(inHex(roots)).toEqual(KNOWN_ROOTS);
    expect(await computeRoot(0, knownTree)).toEqual(EMPTY_ROOT);
    expect(EMPTY_ROOT.toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  it.each([
    [0, 1, []],
    [
      0,
      8,
      [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    ],
    [
      5,
      8,
      [
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    ],
    [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
    [
      1,
      5,
      [
        '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    ],
  ])('prove leaf %i of %i with the hashes of RFC 6962', async (index, size, proof) => {
    expect(inHex(await proveInclusion(index, size, knownTree))).toEqual(proof);
  });

  it.each([
    [1, 1, []],
    [
      1,
      8,
      [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    ],
    [
      6,
      8,
      [
        '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    ],
    [
      2,
      5,
      [
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    ],
  ])('prove that %i leaves are the first of %i with the hashes of RFC 6962', async (from, to, proof) => {
    expect(inHex(await proveConsistency(from, to, knownTree))).toEqual(proof);
  });
});

const leaves = (count: number, seed = 0): Buffer[] =>
  Array.from({ length: count }, (_, index) => Buffer.from(`${seed}/${index}`));

const ODD = createSource(leaves(1000));

/** Two different numbers from 0 to the limit, the smaller one first. */
const twoNumbers = (max: number): fc.Arbitrary<readonly [number, number]> =>
  fc.tuple(fc.nat(max), fc.nat(max)).filter(([a, b]) => a < b);

describe('inclusion proofs', () => {
  it('verify for each leaf of each tree, and for no other index, size, leaf or root', async () => {
    await fc.assert(
      fc.asyncProperty(twoNumbers(1000), twoNumbers(1000), async ([index, size], [otherIndex, otherSize]) => {
        const proof = await proveInclusion(index, size, ODD);
        const root = await computeRoot(size, ODD);
        const valid = { index, size, leafHash: await ODD(0, index), proof, root };

        expect(verifyInclusion(valid)).toBe(true);

        expect(verifyInclusion({ ...valid, index: otherIndex })).toBe(otherIndex === index);
        expect(verifyInclusion({ ...valid, root: await computeRoot(otherSize, ODD) })).toBe(otherSize === size);
        expect(verifyInclusion({ ...valid, leafHash: await ODD(0, otherIndex) })).toBe(otherIndex === index);
        expect(verifyInclusion({ ...valid, proof: [...proof, root] })).toBe(false);
        expect(verifyInclusion({ ...valid, proof: proof.slice(1) })).toBe(proof.length === 0);
      }),
    );
  });

  it('verify for another size only if this size has the same shape of proof, never with its root', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(99), fc.integer({ min: 100, max: 999 }), async (index, size) => {
        const proof = await proveInclusion(index, size, ODD);
        const other = { index, size: size + 1, leafHash: await ODD(0, index), proof };
        expect(verifyInclusion({ ...other, root: await computeRoot(size + 1, ODD) })).toBe(false);
      }),
    );
  });

  it('of a tree of 2^53 - 1 leaves verify', async () => {
    const size = Number.MAX_SAFE_INTEGER;
    const source: HashSource = (level, index) => Promise.resolve(hashLeaf(Buffer.from(`${level} ${index}`)));
    const proof = await proveInclusion(size - 1, size, source);
    const valid = { index: size - 1, size, leafHash: await source(0, size - 1), proof };
    const root = await computeRoot(size, source);

    expect(verifyInclusion({ ...valid, root })).toBe(true);
    expect(verifyInclusion({ ...valid, index: size - 2, root })).toBe(false);
  });

  it.each([
    ['a negative index', { index: -1 }],
    ['a fraction', { index: 0.5 }],
    ['an index behind the end', { index: 1 }],
    ['a size that is no number', { size: Number.NaN }],
    ['a hash of 31 bytes', { leafHash: Buffer.alloc(31) }],
  ])('are refused with %s', (_, part) => {
    const leafHash = hashLeaf(Buffer.from('a'));
    expect(verifyInclusion({ index: 0, size: 1, leafHash, proof: [], root: leafHash })).toBe(true);
    expect(verifyInclusion({ index: 0, size: 1, leafHash, proof: [], root: leafHash, ...part })).toBe(false);
  });

  it('cannot be made for a leaf behind the end', async () => {
    await expect(proveInclusion(8, 8, knownTree)).rejects.toThrow('index: must be from 0 to 7, got 8');
  });
});

describe('consistency proofs', () => {
  const other = createSource([...leaves(500), ...leaves(500, 1)]);

  it('verify for each two trees of a log, and for no other size or root', async () => {
    await fc.assert(
      fc.asyncProperty(twoNumbers(1000), twoNumbers(1000), async ([from, to], [otherFrom, otherTo]) => {
        const proof = await proveConsistency(from, to, ODD);
        const [fromRoot, toRoot] = await Promise.all([computeRoot(from, ODD), computeRoot(to, ODD)]);
        const valid = { from, to, fromRoot, toRoot, proof };

        expect(verifyConsistency(valid)).toBe(true);

        const [otherFromRoot, otherToRoot] = await Promise.all([
          computeRoot(otherFrom, ODD),
          computeRoot(otherTo, ODD),
        ]);
        expect(verifyConsistency({ ...valid, fromRoot: otherFromRoot })).toBe(otherFrom === from);
        // The proof from nothing is empty, as is that of a tree and itself.
        const isOtherProven = otherFrom === from || (from === 0 && otherFrom === to);
        expect(verifyConsistency({ ...valid, from: otherFrom, fromRoot: otherFromRoot })).toBe(isOtherProven);
        // Every tree extends the empty one.
        const isProven = otherTo === to || from === 0;
        expect(verifyConsistency({ ...valid, toRoot: otherToRoot })).toBe(isProven);
        expect(verifyConsistency({ ...valid, to: otherTo, toRoot: otherToRoot })).toBe(isProven);
        expect(verifyConsistency({ ...valid, proof: [...proof, toRoot] })).toBe(false);
        expect(verifyConsistency({ ...valid, proof: proof.slice(1) })).toBe(proof.length === 0);
      }),
    );
  });

  it('do not verify for two histories', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 501, max: 999 }), fc.integer({ min: 501, max: 1000 }), async (from, to) => {
        const [smaller, larger] = from < to ? [from, to] : [to, from];
        const fromRoot = await computeRoot(smaller, ODD);
        const toRoot = await computeRoot(larger, other);
        for (const source of [ODD, other]) {
          const proof = await proveConsistency(smaller, larger, source);
          expect(verifyConsistency({ from: smaller, to: larger, fromRoot, toRoot, proof })).toBe(false);
        }
      }),
    );
  });

  it('need equal roots for equal sizes, and nothing for the empty tree', () => {
    const [a, b] = [hashLeaf(Buffer.from('a')), hashLeaf(Buffer.from('b'))];
    expect(verifyConsistency({ from: 3, to: 3, fromRoot: a, toRoot: a, proof: [] })).toBe(true);
    expect(verifyConsistency({ from: 3, to: 3, fromRoot: a, toRoot: b, proof: [] })).toBe(false);
    expect(verifyConsistency({ from: 3, to: 3, fromRoot: a, toRoot: a, proof: [a] })).toBe(false);
    expect(verifyConsistency({ from: 0, to: 3, fromRoot: EMPTY_ROOT, toRoot: a, proof: [] })).toBe(true);
    expect(verifyConsistency({ from: 0, to: 3, fromRoot: b, toRoot: a, proof: [] })).toBe(false);
    expect(verifyConsistency({ from: 4, to: 3, fromRoot: a, toRoot: a, proof: [] })).toBe(false);
  });
});

describe('the root of a tile', () => {
  it('is the root of the tree above its hashes for each width', async () => {
    const hashes = Array.from({ length: 256 }, (_, index) => hashLeaf(Buffer.from([index])));
    const source = createMemoryTree(hashes);
    for (let width = 1; width <= 256; width += 1) {
      expect(computeTileRoot(Buffer.concat(hashes.slice(0, width)))).toEqual(await computeRoot(width, source));
    }
  });

  it.each([0, 31, 33])('needs whole hashes, not %i bytes', (length) => {
    expect(() => computeTileRoot(Buffer.alloc(length))).toThrow(
      `a tile must have hashes of 32 bytes, got ${length} bytes`,
    );
  });

  it('joins two hashes of 32 bytes only', () => {
    expect(() => hashChildren(EMPTY_ROOT, Buffer.alloc(31))).toThrow('a hash must have 32 bytes');
  });
});
