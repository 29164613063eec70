import { describe, expect, it } from '@jest/globals';
import { UNRESTRICTED } from '#api/access';
import { specify } from '#platform/kernel/spec';
import { peopleEvents } from '../people.events.js';
import { authenticationToken, type AuthenticationTokenEvent } from './authentication-token.js';

const { given } = specify(authenticationToken);

const data = {
  kind: 'team',
  owner: 'team-1',
  description: null,
  createdBy: { type: 'users', id: 'user-1' },
  expiredAt: '2026-12-01T00:00:00.000Z',
  assurance: null,
  organizations: ['org-1'],
  restriction: UNRESTRICTED,
} as const;
const create = { type: 'CreateAuthenticationToken', data } as const;
const destroy = { type: 'DestroyAuthenticationToken', data: { organizations: ['org-1'] } } as const;
const created: AuthenticationTokenEvent = { type: 'AuthenticationTokenCreated', data };
const destroyed: AuthenticationTokenEvent = {
  type: 'AuthenticationTokenDestroyed',
  data: { kind: 'team', owner: 'team-1', organizations: ['org-1'] },
};

describe('an authentication token', () => {
  it('records its creation', () => given().when(create).yields(created));

  it('records only the known fields of the command, so that no secret reaches the log', () =>
    given()
      .when({ ...create, data: { ...data, secret: 'hush' } as typeof data })
      .yields(created));

  it('refuses a second creation, also after it was destroyed', () => {
    given(created).when(create).refuses('conflict', 'Token exists already');
    given(created, destroyed).when(create).refuses('conflict', 'Token exists already');
  });

  it('records its kind and owner when it is destroyed', () => given(created).when(destroy).yields(destroyed));

  it('refuses destruction if it does not exist or is already destroyed', () => {
    given(created, destroyed).when(destroy).refuses('not-found', 'Not found');
    given().when(destroy).refuses('not-found', 'Not found');
  });

  it('has an event schema that rejects a secret', () => {
    expect(peopleEvents.AuthenticationTokenCreated.schema.parse(data)).toEqual(data);
    expect(() => peopleEvents.AuthenticationTokenCreated.schema.parse({ ...data, secret: 'hush' })).toThrow('secret');
  });
});
