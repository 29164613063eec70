import { isIP } from 'node:net';

// URLs read such a text as an IPv4 address (https://url.spec.whatwg.org/#ends-in-a-number-checker).
const ENDS_IN_A_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i;

/**
 * Returns whether a text consists of letters, digits and hyphens between dots (RFC 1123), as names in certificates do.
 */
export const isHostName = (text: string): boolean =>
  text.length <= 253 &&
  !ENDS_IN_A_NUMBER.test(text) &&
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(text);

/** Returns false for an address with a zone (`fe80::1%eth0`), because URLs cannot contain a zone. */
export const isHostOrAddress = (text: string): boolean => !text.includes('%') && (isIP(text) !== 0 || isHostName(text));

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Returns whether the host means all interfaces: a server can listen on it, but clients cannot connect to it. */
export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';
