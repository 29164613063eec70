import { isWorthKeeping, paginationOf, viewOf, type Asked, type Walk } from './walk.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const secondsAgo = (seconds: number): string => new Date(NOW.getTime() - seconds * 1_000).toISOString();

const LAST = secondsAgo(1);
const PINNED = secondsAgo(20);
const walk: Walk = { upper: PINNED, startedAt: secondsAgo(10) };
const anew = { upper: LAST, newer: 0, begins: { upper: LAST, startedAt: NOW.toISOString() } };

const view = (asked: Partial<Asked>) =>
  viewOf({ page: { number: 1, size: 10 }, resumes: false, now: NOW, last: LAST, walk: null, newer: 0, ...asked });

describe('a walk through the pages', () => {
  it('begins with page 1, at the newest entry', () => {
    expect(view({})).toEqual(anew);
    expect(view({ resumes: true })).toEqual(anew);
  });

  it('goes on from where it began', () => {
    const page = { number: 2, size: 10 };
    expect(view({ page, walk, newer: 4 })).toEqual({ upper: PINNED, newer: 0, begins: null });
    expect(view({ page, walk, newer: 4, resumes: true })).toEqual({ upper: PINNED, newer: 0, begins: null });
  });

  it('begins in the middle for who is there without a beginning', () => {
    expect(view({ page: { number: 3, size: 10 } })).toEqual(anew);
  });

  it('begins anew with page 1', () => {
    expect(view({ walk, newer: 4 })).toEqual(anew);
  });

  it('shows who resumes what is newer before the pinned first page', () => {
    expect(view({ walk, newer: 4, resumes: true })).toEqual({ upper: PINNED, newer: 4, begins: null });
  });

  it('begins anew where that would be too much, or a minute is over', () => {
    expect(view({ walk, newer: 1_001, resumes: true })).toEqual(anew);
    expect(view({ walk: { ...walk, startedAt: secondsAgo(61) }, newer: 4, resumes: true })).toEqual(anew);
  });

  it('is kept where there is a second page, or where page 1 may be asked for again', () => {
    const page = { number: 1, size: 10 };
    expect([10, 11].map((total) => isWorthKeeping({ page, resumes: false }, total))).toEqual([false, true]);
    expect([0, 1].map((total) => isWorthKeeping({ page, resumes: true }, total))).toEqual([false, true]);
  });
});

describe('the pagination', () => {
  it('has all keys on the only page', () => {
    expect(paginationOf({ number: 1, size: 10 }, 10, 0)).toEqual({
      current_page: 1,
      prev_page: null,
      next_page: null,
      total_pages: 1,
      total_count: 10,
      page_size: 10,
    });
  });

  it('names the neighbours of a page in the middle', () => {
    expect(paginationOf({ number: 2, size: 10 }, 21, 0)).toMatchObject({ prev_page: 1, next_page: 3, total_pages: 3 });
  });

  it('keeps the page as asked past the end, and has no pages of nothing', () => {
    expect(paginationOf({ number: 7, size: 10 }, 21, 0)).toMatchObject({ current_page: 7, next_page: null });
    expect(paginationOf({ number: 1, size: 10 }, 0, 0)).toMatchObject({ total_pages: 0, total_count: 0 });
  });

  it('counts what stands before the first page, but makes no page of it', () => {
    expect(paginationOf({ number: 1, size: 10 }, 20, 3)).toMatchObject({ total_pages: 2, total_count: 23 });
  });
});
