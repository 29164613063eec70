import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { computePageRange, type OrdinalRange } from './ordinal-range.js';
import {
  shouldSavePagination,
  buildPagination,
  choosePageView,
  type PageViewRequest,
  type PinnedPagination,
} from './pagination.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const secondsAgo = (seconds: number): string => new Date(NOW.getTime() - seconds * 1_000).toISOString();

const LAST = secondsAgo(1);
const PINNED = secondsAgo(20);
const pagination: PinnedPagination = { upper: PINNED, startedAt: secondsAgo(10) };
const anew = { upper: LAST, newer: 0, newPagination: { upper: LAST, startedAt: NOW.toISOString() } };

const view = (asked: Partial<PageViewRequest>) =>
  choosePageView({
    page: { number: 1, size: 10 },
    resumes: false,
    now: NOW,
    last: LAST,
    pagination: null,
    newer: 0,
    ...asked,
  });

describe('a walk through the pages', () => {
  it('begins with page 1, at the newest entry', () => {
    expect(view({})).toEqual(anew);
    expect(view({ resumes: true })).toEqual(anew);
  });

  it('goes on from where it began', () => {
    const page = { number: 2, size: 10 };
    expect(view({ page, pagination, newer: 4 })).toEqual({ upper: PINNED, newer: 0, newPagination: null });
    expect(view({ page, pagination, newer: 4, resumes: true })).toEqual({
      upper: PINNED,
      newer: 0,
      newPagination: null,
    });
  });

  it('begins in the middle for who is there without a beginning', () => {
    expect(view({ page: { number: 3, size: 10 } })).toEqual(anew);
  });

  it('begins anew with page 1', () => {
    expect(view({ pagination, newer: 4 })).toEqual(anew);
  });

  it('shows who resumes what is newer before the pinned first page', () => {
    expect(view({ pagination, newer: 4, resumes: true })).toEqual({ upper: PINNED, newer: 4, newPagination: null });
  });

  it('leaves the newest for later where that would be too much: begun anew, it would lose what is pushed off page 1', () => {
    expect(view({ pagination, newer: 10_001, resumes: true })).toEqual({
      upper: PINNED,
      newer: 10_000,
      newPagination: null,
    });
  });

  it('begins anew after a while, which is no round one, or a poll that follows a broken one would stand astride it', () => {
    const startedAgo = (seconds: number): PinnedPagination => ({ ...pagination, startedAt: secondsAgo(seconds) });
    expect(view({ pagination: startedAgo(61), newer: 4, resumes: true })).toMatchObject({ upper: PINNED });
    expect(view({ pagination: startedAgo(91), newer: 4, resumes: true })).toEqual(anew);
  });

  it('is kept where there is a second page, or where page 1 may be asked for again', () => {
    const page = { number: 1, size: 10 };
    expect([10, 11].map((total) => shouldSavePagination({ page, resumes: false }, total))).toEqual([false, true]);
    expect([0, 1].map((total) => shouldSavePagination({ page, resumes: true }, total))).toEqual([false, true]);
  });
});

describe('a reader who throws page 1 away, and gets all pages side by side, the last one first', () => {
  const timeOf = (ordinal: number): string => new Date(ordinal).toISOString();

  /** A trail of so many entries, and what this reader gets of it: `wait` lets time go by, and entries come. */
  const trailOf = (count: number, size: number) => {
    let [length, ms] = [count, NOW.getTime()];
    let kept: PinnedPagination | null = null;
    return {
      wait: (seconds: number, more: number): void => {
        ms += seconds * 1_000;
        length += more;
      },
      page: (number: number) => {
        const pinned = kept ? Date.parse(kept.upper) : 0;
        const page = { number, size };
        const asked = { page, resumes: true, now: new Date(ms), last: timeOf(length), pagination: kept };
        const { newPagination, newer } = choosePageView({ ...asked, newer: length - pinned });
        if (newPagination) kept = newPagination;
        const all = { from: 1, to: newPagination ? length : pinned };
        return { pages: Math.ceil(all.to / size), entries: computePageRange(all, page, newer) };
      },
    };
  };

  const more = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 12_000 }));

  it('gets everything up to the latest entry it got, though more come meanwhile, and though the poll before broke off', () => {
    fc.assert(
      fc.property(
        fc.record({ count: fc.integer({ min: 1, max: 3_000 }), size: fc.constantFrom(100, 1_000) }),
        fc.array(fc.record({ minutes: fc.nat({ max: 3 }), more }), { maxLength: 3 }),
        fc.array(fc.record({ seconds: fc.nat({ max: 2 }), more }), { minLength: 3, maxLength: 3 }),
        ({ count, size }, broken, gaps) => {
          const trail = trailOf(count, size);
          for (const poll of broken) {
            trail.page(1);
            trail.wait(poll.minutes * 60, poll.more);
          }
          const { pages } = trail.page(1);
          const got = Array.from({ length: pages }, (_, index) => {
            const gap = gaps[index];
            if (gap) trail.wait(gap.seconds, gap.more);
            return trail.page(pages - index).entries;
          });
          const upwards: readonly OrdinalRange[] = got.toSorted((a, b) => a.from - b.from);
          expect(upwards.map(({ from }) => from)).toEqual([1, ...upwards.slice(0, -1).map(({ to }) => to + 1)]);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('the pagination', () => {
  it('has all keys on the only page', () => {
    expect(buildPagination({ number: 1, size: 10 }, 10, 0)).toEqual({
      current_page: 1,
      prev_page: null,
      next_page: null,
      total_pages: 1,
      total_count: 10,
      page_size: 10,
    });
  });

  it('names the neighbours of a page in the middle', () => {
    expect(buildPagination({ number: 2, size: 10 }, 21, 0)).toMatchObject({
      prev_page: 1,
      next_page: 3,
      total_pages: 3,
    });
  });

  it('keeps the page as asked past the end, and has no pages of nothing', () => {
    expect(buildPagination({ number: 7, size: 10 }, 21, 0)).toMatchObject({ current_page: 7, next_page: null });
    expect(buildPagination({ number: 1, size: 10 }, 0, 0)).toMatchObject({ total_pages: 0, total_count: 0 });
  });

  it('counts what stands before the first page, but makes no page of it', () => {
    expect(buildPagination({ number: 1, size: 10 }, 20, 3)).toMatchObject({ total_pages: 2, total_count: 23 });
  });
});
