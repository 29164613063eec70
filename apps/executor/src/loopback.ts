/** Returns whether a host, without the brackets of a URL, is this machine on every system. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|::1)$/.test(host);
