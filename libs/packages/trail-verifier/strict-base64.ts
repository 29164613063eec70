/** 32 bytes in base64: 43 digits, the last of which has two bits that are zero. */
const DIGEST = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Returns the 32 bytes of a base64 text, or null. */
export const decodeDigest = (text: string): Buffer | null => (DIGEST.test(text) ? Buffer.from(text, 'base64') : null);
