import { describe, expect, it } from '@jest/globals';
import { parseAuthorization, type LoginClient } from './authorization-request.js';

const CLIENT: LoginClient = { client: 'cli', ports: [10_000, 10_010] };
const REQUEST = {
  client_id: 'cli',
  redirect_uri: 'http://localhost:10000/login',
  response_type: 'code',
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
};

describe('parseAuthorization', () => {
  it.each(['http://localhost:10000/login', 'http://localhost:10010/login', 'http://127.0.0.1:10005/login'])(
    'accepts an address of this computer: %s',
    (redirectUri) => {
      expect(parseAuthorization({ ...REQUEST, redirect_uri: redirectUri }, CLIENT)).toMatchObject({
        kind: 'valid',
        redirectUri,
        state: null,
      });
    },
  );

  it.each([
    'http://localhost:09999/login',
    'http://localhost:010000/login',
    'http://localhost/login',
    'http://localhost:10000/login/',
    'http://localhost:10000/login?a=b',
    'http://localhost:10000/login#a',
    'http://LOCALHOST:10000/login',
    'http://a@localhost:10000/login',
    'http://localhost:10000\\@attacker.example/login',
    'http://127.1:10000/login',
    'http://[::ffff:127.0.0.1]:10000/login',
    'http://0.0.0.0:10000/login',
    'javascript:alert(1)',
    '//attacker.example',
    ' http://localhost:10000/login',
    '',
    7,
    ['http://localhost:10000/login'],
  ])('trusts no other address: %j', (redirectUri) => {
    expect(parseAuthorization({ ...REQUEST, redirect_uri: redirectUri }, CLIENT).kind).toBe('untrusted');
  });

  it('returns the state with an error, unless the state itself is wrong', () => {
    const withoutType = { ...REQUEST, response_type: undefined };
    expect(parseAuthorization({ ...withoutType, state: 'a b' }, CLIENT)).toMatchObject({
      kind: 'refused',
      state: 'a b',
    });
    expect(parseAuthorization({ ...REQUEST, state: '' }, CLIENT)).toMatchObject({ kind: 'refused', state: null });
    expect(parseAuthorization({ ...REQUEST, state: ['a', 'b'] }, CLIENT)).toMatchObject({
      kind: 'refused',
      state: null,
    });
  });

  it('shows at most 200 characters of a wrong value', () => {
    const parsed = parseAuthorization({ ...REQUEST, client_id: 'x'.repeat(5_000) }, CLIENT);
    expect(parsed.kind === 'untrusted' && parsed.problem.length).toBeLessThan(300);
  });
});
