const MAX_LENGTH = 2_000;
const ORIGIN = 'http://server.invalid';

/**
 * Returns the path to which a page redirects after it is done, with query and fragment, or null if the text is not the
 * path of a page of this server. An address of another server would let a link to the sign-in page lead people astray.
 */
export const parseReturnPath = (text: unknown): string | null => {
  // Browsers ignore tabs and line breaks in addresses, and read a backslash as a slash.
  if (typeof text !== 'string' || text.length > MAX_LENGTH || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(text))
    return null;
  const url = URL.parse(text, ORIGIN);
  if (url?.origin !== ORIGIN) return null;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // `/.//host` becomes `//host`, which browsers take for the address of another server.
  return path.startsWith('//') ? null : path;
};
