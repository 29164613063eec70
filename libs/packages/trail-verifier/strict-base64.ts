/** 32 bytes in base64: 43 digits, the last of which has two bits that are zero. */
const DIGEST = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Returns whether a text is the base64 of 32 bytes. No other text has the same bytes. */
export const isDigest = (text: string): boolean => DIGEST.test(text);

/** Returns the 32 bytes of a base64 text, or null. */
export const decodeDigest = (text: string): Buffer | null => (isDigest(text) ? Buffer.from(text, 'base64') : null);
