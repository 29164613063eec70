import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  compactJson,
  forEachElement,
  findValueEnd,
  findMembers,
  InvalidJsonError,
  findRoot,
  JsonTooDeepError,
  parseValue,
  type JsonSpan,
} from './json-scan.js';

const isAccepted = (bytes: Uint8Array): boolean => {
  try {
    findRoot(bytes);
    return true;
  } catch (error) {
    if (error instanceof InvalidJsonError) return false;
    throw error;
  }
};

const parsed = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));

const isParsed = (bytes: Uint8Array): boolean => {
  try {
    parsed(bytes);
    return true;
  } catch {
    return false;
  }
};

describe('scanning a JSON document', () => {
  it('finds the root where JSON.parse does, with the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), fc.stringMatching(/^[ \t\r\n]*$/), (value, indent, space) => {
        const bytes = Buffer.from(`${space}${JSON.stringify(value, null, indent)}${space}`);
        expect(parseValue(bytes, findRoot(bytes))).toEqual(parsed(bytes));
      }),
    );
  });

  it('accepts the same documents as JSON.parse after any change of a byte', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.nat(),
        fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('{}[],:"\\0123-+.eEtfnu \t\n'))),
        (value, where, byte) => {
          const bytes = Buffer.from(JSON.stringify(value));
          bytes[where % bytes.length] = byte;
          expect([bytes.toString(), isAccepted(bytes)]).toEqual([bytes.toString(), isParsed(bytes)]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('accepts the same sequences of tokens as JSON.parse', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      '01',
      '1.',
      '.5',
      '1e',
      '1e+5',
      'null',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
        const bytes = Buffer.from(tokens.join(''));
        expect([tokens, isAccepted(bytes)]).toEqual([tokens, isParsed(bytes)]);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    '',
    ' ',
    '{"a":}',
    '{"a"}',
    '{,}',
    '[1,]',
    '{"a":1,}',
    '"\u0001"',
    '"\\x"',
    '"\\u12g4"',
    '"',
    '[}',
    '1 2',
    'nul',
  ])('rejects %j', (text) => {
    expect(() => findRoot(Buffer.from(text))).toThrow(InvalidJsonError);
  });

  it('rejects invalid UTF-8, also at the end of a chunk', () => {
    expect(isAccepted(Buffer.from([0x22, 0xc3, 0x22]))).toBe(false);
    const long = Buffer.from(`"${'x'.repeat(1024 * 1024 - 2)}éé"`);
    expect(isAccepted(long)).toBe(true);
    long[long.length - 2] = 0x22;
    expect(isAccepted(long)).toBe(false);
  });

  it('accepts nesting up to the limit, and rejects deeper nesting', () => {
    const nested = (depth: number): Buffer => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    expect(findRoot(nested(20), 20)).toEqual({ from: 0, to: 40 });
    expect(() => findRoot(nested(21), 20)).toThrow(JsonTooDeepError);
    expect(() => findRoot(Buffer.alloc(10_000_000, '['))).toThrow(JsonTooDeepError);
  });
});

it('finds the last of two members with the same name', () => {
  const bytes = Buffer.from('{"a":1,"b":{"a":2},"\\u0061":3}');
  const { a } = findMembers(bytes, findRoot(bytes).from, ['a']).spans;
  expect(a && parseValue(bytes, a)).toBe(3);
});

it('visits each element of a list', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.nat(3), (values, indent) => {
      const bytes = Buffer.from(JSON.stringify(values, null, indent));
      const spans: JsonSpan[] = [];
      forEachElement(bytes, findRoot(bytes).from, (from) => {
        const to = findValueEnd(bytes, from);
        spans.push({ from, to });
        return to;
      });
      expect(spans.map((span) => parseValue(bytes, span))).toEqual(parsed(bytes));
    }),
  );
});

it('compacting a value removes only white space', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const bytes = Buffer.from(JSON.stringify(value, null, 2));
      expect(Buffer.from(compactJson(bytes, findRoot(bytes))).toString()).toBe(JSON.stringify(value));
    }),
  );
});
