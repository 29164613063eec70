import { describe, expect, it } from '@jest/globals';
import { checkIssuer, getDiscoveryUrl, isKeysUrl } from './issuer-urls.js';

describe('an issuer', () => {
  it.each([
    'https://token.actions.githubusercontent.com',
    'https://gitlab.example.com:8443',
    'https://oidc.example.com/tenant/',
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
  ])('can be %s', (issuer) => {
    expect(() => checkIssuer(issuer)).not.toThrow();
  });

  it.each([
    '',
    'token.actions.githubusercontent.com',
    'http://gitlab.example.com',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'https://user@gitlab.example.com',
    'https://gitlab.example.com?a=b',
    'https://gitlab.example.com#a',
    'https://gitlab.example.com/ a',
    String.raw`https://gitlab.example.com\evil`,
    'https://',
    'ftp://gitlab.example.com',
    'file:///etc/passwd',
  ])('cannot be %j', (issuer) => {
    expect(() => checkIssuer(issuer)).toThrow(/^Issuer must be the URL in the claim iss/);
  });

  it('has its configuration below its path', () => {
    expect(getDiscoveryUrl('https://a.example')).toBe('https://a.example/.well-known/openid-configuration');
    expect(getDiscoveryUrl('https://a.example/b/')).toBe('https://a.example/b/.well-known/openid-configuration');
  });
});

describe('the address of keys', () => {
  it.each([
    ['https://keys.example/jwks', 'https://a.example', true],
    ['https://keys.example/jwks', 'http://localhost:1', true],
    ['http://localhost:1/jwks', 'http://localhost:1', true],
    ['http://localhost:1/jwks', 'https://a.example', false],
    ['http://keys.example/jwks', 'https://a.example', false],
    ['http://keys.example/jwks', 'http://localhost:1', false],
    ['https://user:secret@keys.example/jwks', 'https://a.example', false],
    ['file:///etc/passwd', 'https://a.example', false],
    ['data:application/json,{}', 'https://a.example', false],
    ['jwks', 'https://a.example', false],
  ])('%s of the issuer %s is accepted: %p', (address, issuer, isAccepted) => {
    expect(isKeysUrl(address, issuer)).toBe(isAccepted);
  });
});
