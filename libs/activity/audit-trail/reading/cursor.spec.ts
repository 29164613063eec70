import { describe, expect, it } from '@jest/globals';
import { Refusal } from '#platform/kernel';
import { buildCursorPagination, computeRangeAfter, type CursorPosition } from './cursor.js';

const after = (following: Partial<CursorPosition>) => () =>
  computeRangeAfter({ after: 'id', cursor: 20, happened: true, retained: 11, first: 11, upTo: 30, ...following });

describe('the audit entries after a cursor', () => {
  it('starts behind the cursor and ends at the last requested entry', () => {
    expect(after({})()).toEqual({ from: 21, to: 30 });
    expect(after({ cursor: 30 })()).toEqual({ from: 31, to: 30 });
    expect(after({ upTo: 25 })()).toEqual({ from: 21, to: 25 });
  });

  it('starts with the first entry later than `since` if that is later', () => {
    expect(after({ first: 25 })()).toEqual({ from: 25, to: 30 });
  });

  it('starts with the oldest shown entry if the reader has no cursor yet', () => {
    expect(after({ after: '', cursor: null })()).toEqual({ from: 11, to: 30 });
    expect(after({ after: null, cursor: null, first: 15 })()).toEqual({ from: 15, to: 30 });
  });

  it('is complete if the cursor is the last expired entry', () => {
    expect(after({ cursor: 10 })()).toEqual({ from: 11, to: 30 });
  });

  it.each<[string, Partial<CursorPosition>, string]>([
    ['a pruned entry', { cursor: null }, 'have been deleted'],
    ['an expired entry whose successor has also expired', { cursor: 9 }, 'have been deleted'],
    ['an id that never existed', { cursor: null, happened: false }, 'not the id of an entry'],
  ])('is refused after %s', (_, following, words) => {
    expect(after(following)).toThrow(Refusal);
    expect(after(following)).toThrow(words);
  });
});

describe('the pagination of a cursor', () => {
  it('has all keys of other paginations, one page, and the next cursor', () => {
    expect(buildCursorPagination(10, 7, { nextAfter: 'id', more: false })).toEqual({
      current_page: 1,
      prev_page: null,
      next_page: null,
      total_pages: 1,
      total_count: 7,
      page_size: 10,
      next_after: 'id',
      more: false,
    });
    expect(buildCursorPagination(10, 0, { nextAfter: null, more: false })).toMatchObject({
      total_pages: 0,
      total_count: 0,
    });
  });
});
