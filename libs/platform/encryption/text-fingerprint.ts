import { createHmac, hkdfSync } from 'node:crypto';

const KEY_LENGTH = 32;
/** 96 bits: two texts do not have the same fingerprint by chance, and without the key nobody can construct them. */
const FINGERPRINT_LENGTH = 12;

/**
 * Returns a fingerprint that is the same for equal texts. Readers without the key learn nothing else from it. A hash
 * without a key would let them test guesses of the text.
 */
export const computeTextFingerprint = (encryptionKey: Buffer, purpose: string, text: string): string => {
  const key = Buffer.from(hkdfSync('sha256', encryptionKey, '', `cadastre text fingerprint: ${purpose}`, KEY_LENGTH));
  return createHmac('sha256', key).update(text).digest().toString('base64url', 0, FINGERPRINT_LENGTH);
};
