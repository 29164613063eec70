/** Returns the bytes of a base64 text with padding, or null if another text has the same bytes or the text is no base64. */
export const decodeBase64 = (text: string): Buffer | null => {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
};

/** 32 bytes in base64: 43 digits, the last of which has two bits that are zero. */
const DIGEST = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Returns the 32 bytes of a base64 text, or null. */
export const decodeDigest = (text: string): Buffer | null => (DIGEST.test(text) ? Buffer.from(text, 'base64') : null);

/** Returns a whole number from 0 to 2^53 - 1 in decimal digits without zeros in front, or null. */
export const decodeDecimal = (text: string): number | null => {
  const number = Number(text);
  return /^(?:0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(number) ? number : null;
};
