import { describe, expect, it } from '@jest/globals';
import { Refusal } from '#platform/kernel';
import { isFiltered, parseTrailEntryFilter, UNFILTERED } from './trail-entry-filter.js';

const parse = (sent: Readonly<Record<string, readonly string[]>>) => parseTrailEntryFilter((name) => sent[name]);

describe('parsing filters', () => {
  it('reads a list for each of four parameters', () => {
    const sent = {
      'filter[resource-type]': ['workspace', 'registry_provider'],
      'filter[action]': ['lock'],
      'filter[actor]': ['user-1', 'Ada Lovelace'],
      'filter[resource-id]': ['ws-1'],
      'filter[colour]': ['red'],
    };
    expect(parse(sent)).toEqual({
      resourceType: ['workspace', 'registry_provider'],
      action: ['lock'],
      actor: ['user-1', 'Ada Lovelace'],
      resourceId: ['ws-1'],
    });
  });

  it('filters nothing if no parameter is sent', () => {
    expect(parse({})).toEqual(UNFILTERED);
    expect([UNFILTERED, { ...UNFILTERED, action: ['lock'] }].map(isFiltered)).toEqual([false, true]);
  });

  it.each([
    ['filter[resource-type]', ['Workspace']],
    ['filter[resource-type]', ['work space']],
    ['filter[resource-type]', []],
    ['filter[action]', ['lock', '']],
    ['filter[action]', ['drop table']],
    ['filter[actor]', ['a\nb']],
    ['filter[resource-id]', ['x'.repeat(501)]],
  ])('refuses %s with the values %j and names the parameter', (name, values) => {
    expect(() => parse({ [name]: values })).toThrow(Refusal);
    expect(() => parse({ [name]: values })).toThrow(name);
  });
});
