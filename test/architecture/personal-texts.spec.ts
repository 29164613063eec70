import { describe, expect, it } from '@jest/globals';
import type { PersonalText } from '#kernel';
import { eventRegistry } from '../../apps/modules.js';
import { context } from '../../libs/event-store/spec.js';
import { fullSample } from '../docs/catalogue.js';
import { isPrincipal, isTree, listUserPrincipals } from './principals.js';

/** These are nobody's, by the event and where they stand in it. */
const NOBODYS: Readonly<Record<string, string>> = {
  'OrganizationCreated email': 'the address is the organization’s',
  'OrganizationUpdated changes.email': 'the address is the organization’s',
};

const STREAM = 'the stream';

type Place = Pick<PersonalText, 'at' | 'kind'> & { readonly person?: unknown };

/** Every place where somebody is named, or how they are reached. */
const placesIn = (value: unknown, at: readonly string[] = []): Place[] => {
  if (!isTree(value)) return [];
  const somebody: Place[] = isPrincipal(value) ? [{ at: [...at, 'name'], kind: 'name', person: value['id'] }] : [];
  return [
    ...somebody,
    ...('username' in value ? [{ at: [...at, 'username'], kind: 'name' } as const] : []),
    ...['email', 'unconfirmedEmail']
      .filter((key) => key in value)
      .map((key) => ({ at: [...at, key], kind: 'detail' }) as const),
    ...Object.entries(value).flatMap(([key, member]) => placesIn(member, [...at, key])),
  ];
};

const inOrder = <T extends Place>(places: readonly T[]): readonly T[] =>
  places.toSorted((a, b) => (a.at.join('.') < b.at.join('.') ? -1 : 1));

const naming = Object.entries(eventRegistry).flatMap(([type, kind]) => {
  const data = listUserPrincipals(fullSample(type, kind));
  const places = placesIn(data).filter(({ at }) => !(`${type} ${at.join('.')}` in NOBODYS));
  const sealed = kind.personal?.(data as never, { stream: STREAM, context }) ?? [];
  return places.length + sealed.length === 0 ? [] : [{ type, data, places, sealed }];
});

describe('an event whose data names people', () => {
  it('is told from others', () => {
    expect(naming.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['WorkspaceLocked', 'RunConfirmed', 'UserUpdated', 'TeamMemberAdded']),
    );
    for (const nobodys of Object.keys(NOBODYS)) {
      const [type = '', at = ''] = nobodys.split(' ');
      const kind = eventRegistry[type];
      expect(kind && placesIn(fullSample(type, kind)).map((place) => place.at.join('.'))).toContain(at);
    }
  });

  it.each(naming)('has all of their texts sealed, and no others: $type', ({ data, places, sealed }) => {
    expect(inOrder(sealed).map(({ at, kind }) => ({ at, kind }))).toEqual(
      inOrder(places).map(({ at, kind }) => ({ at, kind })),
    );
    for (const [n, { person }] of inOrder(sealed).entries()) {
      expect(person).toBe(inOrder(places)[n]?.person ?? person);
      expect(JSON.stringify([data, STREAM])).toContain(JSON.stringify(person));
    }
  });
});
