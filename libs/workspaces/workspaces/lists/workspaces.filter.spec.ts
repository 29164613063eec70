import { describe, expect, it } from '@jest/globals';
import { parseWorkspaceFilter } from './workspaces.filter.js';

describe('the filter of tag gaps', () => {
  it.each([
    [{}, false],
    [{ 'filter[tag-gaps]': '' }, false],
    [{ 'filter[tag-gaps]': 'true' }, true],
  ])('is %j: %s', (query, tagGaps) => {
    expect(parseWorkspaceFilter(query).tagGaps).toBe(tagGaps);
  });

  it('refuses other values', () => {
    const parse = () => parseWorkspaceFilter({ 'filter[tag-gaps]': 'false' });
    expect(parse).toThrow('filter[tag-gaps]: must be true, got "false"');
  });
});

describe('the filter of locks', () => {
  it.each([
    [{}, undefined],
    [{ 'filter[locked]': '' }, undefined],
    [{ 'filter[locked]': 'true' }, true],
    [{ 'filter[locked]': 'false' }, false],
  ])('is %j: %s', (query, locked) => {
    expect(parseWorkspaceFilter(query).locked).toBe(locked);
  });

  it.each(['TRUE', '1', 'true,false'])('refuses %s', (value) => {
    const parse = () => parseWorkspaceFilter({ 'filter[locked]': value });
    expect(parse).toThrow(`filter[locked]: must be true or false, got "${value}"`);
  });
});

describe('tags of a list filter', () => {
  it('are looked up once each, however often and in whichever parameters they occur', () => {
    const tagged = (index: number, key: string, value: string) => ({
      [`filter[tagged][${index}][key]`]: key,
      [`filter[tagged][${index}][value]`]: value,
    });
    const query = {
      'search[tags]': 'a,b,a, a ,b',
      ...tagged(0, 'a', ''),
      ...tagged(1, 'env', 'prod'),
      ...tagged(2, 'env', 'test'),
      ...tagged(3, 'env', 'prod'),
    };
    const { tags, tagged: bound } = parseWorkspaceFilter(query);
    expect(tags).toEqual(['b']);
    expect(bound).toEqual([
      { key: 'a', value: null },
      { key: 'env', value: 'prod' },
      { key: 'env', value: 'test' },
    ]);
  });
});
