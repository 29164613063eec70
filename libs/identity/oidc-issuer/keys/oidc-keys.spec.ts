import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { oidcKeys, type OidcKeyEvent, type OidcPublicKey } from './oidc-keys.js';

const { given } = specify(oidcKeys);

const makeKey = (kid: string): OidcPublicKey => ({ kty: 'RSA', kid, use: 'sig', alg: 'RS256', n: 'n', e: 'AQAB' });
const rotated = (kid: string): OidcKeyEvent => ({ type: 'OidcKeyRotated', data: { key: makeKey(kid) } });

describe('the keys of the issuer', () => {
  it('are rotated by adding a new one', () => {
    given(rotated('a'))
      .when({ type: 'RotateKey', data: { key: makeKey('b') } })
      .yields(rotated('b'));
  });

  it('get a first key once', () => {
    const ensure = { type: 'EnsureKey', data: { key: makeKey('b') } } as const;
    given().when(ensure).yields(rotated('b'));
    given(rotated('a')).when(ensure).yields();
  });

  it('are trimmed to the newest one', () => {
    const trim = { type: 'TrimKeys', data: {} } as const;
    const trimmed: OidcKeyEvent = { type: 'OidcKeysTrimmed', data: { kids: ['a', 'b'] } };
    given(rotated('a'), rotated('b'), rotated('c')).when(trim).yields(trimmed);
    given(rotated('a'), rotated('b'), rotated('c'), trimmed).when(trim).yields();
    given().when(trim).yields();
  });
});
