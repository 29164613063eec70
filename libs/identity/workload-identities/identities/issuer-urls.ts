import { unprocessable } from '#platform/kernel';

const ISSUER = /^https?:\/\/[^\s\\?#@]+$/;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

const parseUrl = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);

/** Returns whether a URL has HTTPS, or HTTP on this machine, which is for tests of an installation. */
const isProtected = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));

/** Refuses an issuer whose keys could come from somebody else (OpenID Connect Core §2). */
export const checkIssuer = (issuer: string): void => {
  const url = ISSUER.test(issuer) ? parseUrl(issuer) : null;
  if (url && isProtected(url)) return;
  throw unprocessable(
    'Issuer must be the URL in the claim iss of the tokens, with https and without query, fragment and user, ' +
      `such as https://token.actions.githubusercontent.com, got ${JSON.stringify(issuer)}`,
    'issuer',
  );
};

/** Returns the address of the issuer's configuration (OpenID Connect Discovery §4). */
export const getDiscoveryUrl = (issuer: string): string =>
  `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;

/** Returns whether keys may come from this address. Keys of an issuer with HTTPS never come over HTTP. */
export const isKeysUrl = (address: string, issuer: string): boolean => {
  const url = parseUrl(address);
  if (!url || url.username !== '' || url.password !== '' || !isProtected(url)) return false;
  return url.protocol === 'https:' || issuer.startsWith('http:');
};
