import { isIP } from 'node:net';

/** Letters, digits and hyphens between dots (RFC 1123); what may stand in a certificate. */
export const isHostName = (text: string): boolean =>
  text.length <= 253 &&
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(text);

export const isHostOrAddress = (text: string): boolean => isIP(text) !== 0 || isHostName(text);

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Listening on all interfaces: good to bind to, no address to call. */
export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';
