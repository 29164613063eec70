import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { session, type SessionEvent } from './session.js';

const { given } = specify(session);

const person = { user: 'user-1', username: 'ada', organizations: ['org-1'] } as const;
const start = {
  ...person,
  method: 'oidc',
  provider: 'idp-1',
  providerSession: 'sid-1',
  assurance: 'oidc',
  expiredAt: '2026-12-01T00:00:00.000Z',
  authenticatedAt: '2026-11-30T00:00:00.000Z',
  newBrowser: true,
} as const;
const startSession = { type: 'StartSession', data: start } as const;
const end = { type: 'EndSession', data: { username: 'ada', organizations: ['org-1'], reason: 'revoked' } } as const;
const started: SessionEvent = { type: 'SessionStarted', data: start };
const ended: SessionEvent = { type: 'SessionEnded', data: { ...person, reason: 'revoked' } };

describe('a session', () => {
  it('records its start', () => given().when(startSession).yields(started));

  it('records only the fields of its start, so that no secret reaches the log', () =>
    given()
      .when({ ...startSession, data: { ...start, secret: 'hush' } as typeof start })
      .yields(started));

  it('refuses a second start, also after it has ended', () => {
    given(started).when(startSession).refuses('conflict', 'Session exists already');
    given(started, ended).when(startSession).refuses('conflict', 'Session exists already');
  });

  it('records its person when it ends', () => given(started).when(end).yields(ended));

  it('refuses to end if it has not started or has ended', () => {
    given().when(end).refuses('not-found', 'Not found');
    given(started, ended).when(end).refuses('not-found', 'Not found');
  });
});
