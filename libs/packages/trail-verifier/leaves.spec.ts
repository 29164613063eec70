import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalize } from './canonical-json.js';
import { computeCommitment, computeLeaf } from './leaves.js';

describe('canonical JSON', () => {
  it('is the example of RFC 8785', () => {
    const value = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`) as unknown;
    expect(canonicalize(value)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts members by UTF-16 code units, as the example of RFC 8785', () => {
    const value = JSON.parse(
      String.raw`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
    ) as unknown;
    expect(canonicalize(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
  });

  it.each([
    [-0, '0'],
    [{ b: undefined, a: 1 }, '{"a":1}'],
    [{ toJSON: 'a member' }, '{"toJSON":"a member"}'],
    [JSON.parse('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}'],
    [{ 10: 1, 9: 2 }, '{"10":1,"9":2}'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalize(value)).toBe(text);
  });

  it.each([[Number.NaN], [Infinity], ['\ud800'], [{ '\udc00': 1 }], [[undefined]], [() => 1], [1n], [new Date(0)]])(
    'does not exist for %p',
    (value) => {
      expect(() => canonicalize(value)).toThrow(TypeError);
    },
  );

  it('is read by JSON.parse as the same value, and does not depend on the order of members', () => {
    const wellFormed = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(wellFormed, fc.jsonValue()), (value, members) => {
        const plain = JSON.parse(JSON.stringify(value).toWellFormed()) as unknown;
        expect(JSON.parse(canonicalize(plain))).toEqual(plain);
        const reversed = Object.fromEntries(Object.entries(members).toReversed());
        expect(canonicalize(reversed)).toBe(canonicalize(members));
      }),
    );
  });
});

const SALT = Buffer.alloc(32, 1);

const digest = (...parts: readonly (Buffer | string)[]): Buffer => {
  const sha256 = createHash('sha256');
  for (const part of parts) sha256.update(part);
  return sha256.digest();
};

describe('a commitment', () => {
  it('is the SHA-256 of the salt and the canonical JSON', () => {
    expect(computeCommitment(SALT, { b: 'ä', a: 1 })).toEqual(digest(SALT, '{"a":1,"b":"ä"}'));
  });

  it('needs a salt of 32 bytes', () => {
    expect(() => computeCommitment(Buffer.alloc(31), 'ada')).toThrow('the salt must have 32 bytes, got 31');
  });
});

describe('a leaf', () => {
  const commitment = Buffer.alloc(32, 2);
  const entry = { type: 'Resource', auth: { description: 'ada', hidden: true }, 'a/b~': 1 };

  it('is the SHA-256 of the salt and the canonical JSON of commitments, masked entry and format', () => {
    const text =
      `{"commitments":{"/auth/description":"${commitment.toString('base64')}"},` +
      '"entry":{"a/b~":1,"auth":{"description":null,"hidden":true},"type":"Resource"},"format":"cadastre-trail-entry/v1"}';
    const commitments = { '/auth/description': commitment };
    expect(computeLeaf({ salt: SALT, entry, commitments })).toEqual(digest(SALT, text));
  });

  it('does not depend on values that have a commitment', () => {
    const commitments = { '/auth/description': commitment, '/a~1b~0': commitment };
    const leaf = computeLeaf({ salt: SALT, entry, commitments });
    const { description: _, ...auth } = entry.auth;
    for (const other of [
      { ...entry, 'a/b~': null },
      { ...entry, 'a/b~': 'usr-1' },
      { ...entry, auth },
    ]) {
      expect(computeLeaf({ salt: SALT, entry: other, commitments })).toEqual(leaf);
    }
    expect(computeLeaf({ salt: SALT, entry: { ...entry, type: 'Other' }, commitments })).not.toEqual(leaf);
    expect(computeLeaf({ salt: SALT, entry, commitments: { '/a~1b~0': commitment } })).not.toEqual(leaf);
    expect(computeLeaf({ salt: Buffer.alloc(32), entry, commitments })).not.toEqual(leaf);
  });

  it('does not mask a member of the prototype', () => {
    const plain = computeLeaf({ salt: SALT, entry: {}, commitments: {} });
    expect(computeLeaf({ salt: SALT, entry: {}, commitments: { '/constructor': commitment } })).not.toEqual(plain);
    expect(() => computeLeaf({ salt: SALT, entry: {}, commitments: { '/constructor/name': commitment } })).toThrow(
      'a pointer names "name" of a value that is no object',
    );
  });

  it('masks very many absent members', () => {
    const names = ['__proto__', ...Array.from({ length: 20_000 }, (_, n) => `name${n}`)];
    const commitments = Object.fromEntries(names.map((name) => [`/auth/${name}`, commitment]));
    const masked = Object.fromEntries(names.map((name) => [name, null]));
    const leaf = computeLeaf({ salt: SALT, entry: { auth: {} }, commitments });
    expect(computeLeaf({ salt: SALT, entry: { auth: masked }, commitments })).toEqual(leaf);
  });

  it.each([
    ['auth', 'must be a JSON pointer such as /auth/description, got "auth"'],
    ['', 'must be a JSON pointer such as /auth/description, got ""'],
    ['/auth~2', 'must be a JSON pointer such as /auth/description, got "/auth~2"'],
    ['/type/name', 'a pointer names "name" of a value that is no object'],
    ['/none/name', 'a pointer names "name" of a value that is no object'],
  ])('is refused for the pointer "%s"', (pointer, message) => {
    expect(() => computeLeaf({ salt: SALT, entry, commitments: { [pointer]: commitment } })).toThrow(message);
  });

  it('is refused for a pointer below another one', () => {
    for (const pointers of [
      ['/auth', '/auth/description'],
      ['/auth/description', '/auth'],
    ]) {
      const commitments = Object.fromEntries(pointers.map((pointer) => [pointer, commitment]));
      expect(() => computeLeaf({ salt: SALT, entry, commitments })).toThrow(/another pointer/);
    }
  });

  it('is refused for a commitment of another length', () => {
    const commitments = { '/type': Buffer.alloc(33) };
    expect(() => computeLeaf({ salt: SALT, entry, commitments })).toThrow(
      'the commitment to /type must have 32 bytes, got 33',
    );
  });
});
