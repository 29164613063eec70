import type { IncomingMessage, Server } from 'node:http';

/** Scheme and host of a request target that is a whole URL. Every server must accept this form (RFC 9112 §3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;

/** Returns the path and query string of a request, without empty segments in the path. */
export const normalizeAddress = (address: string): string => {
  const end = address.indexOf('?');
  const path = (end === -1 ? address : address.slice(0, end)).replace(ORIGIN, '').replaceAll(/\/{2,}/g, '/');
  return `${path === '' ? '/' : path}${end === -1 ? '' : address.slice(end)}`;
};

/** Characters that a URL cannot contain (RFC 3986), and percent signs that begin no escape. */
const NOT_IN_URLS = /[^\w!$%&'()*+,;=:@/?.~-]|%(?![\da-f]{2})/gi;

/** Returns a normalized address as a valid part of a URL: clients may send `page[size]=1` as it is. */
export const escapeAddress = (address: string): string =>
  address.replaceAll(
    NOT_IN_URLS,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );

/**
 * Normalizes the address of each request before anything reads it, so that limits, access checks, kept documents, the
 * router and links see the same path. Clients write `/api/v2//organizations/…` if they join a base path and a path that
 * both have a slash.
 */
export const normalizeAddresses = (server: Server): void => {
  server.prependListener('request', (request: IncomingMessage) => {
    request.url = normalizeAddress(request.url ?? '/');
  });
};
