import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatCheckpoint, parseCheckpoint } from './checkpoints.js';
import { EMPTY_ROOT, hashLeaf } from './merkle-tree.js';
import { formatProof, parseProof } from './proof-files.js';
import { formatTilePath, parseTilePath } from './tile-paths.js';

const ROOT_HASH = hashLeaf(Buffer.from('a'));
const ROOT_TEXT = ROOT_HASH.toString('base64');

describe('a checkpoint', () => {
  it('is written and read', () => {
    const checkpoint = { origin: 'cadastre.example.com/org-1', size: 1, root: ROOT_HASH };
    expect(formatCheckpoint(checkpoint)).toBe(`cadastre.example.com/org-1\n1\n${ROOT_TEXT}\n`);
    expect(parseCheckpoint(formatCheckpoint(checkpoint))).toEqual(checkpoint);
  });

  it('of size 0 has the empty root', () => {
    const checkpoint = { origin: 'log', size: 0, root: EMPTY_ROOT };
    expect(parseCheckpoint(formatCheckpoint(checkpoint))).toEqual(checkpoint);
    expect(() => parseCheckpoint(`log\n0\n${ROOT_TEXT}\n`)).toThrow('a checkpoint of size 0 must have the empty root');
  });

  it('may have extension lines', () => {
    expect(parseCheckpoint(`log\n7\n${ROOT_TEXT}\nan extension\nanother\n`)).toMatchObject({ size: 7 });
  });

  it.each([
    ['', 'nothing'],
    [`\n1\n${ROOT_TEXT}\n`, 'no origin'],
    [`log\n01\n${ROOT_TEXT}\n`, 'a zero in front'],
    [`log\n-1\n${ROOT_TEXT}\n`, 'a negative size'],
    [`log\n1e3\n${ROOT_TEXT}\n`, 'an exponent'],
    [`log\n9007199254740992\n${ROOT_TEXT}\n`, 'a size above 2^53 - 1'],
    [`log\n1\n${ROOT_TEXT.slice(0, -1)}\n`, 'base64 without padding'],
    [`log\n1\n${Buffer.alloc(31).toString('base64')}\n`, 'a root of 31 bytes'],
    [`log\n1\n${ROOT_TEXT}`, 'no final newline'],
    [`log\n1\n${ROOT_TEXT}\n\n`, 'an empty extension line'],
    ['log\n1\n', 'no root'],
  ])('is refused: %j, %s', (text) => {
    expect(() => parseCheckpoint(text)).toThrow('must be a checkpoint');
  });
});

describe('the path of a tile', () => {
  it.each([
    [0, 0, 256, 'tile/0/000'],
    [0, 0, 1, 'tile/0/000.p/1'],
    [1, 67, 255, 'tile/1/067.p/255'],
    [0, 1234067, 256, 'tile/0/x001/x234/067'],
    ['entries', 1234067, 8, 'tile/entries/x001/x234/067.p/8'],
    ['entries', 1000, 256, 'tile/entries/x001/000'],
    [63, 999999, 256, 'tile/63/x999/999'],
  ] as const)('of level %s, index %i, width %i is %4$s', (level, index, width, path) => {
    expect(formatTilePath(level, index, width)).toBe(path);
    expect(parseTilePath(path)).toEqual({ level, index, width });
  });

  it('is read for each tile', () => {
    const level = fc.oneof(fc.nat(63), fc.constant('entries' as const));
    fc.assert(
      fc.property(level, fc.maxSafeNat(), fc.integer({ min: 1, max: 256 }), (...tile) => {
        const [tileLevel, index, width] = tile;
        expect(parseTilePath(formatTilePath(...tile))).toEqual({ level: tileLevel, index, width });
      }),
    );
  });

  it.each([
    '',
    'tile/0',
    'tile/0/',
    'tile/0/0',
    'tile/0/0000',
    'tile/0/x000',
    'tile/0/x000/000',
    'tile/0/x1/000',
    'tile/0/001/000',
    'tile/00/000',
    'tile/64/000',
    'tile/-1/000',
    'tile/data/000',
    'tile/0/000.p/0',
    'tile/0/000.p/01',
    'tile/0/000.p/256',
    'tile/0/000.p/',
    'tile/0/000.p/1/',
    'tile/0/../0/000',
    '/tile/0/000',
    'tile/0/000\n',
    'tile/0/x999/x999/x999/x999/x999/999',
  ])('is refused: %j', (path) => {
    expect(parseTilePath(path)).toBeNull();
  });
});

describe('a proof file', () => {
  const checkpoint = `log\n3\n${ROOT_TEXT}\n\n— log c2lnbmF0dXJl\n`;
  const proof = [ROOT_HASH, EMPTY_ROOT];

  it('is written and read', () => {
    const file = { index: 2, proof, checkpoint, extra: Buffer.from('{}') };
    const text = formatProof(file);
    expect(text).toBe(
      `c2sp.org/tlog-proof@v1\nextra e30=\nindex 2\n${ROOT_TEXT}\n${EMPTY_ROOT.toString('base64')}\n\n${checkpoint}`,
    );
    expect(parseProof(text)).toEqual(file);
  });

  it.each([
    { index: 0, proof: [], checkpoint, extra: null },
    { index: 0, proof: [], checkpoint, extra: Buffer.alloc(0) },
    { index: 2 ** 53 - 1, proof: Array.from({ length: 63 }, () => ROOT_HASH), checkpoint, extra: Buffer.alloc(65_535) },
  ])('is read as it was written', (file) => {
    expect(parseProof(formatProof(file))).toEqual(file);
  });

  it('has less than 64 KiB of extra data', () => {
    const extra = Buffer.alloc(65_536);
    expect(() => formatProof({ index: 0, proof, checkpoint, extra })).toThrow('extra: must have at most 65535 bytes');
  });

  const valid = formatProof({ index: 2, proof, checkpoint, extra: Buffer.from('{}') });
  it.each([
    ['nothing', ''],
    ['another version', valid.replace('@v1', '@v2')],
    ['no index', valid.replace('index 2\n', '')],
    ['a zero in front', valid.replace('index 2', 'index 02')],
    ['the extra line below', valid.replace('extra e30=\nindex 2', 'index 2\nextra e30=')],
    ['two extra lines', valid.replace('extra e30=', 'extra e30=\nextra e30=')],
    ['extra data that is no base64', valid.replace('e30=', 'e30')],
    ['a hash of 31 bytes', valid.replace(ROOT_TEXT, Buffer.alloc(31).toString('base64'))],
    ['no checkpoint', `c2sp.org/tlog-proof@v1\nindex 2\n`],
    [
      '64 hashes',
      formatProof({ index: 0, proof: Array.from({ length: 64 }, () => ROOT_HASH), checkpoint, extra: null }),
    ],
    ['extra data of 64 KiB', valid.replace('e30=', Buffer.alloc(65_536).toString('base64'))],
  ])('is refused with %s', (_, text) => {
    expect(() => parseProof(text)).toThrow('must be a proof whose first line is c2sp.org/tlog-proof@v1');
  });
});
