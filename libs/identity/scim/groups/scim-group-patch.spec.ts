import { describe, expect, it } from '@jest/globals';
import { parseScimBody, scimPatchBody } from '../protocol/scim-bodies.js';
import { patchGroup } from './scim-group-patch.js';

const present = {
  displayName: 'developers',
  externalId: null,
  members: ['user-1', 'user-2', 'user-3'].map((value) => ({ value, display: `${value}@acme.test` })),
};

const patch = (...Operations: readonly object[]) =>
  patchGroup(present, parseScimBody(scimPatchBody, { Operations }).Operations);

const listMembers = (...operations: readonly object[]) => patch(...operations).members.map(({ value }) => value);

describe('a patch of a group', () => {
  it.each([
    [
      'adds members once',
      { op: 'Add', path: 'members', value: [{ $ref: null, value: 'user-4' }, { value: 'user-1' }] },
      ['user-1', 'user-2', 'user-3', 'user-4'],
    ],
    [
      'adds members without a path',
      { op: 'add', value: { members: [{ value: 'user-4', display: 'x' }] } },
      ['user-1', 'user-2', 'user-3', 'user-4'],
    ],
    [
      'adds one member without a list',
      { op: 'add', path: 'members', value: { value: 'user-4' } },
      ['user-1', 'user-2', 'user-3', 'user-4'],
    ],
    ['replaces the members', { op: 'replace', path: 'members', value: [{ value: 'user-4' }] }, ['user-4']],
    ['replaces the members by none', { op: 'replace', path: 'members', value: [] }, []],
    ['removes a member by a filter', { op: 'remove', path: 'members[value eq "user-2"]' }, ['user-1', 'user-3']],
    [
      'removes a member by any filter',
      { op: 'remove', path: 'members[display eq "USER-2@acme.test" or value eq "user-3"]' },
      ['user-1'],
    ],
    [
      'removes members by their values',
      { op: 'Remove', path: 'members', value: [{ value: 'user-1' }, { value: 'user-3' }] },
      ['user-2'],
    ],
    ['removes members by their ids', { op: 'remove', path: 'members', value: ['user-1'] }, ['user-2', 'user-3']],
    [
      'removes no member for an empty list',
      { op: 'remove', path: 'members', value: [] },
      ['user-1', 'user-2', 'user-3'],
    ],
    ['removes all members', { op: 'remove', path: 'members' }, []],
    [
      'keeps the members if only names change',
      { op: 'replace', value: { id: 'scg-1', displayName: 'x' } },
      ['user-1', 'user-2', 'user-3'],
    ],
  ])('%s', (_, operation, members) => expect(listMembers(operation)).toEqual(members));

  it('changes the names', () => {
    const patched = patch(
      { op: 'replace', path: 'displayName', value: 'b' },
      { op: 'add', path: 'externalId', value: '7' },
    );
    expect(patched).toMatchObject({ displayName: 'b', externalId: '7' });
  });

  it.each([
    [{ op: 'replace', path: 'members[value eq "user-1"].display', value: 'x' }, 'members can be added and removed'],
    [{ op: 'add', path: 'members.value', value: 'x' }, 'members can be added and removed'],
    [{ op: 'add', path: 'members', value: [{ name: 'x' }] }, 'members.0.value'],
    [{ op: 'add', path: 'members', value: [{ value: 'x'.repeat(65) }] }, 'members.0.value'],
    [{ op: 'remove', path: 'displayName[x eq 1]' }, 'has one value and no parts'],
  ])('%j is refused', (operation, reason) => expect(() => patch(operation)).toThrow(reason));
});
