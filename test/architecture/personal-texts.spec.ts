import { describe, expect, it } from '@jest/globals';
import type { PersonalText } from '#platform/kernel';
import { eventRegistry } from '../../apps/modules.js';
import { context } from '../../libs/storage/event-store/spec.js';
import { fullSample } from '../docs/catalogue.js';
import { isPrincipal, isTree, listUserPrincipals } from './principals.js';

/** Members that name no person, by event and path. */
const NOBODYS: Readonly<Record<string, string>> = {
  'OrganizationCreated email': 'the address is the organization’s',
  'OrganizationUpdated changes.email': 'the address is the organization’s',
};

const STREAM = 'the stream';

type TextLocation = Pick<PersonalText, 'at' | 'kind'> & { readonly person?: unknown };

/** Returns the paths of all names and contact details of persons. */
const findPersonalTexts = (value: unknown, at: readonly string[] = []): TextLocation[] => {
  if (!isTree(value)) return [];
  const somebody: TextLocation[] = isPrincipal(value)
    ? [{ at: [...at, 'name'], kind: 'name', person: value['id'] }]
    : [];
  return [
    ...somebody,
    ...('username' in value ? [{ at: [...at, 'username'], kind: 'name' } as const] : []),
    ...('userName' in value
      ? [{ at: [...at, 'userName'], kind: 'name' } as const, { at: [...at, 'externalId'], kind: 'detail' } as const]
      : []),
    // Pipelines have subjects too, in events that name their token.
    ...['email', 'unconfirmedEmail', ...('token' in value ? [] : ['subject'])]
      .filter((key) => key in value)
      .map((key) => ({ at: [...at, key], kind: 'detail' }) as const),
    // The description of a token that a login created contains the address of the computer.
    ...('description' in value && value['kind'] === 'user'
      ? [{ at: [...at, 'description'], kind: 'detail' } as const]
      : []),
    ...Object.entries(value).flatMap(([key, member]) => findPersonalTexts(member, [...at, key])),
  ];
};

const sortByPath = <T extends TextLocation>(texts: readonly T[]): readonly T[] =>
  texts.toSorted((a, b) => (a.at.join('.') < b.at.join('.') ? -1 : 1));

const naming = Object.entries(eventRegistry).flatMap(([type, kind]) => {
  const data = listUserPrincipals(fullSample(type, kind));
  const personalTexts = findPersonalTexts(data).filter(({ at }) => !(`${type} ${at.join('.')}` in NOBODYS));
  const encrypted = kind.personal?.(data as never, { stream: STREAM, context }) ?? [];
  return personalTexts.length + encrypted.length === 0
    ? []
    : [{ type, data, places: personalTexts, sealed: encrypted }];
});

describe('an event whose data names persons', () => {
  it('is found by this spec', () => {
    expect(naming.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['WorkspaceLocked', 'RunConfirmed', 'UserUpdated', 'TeamMemberAdded']),
    );
    for (const nobodys of Object.keys(NOBODYS)) {
      const [type = '', at = ''] = nobodys.split(' ');
      const kind = eventRegistry[type];
      expect(kind && findPersonalTexts(fullSample(type, kind)).map((text) => text.at.join('.'))).toContain(at);
    }
  });

  it.each(naming)(
    'encrypts exactly the texts that name persons: $type',
    ({ data, places: personalTexts, sealed: encrypted }) => {
      expect(sortByPath(encrypted).map(({ at, kind }) => ({ at, kind }))).toEqual(
        sortByPath(personalTexts).map(({ at, kind }) => ({ at, kind })),
      );
      for (const [n, { person }] of sortByPath(encrypted).entries()) {
        expect(person).toBe(sortByPath(personalTexts)[n]?.person ?? person);
        expect(JSON.stringify([data, STREAM])).toContain(JSON.stringify(person));
      }
    },
  );
});
