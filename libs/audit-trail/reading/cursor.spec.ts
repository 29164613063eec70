import { describe, expect, it } from '@jest/globals';
import { Refusal } from '#kernel';
import { buildCursorPagination, computeRangeAfter, type CursorPosition } from './cursor.js';

const after = (following: Partial<CursorPosition>) => () =>
  computeRangeAfter({ after: 'id', cursor: 20, happened: true, retained: 11, first: 11, upTo: 30, ...following });

describe('what comes after a cursor', () => {
  it('begins behind it, and ends where the question does', () => {
    expect(after({})()).toEqual({ from: 21, to: 30 });
    expect(after({ cursor: 30 })()).toEqual({ from: 31, to: 30 });
    expect(after({ upTo: 25 })()).toEqual({ from: 21, to: 25 });
  });

  it('begins with what is later than since, where that is later', () => {
    expect(after({ first: 25 })()).toEqual({ from: 25, to: 30 });
  });

  it('begins with the oldest that is kept for who has no cursor yet', () => {
    expect(after({ after: '', cursor: null })()).toEqual({ from: 11, to: 30 });
    expect(after({ after: null, cursor: null, first: 15 })()).toEqual({ from: 15, to: 30 });
  });

  it('is complete where the cursor is the last that is not kept any more', () => {
    expect(after({ cursor: 10 })()).toEqual({ from: 11, to: 30 });
  });

  it.each<[string, Partial<CursorPosition>, string]>([
    ['what is not kept any more', { cursor: null }, 'not kept any more'],
    ['what is not shown any more, and what came after it neither', { cursor: 9 }, 'not kept any more'],
    ['what never was', { cursor: null, happened: false }, 'not the id of an entry'],
  ])('is refused after %s', (_, following, words) => {
    expect(after(following)).toThrow(Refusal);
    expect(after(following)).toThrow(words);
  });
});

describe('the pagination of a cursor', () => {
  it('has all keys of any other, one page, and where to go on', () => {
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
