import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor } from '#api/access';
import { ensureUser } from '#identity/people';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { startTestSession } from '../../../../test/support/sessions.js';
import {
  linkToken,
  matchesChallenge,
  recordReplay,
  storeAuthorizationCode,
  useAuthorizationCode,
} from './authorization-codes.queries.js';

let server: TestServer;
let actor: Actor;
const now = new Date('2026-11-26T12:00:00.000Z');

beforeAll(async () => {
  server = await startTestServer();
  const { store, ids } = server.runtime;
  const { id: user } = await ensureUser(store, ids, 'ada', false);
  const session = await startTestSession(server, user);
  const identity = await server.authenticator.findSessionIdentity(session.id);
  if (!identity) throw new Error('there is no session');
  actor = { ...identity, request: { id: null, address: null, userAgent: null } };
});

afterAll(() => server.close());

const request = { clientId: 'cli', redirectUri: 'http://localhost:10000/login', codeChallenge: 'challenge' };

describe('a code', () => {
  it('that is sent again before its token is known gets no token', async () => {
    await storeAuthorizationCode(server.database, actor, request, { code: 'one', now });
    expect(await useAuthorizationCode(server.database, 'one', now)).toMatchObject({ user: actor.id, isExpired: false });
    expect(await useAuthorizationCode(server.database, 'one', now)).toBeUndefined();
    expect(await recordReplay(server.database, 'one', now)).toBeNull();
    expect(await linkToken(server.database, 'one', 'at-1')).toBe(false);
  });

  it('that is sent again later leads to its token', async () => {
    await storeAuthorizationCode(server.database, actor, request, { code: 'two', now });
    await useAuthorizationCode(server.database, 'two', now);
    expect(await linkToken(server.database, 'two', 'at-2')).toBe(true);
    expect(await recordReplay(server.database, 'two', now)).toBe('at-2');
  });
});

describe('matchesChallenge', () => {
  it('accepts the verifier of RFC 7636 appendix B, and no other', () => {
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    expect(matchesChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk', challenge)).toBe(true);
    expect(matchesChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl', challenge)).toBe(false);
    expect(matchesChallenge(challenge, challenge)).toBe(false);
    expect(matchesChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk', `${challenge}=`)).toBe(false);
  });
});
