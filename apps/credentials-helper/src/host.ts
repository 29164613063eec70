/** A host name with an optional port, as terraform and tofu pass it: lower case, in Punycode. */
const HOST = /^(?=.{1,253}(?::|$))[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::\d{1,5})?$/;

/** Returns whether the text is a host, so that it can be part of an address and of a file name. */
export const isHost = (text: string): boolean => HOST.test(text);
