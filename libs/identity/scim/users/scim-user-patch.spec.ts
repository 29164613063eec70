import { describe, expect, it } from '@jest/globals';
import { scimPatchBody, parseScimBody } from '../protocol/scim-bodies.js';
import { patchUser, type PatchedUser } from './scim-user-patch.js';

const ada: PatchedUser = {
  userName: 'ada@acme.test',
  externalId: '1',
  active: true,
  emails: [{ value: 'ada@acme.test', type: 'work', primary: true }],
};
const nobody: PatchedUser = { ...ada, emails: [] };

const patch = (present: PatchedUser, ...Operations: readonly object[]): PatchedUser =>
  patchUser(present, parseScimBody(scimPatchBody, { Operations }).Operations);

describe('a patch of a user', () => {
  it.each([
    ['replaces an attribute', { op: 'Replace', path: 'active', value: 'False' }, { active: 'False' }],
    ['adds an attribute', { op: 'Add', path: 'externalId', value: '2' }, { externalId: '2' }],
    ['removes an attribute', { op: 'Remove', path: 'externalId' }, { externalId: null }],
    [
      'replaces without a path',
      { op: 'replace', value: { active: false, userName: 'b' } },
      { active: false, userName: 'b' },
    ],
    [
      'knows the names with the URN of the schema, in any case',
      { op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:User:USERNAME', value: 'b' },
      { userName: 'b' },
    ],
    [
      'takes paths as keys',
      { op: 'replace', value: { 'emails[type eq "work"].value': 'b@c' } },
      { emails: [{ ...ada.emails[0], value: 'b@c' }] },
    ],
    [
      'replaces all addresses',
      { op: 'replace', path: 'emails', value: [{ value: 'b@c' }] },
      { emails: [{ value: 'b@c' }] },
    ],
    [
      'takes one address without a list',
      { op: 'replace', path: 'emails', value: { value: 'b@c' } },
      { emails: [{ value: 'b@c' }] },
    ],
    [
      'adds a primary address, which replaces the present one',
      { op: 'add', path: 'emails', value: [{ value: 'b@c', primary: true }] },
      {
        emails: [
          { ...ada.emails[0], primary: false },
          { value: 'b@c', primary: true },
        ],
      },
    ],
    [
      'removes an address by its value',
      { op: 'remove', path: 'emails', value: [{ value: 'ada@acme.test' }] },
      { emails: [] },
    ],
    ['removes an address by a filter', { op: 'remove', path: 'emails[type eq "work"]' }, { emails: [] }],
    ['removes all addresses', { op: 'remove', path: 'emails' }, { emails: [] }],
    [
      'removes a part of an address',
      { op: 'remove', path: 'emails[type eq "work"].value' },
      { emails: [{ ...ada.emails[0], value: undefined }] },
    ],
    [
      'replaces an address',
      { op: 'replace', path: 'emails[primary eq true]', value: { value: 'b@c' } },
      { emails: [{ ...ada.emails[0], value: 'b@c' }] },
    ],
    [
      'replaces a part of every address',
      { op: 'replace', path: 'emails.value', value: 'b@c' },
      { emails: [{ ...ada.emails[0], value: 'b@c' }] },
    ],
    ['ignores unknown attributes', { op: 'replace', path: 'name.givenName', value: 'Ada' }, {}],
    [
      'ignores extensions',
      { op: 'add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'x' },
      {},
    ],
    ['ignores names of prototypes', { op: 'add', path: '__proto__.polluted', value: true }, {}],
    [
      'ignores names of prototypes as keys',
      { op: 'add', value: JSON.parse('{"__proto__": {"polluted": 1}, "constructor.prototype.polluted": 1}') },
      {},
    ],
    ['ignores unknown parts of addresses', { op: 'replace', path: 'emails[type eq "work"].display', value: 'x' }, {}],
  ])('%s', (_, operation, changes) => {
    expect(patch(ada, operation)).toEqual({ ...ada, ...changes });
    expect({}).not.toHaveProperty('polluted');
  });

  it.each([
    ['emails[type eq "work"].value', [{ type: 'work', value: 'b@c' }]],
    ['emails[type eq "work" and primary eq true].value', [{ type: 'work', primary: true, value: 'b@c' }]],
    ['emails.value', [{ value: 'b@c' }]],
  ])('creates the address at %s', (path, emails) => {
    for (const op of ['add', 'replace']) expect(patch(nobody, { op, path, value: 'b@c' }).emails).toEqual(emails);
  });

  it('applies its operations in order', () => {
    const operations = [
      { op: 'remove', path: 'emails' },
      { op: 'add', path: 'emails', value: [{ value: 'x@y' }] },
    ];
    expect(patch(ada, ...operations).emails).toEqual([{ value: 'x@y' }]);
  });

  it.each([
    [{ op: 'remove' }, 'path: a remove operation must name what it removes'],
    [{ op: 'replace', value: 'x' }, 'value: must be an object in an operation without a path'],
    [{ op: 'replace', path: 'emails[type eq "work"', value: 'x' }, 'path: "emails[type eq \\"work\\"" is not valid'],
    [{ op: 'replace', path: 'emails[type is "work"]', value: 'x' }, 'filter: has "is" instead of an operator'],
    [{ op: 'replace', path: 'active[value eq true]', value: false }, 'path: "active" has one value and no parts'],
    [{ op: 'replace', path: 'emails', value: ['a@b'] }, 'emails: an address must be an object with a value'],
    [{ op: 'replace', path: 'emails[not (type pr)].value', value: 'a@b' }, 'path: no address matches the filter'],
    [{ op: 'replace', path: 'a'.repeat(501), value: 'x' }, 'has more than 500 characters'],
    [{ op: 'move', path: 'active' }, 'Operations.0.op'],
  ])('%j is refused', (operation, reason) => expect(() => patch(ada, operation)).toThrow(reason));

  it('with more than a hundred operations is refused', () => {
    const operations = Array.from({ length: 101 }, () => ({ op: 'replace', path: 'active', value: true }));
    expect(() => patch(ada, ...operations)).toThrow('Operations');
  });
});
