/** Characters that a URL cannot contain (RFC 3986), and percent signs that begin no escape. */
const NOT_IN_URLS = /[^\w!$%&'()*+,;=:@/?.~-]|%(?![\da-f]{2})/gi;

/** Returns the address of a request as a valid part of a URL: clients may send `page[size]=1` as it is. */
export const escapeAddress = (address: string): string =>
  address.replaceAll(
    NOT_IN_URLS,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
