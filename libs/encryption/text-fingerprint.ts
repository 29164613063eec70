import { createHmac, hkdfSync } from 'node:crypto';

const KEY_LENGTH = 32;
/** 96 bits: two texts have the same fingerprint only by intent, which the key prevents. */
const FINGERPRINT_LENGTH = 12;

/**
 * Returns a short text that shows whether two texts are equal, and nothing else to readers without the key. A hash without
 * a key would let them guess the text.
 */
export const computeTextFingerprint = (encryptionKey: Buffer, purpose: string, text: string): string => {
  const key = Buffer.from(hkdfSync('sha256', encryptionKey, '', `cadastre text fingerprint: ${purpose}`, KEY_LENGTH));
  return createHmac('sha256', key).update(text).digest().toString('base64url', 0, FINGERPRINT_LENGTH);
};
