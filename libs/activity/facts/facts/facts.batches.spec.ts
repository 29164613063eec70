import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { parseFact } from './facts.body.js';
import { splitIntoBatches, MAX_LOCKS_PER_BATCH } from './facts.batches.js';
import { createFact } from '../spec.js';

type ReportKey = readonly [organization: number, source: number, accessor: number];

const reportOf = ([organization, source, accessor]: ReportKey, n: number) => {
  const { auth, ...rest } = createFact(`f${n}`);
  const fact = { ...rest, source: `source-${source}`, auth: { ...auth, accessor_id: `user-${accessor}` } };
  return { organization: `org-${organization}`, fact: parseFact(fact) };
};

const locksOf = (part: ReturnType<typeof splitIntoBatches>): number => {
  const all = part.flat();
  const streams = new Set(all.map(({ organization, fact }) => `${organization} ${fact.source}`));
  const people = new Set(all.map(({ fact }) => fact.auth.accessor_id));
  return new Set(all.map(({ organization }) => organization)).size + streams.size + people.size;
};

describe('splitting facts into batches', () => {
  it('keeps all facts in order and fills each batch up to the maximum number of locks', () => {
    const keys = fc.array(fc.tuple(fc.nat(3), fc.nat(300), fc.nat(300)), { maxLength: 600, size: 'max' });
    fc.assert(
      fc.property(keys, (all) => {
        const reports = all.map(reportOf);
        const parts = splitIntoBatches(reports);
        expect(parts.flat()).toEqual(reports);
        for (const part of parts) expect(locksOf([part])).toBeLessThanOrEqual(MAX_LOCKS_PER_BATCH);
        for (const [n, part] of parts.slice(1).entries()) {
          expect(locksOf([[...(parts[n] ?? []), ...part.slice(0, 1)]])).toBeGreaterThan(MAX_LOCKS_PER_BATCH);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('returns one batch for a thousand facts of few sources and people', () => {
    const reports = Array.from({ length: 1_000 }, (_, n) => reportOf([0, n % 90, n % 100], n));
    expect(splitIntoBatches(reports)).toEqual([reports]);
  });

  it('returns no batch for no facts', () => {
    expect(splitIntoBatches([])).toEqual([]);
  });
});
