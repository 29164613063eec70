export type PageSources = {
  /** Paths of scripts of this server. */
  readonly scripts?: readonly string[];
  /**
   * Origins, such as `https://id.example.com` or `http://localhost:*`, to which a form of the page can lead through
   * redirects. Browsers check every address of the chain. Chromium ignores IPv6 addresses, so a form cannot lead to one there.
   */
  readonly formTargets?: readonly string[];
};

const ORIGIN = /^https?:\/\/(?:[A-Za-z0-9.-]+|\[[0-9a-f:.]+\])(?::(?:\d{1,5}|\*))?$/;

const checkOrigin = (origin: string): string => {
  if (!ORIGIN.test(origin)) throw new Error('a form target is not an origin');
  return origin;
};

/**
 * Returns the Content-Security-Policy of a page. Nothing inline runs, so text that a caller injects stays text. No other
 * site can show the page in a frame.
 */
export const formatContentPolicy = ({ scripts = [], formTargets = [] }: PageSources): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    ...(scripts.length > 0 ? ["script-src 'self'", "connect-src 'self'"] : []),
    ["form-action 'self'", ...formTargets.map(checkOrigin)].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join(';');
