const LOOPBACK = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/;

/** Returns whether only the machine itself reaches a host name of a URL. */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname);

/**
 * Returns whether a text is the address of a server to which secrets may be sent: https, or http to this machine, without
 * user, password, query and fragment.
 */
export const isSecureAddress = (text: string): boolean => {
  const url = URL.parse(text);
  if (!url || [url.search, url.hash, url.username, url.password].some((part) => part !== '')) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
};
