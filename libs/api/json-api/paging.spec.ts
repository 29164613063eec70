import { describe, expect, it } from '@jest/globals';
import { compileStatement, Refusal } from '#platform/kernel';
import {
  buildLimit,
  getListParameter,
  renderPage,
  parsePage,
  getParameter,
  slicePage,
  toListPage,
  parseSort,
  requireParameter,
} from './paging.js';

const LAMPS = 'https://cadastre.example.com/api/v2/lamps';

const lamp = { id: 'lamp-1', type: 'lamps' };

const page = (number: number, size: number, total: number, url = LAMPS) =>
  renderPage([lamp], { number, size }, total, url);

const paginationOf = (number: number, size: number, total: number) => page(number, size, total).meta?.['pagination'];

const linksOf = (url: string) => page(2, 10, 35, url).links;

describe('parsePage', () => {
  it('returns the first page of twenty by default', () => {
    expect(parsePage({})).toEqual({ number: 1, size: 20 });
    expect(parsePage({ 'page[number]': '', 'page[size]': '' })).toEqual({ number: 1, size: 20 });
  });

  it('returns the requested page', () => {
    expect(parsePage({ 'page[number]': '3', 'page[size]': '7' })).toEqual({ number: 3, size: 7 });
  });

  it('cuts the size to a hundred, or to the maximum of the list', () => {
    expect(parsePage({ 'page[size]': '101' }).size).toBe(100);
    expect(parsePage({ 'page[size]': '100' }).size).toBe(100);
    expect(parsePage({ 'page[size]': '5000' }, 1_000, 1_000).size).toBe(1_000);
    expect(parsePage({}, 1_000, 1_000).size).toBe(1_000);
  });

  it.each(['0', '-1', 'one', '1.5', '1e3', ' 1', '0x10', '12345678901'])('refuses a malformed value: %s', (text) => {
    for (const name of ['page[number]', 'page[size]']) {
      const parse = () => parsePage({ [name]: text });
      expect(parse).toThrow(Refusal);
      expect(parse).toThrow(`${name} must be a whole number of 1 or more`);
    }
  });

  it('names the parameter in the refusal', () => {
    let refused: unknown;
    try {
      parsePage({ 'page[size]': 'all' });
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ kind: 'bad-request', problems: [{ parameter: 'page[size]' }] });
  });

  it('uses the last value if a parameter is repeated', () => {
    expect(parsePage({ 'page[number]': ['2', '5'] }).number).toBe(5);
    expect(getParameter({ q: ['a', 'b'] }, 'q')).toBe('b');
    expect(getParameter({}, 'q')).toBeUndefined();
  });

  it('leaves out the rows before the page', () => {
    expect(compileStatement(buildLimit({ number: 3, size: 20 }))).toEqual({
      text: 'limit $1 offset $2',
      values: [20, 40],
    });
    expect(slicePage(['a', 'b', 'c', 'd', 'e'], { number: 2, size: 2 })).toEqual(['c', 'd']);
    expect(slicePage(['a', 'b', 'c', 'd', 'e'], { number: 3, size: 2 })).toEqual(['e']);
    expect(slicePage(['a'], { number: 2, size: 2 })).toEqual([]);
  });
});

describe('a page in the middle', () => {
  it('has the counts of the pagination', () => {
    expect(paginationOf(2, 10, 35)).toEqual({
      'current-page': 2,
      'page-size': 10,
      'prev-page': 1,
      'next-page': 3,
      'total-pages': 4,
      'total-count': 35,
    });
  });

  it('links to the other pages', () => {
    const to = (number: number) => `${LAMPS}?page%5Bnumber%5D=${number}&page%5Bsize%5D=10`;
    expect(linksOf(LAMPS)).toEqual({ self: to(2), first: to(1), prev: to(1), next: to(3), last: to(4) });
  });

  it('keeps the other query parameters in its links, and names the page once', () => {
    const next = `${LAMPS}?search%5Bname%5D=a%26b&include=room&page%5Bnumber%5D=3&page%5Bsize%5D=10`;
    const otherParameters = 'search%5Bname%5D=a%26b&include=room';
    expect(linksOf(`${LAMPS}?${otherParameters}&page%5Bnumber%5D=2&page%5Bsize%5D=10`)?.['next']).toBe(next);
    expect(linksOf(`${LAMPS}?page[number]=2&${otherParameters}&page[size]=10`)?.['next']).toBe(next);
    expect(linksOf(`${LAMPS}?page%5bnumber%5d=2&${otherParameters}&`)?.['next']).toBe(next);
  });

  it('keeps a question mark inside the query string', () => {
    expect(linksOf(`${LAMPS}?q=who?&a=1`)?.['next']).toBe(`${LAMPS}?q=who?&a=1&page%5Bnumber%5D=3&page%5Bsize%5D=10`);
  });
});

describe('the first and the last page', () => {
  it('have no previous page or no next page', () => {
    expect(paginationOf(1, 10, 35)).toMatchObject({ 'prev-page': null, 'next-page': 2 });
    expect(paginationOf(4, 10, 35)).toMatchObject({ 'prev-page': 3, 'next-page': null });
    expect(page(1, 10, 10).links).toMatchObject({ prev: null, next: null });
  });

  it('are followed by empty pages with the true count', () => {
    expect(paginationOf(5, 10, 35)).toMatchObject({ 'prev-page': 4, 'next-page': null });
    expect(paginationOf(9, 10, 35)).toMatchObject({
      'current-page': 9,
      'prev-page': null,
      'next-page': null,
      'total-pages': 4,
      'total-count': 35,
    });
  });

  it('are both page 1 if the list is empty, which has 0 pages', () => {
    expect(paginationOf(1, 20, 0)).toEqual({
      'current-page': 1,
      'page-size': 20,
      'prev-page': null,
      'next-page': null,
      'total-pages': 0,
      'total-count': 0,
    });
    expect(page(1, 20, 0).links?.['last']).toContain('page%5Bnumber%5D=1&');
  });
});

describe('`included` of a page', () => {
  it('is present if resources were requested, even if it is empty', () => {
    expect(page(1, 20, 1)).not.toHaveProperty('included');
    expect(renderPage([lamp], { number: 1, size: 20 }, 1, '/', [])).toHaveProperty('included', []);
  });

  it('contains each resource once', () => {
    const room = { id: 'room-1', type: 'rooms' };
    expect(renderPage([lamp], { number: 1, size: 20 }, 1, '/', [room, room]).included).toEqual([room]);
  });
});

describe('a list', () => {
  it('is sorted as requested', () => {
    const sorts = ['name', 'age'] as const;
    expect(parseSort({}, sorts)).toEqual({ sort: 'name', descending: false });
    expect(parseSort({ sort: '' }, sorts)).toEqual({ sort: 'name', descending: false });
    expect(parseSort({ sort: '-age' }, sorts)).toEqual({ sort: 'age', descending: true });
    expect(() => parseSort({ sort: 'size' }, sorts)).toThrow(
      'sort must be one of name, age, with or without a leading -',
    );
  });

  it('may require a parameter', () => {
    expect(requireParameter({ 'filter[room]': 'room-1' }, 'filter[room]')).toBe('room-1');
    expect(() => requireParameter({ 'filter[room]': '' }, 'filter[room]')).toThrow('filter[room] is required');
  });

  it('is empty if the statement returns only the owner, and has the count of all pages', () => {
    const ownerAlone = { id: null as unknown as string, total: 3 };
    expect(toListPage([ownerAlone])).toEqual({ rows: [], total: 3 });
    expect(toListPage([{ id: 'lamp-1', total: 3 }])).toEqual({ rows: [{ id: 'lamp-1', total: 3 }], total: 3 });
    expect(toListPage([])).toEqual({ rows: [], total: 0 });
  });
});

describe('a query parameter', () => {
  it('is refused if it is too long', () => {
    expect(getParameter({ q: 'x'.repeat(255) }, 'q')).toHaveLength(255);
    expect(() => getParameter({ q: 'x'.repeat(256) }, 'q')).toThrow('q: must have at most 255 characters, got 256');
    expect(getParameter({ q: 'x'.repeat(500) }, 'q', 500)).toHaveLength(500);
  });

  it('is refused if it is repeated more than ten times', () => {
    expect(getParameter({ q: Array<string>(10).fill('a') }, 'q')).toBe('a');
    expect(() => getParameter({ q: Array<string>(11).fill('a') }, 'q')).toThrow(
      'q: must be sent at most 10 times, got 11',
    );
  });

  it('lists at most a hundred values, none of them too long', () => {
    expect(getListParameter({ names: Array<string>(100).fill('a').join(',') }, 'names')).toHaveLength(100);
    expect(() => getListParameter({ names: Array<string>(101).fill('a').join(',') }, 'names')).toThrow(
      'names: must have at most 100 values, got 101',
    );
    expect(() => getListParameter({ names: `a,${'x'.repeat(256)}` }, 'names')).toThrow(
      'names: must have at most 255 characters in a value, got 256',
    );
    expect(getListParameter({ names: ' a ,, b' }, 'names')).toEqual(['a', 'b']);
  });

  it('is named in the refusal', () => {
    let refused: unknown;
    try {
      getListParameter({ 'filter[names]': Array<string>(101).fill('a').join(',') }, 'filter[names]');
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ kind: 'bad-request', problems: [{ parameter: 'filter[names]' }] });
  });
});
