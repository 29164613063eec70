import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SortedNames } from './sorted-names.js';

const create = (names: ReadonlyMap<string, string>): SortedNames => {
  const entries = [...names].toSorted(([, a], [, b]) => (a < b ? -1 : 1));
  const sorted = SortedNames.create(
    entries.map(([, name]) => name),
    entries.map(([id]) => id),
  );
  if (!sorted) throw new Error('the names are not simple');
  return sorted;
};

const name = fc.stringMatching(/^[a-cA-C0-1_-]{1,6}$/);
const change = fc.record({ id: fc.nat(30), name: fc.option(name) });
const query = fc.record({
  fragment: fc.option(fc.stringMatching(/^[a-cA-C0-1_-]{1,3}$/)),
  descending: fc.boolean(),
  offset: fc.nat(1_500),
  limit: fc.integer({ min: 1, max: 100 }),
});

describe('SortedNames', () => {
  it('gives the pages of a sorted list after any changes, also over several blocks', () =>
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), fc.array(query, { minLength: 5 }), (changes, queries) => {
        const names = new Map(Array.from({ length: 1_300 }, (_, n) => [`ws-${n}`, `b${n % 7}-${n}`]));
        const sorted = create(names);
        for (const { id, name } of changes) {
          const key = `ws-${id * 40}`;
          // The names of an organization are unique.
          if (name === null || [...names.values()].includes(name)) {
            names.delete(key);
            sorted.delete(key);
          } else {
            names.set(key, name);
            sorted.set(key, name);
          }
        }
        const all = [...names].toSorted(([, a], [, b]) => (a < b ? -1 : 1));
        expect(sorted.count).toBe(all.length);
        for (const { fragment, descending, offset, limit } of queries) {
          const matching = all.filter(([, each]) => each.toLowerCase().includes(fragment?.toLowerCase() ?? ''));
          const ids = (descending ? matching.toReversed() : matching).map(([id]) => id);
          expect(sorted.select({ fragment, descending, offset, limit })).toEqual({
            ids: ids.slice(offset, offset + limit),
            total: ids.length,
          });
        }
      }),
      { numRuns: 30 },
    ));

  it('leaves a name that did not change', () => {
    const sorted = create(new Map([['ws-1', 'app']]));
    expect([sorted.set('ws-1', 'app'), sorted.count]).toEqual([true, 1]);
  });

  it('refuses names that Postgres may sort or fold differently', () => {
    expect(SortedNames.create(['é'], ['ws-1'])).toBeNull();
    expect(create(new Map([['ws-1', 'app']])).set('ws-1', 'é')).toBe(false);
  });

  it('takes less than 50 bytes for a name and an id', () => {
    const names = new Map(Array.from({ length: 10_000 }, (_, n) => [`ws-${'x'.repeat(10)}${n}`, `network-prod-${n}`]));
    expect(create(names).bytes / names.size).toBeLessThan(50);
  });
});
