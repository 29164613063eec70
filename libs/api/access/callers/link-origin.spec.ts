import { describe, expect, it } from '@jest/globals';
import type { TokenKind } from './actor.js';
import { chooseLinkOrigin } from './link-origin.js';

const PUBLIC_URL = 'https://cadastre.example.com';

const choose = (kind: TokenKind, host: string | undefined, publicUrl = PUBLIC_URL): string =>
  chooseLinkOrigin({ kind, ...(host === undefined ? {} : { host }) }, publicUrl);

describe('the origin of links', () => {
  it.each(['agent', 'run'] as const)('is that of the request for a token of kind %s at another address', (kind) => {
    for (const host of ['gateway:8443', 'cadastre.example.com:8443', '10.0.0.7', '', 'not a host'])
      expect(choose(kind, host)).toBe('');
  });

  it('is the public one for a request to the public address', () => {
    for (const host of ['cadastre.example.com', 'Cadastre.Example.com', 'cadastre.example.com:443'])
      expect(choose('run', host)).toBe(PUBLIC_URL);
    expect(choose('run', 'localhost:8443', 'https://localhost:8443')).toBe('https://localhost:8443');
  });

  it.each(['user', 'team', 'organization'] as const)('is the public one for a token of kind %s', (kind) => {
    expect(choose(kind, 'gateway:8443')).toBe(PUBLIC_URL);
  });

  it('is the public one without a request', () => {
    expect(choose('run', undefined)).toBe(PUBLIC_URL);
  });
});
