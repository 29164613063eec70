import { describe, expect, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { peopleEvents } from '../people.events.js';
import { authenticationToken, type AuthenticationTokenEvent } from './authentication-token.js';

const { given } = specify(authenticationToken);

const data = {
  kind: 'team',
  owner: 'team-1',
  description: null,
  createdBy: { type: 'users', id: 'user-1' },
  expiredAt: '2026-12-01T00:00:00.000Z',
} as const;
const create = { type: 'CreateAuthenticationToken', data } as const;
const destroy = { type: 'DestroyAuthenticationToken', data: {} } as const;
const created: AuthenticationTokenEvent = { type: 'AuthenticationTokenCreated', data };
const destroyed: AuthenticationTokenEvent = {
  type: 'AuthenticationTokenDestroyed',
  data: { kind: 'team', owner: 'team-1' },
};

describe('a token', () => {
  it('is created', () => given().when(create).yields(created));

  it('keeps no more of what created it than it names, above all no secret', () =>
    given()
      .when({ ...create, data: { ...data, secret: 'hush' } as typeof data })
      .yields(created));

  it('is never created twice', () => {
    given(created).when(create).refuses('conflict', 'Token exists already');
    given(created, destroyed).when(create).refuses('conflict', 'Token exists already');
  });

  it('is destroyed, and says whose it was', () => given(created).when(destroy).yields(destroyed));

  it('is destroyed once', () => {
    given(created, destroyed).when(destroy).refuses('not-found', 'Not found');
    given().when(destroy).refuses('not-found', 'Not found');
  });

  it('could not bring a secret into the log if it tried', () => {
    expect(peopleEvents.AuthenticationTokenCreated.schema.parse(data)).toEqual(data);
    expect(() => peopleEvents.AuthenticationTokenCreated.schema.parse({ ...data, secret: 'hush' })).toThrow('secret');
  });
});
