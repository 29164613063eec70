/**
 * Returns the bytes of a base64 text with padding, or null if another text has the same bytes or the text is no base64. Slower
 * than a Buffer, which browsers do not have.
 */
export const decodeBase64 = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    const characters = atob(text);
    if (btoa(characters) !== text) return null;
    return Uint8Array.from(characters, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
};

export const encodeBase64 = (bytes: Uint8Array): string => {
  let characters = '';
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return btoa(characters);
};

const DIGEST_BYTES = 32;

/** Returns the 32 bytes of a base64 text, or null. */
export const decodeDigest = (text: string): Uint8Array<ArrayBuffer> | null => {
  const bytes = decodeBase64(text);
  return bytes?.length === DIGEST_BYTES ? bytes : null;
};

/** Returns a whole number from 0 to 2^53 - 1 in decimal digits without zeros in front, or null. */
export const decodeDecimal = (text: string): number | null => {
  const number = Number(text);
  return /^(?:0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(number) ? number : null;
};

export const encodeHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export const areEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index]);

export const joinBytes = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
};

export const encodeText = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
