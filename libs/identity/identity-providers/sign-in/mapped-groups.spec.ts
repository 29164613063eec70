import { describe, expect, it } from '@jest/globals';
import { selectMappedGroups } from './mapped-groups.js';

describe('the groups that map to teams', () => {
  it.each<[readonly string[], readonly string[], readonly string[]]>([
    [[], ['acme-dev', 'acme-owners', 'other'], []],
    [['acme-*'], ['acme-dev', 'acme-owners'], []],
    [['acme-*', 'acme-owners'], ['acme-dev', 'acme-owners'], ['acme-owners']],
    [['other'], ['other'], ['other']],
    [['Other', 'acme'], [], []],
  ])('of a provider with %j are %j, and %j for owners teams', (mapped, groups, ownersGroups) => {
    expect(selectMappedGroups(['acme-dev', 'acme-owners', 'other'], mapped)).toEqual({ groups, ownersGroups });
  });
});
