import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { shareJson } from './shared-json.js';

const join = ({ shared, own }: ReturnType<typeof shareJson>): unknown[] =>
  (JSON.parse(own) as object[]).map((members) => ({ ...(JSON.parse(shared) as object), ...members }));

describe('shareJson', () => {
  it('separates the members that all objects have from the others', () => {
    const values = [
      { name: 'a', settings: { mode: 'remote' } },
      { name: 'b', settings: { mode: 'remote' } },
    ];
    expect(shareJson(values)).toEqual({
      shared: '{"settings":{"mode":"remote"}}',
      own: '[{"name":"a"},{"name":"b"}]',
    });
  });

  it('shares no member that an object lacks', () => {
    expect(shareJson([{ name: 'a', mode: 1 }, { name: 'a' }])).toEqual({
      shared: '{"name":"a"}',
      own: '[{"mode":1},{}]',
    });
  });

  it('returns no object for none', () => {
    expect(shareJson([])).toEqual({ shared: '{}', own: '[]' });
  });

  it('loses nothing of any objects', () => {
    const value = fc.dictionary(
      fc.constantFrom('a', 'b', '"c"'),
      fc.oneof(fc.constant(undefined), fc.jsonValue({ maxDepth: 2 })),
    );
    fc.assert(
      fc.property(fc.array(value), (values) => {
        expect(join(shareJson(values))).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });
});
