import { isIP } from 'node:net';

/**
 * Returns whether a text consists of letters, digits and hyphens between dots (RFC 1123), as names in certificates do.
 */
export const isHostName = (text: string): boolean =>
  text.length <= 253 &&
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(text);

export const isHostOrAddress = (text: string): boolean => isIP(text) !== 0 || isHostName(text);

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Returns whether the host means all interfaces: a server can listen on it, but clients cannot connect to it. */
export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';
