/** Returns the bytes of a base64 text with padding, or null if another text has the same bytes or the text is no base64. */
export const decodeBase64 = (text: string): Buffer | null => {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
};

/** Returns the 32 bytes of a base64 text, or null. */
export const decodeDigest = (text: string): Buffer | null => {
  const bytes = decodeBase64(text);
  return bytes?.length === 32 ? bytes : null;
};

/** Returns a whole number from 0 to 2^53 - 1 in decimal digits without zeros in front, or null. */
export const decodeDecimal = (text: string): number | null => {
  const number = Number(text);
  return /^(?:0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(number) ? number : null;
};
