import { describe, expect, it } from '@jest/globals';
import { requireOwnOrigin } from './request-origin.js';

const SITE = 'https://cadastre.test';
const own = { origin: SITE, 'sec-fetch-site': 'same-origin', 'x-cadastre-csrf': '1' };

const refusalOf = (headers: Record<string, string>, method = 'POST', needsHeader = true): string | null => {
  try {
    requireOwnOrigin({ method, headers }, SITE, { needsHeader });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a change with a session', () => {
  it('is accepted from the own origin with the header', () => expect(refusalOf(own)).toBeNull());

  it('is accepted from clients that send no Sec-Fetch-Site', () => {
    const { 'sec-fetch-site': _, ...headers } = own;
    expect(refusalOf(headers)).toBeNull();
  });

  it.each([
    ['of another site', { ...own, origin: 'https://evil.test' }],
    ['of a subdomain', { ...own, origin: 'https://evil.cadastre.test' }],
    ['of another port', { ...own, origin: `${SITE}:8443` }],
    ['with an opaque origin', { ...own, origin: 'null' }],
    ['without an origin', { 'sec-fetch-site': 'same-origin', 'x-cadastre-csrf': '1' }],
    ['of a page of the same registrable domain', { ...own, 'sec-fetch-site': 'same-site' }],
    ['of another site by Sec-Fetch-Site', { ...own, 'sec-fetch-site': 'cross-site' }],
    ['with another value of the header', { ...own, 'x-cadastre-csrf': '0' }],
    ['without the header', { origin: SITE, 'sec-fetch-site': 'same-origin' }],
  ])('is refused if it comes from a page %s', (_, headers) => {
    for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) expect(refusalOf(headers, method)).not.toBeNull();
  });

  it('is refused with the header, the value and the accepted value', () => {
    expect(refusalOf({ ...own, origin: 'https://evil.test' })).toBe(
      `Origin: must be ${SITE} for changes with a session, got "https://evil.test"`,
    );
  });

  it('needs no header on pages, because forms cannot send one', () => {
    expect(refusalOf({ origin: SITE }, 'POST', false)).toBeNull();
    expect(refusalOf({}, 'POST', false)).not.toBeNull();
  });
});

describe('a read', () => {
  it('is accepted from everywhere', () => expect(refusalOf({ origin: 'https://evil.test' }, 'GET')).toBeNull());
});
