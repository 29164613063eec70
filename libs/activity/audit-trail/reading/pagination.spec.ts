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
const startedNow = { upper: LAST, newer: 0, newPagination: { upper: LAST, startedAt: NOW.toISOString() } };

const view = (request: Partial<PageViewRequest>) =>
  choosePageView({
    page: { number: 1, size: 10 },
    resumes: false,
    now: NOW,
    last: LAST,
    pagination: null,
    newer: 0,
    ...request,
  });

describe('reading pages in order', () => {
  it('pins the newest entry at page 1', () => {
    expect(view({})).toEqual(startedNow);
    expect(view({ resumes: true })).toEqual(startedNow);
  });

  it('continues from the pinned entry', () => {
    const page = { number: 2, size: 10 };
    expect(view({ page, pagination, newer: 4 })).toEqual({ upper: PINNED, newer: 0, newPagination: null });
    expect(view({ page, pagination, newer: 4, resumes: true })).toEqual({
      upper: PINNED,
      newer: 0,
      newPagination: null,
    });
  });

  it('pins the newest entry at a later page if nothing is pinned', () => {
    expect(view({ page: { number: 3, size: 10 } })).toEqual(startedNow);
  });

  it('pins the newest entry again at page 1', () => {
    expect(view({ pagination, newer: 4 })).toEqual(startedNow);
  });

  it('shows newer entries before the pinned first page to a reader that resumes', () => {
    expect(view({ pagination, newer: 4, resumes: true })).toEqual({ upper: PINNED, newer: 4, newPagination: null });
  });

  it('omits the newest entries if too many precede the first page, because pinning again would lose those pushed off page 1', () => {
    expect(view({ pagination, newer: 10_001, resumes: true })).toEqual({
      upper: PINNED,
      newer: 10_000,
      newPagination: null,
    });
  });

  it('pins again after 90 seconds, so that a poll after an interrupted one does not use both bounds', () => {
    const startedAgo = (seconds: number): PinnedPagination => ({ ...pagination, startedAt: secondsAgo(seconds) });
    expect(view({ pagination: startedAgo(61), newer: 4, resumes: true })).toMatchObject({ upper: PINNED });
    expect(view({ pagination: startedAgo(91), newer: 4, resumes: true })).toEqual(startedNow);
  });

  it('saves the pinned bound if there is a second page, or if page 1 may be requested again', () => {
    const page = { number: 1, size: 10 };
    expect([10, 11].map((total) => shouldSavePagination({ page, resumes: false }, total))).toEqual([false, true]);
    expect([0, 1].map((total) => shouldSavePagination({ page, resumes: true }, total))).toEqual([false, true]);
  });
});

describe('a reader that discards page 1 and then requests all pages concurrently, last page first', () => {
  const timeOf = (ordinal: number): string => new Date(ordinal).toISOString();

  /**
   * Simulates an audit trail with `count` entries and the pages that this reader gets. `wait` lets time pass and
   * entries arrive.
   */
  const trailOf = (count: number, size: number) => {
    let [length, ms] = [count, NOW.getTime()];
    let saved: PinnedPagination | null = null;
    return {
      wait: (seconds: number, more: number): void => {
        ms += seconds * 1_000;
        length += more;
      },
      page: (number: number) => {
        const pinned = saved ? Date.parse(saved.upper) : 0;
        const page = { number, size };
        const request = { page, resumes: true, now: new Date(ms), last: timeOf(length), pagination: saved };
        const { newPagination, newer } = choosePageView({ ...request, newer: length - pinned });
        if (newPagination) saved = newPagination;
        const all = { from: 1, to: newPagination ? length : pinned };
        return { pages: Math.ceil(all.to / size), entries: computePageRange(all, page, newer) };
      },
    };
  };

  const more = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 12_000 }));

  it('receives all entries up to its latest one, even if more arrive meanwhile and the previous poll was interrupted', () => {
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

  it('keeps a requested page past the end, and counts no pages without entries', () => {
    expect(buildPagination({ number: 7, size: 10 }, 21, 0)).toMatchObject({ current_page: 7, next_page: null });
    expect(buildPagination({ number: 1, size: 10 }, 0, 0)).toMatchObject({ total_pages: 0, total_count: 0 });
  });

  it('counts the entries before the first page, but adds no page for them', () => {
    expect(buildPagination({ number: 1, size: 10 }, 20, 3)).toMatchObject({ total_pages: 2, total_count: 23 });
  });
});
