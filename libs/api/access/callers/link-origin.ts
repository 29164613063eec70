import type { CallerAtHost } from './actor.js';

/** Returns the host and port of a `Host` header as URLs contain them, and the header itself if it is not valid. */
const normalizeHost = (host: string, protocol: string): string =>
  URL.canParse(`${protocol}//${host}`) ? new URL(`${protocol}//${host}`).host : host;

/**
 * Returns the origin with which links to files begin. For the request of an executor or of a run that was sent to another
 * address than the public one, it is empty, because such clients may reach no other: they resolve relative links.
 */
export const chooseLinkOrigin = ({ kind, host }: Pick<CallerAtHost, 'kind' | 'host'>, publicUrl: string): string => {
  if (host === undefined || (kind !== 'agent' && kind !== 'run')) return publicUrl;
  const { protocol, host: publicHost } = new URL(publicUrl);
  return normalizeHost(host, protocol) === publicHost ? publicUrl : '';
};
