import { describe, expect, it } from '@jest/globals';
import { compileStatement, Refusal } from '#kernel';
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

const lamp = { id: 'lamp-1', type: 'lamps' };

const page = (number: number, size: number, total: number, url = '/api/v2/lamps') =>
  renderPage([lamp], { number, size }, total, url);

const paginationOf = (number: number, size: number, total: number) => page(number, size, total).meta?.['pagination'];

const linksOf = (url: string) => page(2, 10, 35, url).links;

describe('what page is asked for', () => {
  it('is the first twenty where nothing is said', () => {
    expect(parsePage({})).toEqual({ number: 1, size: 20 });
    expect(parsePage({ 'page[number]': '', 'page[size]': '' })).toEqual({ number: 1, size: 20 });
  });

  it('is the one that is said', () => {
    expect(parsePage({ 'page[number]': '3', 'page[size]': '7' })).toEqual({ number: 3, size: 7 });
  });

  it('has at most a hundred, or what its list allows', () => {
    expect(parsePage({ 'page[size]': '101' }).size).toBe(100);
    expect(parsePage({ 'page[size]': '100' }).size).toBe(100);
    expect(parsePage({ 'page[size]': '5000' }, 1_000, 1_000).size).toBe(1_000);
    expect(parsePage({}, 1_000, 1_000).size).toBe(1_000);
  });

  it.each(['0', '-1', 'one', '1.5', '1e3', ' 1', '0x10', '12345678901'])(
    'is refused where it is malformed: %s',
    (text) => {
      for (const name of ['page[number]', 'page[size]']) {
        const ask = () => parsePage({ [name]: text });
        expect(ask).toThrow(Refusal);
        expect(ask).toThrow(`${name} must be a whole number of 1 or more`);
      }
    },
  );

  it('is refused with the name of the parameter', () => {
    let refused: unknown;
    try {
      parsePage({ 'page[size]': 'all' });
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ kind: 'bad-request', problems: [{ parameter: 'page[size]' }] });
  });

  it('is the last one said where it is said twice', () => {
    expect(parsePage({ 'page[number]': ['2', '5'] }).number).toBe(5);
    expect(getParameter({ q: ['a', 'b'] }, 'q')).toBe('b');
    expect(getParameter({}, 'q')).toBeUndefined();
  });

  it('leaves out what comes before it', () => {
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
  it('counts', () => {
    expect(paginationOf(2, 10, 35)).toEqual({
      'current-page': 2,
      'page-size': 10,
      'prev-page': 1,
      'next-page': 3,
      'total-pages': 4,
      'total-count': 35,
    });
  });

  it('links to the others', () => {
    const to = (number: number) => `/api/v2/lamps?page%5Bnumber%5D=${number}&page%5Bsize%5D=10`;
    expect(linksOf('/api/v2/lamps')).toEqual({ self: to(2), first: to(1), prev: to(1), next: to(3), last: to(4) });
  });

  it('keeps what else was asked in its links, and says the page once', () => {
    const next = '/api/v2/lamps?search%5Bname%5D=a%26b&include=room&page%5Bnumber%5D=3&page%5Bsize%5D=10';
    const asked = 'search%5Bname%5D=a%26b&include=room';
    expect(linksOf(`/api/v2/lamps?${asked}&page%5Bnumber%5D=2&page%5Bsize%5D=10`)?.['next']).toBe(next);
    expect(linksOf(`/api/v2/lamps?page[number]=2&${asked}&page[size]=10`)?.['next']).toBe(next);
    expect(linksOf(`/api/v2/lamps?page%5bnumber%5d=2&${asked}&`)?.['next']).toBe(next);
  });

  it('keeps a question mark that is part of what was asked', () => {
    expect(linksOf('/api/v2/lamps?q=who?&a=1')?.['next']).toBe(
      '/api/v2/lamps?q=who?&a=1&page%5Bnumber%5D=3&page%5Bsize%5D=10',
    );
  });
});

describe('the ends', () => {
  it('have no page before the first, none after the last', () => {
    expect(paginationOf(1, 10, 35)).toMatchObject({ 'prev-page': null, 'next-page': 2 });
    expect(paginationOf(4, 10, 35)).toMatchObject({ 'prev-page': 3, 'next-page': null });
    expect(page(1, 10, 10).links).toMatchObject({ prev: null, next: null });
  });

  it('are crossed by a page that is empty and tells the true count', () => {
    expect(paginationOf(5, 10, 35)).toMatchObject({ 'prev-page': 4, 'next-page': null });
    expect(paginationOf(9, 10, 35)).toMatchObject({
      'current-page': 9,
      'prev-page': null,
      'next-page': null,
      'total-pages': 4,
      'total-count': 35,
    });
  });

  it('are both at page 1 where there is nothing at all, which is no page', () => {
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

describe('what is included', () => {
  it('is there, even when it is empty, only where it was asked for', () => {
    expect(page(1, 20, 1)).not.toHaveProperty('included');
    expect(renderPage([lamp], { number: 1, size: 20 }, 1, '/', [])).toHaveProperty('included', []);
  });

  it('holds each resource once, in pages as in single documents', () => {
    const room = { id: 'room-1', type: 'rooms' };
    expect(renderPage([lamp], { number: 1, size: 20 }, 1, '/', [room, room]).included).toEqual([room]);
  });
});

describe('a list', () => {
  it('is in the order that is asked for', () => {
    const sorts = ['name', 'age'] as const;
    expect(parseSort({}, sorts)).toEqual({ sort: 'name', descending: false });
    expect(parseSort({ sort: '' }, sorts)).toEqual({ sort: 'name', descending: false });
    expect(parseSort({ sort: '-age' }, sorts)).toEqual({ sort: 'age', descending: true });
    expect(() => parseSort({ sort: 'size' }, sorts)).toThrow(
      'sort must be one of name, age, with or without a leading -',
    );
  });

  it('may need a parameter', () => {
    expect(requireParameter({ 'filter[room]': 'room-1' }, 'filter[room]')).toBe('room-1');
    expect(() => requireParameter({ 'filter[room]': '' }, 'filter[room]')).toThrow('filter[room] is required');
  });

  it('is empty where only its owner was found, and tells the count of all pages', () => {
    const ownerAlone = { id: null as unknown as string, total: 3 };
    expect(toListPage([ownerAlone])).toEqual({ rows: [], total: 3 });
    expect(toListPage([{ id: 'lamp-1', total: 3 }])).toEqual({ rows: [{ id: 'lamp-1', total: 3 }], total: 3 });
    expect(toListPage([])).toEqual({ rows: [], total: 0 });
  });
});

describe('a query parameter', () => {
  it('is refused if it is longer than a name can be', () => {
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

  it('lists at most a hundred values, none of them longer than a name can be', () => {
    expect(getListParameter({ names: Array<string>(100).fill('a').join(',') }, 'names')).toHaveLength(100);
    expect(() => getListParameter({ names: Array<string>(101).fill('a').join(',') }, 'names')).toThrow(
      'names: must have at most 100 values, got 101',
    );
    expect(() => getListParameter({ names: `a,${'x'.repeat(256)}` }, 'names')).toThrow(
      'names: must have at most 255 characters in a value, got 256',
    );
    expect(getListParameter({ names: ' a ,, b' }, 'names')).toEqual(['a', 'b']);
  });

  it('is refused with its name', () => {
    let refused: unknown;
    try {
      getListParameter({ 'filter[names]': Array<string>(101).fill('a').join(',') }, 'filter[names]');
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ kind: 'bad-request', problems: [{ parameter: 'filter[names]' }] });
  });
});
